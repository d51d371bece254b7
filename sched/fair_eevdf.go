package sched

import "github.com/whylate/whylate/event"

// This file has the rules of EEVDF: of those that are owed time the earliest virtual deadline
// goes first.

func (s *Sched) avgVruntimeAdd(*cfsRQ, *schedEntity) {}

func (s *Sched) avgVruntimeSub(*cfsRQ, *schedEntity) {}

func (s *Sched) updateMinVruntimeEEVDF(cfs *cfsRQ) {
	least := cfs.minVruntime
	if c := cfs.curr; c != nil && c.onRQ {
		least = c.vruntime
		if cfs.timeline.root != nil {
			least = min(least, cfs.timeline.root.least)
		}
	} else if cfs.timeline.root != nil {
		least = cfs.timeline.root.least
	}
	cfs.minVruntime = max(cfs.minVruntime, least)
}

// updateDeadline is update_deadline(): it reports whether the slice of se is used up.
func (s *Sched) updateDeadline(_ *cfsRQ, se *schedEntity) bool {
	if se.vruntime < se.deadline {
		return false
	}
	se.slice = s.cfg.Fair.BaseSlice
	se.deadline = se.vruntime + calcDeltaFair(se.slice, se)
	return true
}

// placeEEVDF is place_entity() of EEVDF.
func (s *Sched) placeEEVDF(cfs *cfsRQ, se *schedEntity, _ flags) {
	se.vruntime = max(se.vruntime, cfs.minVruntime)
	se.slice = s.cfg.Fair.BaseSlice
	se.deadline = se.vruntime + calcDeltaFair(se.slice, se)
}

// leaveEEVDF is what dequeue_entity() does to lag and deadline.
func (s *Sched) leaveEEVDF(*cfsRQ, *schedEntity, flags) {}

// delayDequeue reports whether se stays in the queue until its lag is paid.
func (s *Sched) delayDequeue(*cfsRQ, *schedEntity, flags) bool { return false }

// requeueDelayedEntity is requeue_delayed_entity().
func (s *Sched) requeueDelayedEntity(*RQ, *schedEntity) {}

// pickedEntity is what set_next_entity() does to se before it becomes current.
func (s *Sched) pickedEntity(*schedEntity) {}

// pickEEVDF is pick_eevdf().
func (s *Sched) pickEEVDF(cfs *cfsRQ) *schedEntity {
	curr, first := cfs.curr, cfs.first()
	if curr != nil && !curr.onRQ {
		curr = nil
	}
	if first == nil || curr != nil && curr.deadline < first.deadline {
		return curr
	}
	return first
}

// wakeupPreemptEEVDF is check_preempt_wakeup_fair() of EEVDF.
func (s *Sched) wakeupPreemptEEVDF(from event.CPU, rq *RQ, p *Task, _ flags) {
	se, pse := findMatchingSE(&rq.curr.se, &p.se)
	s.updateCurr(se.cfsRQ)
	if p.Attr.Policy == Normal && s.pickEEVDF(se.cfsRQ) == pse {
		s.reschedCurrLazy(from, rq)
	}
}

// yieldEEVDF is what yield_task_fair() does to the current entity.
func (s *Sched) yieldEEVDF(se *schedEntity) { se.deadline += calcDeltaFair(se.slice, se) }

var _ event.Time
