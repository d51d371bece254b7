package workload

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// blocked is the step of a thread that waits in a futex.
var blocked = machine.Step{Kind: machine.StepBlock, State: event.StateSleeping}

// defaultPiece is the work between two looks at the clock in rt-app's runtime event.
const defaultPiece event.Time = 32_000

// do begins or goes on with op; rt-app's run_event(). p.visit counts the calls for it. over says that it is
// done once the returned step is.
func (p *thread) do(op *Op) (step machine.Step, over bool) {
	r := p.run
	if p.spins > 0 && p.mayNotSleep(op) {
		return gone, false
	}
	switch op.Kind {
	case OpRun, OpRuntime, OpSpin:
		return p.work(op)
	case OpSleep:
		p.jobDone()
		length := op.NS
		if op.Random {
			length = event.Time(p.draws().Exponential(int64(length)))
		}
		at := r.m.Now() + length + p.later()
		if op.Jitter > 0 {
			at += p.jitter(op.Jitter)
		}
		p.releaseAt(at)
		return p.sleepUntil(at), true
	case OpTimer:
		return p.timer(op, &r.timers[op.Ref])
	case OpUnique:
		return p.timer(op, &p.timers[op.Ref])
	case OpLock:
		// rt-app counts the call, got or not: until as many unlocks have come, the end of
		// the run does not end the round.
		step, over = p.lock(r.mutexes[op.Ref])
		if p.visit == 0 {
			p.locks++
		}
		return step, over
	case OpUnlock:
		if mu := r.mutexes[op.Ref]; len(mu.waiters) > 0 && !mu.spin {
			if step, enters := p.enterFutex(); enters {
				return step, false
			}
		}
		p.locks--
		p.unlock(r.mutexes[op.Ref])
		return proceed, true
	case OpYield:
		return p.yield()
	case OpFork:
		if p.visit == 0 && r.spec.Costs.Fork > 0 && r.spec.Tasks[op.Ref].process() {
			return inKernel(r.spec.Costs.Fork), false
		}
		return p.forkTask(op.Ref, op.Site), true
	case OpIO:
		return p.io(op)
	}
	return p.wait(op)
}

// yield is sched_yield(2).
func (p *thread) yield() (machine.Step, bool) {
	if p.visit == 0 {
		p.run.emitSyscall(p.th, event.SysEnter, sysSchedYield)
		return machine.Step{Kind: machine.StepYield}, p.run.spec.NoSyscalls
	}
	p.run.emitSyscall(p.th, event.SysExit, sysSchedYield)
	return proceed, true
}

// jitter is a random time in [0, most], of the thread's own stream: another thread that
// draws more or less often changes nothing here.
func (p *thread) jitter(most event.Time) event.Time {
	return event.Time(p.draws().Between(0, int64(most)))
}

// draws is the thread's own stream of random numbers.
func (p *thread) draws() *engine.Stream {
	if p.random == nil {
		p.random = p.run.stream(p.index)
	}
	return p.random
}

// sleepUntil sleeps until at, later by the timer slack where the kernel applies it. A real
// kernel wakes anywhere in the slack, if another timer happens to expire there; alone, at
// its end.
func (p *thread) sleepUntil(at event.Time) machine.Step {
	p.asleep, p.woken = true, false
	if p.exitAt != event.NoTime && p.task.Exit.Signal == 0 {
		at = min(at, max(p.exitAt, p.run.m.Now()))
	}
	return machine.Step{Kind: machine.StepSleep, NS: at, Slack: p.run.slack(p.th.Task), State: event.StateSleeping}
}

// slack is the timer slack of t: real-time and deadline tasks have none, boosted ones
// neither; hrtimer_nanosleep() looks at the effective priority.
func (r *Run) slack(t *sched.Task) event.Time {
	if t.Prio() < event.MaxRTPrio {
		return 0
	}
	return r.spec.TimerSlack
}

// timer is rt-app's timer: it wakes at multiples of the period, counted from t_first. Of a
// shared timer every use takes the next multiple, whoever uses it, and the latency is
// taken against where it stands then: it can be less than nothing.
func (p *thread) timer(op *Op, t *timer) (machine.Step, bool) {
	now := p.run.m.Now()
	if p.visit > 0 {
		p.loop.WakeupLatency += now - t.next
		p.quiet = true
		return proceed, true
	}
	p.jobDone()
	if !t.init {
		t.init, t.next = true, p.first
	}
	p.loop.CPeriod += op.NS
	t.next += op.NS + p.later()
	// cyclictest adds intervals until the next one lies ahead.
	if op.Timer == TimerSkip && op.NS > 0 && t.next < now {
		t.next += (now - t.next + op.NS - 1) / op.NS * op.NS
	}
	slack := t.next - now
	if p.run.spec.CumulativeSlack {
		slack += p.loop.Slack
	}
	p.loop.Slack = slack
	if now >= t.next {
		// Missed: no sleep at all, and the latency of the round is forgotten.
		if op.Timer == TimerRelative {
			t.next = now
		}
		p.loop.WakeupLatency = 0
		p.quiet = true
		p.releaseAt(t.next)
		p.slackOfJob = 0 // no timer was set
		return proceed, true
	}
	p.releaseAt(t.next)
	return p.sleepUntil(t.next), false
}

// forkTask creates a thread from a task; pthread_create() fails for a deadline task, which
// may not fork.
func (p *thread) forkTask(task, site int) machine.Step {
	r := p.run
	if p.th.Task.Attr.Policy == sched.Deadline {
		r.refuse(errForkDeadline(p.name))
		return gone
	}
	if r.forks[site] >= forksLimit {
		r.refuse(errForkLimit(p.name, r.spec.Tasks[task].Name))
		return gone
	}
	if _, err := r.newThread(p.th, task, site); err != nil {
		r.refuse(err)
		return gone
	}
	return proceed
}
