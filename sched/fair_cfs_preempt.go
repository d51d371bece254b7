package sched

import "github.com/whylate/whylate/event"

// This file has who preempts whom at a wake under CFS, and the buddies that this makes: whom a
// queue would like to run next, to return to, or to skip.

// wakeupPreemptCFS is check_preempt_wakeup() of CFS.
func (s *Sched) wakeupPreemptCFS(from event.CPU, rq *RQ, p *Task, f flags) {
	curr := rq.curr
	se, pse := &curr.se, &p.se
	many := se.cfsRQ.nrRunning >= s.cfg.Fair.nrLatency()
	marked := s.has(NextBuddy) && many && f&flagFork == 0
	if marked {
		s.setNextBuddy(pse)
	}
	switch {
	case rq.needResched:
		return
	case curr.Attr.Policy == Idle && p.Attr.Policy != Idle:
	case p.Attr.Policy != Normal || !s.has(WakeupPreemption):
		return
	default:
		se, pse = findMatchingSE(se, pse)
		if idle, wakee := s.idleEntity(se), s.idleEntity(pse); idle != wakee {
			if wakee {
				return
			}
			break
		}
		s.updateCurr(se.cfsRQ)
		if !s.wakeupPreemptEntity(se, pse) {
			return
		}
		if !marked {
			s.setNextBuddy(pse)
		}
	}
	s.reschedCurrLazy(from, rq)
	if se.onRQ && se.task != nil && many && s.has(LastBuddy) {
		s.setLastBuddy(se)
	}
}

// wakeupPreemptEntity reports whether se is before curr by more than the granularity, in the
// weight of se; wakeup_preempt_entity() is 1.
func (s *Sched) wakeupPreemptEntity(curr, se *schedEntity) bool {
	ahead := curr.vruntime - se.vruntime
	return ahead > 0 && ahead > calcDeltaFair(s.cfg.Fair.WakeupGranularity, se)
}

// setNextBuddy is set_next_buddy(): se should run next, in its queue and all above; those of
// idle ones do not care.
func (s *Sched) setNextBuddy(se *schedEntity) {
	for ; se != nil && s.mayBeBuddy(se); se = se.parent {
		se.cfsRQ.next = se
	}
}

// setLastBuddy is set_last_buddy(): who was preempted should come back.
func (s *Sched) setLastBuddy(se *schedEntity) {
	for ; se != nil && s.mayBeBuddy(se); se = se.parent {
		se.cfsRQ.last = se
	}
}

// mayBeBuddy: idle groups may not since they are there, idle tasks never.
func (s *Sched) mayBeBuddy(se *schedEntity) bool {
	return se.onRQ && !s.idleEntity(se) && (se.task == nil || se.task.Attr.Policy != Idle)
}

// clearBuddies is clear_buddies(): se is none any more, nor are the groups that it made one.
func (s *Sched) clearBuddies(cfs *cfsRQ, se *schedEntity) {
	if cfs.last == se {
		for at := se; at != nil && at.cfsRQ.last == at; at = at.parent {
			at.cfsRQ.last = nil
		}
	}
	if cfs.next == se {
		for at := se; at != nil && at.cfsRQ.next == at; at = at.parent {
			at.cfsRQ.next = nil
		}
	}
	if cfs.skip == se {
		for at := se; at != nil && at.cfsRQ.skip == at; at = at.parent {
			at.cfsRQ.skip = nil
		}
	}
}

// yieldTaskFair is yield_task_fair().
func (s *Sched) yieldTaskFair(rq *RQ) {
	if s.cfg.FairPlaced {
		s.yieldPlaced(rq)
		return
	}
	p := rq.curr
	if rq.nrRunning == 1 {
		return
	}
	cfs, se := p.se.cfsRQ, &p.se
	s.clearBuddies(cfs, se)
	if s.cfg.Fair.EEVDF {
		s.updateCurr(cfs)
		s.yieldEEVDF(se)
		return
	}
	if p.Attr.Policy != Batch {
		s.updateCurr(cfs)
	}
	for ; se != nil; se = se.parent {
		se.cfsRQ.skip = se
	}
}
