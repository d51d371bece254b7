package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// exitTeardown: the current task was dying and gave back its memory, files and locks at
// the priority that it had in life.
//
// Proven: from sched_process_exit to its final switch-out, on any kernel; from exit or
// exit_group, SIGKILL, do_group_exit, do_exit or exit_mm, if one of them is recorded.
//
// Likely: before sched_process_exit, where none of them is recorded, from the switch-in of
// the run that contains it; only if that switch-in ended a sleep (the task was neither
// preempted nor new) and the run shows no exec, rename, fork or hrtimer_start by the task.
// Where three interrupts in a row found the task with preemption on it was still at its own
// work: then from the last such stretch on, since the exit path holds locks, or is
// bound to its CPU, most of the time.
//
// Likely too after the mark, where the waiter would come first by its class: something else keeps
// it out as well. With system calls or a fatal signal recorded, the life of one that dies without
// a call is likely at most from its last sign on: part of that may be its exit.
//
// Not this: a task that computes and then exits, where the run began otherwise: it stays
// what it is, with the detail that part of it may be its exit. exit_mmap and mmput outside
// of do_exit: exec runs them too. A core dump: it is written before the exit.
var exitTeardown = Kind{
	Name:  "exit_teardown",
	Title: "exit teardown",
	Needs: []event.Kind{event.SchedProcessExit, event.SysEnter},
	Best:  Proven,
}

// livingMarks are what a task does in life, so that a run with one of them cannot be its
// exit alone.
const livingMarks = timeline.MarkExec | timeline.MarkRename | timeline.MarkFork | timeline.MarkTimerStart |
	timeline.MarkNew | timeline.MarkUnseenStart

func matchExitTeardown(p *piece) (Interval, bool) {
	if p.run == nil || p.cur.task.Idle() {
		return Interval{}, false
	}
	ti := &p.a.x.Tasks[p.run.Task]
	if ti.ExitMark == event.NoTime {
		return Interval{}, false
	}
	if p.from >= ti.ExitMark {
		i := p.blame(&exitTeardown, Proven)
		i.Evidence = append(i.Evidence, Ref{ti.ExitMark, p.cpu})
		if ti.LastOff != event.NoTime {
			i.Evidence = append(i.Evidence, Ref{ti.LastOff, p.cpu})
		}
		if p.demoted() || p.cameAfter() || p.lower() && p.waiter.class == ClassRT {
			i.Verdict = Likely
			i.Detail = "something else keeps the waiter out as well: by its class it would come first"
		}
		return i, true
	}
	from := p.a.exitFrom(p.run.Task)
	if !p.mayBeExit() || from == event.NoTime || p.from < from {
		return Interval{}, false
	}
	i := p.blame(&exitTeardown, Likely)
	i.Detail = "it died at the end of this run, which began with a wake and shows nothing else"
	i.Needs = p.a.exitNeeds()
	i.Evidence = append(i.Evidence, Ref{ti.ProcessExit, p.cpu})
	return i, true
}

// demoted reports whether the current task, by no boost that ended, went first at the beginning
// of this part of its run and goes after the waiter at its end.
func (p *piece) demoted() bool {
	comm, part := p.a.comm(p.run.Comm), p.a.x.SteadyAt(p.run, p.from)
	in, out := ClassOf(part.In, comm, false), ClassOf(part.Out, comm, false)
	return in != ClassUnknown && out != ClassUnknown && rank(in, part.In) <= p.waiter.rank && rank(out, part.Out) > p.waiter.rank
}

// mayBeExit reports whether the piece lies before the exit mark in the run that contains
// it, and nothing earlier than sched_process_exit marks the exit.
func (p *piece) mayBeExit() bool {
	ti := &p.a.x.Tasks[p.run.Task]
	return ti.ExitMark != event.NoTime && ti.ExitMark == ti.ProcessExit &&
		ti.ExitMark >= p.run.Start && ti.ExitMark <= p.run.End
}

