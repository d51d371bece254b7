package workload

import (
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// raise gives p the ceiling of mu before it takes it: PTHREAD_PRIO_PROTECT. The C library
// does so with sched_setscheduler(2), so it leaves no event, and only for real-time tasks.
// It reports false where pthread_mutex_lock() fails with EINVAL.
func (p *thread) raise(mu *mutex) bool {
	if slices.Contains(p.ceilings, mu) {
		return true // it waits for it
	}
	a := &p.th.Task.Attr
	own := *a
	if len(p.ceilings) > 0 {
		own = p.own
	}
	switch {
	case a.Policy != sched.FIFO && a.Policy != sched.RR:
		p.run.refuse(fmt.Errorf("%s: a mutex with a priority ceiling: EINVAL: %s has no priority to raise", p.name, a.Policy))
		return false
	case own.Priority > mu.ceiling:
		p.run.refuse(fmt.Errorf("%s: a mutex with a priority ceiling: EINVAL: priority %d is above the ceiling %d", p.name, own.Priority, mu.ceiling))
		return false
	}
	p.own = own
	p.ceilings = append(p.ceilings, mu)
	p.toCeiling()
	return true
}

// lower gives the ceiling of mu back, after the unlock.
func (p *thread) lower(mu *mutex) {
	p.ceilings = without(p.ceilings, mu)
	p.toCeiling()
}

// toCeiling sets the highest of the own priority and the ceilings of all locks held.
func (p *thread) toCeiling() {
	a := p.own
	if a.Policy != sched.FIFO && a.Policy != sched.RR {
		return // it has changed its policy meanwhile
	}
	for _, mu := range p.ceilings {
		a.Priority = max(a.Priority, mu.ceiling)
	}
	t := p.th.Task
	if a == t.Attr {
		return
	}
	p.run.emitSyscall(p.th, event.SysEnter, sysSchedSetparam)
	if _, err := p.run.m.Sched.SetAttr(t.CPU(), t, a); err != nil {
		p.run.m.Fail(fmt.Errorf("%s: priority ceiling: %w", p.name, err))
	}
	p.reboost()
}
