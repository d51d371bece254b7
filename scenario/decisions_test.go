package scenario_test

import (
	"errors"
	"io"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// pick is a decision that changed who runs.
type pick struct {
	at         event.Time
	cpu        event.CPU
	prev, next event.PID
}

// TestDecisionsAreTheSwitches: on random loads the picks that change the task are the
// sched_switch events, one for one, and each picks the first of its candidates.
func TestDecisionsAreTheSwitches(t *testing.T) {
	for seed := range uint64(20) {
		setup, err := randomPlan(seed).Setup()
		if err != nil {
			t.Fatal(err)
		}
		src, err := scenario.NewSource(setup)
		if err != nil {
			t.Fatal(err)
		}
		var picks []pick
		err = src.Decisions(func(d *sched.Decision) {
			switch {
			case len(d.Candidates) > 0 && d.Candidates[0].Task != d.Next:
				t.Errorf("seed %d: at %d CPU %d picks %d, the first candidate is %d", seed, d.At, d.CPU, d.Next.PID, d.Candidates[0].Task.PID)
			case len(d.Candidates) == 0 && d.Next.PID != 0:
				t.Errorf("seed %d: at %d CPU %d picks %d out of nobody", seed, d.At, d.CPU, d.Next.PID)
			case d.Runnable != len(d.Candidates) && len(d.Candidates) < sched.MostCandidates:
				t.Errorf("seed %d: at %d CPU %d has %d runnable tasks and %d candidates", seed, d.At, d.CPU, d.Runnable, len(d.Candidates))
			}
			if d.Prev != d.Next {
				picks = append(picks, pick{d.At, d.CPU, d.Prev.PID, d.Next.PID})
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		switches := switchesOf(t, src)
		if len(picks) < len(switches) || len(switches) == 0 {
			t.Fatalf("seed %d: %d picks that change the task, %d switches", seed, len(picks), len(switches))
		}
		for i, s := range switches {
			if picks[i] != s {
				t.Fatalf("seed %d: pick %d is %+v, the switch is %+v", seed, i, picks[i], s)
			}
		}
	}
}

func switchesOf(t *testing.T, src *scenario.Source) (list []pick) {
	t.Helper()
	s, err := src.Events(event.Options{Want: event.Kinds(event.SchedSwitch)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		ev, err := s.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pick{ev.Time, ev.CPU, ev.Task, ev.Next})
	}
}
