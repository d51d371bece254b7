package timeline

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
)

func (b *Builder) currentTask(c event.CPU) TaskID {
	if s := b.x.Tracker.CPU(c); s != nil && s.Current != nil {
		return s.Current.ID
	}
	return NoTask
}

// irq opens and closes spans of hard interrupts. Nested ones are one span.
func (b *Builder) irq(ev *event.Event, ci *CPUIndex, cb *building) {
	if ev.Kind == event.IRQHandlerEntry || ev.Kind == event.VectorEntry {
		if b.calls[ev.Name] {
			ci.Idle = append(ci.Idle, ev.Time) // another CPU calls this one
		}
		cb.depth++
		if cb.irq < 0 {
			name := ev.Text
			if ev.Kind == event.VectorEntry {
				name = ev.Name
			}
			cb.irq = len(ci.IRQs)
			ci.IRQs = append(ci.IRQs, Span{From: ev.Time, To: ev.Time, Vec: ev.Arg, Name: name, Task: b.currentTask(ev.CPU)})
		}
		return
	}
	if cb.depth > 0 {
		cb.depth--
	}
	if cb.depth == 0 && cb.irq >= 0 {
		ci.IRQs[cb.irq].To = ev.Time
		cb.irq = -1
	}
}

// noInterrupt ends an interrupt whose exit was lost or is not recorded: where a task is
// switched none is being served. How long it took is not known; its time counts for the
// interrupted task.
func (cb *building) noInterrupt(ci *CPUIndex) {
	if cb.irq >= 0 {
		s := &ci.IRQs[cb.irq]
		s.To = s.From
	}
	cb.irq, cb.depth = -1, 0
}

// softirq opens and closes spans of softirq handlers, and ties each raise to the
// handling that served it.
func (b *Builder) softirq(ev *event.Event, ci *CPUIndex, cb *building) {
	var r *raised
	if ev.Arg >= 0 && ev.Arg < softirqVectors {
		r = &cb.raised[ev.Arg]
	}
	switch ev.Kind {
	case event.SoftirqRaise:
		if r == nil {
			return
		}
		if r.times == 0 {
			r.first = ev.Time
		}
		r.times++
	case event.SoftirqEntry:
		if cb.softirq >= 0 { // its exit was lost
			ci.Softirqs[cb.softirq].To = ev.Time
		}
		s := Span{From: ev.Time, To: ev.Time, Vec: ev.Arg, Task: b.currentTask(ev.CPU), Raised: event.NoTime}
		if r != nil && r.times > 0 {
			s.Raised, s.Raises = r.first, r.times
			*r = raised{}
		}
		cb.softirq = len(ci.Softirqs)
		ci.Softirqs = append(ci.Softirqs, s)
	case event.SoftirqExit:
		if cb.softirq >= 0 {
			ci.Softirqs[cb.softirq].To = ev.Time
			cb.softirq = -1
		}
	}
}

// timer keeps who started which timer, and each expiry.
func (b *Builder) timer(ev *event.Event, ci *CPUIndex, cb *building) {
	cur := b.currentTask(ev.CPU)
	if ev.Kind == event.HrtimerStart {
		if ev.Func == b.dlTaskTimer {
			if b.dl == nil {
				b.dl = make(map[int64]bool)
			}
			b.dl[ev.Arg] = ev.Arg != event.NoArg
			b.x.DLStarts = append(b.x.DLStarts, DLStart{ev.Time, ev.CPU, ev.Arg, cur, cb.waking})
		}
		a := Arming{By: cur, At: ev.Time, CPU: ev.CPU, Soft: ev.Arg2, Expires: ev.Arg3}
		// Only a task itself counts: an interrupt that re-arms a timer says nothing of it.
		if ev.Flags.InInterrupt() {
			a.By = NoTask
		} else if cb.run >= 0 {
			ci.Runs[cb.run].Marks |= MarkTimerStart
			if ev.Func == b.sleepTimer && cur != NoTask {
				b.task(cur).AliveAt = ev.Time
			}
		}
		switch {
		case ev.Arg != event.NoArg:
			b.arm[ev.Arg] = a
		case a.By != NoTask && ev.Func == b.sleepTimer:
			b.hidden[a.By] = a
		}
		return
	}
	if cb.softirq >= 0 {
		ci.Softirqs[cb.softirq].Expiries++
	}
	if a, ok := b.arm[ev.Arg]; ok && a.By != NoTask {
		b.x.Armed[ExpiryKey{ev.CPU, len(ci.Expiries)}] = a
		delete(b.arm, ev.Arg)
	}
	cb.expired = true
	ci.Expiries = append(ci.Expiries, Expiry{At: ev.Time, CPU: ev.CPU, Timer: ev.Arg, Func: ev.Func, Now: ev.Arg2,
		Current: cur, Woke: NoTask, Hard: cb.softirq < 0, Flags: ev.Flags, Depth: ev.PreemptDepth, Migrate: ev.MigrateDisable})
}

