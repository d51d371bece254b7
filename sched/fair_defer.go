package sched

import (
	"fmt"

	"github.com/whylate/whylate/event"
)

// This file puts off put_prev_task() of a fair task that a real-time one preempts
// (FairConfig.DeferPutPrev), as was proposed in 2017. No kernel does so.
//
// The task stays the current one of the queues of its groups, where nobody is current else as
// long as no fair task runs. The work is done at the next choice of a fair task, or when the
// task leaves its queue: it may be moved, or get another class or group. Who charges a queue
// meanwhile charges that task.

// deferPutPrev remembers prev on rq instead of putting it back, and reports whether it did.
// prev is the current task and about to leave.
func (s *Sched) deferPutPrev(rq *RQ, prev *Task) bool {
	switch {
	case s.cfg.Fair.DeferPutPrev == DeferOff && !s.cfg.CoKernel, s.follow != nil:
		return false
	case prev.class != fairClass, !prev.se.onRQ, prev.se.delayed:
		return false
	case rq.stop != nil && rq.stop.onRQ, rq.dl.nrRunning > 0, !rq.rt.queued:
		return false // it is not a real-time task that comes
	}
	rq.deferred, rq.deferredAt = prev, rq.clock
	s.work.Deferred++
	s.fairWait.put(rq.cpu, rq.movable > 0)
	return true
}

// settlePutPrev does what was put off.
func (s *Sched) settlePutPrev(rq *RQ) {
	p := rq.deferred
	if p == nil {
		return
	}
	s.putAside(rq)
	rq.deferred = nil
	s.work.Settled++
	s.putPrevTaskFair(rq, p)
}

// putAside takes the time since p was preempted, or since this was last done, out of what its
// entities will be charged. They began to run that much later, so to speak.
func (s *Sched) putAside(rq *RQ) {
	if s.cfg.Fair.DeferPutPrev != DeferSettle {
		return
	}
	since := rq.clock - rq.deferredAt
	rq.deferredAt = rq.clock
	for se := &rq.deferred.se; se != nil; se = se.parent {
		s.work.PutAside++
		if se.task != nil {
			se.task.execStart += since
		} else {
			se.execStart += since
		}
	}
}

// resume returns the task that was current for Linux when the co-kernel took the CPU, nil where
// that is over otherwise, and makes it current again.
func (s *Sched) resume(rq *RQ) *Task {
	p := rq.deferred
	if p == nil || !s.cfg.CoKernel || rq.rt.queued || rq.dl.nrRunning > 0 || rq.stop != nil && rq.stop.onRQ {
		return nil
	}
	rq.deferred = nil
	return p
}

// WantsRT reports whether a real-time task of c is to run next and another task, of a class
// below, is current.
func (s *Sched) WantsRT(c event.CPU) bool {
	rq := s.rqs[c]
	return rq.rt.queued && rq.curr.class > rtClass && rq.dl.nrRunning == 0 && (rq.stop == nil || !rq.stop.onRQ)
}

// checkDeferred looks whether who is current in the queues of fair tasks is the task that runs,
// or the one that was put off.
func (rq *RQ) checkDeferred() error {
	p := rq.curr
	if d := rq.deferred; d != nil {
		if p.class == fairClass || d.cpu != rq.cpu || !d.onRQ || d.class != fairClass {
			return fmt.Errorf("task %d is to be put back, and is not a fair one that waits while another class runs", d.PID)
		}
		p = d
	}
	if p.class != fairClass {
		if rq.cfs.curr != nil {
			return fmt.Errorf("no fair task runs, and the queue of fair tasks has a current one")
		}
		return nil
	}
	for se := &p.se; se != nil; se = se.parent {
		if se.cfsRQ.curr != se {
			return fmt.Errorf("task %d is not current in a queue above it", p.PID)
		}
	}
	return nil
}
