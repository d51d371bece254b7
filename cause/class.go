package cause

import (
	"fmt"
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// Class is a scheduling class, in the order in which the kernel asks them.
type Class uint8

// The classes. ClassUnknown is a task whose priority no event told.
const (
	ClassUnknown Class = iota
	ClassStop
	ClassDeadline
	ClassRT
	ClassFair
	ClassIdle
)

// String is the word of the JSON.
func (c Class) String() string {
	return [...]string{"unknown", "stop", "dl", "rt", "fair", "idle"}[c]
}

// ClassOf derives the class from what a trace shows: the priority, and for the stop
// class and the idle task who it is.
func ClassOf(prio event.Prio, comm string, idle bool) Class {
	switch {
	case idle:
		return ClassIdle
	case prio == event.NoPrio:
		return ClassUnknown
	case prio == 0 && kernel.IsStopper(comm):
		return ClassStop
	case prio.Deadline():
		return ClassDeadline
	case prio.RealTime():
		return ClassRT
	}
	return ClassFair
}

// spoken says a priority as users set it: RT 40, nice 5, DEADLINE.
func spoken(p event.Prio) string {
	switch {
	case p.Deadline():
		return "DEADLINE"
	case p.RealTime():
		return fmt.Sprintf("RT %d", event.MaxRTPrio-1-p)
	}
	return fmt.Sprintf("nice %d", p-event.DefaultPrio)
}

// rank orders tasks by who goes first: lower is earlier. Fair tasks are all alike, and
// so are deadline tasks, whose deadlines no event shows.
func rank(c Class, prio event.Prio) int {
	switch c {
	case ClassStop:
		return -2
	case ClassDeadline:
		return -1
	case ClassRT:
		return int(prio)
	case ClassFair:
		return 1000
	case ClassIdle:
		return 2000
	}
	return 1500
}

// running is what is known of the current task of a piece.
type running struct {
	task     *timeline.Task
	prio     event.Prio
	class    Class
	rank     int
	base     event.Prio
	baseRank int
	boosted  bool
	// inferred is set where the class had to be guessed from a change in this run that
	// left no event; proven then says that the accounting shows it.
	inferred, charged      bool
	chargedFrom, chargedTo event.Time // what the accounting covers
}

// runningAt says who the run r is at t and with which priority, as seen by a waiter of
// the given rank.
func (a *Analysis) runningAt(r *timeline.Run, t event.Time, waiter int) running {
	task := a.x.Tracker.Task(r.Task)
	comm := a.x.Names.String(r.Comm)
	g := running{task: task}
	g.prio, g.base, g.boosted = a.x.PrioAt(r, t)
	g.class = ClassOf(g.prio, comm, task.Idle())
	g.rank = rank(g.class, g.prio)
	g.baseRank = rank(ClassOf(g.base, comm, task.Idle()), g.base)
	part := a.x.SteadyAt(r, t)
	first, last, n := part.In, part.Out, len(part.Calls)
	if task.Idle() || first == event.NoPrio || n > 0 && t < part.Calls[0] {
		return g
	}
	if r.Marks.Has(timeline.MarkRaised) && !g.boosted && !a.x.Occurs(event.SchedPISetprio) {
		g.inferred = true // somebody else raised it: most likely by a lock, and such events are not recorded
		return g
	}
	if n == 0 && (last == event.NoPrio || first == last) {
		// The accounting may show one that was real-time in between.
		g.inferred = g.class == ClassFair && r.Marks.Has(timeline.MarkRTCharged)
		return g
	}
	// What a task is in the end of the run in which it dies its exit may have made of it.
	ti := &a.x.Tasks[r.Task]
	alive := ti.ExitMark != event.NoTime && (ti.ExitMark <= r.End && t < ti.ExitMark ||
		ti.SignalAt >= r.Start && ti.SignalAt <= r.End && t < ti.SignalAt)
	if n == 0 && alive && a.x.Occurs(event.SysEnter) {
		return g
	}
	if last == event.NoPrio {
		g.inferred = true
		return g
	}
	// sched_setscheduler left no event. Of the two priorities take the one that
	// explains why the waiter did not run; after the last system call that may have changed
	// it, the one that it has in the end.
	out := ClassOf(last, comm, false)
	outRank := rank(out, last)
	after := n > 0 && t >= part.Calls[n-1] && !alive
	if (n == 0 || after) && out == g.class && outRank == g.rank {
		return g // another nice value: whoever it keeps waiting, it does so as before
	}
	if after || outRank < g.rank && g.rank >= waiter {
		g.prio, g.class, g.rank = last, out, outRank
		if !g.boosted {
			g.base, g.baseRank = g.prio, g.rank
		}
	}
	if after {
		return g
	}
	g.inferred = true
	if n == 0 && r.Marks.Has(timeline.MarkRTCharged) && g.class == ClassRT && ClassOf(first, comm, false) != out {
		g.chargedFrom, g.chargedTo = a.chargedAsRT(r)
		if g.chargedFrom < g.chargedTo && ClassOf(first, comm, false) == ClassRT {
			g.chargedFrom = r.Start
		}
		if g.chargedFrom < g.chargedTo && out == ClassRT {
			g.chargedTo = r.End
		}
		g.charged = g.chargedFrom <= t && t < g.chargedTo
	}
	return g
}

// chargedAsRT returns the stretch of r, which began or ended as something else, that was charged
// as real-time; empty where none was.
func (a *Analysis) chargedAsRT(r *timeline.Run) (from, to event.Time) {
	n := slices.IndexFunc(a.x.Tasks[r.Task].RanOn, func(s timeline.Stay) bool { return a.holds(s.CPU, r) })
	if n < 0 {
		return r.Start, r.Start
	}
	list := a.x.CPUs[a.x.Tasks[r.Task].RanOn[n].CPU].Charges
	from, to = r.End, r.Start
	for i := sort.Search(len(list), func(i int) bool { return list[i].At > r.Start }); i < len(list) && list[i].At <= r.End; i++ {
		if c := &list[i]; c.Task == r.Task {
			from, to = min(from, max(r.Start, c.At-event.Time(c.NS))), c.At
		}
	}
	return from, to
}

// holds reports whether r is one of the runs of c.
func (a *Analysis) holds(c event.CPU, r *timeline.Run) bool {
	n := a.x.RunAt(c, r.Start)
	return n >= 0 && &a.x.CPUs[c].Runs[n] == r
}