// softirqThread reports whether the current task of c runs softirqs as a task.
func (b *Builder) softirqThread(c event.CPU) bool {
	s := b.x.Tracker.CPU(c)
	return s != nil && s.Current != nil && kernel.IsSoftirqThread(b.x.Names.String(s.Current.Comm))
}

// cancel forgets a timer that was stopped before it expired.
func (b *Builder) cancel(ev *event.Event, cb *building) {
	if b.dl[ev.Arg] {
		b.x.DLCancels = append(b.x.DLCancels, DLStart{ev.Time, ev.CPU, ev.Arg, b.currentTask(ev.CPU), cb.waking})
	}
	if ev.Arg != event.NoArg {
		delete(b.arm, ev.Arg)
	} else if !ev.Flags.InInterrupt() {
		delete(b.hidden, b.currentTask(ev.CPU))
	}
}

// woke ties a sched_waking to the timer expiry directly before it. Where the addresses of
// timers are hidden, the sleep timer that woke a task is the one that it started last: it
// has only one at a time.
func (b *Builder) woke(ev *event.Event, step Step, ci *CPUIndex, cb *building) {
	if t := step.Task; t != nil && t.Status == StatusBlocked && (ev.Flags.InInterrupt() || b.softirqThread(ev.CPU)) {
		ti := b.task(t.ID)
		ti.TimerWakes = append(ti.TimerWakes, ev.Time)
	}
	if cb.expired && step.Task != nil {
		n := len(ci.Expiries) - 1
		e := &ci.Expiries[n]
		e.Woke, e.WokeAt = step.Task.ID, ev.Time
		if a, ok := b.hidden[e.Woke]; ok && e.Timer == event.NoArg && e.Func == b.sleepTimer {
			b.x.Armed[ExpiryKey{ev.CPU, n}] = a
			delete(b.hidden, e.Woke)
		}
	}
	cb.expired = false
}

// charge keeps what real-time and deadline tasks are charged, which is what RT
// throttling counts; update_curr_rt() and update_curr_dl().
func (b *Builder) charge(ev *event.Event, step Step, ci *CPUIndex, cb *building) {
	t := step.Task
	if t == nil || ev.Arg == event.NoArg {
		return
	}
	rt := t.Prio != event.NoPrio && t.Prio < event.MaxRTPrio
	if ev.Arg2 != event.NoArg {
		rt = ev.Arg2 == 0 // kernels that print vruntime print 0 for real-time tasks
		if rt && cb.run >= 0 && ci.Runs[cb.run].Task == t.ID {
			ci.Runs[cb.run].Marks |= MarkRTCharged
		}
	}
	if rt {
		ci.Charges = append(ci.Charges, Charge{ev.Time, t.ID, ev.Arg})
		return
	}
	// __schedule() charges the task that it chooses again, which leaves no switch.
	asked := ev.Flags.Has(event.NeedResched) && !ev.Flags.InInterrupt()
	if asked && cb.run >= 0 && ci.Runs[cb.run].Task == t.ID && b.queues.n[ev.CPU] > 0 {
		ci.Kept = append(ci.Kept, Span{From: b.queues.since[ev.CPU], To: ev.Time})
	}
}

// off opens and closes spans in which interrupts or preemption are off.
func (b *Builder) off(ev *event.Event, ci *CPUIndex, cb *building) {
	switch ev.Kind {
	case event.IRQDisable, event.PreemptDisable:
		if cb.off < 0 {
			cb.off = len(ci.OffSpans)
			ci.OffSpans = append(ci.OffSpans, Span{From: ev.Time, To: ev.Time, Vec: int64(ev.Kind), Name: ev.Func,
				Task: b.currentTask(ev.CPU)})
		}
	default:
		if cb.off >= 0 && ci.OffSpans[cb.off].Vec == int64(ev.Kind)-1 {
			ci.OffSpans[cb.off].To = ev.Time
			cb.off = -1
		}
	}
}

