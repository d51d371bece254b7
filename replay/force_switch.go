package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/timeline"
)

// schedSwitch asks the model whom it would pick and lets the recorded task have the CPU.
func (f *forcer) schedSwitch(ev *event.Event, step timeline.Step, yielding bool) {
	c := ev.CPU
	prev, next := f.of(step.Task, c), f.of(step.Next, c)
	f.makeCurrent(c, prev)
	if prev == next {
		return // no kernel says that
	}
	f.sync(c, prev, ev.TaskPrio)
	f.doubt = ""
	if f.sync(c, next, ev.NextPrio) && next.task.OnRQ() {
		f.doubt = "priority_changed_unseen"
	}
	if !f.pulls(next, c) {
		if why := f.enter(next, c); why != "" {
			f.doubt = why
		}
	}
	preempt := f.leave(c, prev, ev.State, yielding)
	f.want, f.quiet = next.task, false
	f.sched.Schedule(c, preempt)
	f.cpus[c].yield = noYield
	prev.since, prev.unsure = f.now, false
	f.relist(prev)
	next.unsure, next.unordered = false, false
	f.beginRun(c, next)
	f.relist(next)
}

// leave says in which state prev leaves c, and reports whether the kernel made it leave
// inside the kernel.
func (f *forcer) leave(c event.CPU, prev *forced, state event.State, yielding bool) (preempt bool) {
	switch {
	case prev.tl.Idle():
	case state&event.StateUnknown != 0:
		f.sched.Block(c, event.StateSleeping)
	case state.Dead():
		f.sched.Exit(c, state)
	case !state.Runnable():
		f.sched.Block(c, state)
	case state&event.StatePreempted != 0:
		return true
	case yielding && (prev.task.Rank() != sched.RankFair || f.cpus[c].yield == willYield):
		f.sched.Yield(c)
	}
	return false
}

// Pick compares the model's choice with the recorded one, and makes that.
func (f *forcer) Pick(c event.CPU, prev, next *sched.Task) *sched.Task {
	if f.quiet {
		return f.want
	}
	if len(f.moves) > 0 {
		f.settleMoves(c)
		next = f.sched.First(c, prev)
	}
	model := f.followQuota(c, prev, f.sureChoice(c, prev, next))
	best := f.bestRank(c, prev)
	model = f.pickClass(c, prev, model, best)
	f.pickTask(c, prev, model)
	f.cpus[c].skipped = best < f.want.Rank()
	return f.want
}

// sureChoice takes tasks that the model would pick, and that may have gone unseen, out of
// their queues: the kernel passed over them.
func (f *forcer) sureChoice(c event.CPU, prev, model *sched.Task) *sched.Task {
	for model != f.want && model != prev && !sched.Before(f.want, model) {
		t, ok := model.Data.(*forced)
		if !ok || !t.unsure {
			break
		}
		if f.sched.ForceAsleep(model, event.StateSleeping); model.OnRQ() {
			break
		}
		f.relist(t)
		model = f.sched.First(c, prev)
	}
	return model
}

// pickClass scores which class goes first, where that is not just their order, and makes the
// model follow; it returns what the model then picks.
func (f *forcer) pickClass(c event.CPU, prev, model *sched.Task, best int) *sched.Task {
	want := f.want.Rank()
	skips := want > best || model.Rank() > best || f.cpus[c].skipped
	if best == sched.RankStop || best >= sched.RankFair || !skips || want == sched.RankStop {
		return model
	}
	if want > sched.RankRT && f.runnable(c, sched.RankRT, prev) > 0 && !f.cpus[c].skipped {
		f.throttled(c)
	}
	row := f.scores.row(best, ClassPick)
	agree := want == model.Rank()
	switch why := f.classDoubt(c, best, prev); {
	case why != "":
		row.undecide(why)
	default:
		row.count(agree, want == best)
		if !agree {
			f.miss(best, ClassPick, c, Choice{Class: f.want.ClassName()}, Choice{Class: model.ClassName()}, f.want, model)
		}
	}
	if agree {
		return model
	}
	f.followClass(c, prev, best, want)
	return f.sched.First(c, prev)
}

