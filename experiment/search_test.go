package experiment_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
)

// hills is a search whose highest point is known: two axes, a high and narrow hill far away
// from a low and wide one.
func hills(budget int) experiment.Search {
	return experiment.Search{
		Axes: []experiment.Axis{{Name: "x", Max: 1_000_000}, {Name: "y", Max: 1_000_000}},
		Run: func(_ context.Context, at []event.Time) (experiment.Measured, error) {
			far := func(x, y event.Time) int64 {
				return max(int64(at[0]-x), int64(x-at[0])) + max(int64(at[1]-y), int64(y-at[1]))
			}
			low, high := 50_000-far(200_000, 300_000)/20, 100_000-far(700_001, 900_003)
			return experiment.Measured{Value: max(low, high), When: event.NoTime}, nil
		},
		First:  [][]event.Time{{0, 0}},
		Budget: budget,
		Seed:   7,
	}
}

func TestTheSwarmClimbsTheHighestHill(t *testing.T) {
	s := hills(20_000)
	found, err := experiment.Worst(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(100_000); found.Value != want {
		t.Errorf("found %d at %v in %d runs, the top is %d", found.Value, found.At, found.Runs, want)
	}
	if last := found.Improved[len(found.Improved)-1]; last.Value != found.Value || found.Runs != 20_000 || !found.Proven() {
		t.Errorf("last improvement %+v of %+v", last, found)
	}
}

// TestASearchDoesNotDependOnTheProcessors: nor on which run is done first.
func TestASearchDoesNotDependOnTheProcessors(t *testing.T) {
	var want experiment.Found
	for i, workers := range []int{1, 2, 7} {
		s := hills(3_000)
		s.Workers = workers
		got, err := experiment.Worst(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = got
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d workers (-1 worker +these):\n%s", workers, d)
		}
	}
}

// TestAnInterruptedSearchGoesOn: wherever it is stopped, also several times, and whatever the
// budget was at first, the answer is that of a search that ran through.
func TestAnInterruptedSearchGoesOn(t *testing.T) {
	first := [][]event.Time{{0, 0}}
	for i := range event.Time(150) {
		first = append(first, []event.Time{i * 100, i})
	}
	search := func(budget int) experiment.Search {
		s := hills(budget)
		s.First = first
		s.Near = func(_ context.Context, at []event.Time, _ event.Time) ([]experiment.Move, error) {
			return []experiment.Move{{{Axis: 0, By: 10}}, {{Axis: 1, By: at[0] % 7}}, {{Axis: 0, By: -3}, {Axis: 1, By: 5}}}, nil
		}
		return s
	}
	want, err := experiment.Worst(context.Background(), search(2_500))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var kept []byte
		for {
			s := search(rapid.IntRange(1, 2_500).Draw(t, "budget"))
			stop := rapid.Int64Range(1, 3_000).Draw(t, "stop after")
			if rapid.IntRange(0, 3).Draw(t, "last") == 0 {
				s.Budget, stop = 2_500, 1<<40
			}
			ctx, cancel := context.WithCancel(context.Background())
			var runs atomic.Int64
			run := s.Run
			s.Run = func(ctx context.Context, at []event.Time) (experiment.Measured, error) {
				if runs.Add(1) >= stop {
					cancel()
				}
				return run(ctx, at)
			}
			s.Save = func(st *experiment.State) error {
				var err error
				kept, err = json.Marshal(st)
				return err
			}
			if kept != nil {
				s.Resume = &experiment.State{}
				if err := json.Unmarshal(kept, s.Resume); err != nil {
					t.Fatal(err)
				}
			}
			got, err := experiment.Worst(ctx, s)
			cancel()
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if err != nil || s.Budget < 2_500 {
				continue
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("(-through +resumed):\n%s", d)
			}
			return
		}
	})
}

func TestTheStateOfAnotherSearchIsRefused(t *testing.T) {
	other := experiment.State{Axes: 3, First: 1, Seed: 7}
	s := hills(10)
	s.Resume = &other
	if _, err := experiment.Worst(context.Background(), s); err == nil {
		t.Error("three axes instead of two were taken")
	}
	s.Resume = &experiment.State{Axes: 2, First: 1, Seed: 7, Best: &experiment.Point{At: []event.Time{5, 2_000_000}}}
	if _, err := experiment.Worst(context.Background(), s); err == nil {
		t.Error("a point beyond the end of an axis was taken")
	}
	for what, st := range map[string]experiment.State{
		"points that were not there": {Tried: 2}, "less than none": {Tried: -1}, "runs that were not made": {Runs: -1},
		"steps that were not asked for": {Elite: []experiment.Point{{At: []event.Time{5, 5}, Asked: -1}}},
	} {
		st.Axes, st.First, st.Seed = 2, 1, 7
		s.Resume = &st
		if _, err := experiment.Worst(context.Background(), s); err == nil {
			t.Errorf("%s were taken", what)
		}
	}
}

// TestTheFirstRunThatFailsIsTold, whichever worker meets it.
func TestTheFirstRunThatFailsIsTold(t *testing.T) {
	s := hills(500)
	broken := errors.New("broken")
	s.Run = func(context.Context, []event.Time) (experiment.Measured, error) { return experiment.Measured{}, broken }
	if _, err := experiment.Worst(context.Background(), s); !errors.Is(err, broken) || err.Error() != "run 1: broken" {
		t.Errorf("got %v", err)
	}
}

func TestPatienceEndsASearch(t *testing.T) {
	s := hills(100_000)
	s.Run = func(context.Context, []event.Time) (experiment.Measured, error) {
		return experiment.Measured{Value: 3}, nil
	}
	s.Patience = 200
	found, err := experiment.Worst(context.Background(), s)
	if err != nil || found.Runs > 400 || found.Runs < 200 || found.Again != found.Runs-1 {
		t.Errorf("%d runs, %d again, %v", found.Runs, found.Again, err)
	}
}
