package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// This file follows the passes of the balancer of fair tasks, and asks the model at each migration that one made
// from which CPU it would have taken something.

// forcedPass is the pass that a CPU is making.
type forcedPass struct {
	inSoftirq bool // SCHED
	byTick    bool // that was raised by its tick, not by another CPU
	ticked    bool // its tick has expired since it last switched or balanced

	// The last migration that it made, so that those that follow at once are known as of the same pass.
	from, to event.CPU
	moved    bool

	// Where its stopper was asked to push a task to, and what the model would have done there.
	pushTo event.CPU
	push   sched.AskedPass
}

// followPass takes in the events that show passes.
func (f *forcer) followPass(ev *event.Event) {
	p := &f.cpus[ev.CPU].pass
	switch ev.Kind {
	case event.SchedStatRuntime:
		return
	case event.SchedMigrateTask:
		return
	case event.HrtimerExpireEntry:
		if f.funcOf(ev.Func) == funcTick {
			p.ticked = true
		}
	case event.SoftirqRaise:
		if ev.Arg == event.SoftirqSched {
			p.byTick = p.ticked
		}
	case event.SoftirqEntry:
		if ev.Arg == event.SoftirqSched && f.first.shows(event.SoftirqRaise) {
			p.inSoftirq = true
			f.rebalance(ev.CPU, !p.byTick)
			p.ticked = false
		}
	case event.SoftirqExit:
		if ev.Arg == event.SoftirqSched {
			p.inSoftirq = false
		}
	case event.SchedSwitch:
		p.ticked = false
	}
	p.moved = false
}

// nohzAfter is how long an idle CPU has not ticked that has stopped its tick, beside a whole one.
const nohzAfter event.Time = 500_000

// rebalance is the softirq SCHED of c.
func (f *forcer) rebalance(c event.CPU, kicked bool) {
	for o := range f.cpus {
		if event.CPU(o) != c && f.sched.Curr(event.CPU(o)).Rank() == sched.RankIdle && f.now-f.cpus[o].tickAt > f.tickLength+nohzAfter {
			f.sched.ForceNohz(event.CPU(o))
		}
	}
	f.sched.FollowRebalance(c, kicked && f.sched.Curr(c).Rank() == sched.RankIdle)
}

// kindOf is what kind of pass of dst the CPU at is making.
func (f *forcer) kindOf(at, dst event.CPU) sched.BalanceKind {
	switch {
	case !f.cpus[at].pass.inSoftirq:
		return sched.BalanceNewidle
	case at != dst:
		return sched.BalanceNohz
	}
	return sched.BalancePeriodic
}

// movedFair follows the migration of a waiting fair task.
func (f *forcer) movedFair(ev *event.Event, t *forced) {
	p := &f.cpus[ev.CPU].pass
	from, to := t.task.CPU(), ev.Target
	stopped := f.sched.Curr(ev.CPU).Rank() == sched.RankStop
	switch same := p.moved && p.from == from && p.to == to; {
	case same || !f.mayUse(t, from) || !f.exists(to):
		// It is a part of a decision that was counted, or has to go.
	case t.unsure:
		f.scores.row(sched.RankFair, Balance).undecide(reasonUnseen)
	case stopped && p.pushTo == to && from == ev.CPU:
		f.countPass(ev, t, from, to, p.push)
		f.sched.ForceBalanced(from, to, false)
	case stopped:
		f.scores.row(sched.RankFair, Balance).undecide("by_the_stopper")
	default:
		kind := f.kindOf(ev.CPU, to)
		f.countPass(ev, t, from, to, f.sched.AskBalance(to, kind))
		f.sched.ForceBalanced(from, to, kind == sched.BalanceNewidle)
	}
	if stopped {
		p.pushTo = event.NoCPU
	}
	p.from, p.to, p.moved = from, to, true
	f.sched.ForceMove(ev.CPU, t.task, to)
	if stopped || !f.mayUse(t, from) {
		f.sched.ForceCheck(ev.CPU, t.task)
	}
	f.relist(t)
	f.disturb(t)
}

// countPass compares a migration that the balancer made with what the model would have done.
func (f *forcer) countPass(ev *event.Event, t *forced, from, to event.CPU, model sched.AskedPass) {
	agree := model.Source == from
	f.scores.row(sched.RankFair, Balance).count(agree, f.longestQueue(to) == from)
	if agree {
		return
	}
	r, m := f.chose(t.task), Choice{PID: event.NoPID, CPU: event.NoCPU, From: event.NoCPU}
	r.From, r.CPU = from, to
	if model.Source != event.NoCPU {
		if model.Task != nil {
			m = f.chose(model.Task)
		}
		m.From, m.CPU = model.Source, to
	}
	f.miss(sched.RankFair, Balance, ev.CPU, r, m, t.task)
}

// longestQueue is the baseline: the CPU on which most fair tasks wait, of several the next after to.
func (f *forcer) longestQueue(to event.CPU) event.CPU {
	best, most := event.NoCPU, 0
	for i := 1; i < len(f.cpus); i++ {
		c := (to + event.CPU(i)) % event.CPU(len(f.cpus))
		if n := f.cpus[c].waiting[sched.RankFair].n; n > most {
			best, most = c, n
		}
	}
	return best
}

// askPush notes what the model would do in the pass that wakes a stopper.
func (f *forcer) askPush(ev *event.Event, t *forced) {
	if t.task.Rank() != sched.RankStop || !f.cpus[ev.CPU].pass.inSoftirq || t.task.CPU() == ev.CPU {
		return
	}
	p := &f.cpus[t.task.CPU()].pass
	p.pushTo, p.push = ev.CPU, f.sched.AskBalance(ev.CPU, sched.BalancePeriodic)
}
