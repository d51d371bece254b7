package experiment

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/whylate/whylate/event"
)

// Search is a search for the point at which something takes longest. The axes of a point are
// mostly instants at which tasks arrive (see Arrivals), but the search knows nothing of them.
//
//  1. The points of First are tried, in their order, a generation of runs at a time.
//  2. Every fourth generation, and all when First is used up, is one of a swarm: steps from the
//     best points so far (where Near knows which steps are likely to matter, those), mixtures
//     of two of them, and points anywhere.
//  3. It ends when Budget runs are done, when Patience runs in a row found nothing worse, when
//     Enough says so, or when ctx ends.
//
// What is tried depends on the points, Seed and the values before alone, never on how many
// processors there are or which run is done first.
type Search struct {
	Axes []Axis
	// Run measures at one point, which it must not change or keep. It is called from several
	// goroutines at once, and has to give the same answer for the same point.
	Run func(ctx context.Context, at []event.Time) (Measured, error)
	// First are points that are all tried where the budget allows, at least one. Whole says
	// that no others are.
	First [][]event.Time
	Whole bool
	// Near, where set, names steps from a point that are likely to make a difference, the most
	// likely first. when is Measured.When there.
	Near func(ctx context.Context, at []event.Time, when event.Time) ([]Move, error)
	// Budget is how many runs there may be, at least 1.
	Budget int
	// Patience, where positive, ends the swarm after so many runs (whole generations) in
	// which nothing worse was found.
	Patience int
	Seed     uint64
	// Workers is how many runs are done at once; 0: one for each processor.
	Workers int
	// Enough, where set, is asked between generations whether to stop.
	Enough func() bool
	// Resume, where set, is the state to go on from, which Save was given by a search that
	// was the same up to Budget, Patience and Workers.
	Resume *State
	// Save, where set, is given the state after each generation. It must not change it.
	Save func(*State) error
	// Progress, where set, is told after each generation.
	Progress func(Progress)
}

// Axis is one number that is chosen, from 0 to Max.
type Axis struct {
	Name string
	Max  event.Time
	// Rare says that the number is better 0 unless it matters: points anywhere leave most of
	// these axes at 0.
	Rare bool
}

// Measured is what one run gave.
type Measured struct {
	Value int64 // what shall be as large as possible, mostly ns
	// When is the instant that the value belongs to, for Near; event.NoTime: none.
	When event.Time
}

// Move is a step: the axes that it changes, and by how much.
type Move []Step

// Step is the part of a move along one axis.
type Step struct {
	Axis int
	By   event.Time
}

// Progress is how far a search is.
type Progress struct {
	Runs, Budget int
	Best         int64
	Elapsed      time.Duration // of this call
	Done         int           // runs of this call
}

// Found is what a search found.
type Found struct {
	Measured
	At []event.Time // the point
	// Runs is how many runs were done; Tried, how many points of First, of Of; GridBest is the
	// largest value of those.
	Runs, Tried, Of int
	GridBest        int64
	// Improved are the runs in which something worse than before was found; the last one
	// found At.
	Improved []Improvement
	// Again is how many later runs met the same value.
	Again int
}

// Improvement is a run that found something worse than all before.
type Improvement struct {
	Run   int   `json:"run"` // counted from 1
	Value int64 `json:"value"`
}

// Proven reports whether every point of First was tried.
func (f *Found) Proven() bool { return f.Tried == f.Of }

// generation is how many runs are planned at once. It does not depend on the processors, and
// is large enough that the last ones of a generation leave few of them idle.
const generation = 64

// Worst searches. An error is that of the lowest run of a generation that had one, of Save or
// of ctx; what was found up to then is returned with it.
func Worst(ctx context.Context, s Search) (Found, error) {
	if len(s.First) == 0 || s.Budget < 1 {
		return Found{}, errors.New("a search needs a first point and a run")
	}
	w := &swarm{Search: s, began: time.Now(), state: State{Axes: len(s.Axes), First: len(s.First), Seed: s.Seed}}
	if w.Workers <= 0 {
		w.Workers = runtime.GOMAXPROCS(0)
	}
	if s.Resume != nil {
		if err := w.check(s.Resume); err != nil {
			return Found{}, err
		}
		w.state = s.Resume.clone()
	}
	for !w.over() {
		if err := w.step(ctx); err != nil {
			return w.found(), err
		}
	}
	return w.found(), nil
}

// swarm is a search under way.
type swarm struct {
	Search
	state State
	began time.Time
	done  int
}

// over reports whether the search ends here.
func (w *swarm) over() bool {
	st := &w.state
	switch {
	case st.Runs >= w.Budget, st.Runs > 0 && w.Enough != nil && w.Enough():
		return true
	case st.Tried < len(w.First):
		return false
	case w.Whole:
		return true
	}
	return w.Patience > 0 && st.Runs-max(st.last(), st.TriedBy) >= w.Patience
}

// step does one generation.
func (w *swarm) step(ctx context.Context) error {
	points, err := w.plan(ctx)
	if err != nil {
		return err
	}
	// What the budget cuts off was planned for all the same: with more of it the same runs
	// are made. Only a whole generation is a state from which to go on.
	whole, grid := points, w.onGrid()
	points = points[:min(len(points), w.Budget-w.state.Runs)]
	got := make([]Measured, len(points))
	err = eachOn(ctx, w.Workers, len(points), func(ctx context.Context, i int) error {
		m, err := w.Run(ctx, slices.Clone(points[i]))
		got[i] = m
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("run %d: %w", w.state.Runs+i+1, err)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range points {
		w.state.take(points[i], got[i], grid)
	}
	w.state.endGeneration(grid, len(points))
	w.done += len(points)
	if w.Save != nil && len(points) == len(whole) {
		if err := w.Save(&w.state); err != nil {
			return err
		}
	}
	if w.Progress != nil {
		w.Progress(Progress{Runs: w.state.Runs, Budget: w.Budget, Best: w.state.best(), Elapsed: time.Since(w.began), Done: w.done})
	}
	return nil
}

// onGrid reports whether the next generation is one of First.
func (w *swarm) onGrid() bool {
	return w.state.Tried < len(w.First) && (w.Whole || w.state.Generation%4 != 3)
}

// plan returns the points of the next generation.
func (w *swarm) plan(ctx context.Context) ([][]event.Time, error) {
	if n := w.state.Tried; w.onGrid() {
		return w.First[n:min(n+generation, len(w.First))], nil
	}
	return w.generate(ctx)
}

func (w *swarm) found() Found {
	st := &w.state
	f := Found{Runs: st.Runs, Tried: st.Tried, Of: len(w.First), GridBest: st.GridBest, Improved: slices.Clone(st.Improved), Again: st.Again}
	if st.Best != nil {
		f.Measured, f.At = Measured{st.Best.Value, st.Best.When}, slices.Clone(st.Best.At)
	}
	return f
}
