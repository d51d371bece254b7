package sched

// This file has the delayed dequeue, from 6.12 on: who goes to sleep and is not eligible, so that it owes
// time, stays in the queue and competes until it is chosen. Only then it leaves. Its lag is paid by that,
// and cannot be slept away.
//
// Such a task sleeps as its State says and counts in nr_running and h_nr_queued, as it does in
// a kernel.

// delayDequeue reports whether se, which is about to leave, stays.
func (s *Sched) delayDequeue(cfs *cfsRQ, se *schedEntity, f flags) bool {
	if !s.eevdf() || !s.has(DelayDequeue) || f&(flagSleep|flagDelayed|flagSpecial) != flagSleep || cfs.eligible(se) {
		return false
	}
	s.updateLoadAvg(cfs, se, 0)
	se.delayed = true
	cfs.rq.countDelayed(se, 1)
	if p := se.task; p != nil && p.nrAllowed > 1 {
		cfs.rq.movable--
	}
	return true
}

// countDelayed counts a task as delayed, or no more; set_delayed(), clear_delayed(). A group
// that is delayed has no tasks.
func (rq *RQ) countDelayed(se *schedEntity, n int) {
	if se.task == nil {
		return
	}
	for ; se != nil; se = se.parent {
		if se.cfsRQ.hNrDelayed += n; se.cfsRQ.hidden {
			return
		}
	}
}

// finishDelayed is finish_delayed_dequeue_entity(): se has left at last. It does not gain by
// having waited.
func (s *Sched) finishDelayed(se *schedEntity) {
	se.delayed = false
	se.cfsRQ.rq.countDelayed(se, -1)
	if s.has(DelayZero) {
		se.vlag = min(se.vlag, 0)
	}
}

// requeueDelayedEntity is requeue_delayed_entity(): se is woken while it is still there, and
// goes on where it stands, but not with more than it had.
func (s *Sched) requeueDelayedEntity(se *schedEntity) {
	cfs := se.cfsRQ
	if s.has(DelayZero) {
		if s.updateEntityLag(cfs, se); se.vlag > 0 {
			cfs.nrRunning--
			if se != cfs.curr {
				s.dequeueTimeline(cfs, se)
			}
			se.vlag = 0
			s.placeEEVDF(cfs, se, 0)
			if se != cfs.curr {
				s.enqueueTimeline(cfs, se)
			}
			cfs.nrRunning++
		}
	}
	s.updateLoadAvg(cfs, se, 0)
	se.delayed = false
	cfs.rq.countDelayed(se, -1)
	if p := se.task; p != nil && p.nrAllowed > 1 {
		cfs.rq.movable++
	}
}

// Delayed reports whether the task sleeps and is still in the queue, since it owes time;
// sched_entity.sched_delayed.
func (p *Task) Delayed() bool { return p.se.delayed }

// leaveDelayed lets p, if it is delayed, leave its queue now: it changes so that it could not stay.
func (s *Sched) leaveDelayed(rq *RQ, p *Task) {
	if p.se.delayed {
		s.dequeueTask(rq, p, flagSleep|flagDelayed)
	}
}
