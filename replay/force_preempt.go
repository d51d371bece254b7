package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// openPreempt is a question whose answer the kernel has not shown yet: whether the current
// task of a CPU has to go for another of its class.
type openPreempt struct {
	on, tick bool
	at       event.Time
	woken    *forced // of a wake
	curr     *sched.Task
	model    bool // the model's answer to a wake
	// disturbed: something else has come to the CPU since that could make its task leave.
	disturbed bool
}

// wantsOff reports whether flags show that the current task has been asked to leave. Fair
// tasks may be asked lazily.
func wantsOff(flags event.Flags, rank int) bool {
	return flags.Has(event.NeedResched) || rank == sched.RankFair && flags.Has(event.NeedReschedLazy)
}

// beforeWake clears what the model has asked for, and reports whether the wake of t on c is a
// question at all: the current task is another one of the class.
func (f *forcer) beforeWake(ev *event.Event, t *forced, c event.CPU) bool {
	cp := &f.cpus[c]
	curr := f.sched.Curr(c)
	rank := curr.Rank()
	if cp.open.on {
		f.undecidePreempt(&cp.open, "another_came")
		cp.open.on = false
	}
	asked := wantsOff(cp.flags, rank)
	// What the charge within the wake asked for belongs to its answer.
	charged := cp.asked && rank == sched.RankFair && t.wakingEvent > 0 && cp.askedEvent >= t.wakingEvent
	if !asked && !charged {
		f.sched.ForceNeedResched(c, false)
	}
	cp.asked = charged
	if curr == t.task || rank != t.task.Rank() || rank < sched.RankDL || rank > sched.RankFair {
		return false
	}
	if f.changing(c) {
		f.scores.row(rank, Preempt).undecide("class_changed_unseen")
		return false
	}
	if asked {
		f.scores.row(rank, Preempt).undecide("was_asked_before")
		return false
	}
	return true
}

// afterWake notes the model's answer. Where the event was recorded on the CPU itself, after the
// kernel's decision, its flags are the kernel's; else what comes next there tells.
func (f *forcer) afterWake(ev *event.Event, t *forced, c event.CPU, fork bool) {
	cp := &f.cpus[c]
	cp.open = openPreempt{on: true, at: f.now, woken: t, curr: f.sched.Curr(c), model: cp.asked, disturbed: cp.dirty}
	if ev.CPU == c && !fork && ev.Kind == event.SchedWakeup && ev.Flags&event.FlagsKnown != 0 {
		f.decidePreempt(c, wantsOff(ev.Flags, cp.open.curr.Rank()))
	}
}

// tick is the tick of a CPU: its current task may have had its turn.
func (f *forcer) tick(ev *event.Event) {
	c := ev.CPU
	cp := &f.cpus[c]
	curr := f.sched.Curr(c)
	rank := curr.Rank()
	question := rank >= sched.RankDL && rank <= sched.RankFair && cp.waiting[rank].n > 0
	if rank == sched.RankRT {
		question = f.sched.Equals(curr)
	}
	asked := wantsOff(cp.flags, rank) || wantsOff(ev.Flags, rank)
	cp.asked = false
	if question && !asked && !cp.open.on && !f.changing(c) {
		cp.open = openPreempt{on: true, tick: true, at: f.now, curr: curr}
	}
	cp.tickAt = f.now
	if rank == sched.RankFair && f.first.shows(event.SchedStatRuntime) {
		cp.ticking = true // its charge is recorded next
		return
	}
	f.spend(c, func() { f.sched.SchedulerTick(c) })
}

// settleOpen answers the open question of a CPU with the next event there that tells.
func (f *forcer) settleOpen(ev *event.Event) {
	cp := &f.cpus[ev.CPU]
	o := &cp.open
	if !o.on {
		return
	}
	if ev.Kind == event.SchedSwitch {
		f.settleAtSwitch(ev, o)
		return
	}
	if ev.Flags&event.FlagsKnown == 0 || ev.Kind == event.Gap {
		return
	}
	if o.tick && withinTick(f, ev) {
		return
	}
	f.decidePreempt(ev.CPU, wantsOff(ev.Flags, o.curr.Rank()))
}

// settleAtSwitch answers it by who leaves and who comes.
func (f *forcer) settleAtSwitch(ev *event.Event, o *openPreempt) {
	switch {
	case ev.Task != o.curr.PID:
		f.undecidePreempt(o, "lost")
	case !ev.State.Runnable():
		f.undecidePreempt(o, "left_by_itself")
	case o.tick || o.woken.task.PID == ev.Next:
		f.decidePreempt(ev.CPU, true)
		return
	default:
		f.undecidePreempt(o, "another_came")
	}
	o.on = false
}

func (f *forcer) undecidePreempt(o *openPreempt, why string) {
	f.scores.row(o.curr.Rank(), Preempt).undecide(why)
}

// turn follows the end of a turn of a real-time task, or that there was none, and says why the
// model's answer does not count.
func (f *forcer) turn(o *openPreempt, yes, model bool) (why string) {
	t, ok := o.curr.Data.(*forced)
	switch {
	case !ok:
		return "task_unknown"
	case !t.policySure:
		why = reasonPolicy
	case !t.sliceSure:
		why = "slice_before_the_trace"
	}
	if yes {
		t.sliceSure = true
	}
	if yes && !model {
		f.sched.ForceTurn(o.curr)
	}
	return why
}

// disturb notes that t came to the queue of its CPU, or became more there, without a wake.
func (f *forcer) disturb(t *forced) {
	cp := &f.cpus[t.task.CPU()]
	cp.open.disturbed, cp.dirty = true, true
}

// decidePreempt scores the open question of c.
func (f *forcer) decidePreempt(c event.CPU, yes bool) {
	cp := &f.cpus[c]
	o := &cp.open
	o.on = false
	rank := o.curr.Rank()
	if rank < sched.RankDL || rank > sched.RankFair {
		return
	}
	if yes && o.disturbed {
		f.undecidePreempt(o, "another_came")
		return
	}
	model := o.model
	if o.tick {
		model = cp.asked
	}
	row := f.scores.row(rank, Preempt)
	if o.tick && rank == sched.RankRT {
		if why := f.turn(o, yes, model); why != "" {
			row.undecide(why)
			return
		}
	}
	row.countPreempt(model == yes, yes)
	if model != yes {
		r, m := f.chose(o.curr), f.chose(o.curr)
		tasks := []*sched.Task{o.curr}
		if o.woken != nil {
			r, m = f.chose(o.woken.task), f.chose(o.woken.task)
			tasks = append(tasks, o.woken.task)
		}
		r.Preempt, m.Preempt = yes, model
		f.miss(rank, Preempt, c, r, m, tasks...)
	}
}
