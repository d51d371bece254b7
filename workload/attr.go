package workload

import (
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// gone is the step of a thread whose process has exited under it. Nothing wakes it; whoever
// runs the model stops there.
var gone = machine.Step{Kind: machine.StepBlock, State: event.StateDisk}

// setAttr calls sched_setattr(2) for the thread itself, unless nothing changes. If the
// kernel refuses, the process is over.
func (p *thread) setAttr(a *sched.Attr) machine.Step {
	t := p.th.Task
	if a == nil || *a == t.Attr {
		p.quiet = true
		return proceed
	}
	p.own = *a // the call knows nothing of ceilings: what they raised is gone until the next
	p.run.emitSyscall(p.th, event.SysEnter, sysSchedSetattr)
	if _, err := p.run.m.Sched.SetAttr(t.CPU(), t, *a); err != nil {
		p.run.refuse(fmt.Errorf("%s: sched_setattr to %s: %w", p.name, a.Policy, err))
		return gone
	}
	// What waits for its locks may lend it something now, or nothing any more;
	// rt_mutex_adjust_pi().
	p.reboost()
	return proceed
}

// phaseAttr is what a round of phase ph sets; nil: nothing. The result is valid until the
// next call.
func (p *thread) phaseAttr(ph *Phase) *sched.Attr {
	if ph.Attr == nil || !ph.Keep {
		return ph.Attr
	}
	a := &p.attr
	*a = *ph.Attr
	a.Policy = p.th.Task.Attr.Policy
	switch a.Policy {
	case sched.FIFO, sched.RR:
		a.Nice = 0
	case sched.Deadline:
		// It must repeat its parameters: what the phase does not say is 0.
		a.Priority, a.Nice = 0, 0
		return a
	default:
		a.Priority = 0
	}
	a.Runtime, a.Deadline, a.Period = 0, 0, 0
	return a
}

// place calls sched_setaffinity(2) for the thread itself, unless nothing changes. nil is
// all CPUs.
func (p *thread) place(cpus []event.CPU) machine.Step {
	cpus, err := p.run.allowed(p, cpus)
	if err == nil && slices.Equal(cpus, p.cpus) {
		p.quiet = true
		return proceed
	}
	t := p.th.Task
	if err == nil {
		p.cpus = cpus
		// Where it may not stay, the stopper preempts and moves it.
		_, _, err = p.run.m.Sched.SetAffinity(t.CPU(), t, cpus)
	}
	if err != nil {
		p.run.refuse(fmt.Errorf("%s: sched_setaffinity: %w", p.name, err))
		return gone
	}
	return proceed
}

// NormalPrio is the kernel's priority number of a without inheritance; normal_prio().
func NormalPrio(a *sched.Attr) event.Prio {
	switch a.Policy {
	case sched.Deadline:
		return event.PrioDeadline
	case sched.FIFO, sched.RR:
		return event.MaxRTPrio - 1 - event.Prio(a.Priority)
	}
	return event.DefaultPrio + event.Prio(a.Nice)
}

// queueKey is the place of a task in the kernel's priority-ordered queues of waiters: all
// fair tasks are equal there, whatever their nice value; __futex_queue() and
// __waiter_prio().
func queueKey(prio event.Prio) event.Prio { return min(prio, event.MaxRTPrio) }
