package timeline

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
)

// Builder fills an Index from a stream of events.
type Builder struct {
	x                                        *Index
	cpus                                     []building
	arm                                      map[int64]Arming  // by the timer's address
	hidden                                   map[TaskID]Arming // of sleep timers whose address the trace hides
	doExit, exitMM, doGroupExit, dlTaskTimer event.Name
	queues                                   queues
	refused                                  refused
	dl                                       map[int64]bool      // the addresses of the timers of the deadline class
	calls                                    map[event.Name]bool // the vectors by which another CPU wakes this one
	sleepTimer                               event.Name          // hrtimer_wakeup
}

// building is the unfinished state of one CPU.
type building struct {
	waking TaskID // of the newest sched_waking here whose sched_wakeup has not come, NoTask

	irq, softirq, off int  // index of the open span, −1 if none
	depth             int  // nested hard interrupts
	run               int  // index of the open run, −1
	expired           bool // a timer expired and nothing was woken or switched since
	raised            [softirqVectors]raised
}

// softirqVectors is more than any kernel has.
const softirqVectors = 16

// raised is a softirq that waits to be served.
type raised struct {
	first event.Time
	times int
}

// NewBuilder returns a builder whose tracker is tr.
func NewBuilder(tr *Tracker, facts kernel.Facts, names *event.Names) *Builder {
	return &Builder{
		x: &Index{Tracker: tr, Facts: facts, Names: names, From: event.NoTime, To: event.NoTime,
			Armed: make(map[ExpiryKey]Arming)},
		arm: make(map[int64]Arming), hidden: make(map[TaskID]Arming),
		doExit: names.Intern("do_exit"), exitMM: names.Intern("exit_mm"), doGroupExit: names.Intern("do_group_exit"), dlTaskTimer: names.Intern("dl_task_timer"),
		calls: map[event.Name]bool{names.Intern("reschedule_entry"): true, names.Intern("call_function_single_entry"): true,
			names.Intern("call_function_entry"): true},
		sleepTimer: names.Intern("hrtimer_wakeup"),
	}
}

// Index returns what was built; call Finish first.
func (b *Builder) Index() *Index { return b.x }

func (b *Builder) cpu(c event.CPU) (*CPUIndex, *building) {
	if c < 0 || c >= maxCPUs {
		return nil, nil
	}
	for int(c) >= len(b.x.CPUs) {
		b.x.CPUs = append(b.x.CPUs, CPUIndex{})
		b.cpus = append(b.cpus, building{irq: -1, softirq: -1, off: -1, run: -1, waking: NoTask})
	}
	return &b.x.CPUs[c], &b.cpus[c]
}

func (b *Builder) task(id TaskID) *TaskIndex {
	for int(id) >= len(b.x.Tasks) {
		b.x.Tasks = append(b.x.Tasks, TaskIndex{ExitMark: event.NoTime, ProcessExit: event.NoTime, AliveAt: event.NoTime,
			WokeAt: event.NoTime, SignalAt: event.NoTime, LastOff: event.NoTime, lastOut: event.NoPrio})
	}
	return &b.x.Tasks[id]
}

// Push takes in the next event and what it meant to the tracker.
func (b *Builder) Push(ev *event.Event, step Step) {
	ci, cb := b.cpu(ev.CPU)
	if ci == nil {
		return
	}
	b.x.Seen |= 1 << ev.Kind
	b.x.Counts[ev.Kind]++
	if ev.Kind != event.Gap && b.x.From == event.NoTime {
		b.x.From = ev.Time
	}
	b.x.To = max(b.x.To, ev.Time)
	if step.BrokenFrom != event.NoTime || ev.Kind == event.Gap {
		b.broken(ev, step, ci, cb)
	}
	b.follow(ev, ci, cb)
	switch ev.Kind {
	case event.SchedSwitch:
		b.schedSwitch(ev, step, ci, cb)
	case event.SchedWaking:
		b.woke(ev, step, ci, cb)
		if step.Task != nil {
			cb.waking = step.Task.ID
		}
	case event.SchedWakeup, event.SchedWakeupNew:
		cb.waking = NoTask
		b.queues.enqueue(ev, step)
		b.refuse(ev, step)
	case event.HrtimerCancel:
		b.cancel(ev, cb)
	case event.SchedMigrateTask:
		b.moved(ev, step)
		b.queues.move(ev, step)
	case event.SchedPISetprio:
		if t := step.Task; t != nil {
			b.queues.setprio(ev, t)
			ti := b.task(t.ID)
			ti.PrioChanges = append(ti.PrioChanges, PrioChange{ev.Time, ev.TaskPrio, ev.NextPrio, t.Boosted, t.Base})
		}
	case event.SchedStatRuntime:
		b.charge(ev, step, ci, cb)
	case event.HrtimerStart, event.HrtimerExpireEntry:
		b.timer(ev, ci, cb)
	case event.IRQHandlerEntry, event.VectorEntry, event.IRQHandlerExit, event.VectorExit:
		b.irq(ev, ci, cb)
	case event.SoftirqRaise, event.SoftirqEntry, event.SoftirqExit:
		b.softirq(ev, ci, cb)
	case event.CPUIdle, event.IPIEntry:
		if ev.Kind != event.CPUIdle || ev.Arg == event.IdleExit {
			ci.Idle = append(ci.Idle, ev.Time)
		}
	case event.IRQDisable, event.PreemptDisable, event.IRQEnable, event.PreemptEnable:
		b.off(ev, ci, cb)
	default:
		b.mark(ev, step, ci, cb)
	}
}

