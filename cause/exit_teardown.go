package cause

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// exitTeardown: the current task was dying and gave back its memory, files and locks at
// the priority that it had in life.
//
// Proven: from sched_process_exit to its final switch-out, on any kernel; from exit or
// exit_group, do_group_exit, do_exit or exit_mm, if one of them is recorded.
//
// Likely: before sched_process_exit, where none of them is recorded, from the switch-in of
// the run that contains it; only if that switch-in ended a sleep (the task was neither
// preempted nor new) and the run shows no exec, rename, fork or hrtimer_start by the task.
//
// Not this: a task that computes and then exits, where the run began otherwise: it stays
// what it is, with the detail that part of it may be its exit. exit_mmap and mmput outside
// of do_exit: exec runs them too.
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
		return i, true
	}
	if !p.mayBeExit() || !p.run.Marks.Has(timeline.MarkFromSleep) || p.run.Marks&livingMarks != 0 {
		return Interval{}, false
	}
	i := p.blame(&exitTeardown, Likely)
	i.Detail = "it died at the end of this run, which began with a wake and shows nothing else"
	i.Needs = []string{"raw_syscalls:sys_enter"}
	i.Evidence = append(i.Evidence, Ref{ti.ProcessExit, p.cpu})
	return i, true
}

// mayBeExit reports whether the piece lies before the exit mark in the run that contains
// it, and nothing earlier than sched_process_exit marks the exit.
func (p *piece) mayBeExit() bool {
	ti := &p.a.x.Tasks[p.run.Task]
	return ti.ExitMark != event.NoTime && ti.ExitMark == ti.ProcessExit &&
		ti.ExitMark >= p.run.Start && ti.ExitMark <= p.run.End
}

// orItsExit adds to i that part of it may be the exit of the task, where that is so.
func (p *piece) orItsExit(i Interval) Interval {
	if p.mayBeExit() && p.from < p.a.x.Tasks[p.run.Task].ExitMark {
		i.Detail = "died at the end of this run; part of it may be its exit"
		i.Needs = append(i.Needs, "raw_syscalls:sys_enter")
	}
	return i
}
