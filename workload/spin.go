package workload

import (
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// A spinlock stands for one of the kernel's: between its lock and its unlock a task is in
// kernel mode. Without PREEMPT_RT preemption is off there, and who finds it taken, which
// only another CPU can, spins with preemption off until it is handed over in the order of
// arrival. On PREEMPT_RT it is an rt_mutex: its holder may be preempted, but not migrated,
// and inherits priorities, and who finds it taken sleeps.

// forEver is how long a spinning task would spin if nobody told it to stop.
const forEver event.Time = 1 << 50

// inLock reports whether p holds a spinlock or waits for one: it is in the kernel, where no
// signal ends it.
func (p *thread) inLock() bool {
	return p.spins > 0 || p.waits != nil && p.waits.spin || p.granted != nil && p.granted.spin
}

// spinLock takes a spinlock of a kernel without PREEMPT_RT.
func (p *thread) spinLock(mu *mutex) (machine.Step, bool) {
	switch {
	case mu.owner == nil:
		mu.owner = p
		fallthrough
	case mu.owner == p && p.waits == mu && !slices.Contains(mu.waiters, p): // handed over
		p.spins++
		p.waits = nil
		return proceed, true
	}
	if p.waits = mu; !slices.Contains(mu.waiters, p) {
		mu.waiters = append(mu.waiters, p)
	}
	return machine.Step{Kind: machine.StepRun, Mode: machine.PreemptOff, NS: forEver, Hold: true}, false
}

// spinUnlock gives it to whoever spins longest.
func (p *thread) spinUnlock(mu *mutex) {
	if mu.owner != p {
		return
	}
	p.spins--
	mu.owner = nil
	if len(mu.waiters) > 0 {
		next := mu.waiters[0]
		mu.waiters = slices.Delete(mu.waiters, 0, 1)
		mu.owner = next
		p.run.m.Finish(next.th)
	}
}

// holding makes a step of a task that holds spinlocks one in the kernel.
func (p *thread) holding(step machine.Step) machine.Step {
	if p.spins == 0 || step.Kind != machine.StepRun || step.Mode == machine.IRQsOff {
		return step
	}
	if step.Mode = machine.Kernel; p.run.m.Preempt() != sched.PreemptRT {
		step.Mode, step.Hold = machine.PreemptOff, true
	}
	return step
}

// mayNotSleep refuses what a task must not do that holds a spinlock: the kernel says
// "scheduling while atomic" then, on PREEMPT_RT too where it does not sleep for a lock.
func (p *thread) mayNotSleep(op *Op) bool {
	switch op.Kind {
	case OpRun, OpRuntime, OpSpin, OpSignal, OpBroadcast, OpSemPost, OpRelease:
		return false
	case OpLock, OpUnlock:
		if p.run.mutexes[op.Ref].spin {
			return false
		}
	}
	p.run.refuse(fmt.Errorf("%s: sleeps, yields or takes a mutex while it holds a spinlock: scheduling while atomic", p.name))
	return true
}
