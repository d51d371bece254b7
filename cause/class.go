package cause

import (
	"fmt"

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
	inferred, charged bool
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
	first, last := a.x.ClassBetween(r, t)
	if task.Idle() || last == event.NoPrio || first == event.NoPrio || first == last {
		return g
	}
	// sched_setscheduler left no event. Of the two priorities take the one that
	// explains why the waiter did not run.
	out := ClassOf(last, comm, false)
	outRank := rank(out, last)
	if out == g.class && outRank == g.rank {
		return g // another nice value: whoever it keeps waiting, it does so as before
	}
	if outRank < g.rank && g.rank >= waiter {
		g.prio, g.class, g.rank = last, out, outRank
		g.base, g.baseRank = g.prio, g.rank
	}
	g.inferred = true
	g.charged = r.Marks.Has(timeline.MarkRTCharged) && g.class == ClassRT
	return g
}
