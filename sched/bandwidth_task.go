package sched

import (
	"slices"

	"github.com/whylate/whylate/event"
)

// This file is what is different from 6.18 on, where it is tasks that are throttled and not
// queues (FairConfig.TaskThrottle): one that is picked in a throttled queue goes on in the kernel,
// and waits for the quota in the limbo of its queue when it is on its way to user mode. So it
// holds no lock of the kernel meanwhile.

// ThrottleWork says that the current task of c is on its way to user mode. It reports whether the
// task has to wait there for the quota of its group: then c has to schedule;
// throttle_cfs_rq_work().
func (s *Sched) ThrottleWork(c event.CPU) (bool, Work) {
	rq := s.rqs[c]
	p := rq.curr
	if !p.throttleWork {
		return false, Work{}
	}
	s.begin(c)
	p.throttleWork = false
	cfs := p.se.cfsRQ
	if p.class != fairClass || p.throttled || cfs.throttleCount == 0 || !p.se.onRQ {
		return false, s.work
	}
	s.updateRQClock(rq)
	s.dequeueTask(rq, p, flagSleep|flagSpecial)
	s.toLimbo(p)
	p.throttled = true
	s.reschedCurr(c, rq)
	return true, s.work
}

func (s *Sched) toLimbo(p *Task) {
	cfs := p.se.cfsRQ
	cfs.limbo = append(cfs.limbo, p)
	for g := cfs.tg; g != nil; g = g.parent {
		s.countThrottled(&g.cpus[cfs.rq.cpu].cfs)
	}
}

// enqueueThrottledTask is enqueue_throttled_task(): a throttled task that comes into a queue that is
// throttled, too, goes on waiting there, and that is reported. The current one does not: its turn to wait comes
// again.
func (s *Sched) enqueueThrottledTask(rq *RQ, p *Task) bool {
	if p.se.cfsRQ.throttleCount > 0 && rq.curr != p {
		s.toLimbo(p)
		return true
	}
	p.throttled = false
	return false
}

// dequeueThrottledTask is dequeue_throttled_task(): a throttled task changes its queue or its class, or
// sleeps after all.
func (s *Sched) dequeueThrottledTask(p *Task, f flags) {
	list := &p.se.cfsRQ.limbo
	if i := slices.Index(*list, p); i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
	if f&flagSleep != 0 {
		p.throttled = false
	}
}
