package sched

import "github.com/whylate/whylate/event"

// This file has when an entity of EEVDF loses its CPU to another one.

// turnIsOver reports whether the current entity of cfs, which was charged, should make way; over
// says that its slice is used up. The rest of update_curr().
func (s *Sched) turnIsOver(cfs *cfsRQ, se *schedEntity, over bool) bool {
	switch {
	case cfs.nrRunning == 1:
		return false
	case over:
		return true
	case s.cfg.Fair.ProtectShortest:
		return !s.protectSlice(se)
	}
	// did_preempt_short(): a shorter slice took its protection away.
	return s.has(PreemptShort) && !s.protectSlice(se) && !cfs.eligible(se)
}

// wakeupPreemptEEVDF is check_preempt_wakeup_fair() of EEVDF: p has the CPU if it would be
// chosen now.
func (s *Sched) wakeupPreemptEEVDF(from event.CPU, rq *RQ, p *Task, f flags) {
	fair := &s.cfg.Fair
	if s.has(NextBuddy) && f&flagFork == 0 && !p.se.delayed {
		s.setNextBuddy(&p.se)
	}
	if rq.needResched {
		return
	}
	if !fair.IdleByQueue {
		switch {
		case rq.curr.Attr.Policy == Idle && p.Attr.Policy != Idle:
			s.reschedCurrLazy(from, rq)
			return
		case p.Attr.Policy != Normal:
			return
		}
	}
	if !s.has(WakeupPreemption) {
		return
	}
	se, pse := findMatchingSE(&rq.curr.se, &p.se)
	if c, pi := se.isIdle(), pse.isIdle(); c != pi {
		if c {
			if fair.IdleUnprotected {
				s.cancelProtectSlice(se)
			}
			s.reschedCurrLazy(from, rq)
		}
		return
	}
	if p.Attr.Policy != Normal {
		return
	}
	cfs := se.cfsRQ
	s.updateCurr(cfs)
	if s.pickedAtWake(cfs, se, pse) {
		s.reschedCurrLazy(from, rq)
	}
}

// pickedAtWake reports whether pse, which has come, would be chosen while se is current. A shorter
// slice ends the protection of a longer one.
func (s *Sched) pickedAtWake(cfs *cfsRQ, se, pse *schedEntity) bool {
	short := s.has(PreemptShort) && pse.slice < se.slice
	if !s.cfg.Fair.ProtectShortest {
		if short && cfs.eligible(pse) && (pse.deadline < se.deadline || !cfs.eligible(se)) {
			s.cancelProtectSlice(se)
		}
		return s.pickEEVDF(cfs, true) == pse
	}
	picked := s.pickEEVDF(cfs, !short) == pse
	switch {
	case short && picked:
		s.cancelProtectSlice(se)
	case short && s.has(RunToParity):
		se.vprot = min(se.vprot, se.vruntime+calcDeltaFair(cfs.minSlice(), se)) // update_protect_slice()
	}
	return picked
}

// yieldEEVDF is what yield_task_fair() does to se, the current entity: it gives its slice away. Recent kernels let
// it pay for the slice as if it had run, where it is owed time.
func (s *Sched) yieldEEVDF(se *schedEntity) {
	cfs := se.cfsRQ
	switch {
	case !s.cfg.Fair.YieldPays:
		se.deadline += calcDeltaFair(se.slice, se)
	case cfs.eligible(se):
		se.vruntime = se.deadline
		s.updateDeadline(cfs, se)
	}
}
