package timeline

import "github.com/whylate/whylate/event"

// schedSwitch takes the CPU from prev and gives it to next. prev must be the task that
// was current: where it is not, the switches between were lost.
func (tr *Tracker) schedSwitch(c *CPU, ev *event.Event, step *Step) {
	tr.Switches++
	prev := tr.task(ev.Task, ev.TaskComm, c)
	next := tr.task(ev.Next, ev.NextComm, c)
	step.Task, step.Next, step.NextWas = prev, next, next.Status
	if c.Current != nil && c.Current != prev {
		tr.Broken++
		step.BrokenFrom = c.Trusted
		c.forget(ev.CPU)
	}
	prev.leave(ev)
	if prev.Status == StatusDead && !prev.Idle() && ev.State&(event.StateDead|event.StateDeadOld) != 0 {
		tr.living.set(prev.PID, nil)
	}
	next.arrive(ev)
	c.Current, c.Since, c.Trusted = next, ev.Time, ev.Time
}

func (t *Task) leave(ev *event.Event) {
	t.CPU = ev.CPU
	t.seen(ev.TaskPrio)
	switch {
	case t.Idle():
		t.Status = StatusReady
	case ev.State.Dead():
		t.Status = StatusDead
	case ev.State.Runnable():
		t.Status = StatusReady
	case ev.State&event.StateUnknown != 0:
		t.Status = StatusUnknown
	default:
		t.Status = StatusBlocked
	}
}

func (t *Task) arrive(ev *event.Event) {
	t.CPU = ev.CPU
	t.seen(ev.NextPrio)
	t.Status = StatusRunning
	t.Yielding = false
}

// showsCurrent has the events whose common_pid surely is the task on the CPU. Function
// events may come between the stamp of sched_switch and the switch itself.
var showsCurrent = event.Kinds(event.SchedWaking, event.SchedWakeup, event.SchedWakeupNew, event.SchedStatRuntime,
	event.SoftirqRaise, event.SoftirqEntry, event.SoftirqExit, event.IRQHandlerEntry, event.IRQHandlerExit,
	event.HrtimerStart, event.HrtimerExpireEntry, event.SchedProcessExit, event.SchedProcessExec, event.SchedProcessFork,
	event.SchedProcessFree, event.SchedMigrateTask, event.SchedPISetprio, event.TaskNewtask, event.TaskRename, event.SysEnter,
	event.SysExit)

// checkCurrent compares the task in whose context ev was recorded with the one that
// the CPU is known to run. It learns the first task of the trace this way, and finds
// switches that were lost in pairs.
func (tr *Tracker) checkCurrent(c *CPU, ev *event.Event, step *Step) {
	if ev.PID == event.NoPID || !showsCurrent.Has(ev.Kind) {
		return
	}
	if c.Current != nil {
		if c.Current.PID == ev.PID {
			c.Trusted = ev.Time
			if ev.TGID != event.NoPID {
				c.Current.TGID = ev.TGID
			}
			return
		}
		tr.Broken++
		step.BrokenFrom = c.Trusted
		c.forget(ev.CPU)
	}
	t := tr.task(ev.PID, ev.Comm, c)
	t.Status, t.CPU = StatusRunning, ev.CPU
	c.Current, c.Since, c.Trusted = t, event.NoTime, ev.Time
}
