package experiment

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// Of a generation so many points are steps that Near names and mixtures of two points; the
// rest, up to that many, are other steps, and the last ones lie anywhere.
const (
	named  = 24
	mixed  = 32
	stepUp = 52
)

// generate plans a generation of the swarm.
func (w *swarm) generate(ctx context.Context) ([][]event.Time, error) {
	points := make([][]event.Time, 0, generation)
	near, err := w.named(ctx)
	if err != nil {
		return nil, err
	}
	points = append(points, near...)
	for i := len(points); i < generation; i++ {
		// Each point has random numbers of its own.
		r := engine.NewStream(w.Seed, fmt.Sprintf("experiment/worst/%d/%d", w.state.Generation, i))
		switch n := len(w.state.Elite); {
		case n == 0 || i >= stepUp:
			points = append(points, w.anywhere(r))
		case i < mixed && n > 1:
			points = append(points, w.mixture(r))
		default:
			points = append(points, w.aside(r))
		}
	}
	return points, nil
}

// named takes the next steps that Near names from the best points: half of the places for
// the best, then half of what is left.
func (w *swarm) named(ctx context.Context) ([][]event.Time, error) {
	if w.Near == nil {
		return nil, nil
	}
	var points [][]event.Time
	for i := range w.state.Elite {
		p := &w.state.Elite[i]
		if err := w.ask(ctx, p); err != nil {
			return nil, err
		}
		room := (named - len(points) + 1) / 2
		for ; room > 0 && p.Asked < len(p.near); p.Asked++ {
			if at := w.moved(p.At, p.near[p.Asked]); !slices.Equal(at, p.At) {
				points = append(points, at)
				room--
			}
		}
	}
	return points, nil
}

// ask asks Near once for each point; after a resumption anew, which gives the same.
func (w *swarm) ask(ctx context.Context, p *Point) error {
	if p.known {
		return nil
	}
	near, err := w.Near(ctx, slices.Clone(p.At), p.When)
	if err != nil {
		return err
	}
	p.near, p.known = near, true
	return nil
}

// moved is a step away from at, at most to the ends of the axes.
func (w *swarm) moved(at []event.Time, m Move) []event.Time {
	to := slices.Clone(at)
	for _, s := range m {
		to[s.Axis] = min(max(to[s.Axis]+s.By, 0), w.Axes[s.Axis].Max)
	}
	return to
}

// one of the best points; the better, the more often.
func (w *swarm) one(r *engine.Stream) []event.Time {
	n := int64(len(w.state.Elite))
	return w.state.Elite[min(r.Int64N(n), r.Int64N(n))].At
}

// aside is a step along one axis or two, as often short as long: its length is even on a
// logarithmic scale.
func (w *swarm) aside(r *engine.Stream) []event.Time {
	at := slices.Clone(w.one(r))
	for range 1 + r.Int64N(2) {
		k := int(r.Int64N(int64(len(at))))
		at = w.moved(at, Move{{k, w.length(r, k)}})
	}
	return at
}

// length is that of a step along axis k, in either direction.
func (w *swarm) length(r *engine.Stream, k int) event.Time {
	digits := r.Int64N(int64(bits.Len64(uint64(w.Axes[k].Max))) + 1)
	by := event.Time(r.Between(1, 1<<digits))
	if r.Int64N(2) == 0 {
		return -by
	}
	return by
}

// mixture takes each axis from one of two points; of every fourth one lies on the other side
// of what divides them, half as far.
func (w *swarm) mixture(r *engine.Stream) []event.Time {
	a, b := w.one(r), w.one(r)
	at := slices.Clone(a)
	if r.Int64N(4) == 0 {
		for k := range at {
			at = w.moved(at, Move{{k, (a[k] - b[k]) / 2}})
		}
		return at
	}
	for k := range at {
		if r.Int64N(2) == 0 {
			at[k] = b[k]
		}
	}
	return at
}

// anywhere is any point, all alike, but for the axes that are better left at 0.
func (w *swarm) anywhere(r *engine.Stream) []event.Time {
	at := make([]event.Time, len(w.Axes))
	for k := range at {
		if a := &w.Axes[k]; !a.Rare || r.Int64N(4) == 0 {
			at[k] = event.Time(r.Between(0, int64(a.Max)))
		}
	}
	return at
}
