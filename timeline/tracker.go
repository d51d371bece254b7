package timeline

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
)

// maxCPUs bounds the CPU numbers that are believed; NR_CPUS of any kernel is lower.
const maxCPUs = 8192

// Needs has the kinds that a Tracker must see for its state and its checks.
var Needs = event.Kinds(event.SchedSwitch, event.SchedWaking, event.SchedWakeup, event.SchedWakeupNew,
	event.SchedMigrateTask, event.SchedPISetprio, event.SchedProcessFork, event.SchedProcessExec,
	event.SchedProcessExit, event.SchedProcessFree, event.TaskNewtask, event.TaskRename, event.SysEnter,
	event.SysExit) | showsCurrent

// CPU is what the tracker knows of one CPU.
type CPU struct {
	Current *Task      // nil: not known
	Since   event.Time // when Current was switched in; NoTime: before the trace or unseen
	Trusted event.Time // last event that agreed with Current
	idle    *Task
}

// Tracker follows a stream of events.
type Tracker struct {
	machine string
	names   *event.Names
	cpus    []CPU
	tasks   []*Task
	living  pidTable

	// Switches counts the sched_switch events.
	Switches int64
	// Broken counts sched_switch events whose prev was not the task that the CPU was
	// known to run.
	Broken int64
	// OddCPU counts events that name a CPU no kernel has; they are passed over.
	OddCPU int64
}

// Step says what an event meant for the state.
type Step struct {
	Task *Task // the task that the event is about (prev of a switch); nil: none
	Next *Task // of a switch; the child of a fork
	// NextWas is what Next was doing before the switch.
	NextWas Status
	// BrokenFrom, unless NoTime, is the moment from which until now nothing is known
	// of the CPU: events were lost, or the chain of switches does not fit.
	BrokenFrom event.Time
}

// NewTracker returns a tracker that knows nothing yet. machine is uname -m, "" if
// unknown; it chooses the numbers of system calls. names are those of the events.
func NewTracker(machine string, names *event.Names) *Tracker {
	return &Tracker{machine: machine, names: names}
}

// CPU returns the state of c, or nil for one that no event named.
func (tr *Tracker) CPU(c event.CPU) *CPU {
	if c < 0 || int(c) >= len(tr.cpus) {
		return nil
	}
	return &tr.cpus[c]
}

// CPUs returns one more than the highest CPU number seen.
func (tr *Tracker) CPUs() int { return len(tr.cpus) }

// Task returns the task numbered id; id must come from this tracker.
func (tr *Tracker) Task(id TaskID) *Task { return tr.tasks[id] }

// Tasks returns how many tasks were seen.
func (tr *Tracker) Tasks() int { return len(tr.tasks) }

// Living returns the task that now has pid, nil if none was seen. Idle tasks are found
// through their CPU instead.
func (tr *Tracker) Living(pid event.PID) *Task { return tr.living.get(pid) }

func (tr *Tracker) cpu(c event.CPU) *CPU {
	if c < 0 || c >= maxCPUs {
		return nil
	}
	for int(c) >= len(tr.cpus) {
		tr.cpus = append(tr.cpus, CPU{Since: event.NoTime, Trusted: event.NoTime})
	}
	return &tr.cpus[c]
}

func (tr *Tracker) add(pid event.PID, comm event.Name) *Task {
	t := &Task{ID: TaskID(len(tr.tasks)), PID: pid, TGID: event.NoPID, Comm: comm, CPU: event.NoCPU,
		Prio: event.NoPrio, Base: event.NoPrio}
	tr.tasks = append(tr.tasks, t)
	return t
}

// task returns the living task of pid, a new one where there is none. Pid 0 is the idle
// task of c.
func (tr *Tracker) task(pid event.PID, comm event.Name, c *CPU) *Task {
	if pid == 0 {
		if c.idle == nil {
			c.idle = tr.add(0, comm)
		}
		if comm != 0 {
			c.idle.Comm = comm
		}
		return c.idle
	}
	t := tr.living.get(pid)
	if t == nil {
		t = tr.add(pid, comm)
		tr.living.set(pid, t)
	}
	if comm != 0 {
		t.Comm = comm
	}
	return t
}

// create begins a new task at pid, whatever had the number before.
func (tr *Tracker) create(pid event.PID, comm event.Name) *Task {
	if t := tr.living.get(pid); t != nil && t.Status == StatusNew {
		t.Comm = comm // task_newtask came before sched_process_fork
		return t
	}
	t := tr.add(pid, comm)
	t.Status = StatusNew
	tr.living.set(pid, t)
	return t
}