// classDoubt says why the trace does not tell enough of what throttles a class.
func (f *forcer) classDoubt(c event.CPU, rank int, prev *sched.Task) string {
	switch {
	case f.doubt != "":
		return f.doubt
	case !f.first.reliable():
		return "wakes_not_recorded"
	case rank == sched.RankDL && !f.dlSure(c, prev):
		return "deadline_parameters_unknown"
	case rank != sched.RankRT:
	case !f.first.shows(event.SchedStatRuntime):
		return "charges_not_recorded"
	case f.throttles() && f.scores.periods == 0:
		return "budget_before_the_trace"
	case !f.throttles() && !f.cpus[c].serverKnown:
		return "server_before_the_trace"
	}
	return ""
}

// dlSure reports whether the parameters of all deadline tasks on c are known.
func (f *forcer) dlSure(c event.CPU, prev *sched.Task) bool {
	for t := f.cpus[c].waiting[sched.RankDL].head; t != nil; t = t.next {
		if !t.paramsSure {
			return false
		}
	}
	t, ok := prev.Data.(*forced)
	return prev.Rank() != sched.RankDL || ok && t.paramsSure
}

// throttles reports whether the kernel throttles real-time tasks by a budget.
func (f *forcer) throttles() bool { return f.sched.FairServer(0) == nil }

// followClass throttles or lets go on what the kernel did: rank was passed over for want, or
// was not.
func (f *forcer) followClass(c event.CPU, prev *sched.Task, best, want int) {
	passed := want > best
	switch {
	case best == sched.RankDL && passed:
		f.sched.ForceThrottled(prev)
		for t := f.cpus[c].waiting[best].head; t != nil; t = t.next {
			f.sched.ForceThrottled(t.task)
		}
	case best == sched.RankDL:
		f.sched.ForceReplenish(f.want)
	case f.throttles():
		f.sched.ForceRTThrottled(c, passed)
	default:
		f.sched.ForceFairServer(c, passed)
		f.cpus[c].serverKnown = true
	}
}

// pickTask scores which task of the winning class goes first.
func (f *forcer) pickTask(c event.CPU, prev, model *sched.Task) {
	rank := f.want.Rank()
	if rank == sched.RankStop || rank == sched.RankIdle || f.runnable(c, rank, prev) < 2 {
		return
	}
	row := f.scores.row(rank, Pick)
	agree := model == f.want
	why := f.doubt
	if why == "" {
		why = f.pickDoubt(prev, model)
	}
	switch {
	case why != "":
		row.undecide(why)
	default:
		row.count(agree, f.longest(c, rank, prev) == f.want)
		if !agree {
			f.miss(rank, Pick, c, f.chose(f.want), f.chose(model), f.want, model)
		}
	}
	f.followOrder(prev, model)
	f.followFair(c, model)
}

// followOrder makes the order of real-time tasks of one priority that of the kernel.
func (f *forcer) followOrder(prev, model *sched.Task) {
	switch {
	case model == f.want || model.Rank() != sched.RankRT || f.want.Rank() != sched.RankRT || model.Prio() != f.want.Prio():
	case model == prev:
		f.sched.ForcePlace(prev, false) // it has gone to the end
	default:
		f.sched.ForcePlace(f.want, true)
	}
}

// pickDoubt says why the trace does not tell which of two tasks stands first.
func (f *forcer) pickDoubt(prev, model *sched.Task) string {
	m, ok := model.Data.(*forced)
	w, _ := f.want.Data.(*forced)
	switch {
	case !ok || w == nil:
		return "task_unknown"
	case model.Rank() != sched.RankRT || model.Prio() != f.want.Prio():
	case (m.unordered || w.unordered) && f.sched.Equals(f.want):
		return "order_before_the_trace"
	case model == prev && m.exiting:
		return "exit_moves_group"
	case model == prev:
		return "yield_unseen" // else there would be no switch
	}
	return ""
}

// chose is a task as a choice.
func (f *forcer) chose(t *sched.Task) Choice {
	return Choice{PID: t.PID, Comm: t.Comm, Class: t.ClassName(), CPU: t.CPU(), From: event.NoCPU}
}
