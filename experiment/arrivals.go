package experiment

import (
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/workload"
)

// Vary says which arrivals are chosen.
type Vary uint8

// What may vary.
const (
	// VaryPhase: when the task starts; from then on it arrives as the scenario says.
	VaryPhase Vary = iota
	// VaryArrivals: each of its first arrivals may also come later than the scenario says,
	// and moves those behind it: a period becomes the least distance of two arrivals.
	VaryArrivals
	// VaryAll: also when other tasks and interrupts start.
	VaryAll
)

// Arrivals are the instants at which a task of a scenario arrives, as the axes of a Search. A
// task that waits for a semaphore instead of the clock arrives when its interrupts do, or
// the tasks that raise it.
type Arrivals struct {
	plan  *scenario.Plan
	setup *scenario.Setup
	task  int
	moved []moving
	main  int // of moved: what the points sweep over
	axes  []Axis
	base  []event.Time // the scenario as it is
	lead  event.Time   // from the start of the task to its first arrival
	cut   bool         // not all instants without the task were kept
	cycle event.Time   // the least distance of two arrivals; 0: there are no two
}

// moving is a task or an interrupt with axes of its own: when it starts, then its sleeps.
type moving struct {
	irq    bool
	index  int
	axis   int
	sleeps int // how many of its sleeps may be longer; axes behind axis
}

// mostSleeps is how many arrivals of a task may come later on their own.
const mostSleeps = 16

// NewArrivals returns the arrivals of the task called task, by its name in the scenario or by
// that of one of its threads. The plan must not be changed afterwards. Errors name the tasks
// that there are, or say that no setup can be made of the plan.
func NewArrivals(p *scenario.Plan, task string, vary Vary) (*Arrivals, error) {
	setup, err := p.Setup()
	if err != nil {
		return nil, err
	}
	a := &Arrivals{plan: p, setup: setup}
	if a.task, err = taskNamed(setup.Load, task); err != nil {
		return nil, err
	}
	a.add(false, a.task, vary)
	for _, m := range a.wakers() {
		a.add(m.irq, m.index, vary)
	}
	if len(a.moved) > 1 && !sleeps(&setup.Load.Tasks[a.task]) {
		a.main = 1
	}
	if vary == VaryAll {
		for i := range setup.Load.Tasks {
			a.add(false, i, VaryPhase)
		}
		for i := range setup.Load.IRQs {
			a.add(true, i, VaryPhase)
		}
	}
	return a, nil
}

// taskNamed finds a task by its name or that of one of its threads.
func taskNamed(l *workload.Spec, name string) (int, error) {
	var known []string
	thread := 0
	for i := range l.Tasks {
		t := &l.Tasks[i]
		if t.Instances == 0 {
			continue // it starts only where others fork it
		}
		if t.Name == name {
			return i, nil
		}
		for k := range t.Instances {
			if t.Called(thread+k) == name {
				return i, nil
			}
		}
		thread += t.Instances
		known = append(known, t.Name)
	}
	return -1, nearest.Unknown("task of the scenario", name, known)
}

// add gives a task or an interrupt its axes, once.
func (a *Arrivals) add(irq bool, index int, vary Vary) {
	if slices.ContainsFunc(a.moved, func(m moving) bool { return m.irq == irq && m.index == index }) {
		return
	}
	m := moving{irq: irq, index: index, axis: len(a.axes)}
	if irq {
		q := &a.setup.Load.IRQs[index]
		if q.Every <= 0 {
			return // devices raise it
		}
		a.axis(q.Name+" starts", q.Every, q.Offset, false)
		a.moved = append(a.moved, m)
		return
	}
	t := &a.setup.Load.Tasks[index]
	if t.Instances == 0 {
		return
	}
	a.axis(t.Name+" starts", a.span(), t.Delay, false)
	if vary != VaryPhase {
		for ; m.sleeps < mostSleeps && sleeps(t); m.sleeps++ {
			was := event.Time(0)
			if m.sleeps < len(t.Later) {
				was = t.Later[m.sleeps]
			}
			a.axis(fmt.Sprintf("%s, sleep %d", t.Name, m.sleeps+1), a.span(), was, true)
		}
	}
	a.moved = append(a.moved, m)
}

func (a *Arrivals) axis(name string, most, was event.Time, rare bool) {
	a.axes = append(a.axes, Axis{Name: name, Max: max(most, was), Rare: rare})
	a.base = append(a.base, was)
}