// mark notes what a task does during its run.
func (b *Builder) mark(ev *event.Event, step Step, ci *CPUIndex, cb *building) {
	if cb.run < 0 {
		return
	}
	r := &ci.Runs[cb.run]
	switch ev.Kind {
	case event.SchedProcessExec:
		r.Marks |= MarkExec
	case event.TaskRename:
		r.Marks |= MarkRename
	case event.SchedProcessFork, event.TaskNewtask:
		r.Marks |= MarkFork
	case event.SchedProcessExit:
		if step.Task != nil {
			b.exitMark(step.Task.ID, ev.Time)
			b.task(step.Task.ID).ProcessExit = ev.Time
		}
	case event.SysEnter:
		if kernel.IsClassSyscall(b.x.Tracker.machine, ev.Arg, b.x.Names.String(ev.Name)) {
			ti := b.task(r.Task)
			ti.ClassCalls = append(ti.ClassCalls, ev.Time)
		}
		if kernel.IsExitSyscall(b.x.Tracker.machine, ev.Arg, b.x.Names.String(ev.Name)) {
			b.exitMark(r.Task, ev.Time)
		} else {
			b.alive(r.Task, ev.Time)
		}
	case event.SysExit:
		b.alive(r.Task, ev.Time)
	case event.SignalDeliver:
		// SIGKILL cannot be caught: do_group_exit follows at once. Another fatal signal may
		// write a core first, which is no exit.
		if ev.Arg == sigKill {
			b.exitMark(r.Task, ev.Time)
		} else {
			ti := b.task(r.Task)
			ti.AliveAt, ti.SignalAt = ev.Time, ev.Time
		}
	case event.FuncEntry:
		// exit_mmap and mmput do not count: exec runs them as well.
		if ev.Func != 0 && (ev.Func == b.doExit || ev.Func == b.exitMM || ev.Func == b.doGroupExit) {
			b.exitMark(r.Task, ev.Time)
		}
	}
}

// sigKill is the number of SIGKILL; signal(7).
const sigKill = 9

// moved notes that the stopper takes a task off its CPU: by its affinity it may not stay
// there, or the load balancer moves it although it ran.
func (b *Builder) moved(ev *event.Event, step Step) {
	c := b.x.Tracker.CPU(ev.CPU)
	b.pulled(ev, step)
	if step.Task == nil || c == nil || c.Current == nil || ev.Orig != ev.CPU || !kernel.IsStopper(b.x.Names.String(c.Current.Comm)) {
		return
	}
	b.stay(step.Task.ID, ev.Orig).Off = ev.Time
}

// pulled notes that a waiting fair task comes to another CPU. One that is being woken only goes to
// where it will wait.
func (b *Builder) pulled(ev *event.Event, step Step) {
	t := step.Task
	if t == nil || ev.Target == ev.Orig || !ev.TaskPrio.Fair() || ev.Target < 0 || int(ev.Target) >= len(b.x.CPUs) {
		return
	}
	to, cb := &b.x.CPUs[ev.Target], &b.cpus[ev.CPU]
	waits := t.Status == StatusReady || b.queues.of(t.ID).in || b.x.Occurs(event.SchedWaking) && t.Status == StatusBlocked && cb.waking != t.ID
	if !waits {
		return
	}
	p := Pull{At: ev.Time, From: ev.Orig, By: ev.CPU, Task: t.ID, Softirq: cb.softirq >= 0 || b.softirqThread(ev.CPU)}
	if cur := b.currentTask(ev.CPU); cur != NoTask {
		p.Stopper = kernel.IsStopper(b.x.Names.String(b.x.Tracker.CPU(ev.CPU).Current.Comm))
	}
	to.Pulls = append(to.Pulls, p)
}

// alive takes back the exit mark of a task that goes on to live: the number of its system
// call was that of another machine, or of a 32-bit program.
func (b *Builder) alive(id TaskID, at event.Time) {
	if ti := b.task(id); ti.ProcessExit == event.NoTime {
		ti.ExitMark, ti.AliveAt = event.NoTime, at
	}
}

func (b *Builder) exitMark(id TaskID, at event.Time) {
	if ti := b.task(id); ti.ExitMark == event.NoTime {
		ti.ExitMark = at
	}
}
