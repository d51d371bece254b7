package experiment

import (
	"cmp"
	"context"
	"slices"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
)

// Points are the first points of a search: the scenario as it is, then starts of the task at
// which an arrival meets something. Behaviour changes only where an arrival passes an event of
// the others, so the instants are those of the events in a run without the task, each also
// 1 ns before and after. With all points the task is there long before: it starts in its
// first cycle, so that some arrival meets the event. Then come starts of the first cycle on an even grid, resolution apart;
// 0: at most a few hundred. At last it starts so late that its first arrival meets the event.
// kinds says how many points are of which kind. Where not the clock but others wake the task,
// the first of them is what starts.
func (a *Arrivals) Points(ctx context.Context, resolution event.Time) (points [][]event.Time, kinds PointKinds, err error) {
	if err := a.learn(ctx); err != nil {
		return nil, kinds, err
	}
	axis := a.moved[a.main].axis
	seen := map[event.Time]bool{a.base[axis]: true}
	points = append(points, a.Base())
	add := func(delay event.Time) int {
		if delay < 0 || delay > a.axes[axis].Max || seen[delay] {
			return 0
		}
		seen[delay] = true
		at := a.Base()
		at[axis] = delay
		points = append(points, at)
		return 1
	}
	times, err := a.undisturbed(ctx)
	if err != nil {
		return nil, kinds, err
	}
	kinds.Instants, kinds.Cut = len(times), a.cut
	cycle := a.cycle
	if cycle <= 0 {
		cycle = a.axes[axis].Max + 1
	}
	shuffle(times)
	for _, t := range times {
		for _, d := range []event.Time{0, -1, 1} {
			kinds.Cycle += add(((t-a.lead+d)%cycle + cycle) % cycle)
		}
	}
	if resolution <= 0 {
		resolution = roundUp(max(cycle/mostGrid, 1))
	}
	kinds.Resolution = resolution
	for _, d := range even(cycle, resolution) {
		kinds.Grid += add(d)
	}
	for _, t := range times {
		for _, d := range []event.Time{0, -1, 1} {
			kinds.First += add(t - a.lead + d)
		}
	}
	return points, kinds, nil
}

// PointKinds counts the points of Points.
type PointKinds struct {
	Instants   int  // at which something happens in the run without the task
	Cut        bool // there are more of them, later ones
	Cycle      int  // starts in the first cycle that meet one
	Grid       int  // starts in the first cycle, Resolution apart, that are no Cycle
	First      int  // later starts whose first arrival meets one
	Resolution event.Time
}

// even are the multiples of step below end, at most a million of them.
func even(end, step event.Time) []event.Time {
	const most = 1_000_000
	var list []event.Time
	for d := event.Time(0); d < end && len(list) < most; d += step {
		list = append(list, d)
	}
	shuffle(list)
	return list
}

// shuffle puts list into an order of which each beginning lies about even over the whole: a
// search that ends early has then looked everywhere.
func shuffle(list []event.Time) {
	r := engine.NewStream(0, "experiment/points")
	for i := len(list) - 1; i > 0; i-- {
		k := r.Int64N(int64(i) + 1)
		list[i], list[k] = list[k], list[i]
	}
}

// mostGrid is how many points a grid has that nobody asked for.
const mostGrid = 256

// roundUp is the next number of the form 1, 2 or 5 times a power of ten.
func roundUp(n event.Time) event.Time {
	for p := event.Time(1); ; p *= 10 {
		for _, m := range []event.Time{1, 2, 5} {
			if m*p >= n {
				return m * p
			}
		}
	}
}

// learn finds out from the scenario as it is when the task first arrives and how far its
// arrivals are from each other.
func (a *Arrivals) learn(ctx context.Context) error {
	last := event.NoTime
	p := scenario.Probe{}
	first := event.NoTime
	thread := -1
	p.Job = func(j scenario.Job) {
		if j.Task != a.task || thread >= 0 && j.Thread != thread {
			return
		}
		if thread = j.Thread; first == event.NoTime {
			first = j.Released
		}
		if d := j.Released - last; last != event.NoTime && d > 0 && (a.cycle == 0 || d < a.cycle) {
			a.cycle = d
		}
		last = j.Released
	}
	if err := p.Run(ctx, a.setup); err != nil {
		return err
	}
	if first != event.NoTime && p.Zero != event.NoTime {
		a.lead = first - p.Zero - a.base[a.moved[a.main].axis]
	}
	return nil
}