// Push takes in the next event.
func (tr *Tracker) Push(ev *event.Event) Step {
	step := Step{BrokenFrom: event.NoTime}
	c := tr.cpu(ev.CPU)
	if c == nil {
		tr.OddCPU++
		return step
	}
	switch ev.Kind {
	case event.Gap:
		tr.gap(c, ev, &step)
		return step
	case event.SchedSwitch:
		tr.schedSwitch(c, ev, &step)
		return step
	case event.SchedProcessExec:
		tr.exec(c, ev, &step)
	}
	tr.checkCurrent(c, ev, &step)
	switch ev.Kind {
	case event.SchedWaking, event.SchedWakeup, event.SchedMigrateTask:
		if ev.Task > 0 {
			step.Task = tr.task(ev.Task, ev.TaskComm, c)
			step.Task.seen(ev.TaskPrio)
		}
	case event.SchedWakeupNew:
		if ev.Task > 0 {
			step.Task = tr.wokenNew(ev)
		}
	case event.SchedPISetprio:
		if ev.Task > 0 {
			step.Task = tr.task(ev.Task, ev.TaskComm, c)
			step.Task.setprio(ev.TaskPrio, ev.NextPrio)
		}
	case event.SchedProcessFork:
		step.Task = tr.task(ev.Task, ev.TaskComm, c)
		if ev.Next > 0 {
			step.Next = tr.create(ev.Next, ev.NextComm)
			step.Next.Parent = step.Task
		}
	case event.TaskNewtask:
		if ev.Task > 0 {
			step.Next = tr.create(ev.Task, ev.TaskComm)
			step.Next.Parent = c.Current
		}
	case event.TaskRename:
		if ev.Task > 0 {
			step.Task = tr.task(ev.Task, ev.NextComm, c)
		}
	case event.SchedProcessExit, event.SchedStatRuntime:
		if ev.Task > 0 {
			step.Task = tr.task(ev.Task, ev.TaskComm, c)
		}
	case event.SchedProcessFree:
		tr.free(ev, &step)
	case event.SysEnter:
		if cur := c.Current; cur != nil {
			step.Task = cur
			cur.Yielding = kernel.IsYieldSyscall(tr.machine, ev.Arg, tr.names.String(ev.Name))
		}
	case event.SysExit:
		if cur := c.Current; cur != nil {
			step.Task = cur
			cur.Yielding = false
		}
	default:
		step.Task = c.Current
	}
	return step
}

// seen takes in a priority that an event shows for a task that is not running.
func (t *Task) seen(p event.Prio) {
	if p == event.NoPrio {
		return
	}
	t.Prio = p
	if t.Boosted && p < t.Base {
		return
	}
	// A boost only raises: where the priority is no better than its own there is none any
	// more, whether or not its end was seen.
	t.Base, t.Boosted = p, false
}

// setprio follows priority inheritance: a raise above what the task has of its own is a
// boost, until the priority is back. rt_mutex_setprio().
func (t *Task) setprio(old, now event.Prio) {
	switch {
	case !t.Boosted && now < old:
		t.Base, t.Boosted = old, true
	case !t.Boosted:
		t.Base = now // the boost began before the trace
	case now >= t.Base:
		t.Base, t.Boosted = now, false
	}
	t.Prio = now
}

// wokenNew is a new task's first wakeup; without a fork event it begins here.
func (tr *Tracker) wokenNew(ev *event.Event) *Task {
	t := tr.living.get(ev.Task)
	if t == nil || t.Status != StatusNew {
		t = tr.create(ev.Task, ev.TaskComm)
	}
	t.Comm = ev.TaskComm
	t.seen(ev.TaskPrio)
	return t
}

// free ends the pid, so that the next task with the number is another one. The event comes
// an RCU grace period after the number was given back: if it is that of a new or a
// runnable task already, the freed one is an older task.
func (tr *Tracker) free(ev *event.Event, step *Step) {
	t := tr.living.get(ev.Task)
	if t == nil || t.Status == StatusRunning || t.Status == StatusNew || t.Status == StatusReady {
		return
	}
	step.Task = t
	t.Status = StatusDead
	tr.living.set(ev.Task, nil)
}

// exec handles a thread that is not the leader of its process and calls execve: it takes
// over the leader's pid; de_thread().
func (tr *Tracker) exec(c *CPU, ev *event.Event, step *Step) {
	old := event.PID(ev.Arg)
	if ev.Arg == event.NoArg || old <= 0 || old == ev.Task || ev.Task <= 0 {
		return
	}
	t := tr.living.get(old)
	if t == nil {
		return
	}
	tr.living.set(old, nil)
	t.PID = ev.Task
	tr.living.set(ev.Task, t)
	step.Task = t
}

// gap forgets who ran on c.
func (tr *Tracker) gap(c *CPU, ev *event.Event, step *Step) {
	step.BrokenFrom = ev.From
	if step.BrokenFrom == event.NoTime {
		step.BrokenFrom = c.Trusted
	}
	c.forget(ev.CPU)
}

// forget drops what c, whose number is at, was known to run. Its task may have come to
// run elsewhere since: then that is known.
func (c *CPU) forget(at event.CPU) {
	if t := c.Current; t != nil && t.Status == StatusRunning && t.CPU == at {
		t.Status = StatusUnknown
	}
	c.Current, c.Since = nil, event.NoTime
}