// follow opens a run where the tracker learned who runs without seeing the switch.
func (b *Builder) follow(ev *event.Event, ci *CPUIndex, cb *building) {
	if cb.run >= 0 || ev.Kind == event.SchedSwitch {
		return
	}
	if c := b.x.Tracker.CPU(ev.CPU); c != nil && c.Current != nil {
		b.open(ci, cb, c.Current, ev.Time, event.NoPrio, MarkUnseenStart)
	}
}

func (b *Builder) open(ci *CPUIndex, cb *building, t *Task, at event.Time, prio event.Prio, marks Mark) {
	cb.run = len(ci.Runs)
	ci.Runs = append(ci.Runs, Run{Start: at, End: event.NoTime, Task: t.ID, PrioIn: prio, PrioOut: event.NoPrio,
		Comm: t.Comm, Marks: marks})
	b.task(t.ID)
}

func (b *Builder) schedSwitch(ev *event.Event, step Step, ci *CPUIndex, cb *building) {
	cb.waking = NoTask
	cb.expired = false
	cb.noInterrupt(ci)
	if cb.run < 0 {
		// The first switch of the trace on this CPU: prev ran since who knows when.
		b.open(ci, cb, step.Task, ev.Time, event.NoPrio, MarkUnseenStart)
		b.stay(step.Task.ID, ev.CPU).Last = ev.Time
	}
	r := &ci.Runs[cb.run]
	b.task(step.Task.ID).lastOut = ev.TaskPrio
	r.End, r.PrioOut, r.State, r.Comm = ev.Time, ev.TaskPrio, ev.State, step.Task.Comm
	if step.Task.Status == StatusDead {
		r.Marks |= MarkLast
		b.task(step.Task.ID).LastOff = ev.Time
	}
	if step.Task.Yielding {
		r.Marks |= MarkYielded
	}
	var marks Mark
	b.queues.leave(ev, step)
	if b.queues.passed(ev, step) {
		marks = MarkPassedRT
	}
	switch step.NextWas {
	case StatusBlocked:
		marks |= MarkFromSleep
	case StatusNew:
		marks |= MarkNew
	}
	if was := b.task(step.Next.ID).lastOut; was != event.NoPrio && ev.NextPrio < was {
		marks |= MarkRaised
	}
	b.open(ci, cb, step.Next, ev.Time, ev.NextPrio, marks)
	if marks&(MarkFromSleep|MarkNew) != 0 {
		if ti := b.task(step.Next.ID); ti.ExitMark == event.NoTime && ti.SignalAt == event.NoTime {
			ti.WokeAt = ev.Time
		}
	}
	b.stay(step.Next.ID, ev.CPU).Last = ev.Time
	b.accepted(step.Next.ID, ev.CPU)
	b.refused.set(ev.CPU, step.Next.Idle())
	if ev.PreemptDepth > 0 {
		b.x.CountsPreempt = true
	}
}

// stay returns the entry of task id for CPU c.
func (b *Builder) stay(id TaskID, c event.CPU) *Stay {
	ti := b.task(id)
	for i := range ti.RanOn {
		if ti.RanOn[i].CPU == c {
			return &ti.RanOn[i]
		}
	}
	ti.RanOn = append(ti.RanOn, Stay{CPU: c, Last: event.NoTime, Off: event.NoTime})
	return &ti.RanOn[len(ti.RanOn)-1]
}

// broken ends everything that was open on the CPU at the last trusted moment.
func (b *Builder) broken(ev *event.Event, step Step, ci *CPUIndex, cb *building) {
	from := step.BrokenFrom
	b.queues = queues{} // who ran, and is no longer queued, was not seen
	b.refused.set(ev.CPU, false)
	if cb.run >= 0 {
		r := &ci.Runs[cb.run]
		from = max(from, r.Start)
		r.End = from
		cb.run = -1
	}
	if from == event.NoTime {
		from = b.x.From
	}
	from = min(from, ev.Time)
	if n := len(ci.Gaps); n > 0 {
		from = max(from, ci.Gaps[n-1].To)
	}
	ci.Gaps = append(ci.Gaps, Span{From: from, To: ev.Time, Task: NoTask})
	for _, open := range []struct {
		list []Span
		at   *int
	}{{ci.IRQs, &cb.irq}, {ci.Softirqs, &cb.softirq}, {ci.OffSpans, &cb.off}} {
		if *open.at >= 0 {
			s := &open.list[*open.at]
			s.To = max(s.From, from)
			*open.at = -1
		}
	}
	cb.depth = 0
	// What was armed or raised may have been served in the gap, and armed anew.
	cb.raised = [softirqVectors]raised{}
	if len(b.arm)+len(b.hidden) > 0 {
		b.arm, b.hidden = make(map[int64]Arming), make(map[TaskID]Arming)
	}
}

// Finish closes what is still open at the end of the trace.
func (b *Builder) Finish() {
	noExits := b.x.Counts[event.IRQHandlerExit]+b.x.Counts[event.VectorExit] == 0
	for i := range b.x.CPUs {
		ci, cb := &b.x.CPUs[i], &b.cpus[i]
		if noExits {
			cb.noInterrupt(ci)
		}
		if cb.run >= 0 {
			r := &ci.Runs[cb.run]
			r.End = b.x.To
			r.Marks |= MarkOpen
		}
		for _, open := range []struct {
			list []Span
			at   int
		}{{ci.IRQs, cb.irq}, {ci.Softirqs, cb.softirq}, {ci.OffSpans, cb.off}} {
			if open.at >= 0 {
				open.list[open.at].To = b.x.To
			}
		}
	}
	if n := b.x.Tracker.Tasks(); n > 0 {
		b.task(TaskID(n - 1)) // every task has an entry, also one that only was named
	}
}