// span is how late something may be: until the program ends.
func (a *Arrivals) span() event.Time {
	if d := a.setup.Load.Duration; d >= 0 {
		return d
	}
	return openSpan
}

// openSpan stands for the length of a program that ends by itself.
const openSpan event.Time = 1_000_000_000

// sleeps reports whether the task has sleeps that the clock ends.
func sleeps(t *workload.Task) bool {
	for i := range t.Phases {
		for j := range t.Phases[i].Ops {
			switch t.Phases[i].Ops[j].Kind {
			case workload.OpSleep, workload.OpTimer, workload.OpUnique:
				return true
			}
		}
	}
	return false
}

// wakers are the interrupts and tasks that raise a semaphore for which the task waits.
func (a *Arrivals) wakers() []moving {
	l := a.setup.Load
	waits := map[int]bool{}
	each := func(i int, kind workload.OpKind, f func(int)) {
		for _, ph := range l.Tasks[i].Phases {
			for _, op := range ph.Ops {
				if op.Kind == kind {
					f(op.Ref)
				}
			}
		}
	}
	each(a.task, workload.OpSemWait, func(sem int) { waits[sem] = true })
	var list []moving
	for i := range l.IRQs {
		if l.IRQs[i].Post >= 0 && waits[l.IRQs[i].Post] {
			list = append(list, moving{irq: true, index: i})
		}
	}
	for i := range l.Tasks {
		posts := false
		each(i, workload.OpSemPost, func(sem int) { posts = posts || waits[sem] })
		if posts {
			list = append(list, moving{index: i})
		}
	}
	return list
}

// Axes are those of a Search.
func (a *Arrivals) Axes() []Axis { return a.axes }

// Base is the point at which everything arrives as the scenario says.
func (a *Arrivals) Base() []event.Time { return slices.Clone(a.base) }

// Task is the index of the task in the load.
func (a *Arrivals) Task() int { return a.task }

// Plan is what the arrivals are of.
func (a *Arrivals) Plan() *scenario.Plan { return a.plan }

// PIDs are those of the threads of the task.
func (a *Arrivals) PIDs() []event.PID {
	first := a.setup.Load.PID + 1
	for i := range a.task {
		first += event.PID(a.setup.Load.Tasks[i].Instances)
	}
	list := make([]event.PID, a.setup.Load.Tasks[a.task].Instances)
	for i := range list {
		list[i] = first + event.PID(i)
	}
	return list
}

// Setup is the scenario with the arrivals of a point. It shares with other setups what they
// have in common, none of which may be changed.
func (a *Arrivals) Setup(at []event.Time) *scenario.Setup { return a.setup.Arrive(a.list(at)) }

// Changes are the arrivals of a point in the grammar of changes: those that differ from the
// scenario.
func (a *Arrivals) Changes(at []event.Time) []string {
	list := a.list(at)
	out := list[:0]
	for _, x := range list {
		was := scenario.Arrival{}
		if x.IRQ {
			was.Delay = a.setup.Load.IRQs[x.Index].Offset
		} else {
			was.Delay, was.Later = a.setup.Load.Tasks[x.Index].Delay, a.setup.Load.Tasks[x.Index].Later
		}
		if was.Delay == x.Delay {
			x.Delay = event.NoTime
		}
		if sameSleeps(was.Later, x.Later) {
			x.Later = nil
		}
		out = append(out, x)
	}
	return a.plan.ArrivalChanges(out)
}

// sameSleeps reports whether two lists say the same: what is beyond a list is 0.
func sameSleeps(a, b []event.Time) bool {
	for len(a) < len(b) {
		a = append(a[:len(a):len(a)], 0)
	}
	for i := range a {
		if i >= len(b) && a[i] != 0 || i < len(b) && a[i] != b[i] {
			return false
		}
	}
	return true
}

// list is what a point says of each task and interrupt.
func (a *Arrivals) list(at []event.Time) []scenario.Arrival {
	list := make([]scenario.Arrival, 0, len(a.moved))
	for _, m := range a.moved {
		x := scenario.Arrival{IRQ: m.irq, Index: m.index, Delay: at[m.axis]}
		if m.sleeps > 0 {
			x.Later = slices.Clone(at[m.axis+1 : m.axis+1+m.sleeps])
			if was := a.setup.Load.Tasks[m.index].Later; len(was) > m.sleeps {
				x.Later = append(x.Later, was[m.sleeps:]...)
			}
		}
		list = append(list, x)
	}
	return list
}