// orItsExit adds to i that part of it may be the exit of the task, where that is so: from its
// last sign of life on, which may lie some runs before the one in which it dies. Where system
// calls or signals are recorded, an exit without a call comes from a signal, and is likely to
// be much of that.
func (p *piece) orItsExit(i Interval) Interval {
	ti := &p.a.x.Tasks[p.run.Task]
	calls := p.a.x.Occurs(event.SysEnter)
	// The trace may end before it is dead: a signal, and no system call since.
	ending := calls && ti.ExitMark == event.NoTime && ti.LastOff == event.NoTime &&
		ti.SignalAt != event.NoTime && ti.SignalAt == ti.AliveAt
	if !ending && !p.diesUnmarked(ti) {
		return i
	}
	since := ti.AliveAt
	if !calls {
		since = max(since, ti.WokeAt) // it may sleep in its exit, but mostly does so in life
	}
	if since == event.NoTime && !p.mayBeExit() || since != event.NoTime && p.from < since {
		return i
	}
	if calls || ti.AliveAt != event.NoTime && ti.AliveAt == ti.SignalAt {
		i.Verdict = min(i.Verdict, Likely)
	}
	i.Detail = "died at the end of this run; part of it may be its exit"
	switch {
	case ending:
		i.Detail = "it shows no sign of life after a signal; part of it may be its exit"
	case !p.mayBeExit():
		i.Detail = "died without another sign of life; part of it may be its exit"
	}
	i.Needs = append(i.Needs, p.a.exitNeeds()...)
	return i
}

// diesUnmarked reports whether the task dies in the trace without an event that marks where its
// exit begins, later than the piece.
func (p *piece) diesUnmarked(ti *timeline.TaskIndex) bool {
	if ti.ExitMark == event.NoTime {
		return ti.LastOff != event.NoTime && ti.SignalAt != event.NoTime
	}
	return ti.ExitMark == ti.ProcessExit && p.from < ti.ExitMark
}

// exitNeeds has the event that would show where an exit begins.
func (a *Analysis) exitNeeds() []string {
	switch {
	case !a.x.Occurs(event.SysEnter):
		return []string{"raw_syscalls:sys_enter"}
	case !a.x.Occurs(event.SignalDeliver):
		return []string{"signal:signal_deliver"}
	}
	return []string{"function do_exit"}
}

// exitFrom returns the moment from which the last run of a task is likely its exit, NoTime
// if that cannot be said.
func (a *Analysis) exitFrom(id timeline.TaskID) event.Time {
	if int(id) < len(a.exits) {
		return a.exits[id]
	}
	return event.NoTime
}

// findExits fills exits.
func (a *Analysis) findExits() {
	a.exits = make([]event.Time, len(a.x.Tasks))
	for i := range a.exits {
		a.exits[i] = event.NoTime
	}
	for c := range a.x.CPUs {
		ci := &a.x.CPUs[c]
		for i := range ci.Runs {
			r := &ci.Runs[i]
			mark := a.x.Tasks[r.Task].ExitMark
			if mark == event.NoTime || mark != a.x.Tasks[r.Task].ProcessExit || mark < r.Start || mark > r.End {
				continue
			}
			if r.Marks.Has(timeline.MarkFromSleep) && r.Marks&livingMarks == 0 {
				a.exits[r.Task] = a.afterWork(ci, r.Start, mark)
			}
		}
	}
}

// ownWork is how many interrupts in a row must find a task with preemption on to show that
// it is not in its exit.
const ownWork = 3

// afterWork returns the last moment in [from, to) at which interrupts show that the current
// task was at its own work, from if they do not.
func (a *Analysis) afterWork(ci *timeline.CPUIndex, from, to event.Time) event.Time {
	if !a.x.CountsPreempt {
		return from
	}
	list := ci.Expiries
	n := sort.Search(len(list), func(i int) bool { return list[i].At >= from })
	inARow, start := 0, from
	for ; n < len(list) && list[n].At < to; n++ {
		e := &list[n]
		switch {
		case !e.Hard || !e.Flags.Has(event.HardIRQ):
			continue
		case e.Depth > 0 || e.Migrate > 0:
			inARow = 0
			continue
		}
		if inARow++; inARow >= ownWork {
			start = e.At
		}
	}
	return start
}