// mostInstants bounds what is kept of a run.
const mostInstants = 1 << 16

// undisturbed are the instants, from the common start on, at which something happens in a run
// without the task, in their order, each once.
func (a *Arrivals) undisturbed(ctx context.Context) ([]event.Time, error) {
	setup := a.setup
	if m := a.moved[a.main]; !m.irq {
		setup = setup.Arrive([]scenario.Arrival{{Index: m.index, Delay: a.span() + openSpan}})
	}
	var times []event.Time
	p := scenario.Probe{Event: func(ev *event.Event) {
		switch n := len(times); {
		case n > 0 && times[n-1] == ev.Time:
		case n < mostInstants:
			times = append(times, ev.Time)
		default:
			a.cut = true
		}
	}}
	if err := p.Run(ctx, setup); err != nil {
		return nil, err
	}
	zero := max(p.Zero, p.Start)
	out := times[:0]
	for _, t := range times {
		if t >= zero && t-zero <= a.span() {
			out = append(out, t-zero)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// mostNear bounds the steps that are named for one point.
const mostNear = 512

// Near names the steps that make an arrival of the task meet something else that happens
// around it: by moving the arrival, its start or the sleep before it, and by moving the
// starts of others to the arrival. when is the instant of the arrival.
func (a *Arrivals) Near(ctx context.Context, at []event.Time, when event.Time) ([]Move, error) {
	if when == event.NoTime {
		return nil, nil
	}
	n := near{a: a, at: at, when: when, sleep: -1}
	p := scenario.Probe{Event: n.event, Job: n.job}
	if err := p.Run(ctx, a.Setup(at)); err != nil {
		return nil, err
	}
	return n.moves(), nil
}

// near collects what happens around an arrival.
type near struct {
	a     *Arrivals
	at    []event.Time
	when  event.Time
	sleep int          // before the arrival; −1: none that could be longer
	times []event.Time // of events
	done  event.Time   // of the job
	// others are the distances from arrivals of other tasks to this one, by task.
	others map[int][]event.Time
}

func (n *near) reach() event.Time { return max(n.a.cycle, 1_000_000) }

func (n *near) event(ev *event.Event) {
	if d := ev.Time - n.when; d >= -n.reach() && d <= 4*n.reach() && len(n.times) < mostInstants {
		n.times = append(n.times, d)
	}
}

func (n *near) job(j scenario.Job) {
	if j.Task == n.a.task && j.Released == n.when {
		n.sleep, n.done = j.Sleep, j.Done
	}
	if d := n.when - j.Released; j.Task != n.a.task && d >= -4*n.reach() && d <= 4*n.reach() {
		if n.others == nil {
			n.others = map[int][]event.Time{}
		}
		n.others[j.Task] = append(n.others[j.Task], d)
	}
}

// moves are ordered by how far they lead: what just does not meet comes first.
func (n *near) moves() []Move {
	var list []Move
	for i, m := range n.a.moved {
		if m.irq || m.index == n.a.task {
			continue
		}
		ds := n.others[m.index]
		slices.SortFunc(ds, nearer)
		for _, d := range ds[:min(len(ds), 4)] {
			for _, e := range []event.Time{0, 1, -1} {
				list = append(list, Move{{n.a.moved[i].axis, d + e}})
			}
		}
	}
	slices.SortFunc(n.times, nearer)
	for _, d := range slices.Compact(n.times) {
		for _, e := range []event.Time{0, 1, -1} {
			for _, m := range n.a.moved {
				if !m.irq && m.index == n.a.task {
					list = append(list, n.shift(m, d+e)...)
				}
				if m.irq {
					list = append(list, Move{{m.axis, -d + e}})
				}
			}
		}
		if len(list) >= mostNear {
			break
		}
	}
	return list[:min(len(list), mostNear)]
}

// shift moves the arrival by d: by the start of the task, and by the sleep before it.
func (n *near) shift(m moving, d event.Time) []Move {
	if d == 0 {
		return nil
	}
	list := []Move{{{m.axis, d}}}
	if n.sleep >= 0 && n.sleep < m.sleeps {
		list = append(list, Move{{m.axis + 1 + n.sleep, d}})
	}
	return list
}

func nearer(a, b event.Time) int { return cmp.Or(cmp.Compare(abs(a), abs(b)), cmp.Compare(a, b)) }

func abs(n event.Time) event.Time { return max(n, -n) }
