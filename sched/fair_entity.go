package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// enqueueEntity puts se into its queue; enqueue_entity().
func (s *Sched) enqueueEntity(cfs *cfsRQ, se *schedEntity, f flags) {
	curr := cfs.curr == se
	if curr {
		s.placeEnqueued(cfs, se, f)
	}
	s.updateCurr(cfs)
	s.updateLoadAvg(cfs, se, updateTG|doAttach)
	se.updateRunnable()
	s.updateCfsGroup(se)
	if !curr {
		s.placeEnqueued(cfs, se, f)
	}
	cfs.accountEntityEnqueue(se)
	if f&flagWakeup != 0 && s.isCFS() {
		s.placeEntity(cfs, se, false)
	}
	if f&flagMigrated != 0 {
		se.setExecStart(0)
	}
	if !curr {
		s.enqueueTimeline(cfs, se)
	}
	se.onRQ = true
	if cfs.nrRunning == 1 {
		s.syncLoadClock(cfs)
		s.checkEnqueueThrottle(cfs)
		cfs.rq.linkLeaf(cfs)
	}
}

// dequeueEntity takes se out of its queue; dequeue_entity(). It reports false if se stays
// there because its lag is still to be paid (DELAY_DEQUEUE).
func (s *Sched) dequeueEntity(cfs *cfsRQ, se *schedEntity, f flags) bool {
	s.updateCurr(cfs)
	s.clearBuddies(cfs, se)
	if s.delayDequeue(cfs, se, f) {
		return false
	}
	s.updateLoadAvg(cfs, se, detachFlags(se, f))
	se.updateRunnable()
	s.leaveEntity(cfs, se, f)
	if se != cfs.curr {
		s.dequeueTimeline(cfs, se)
	}
	se.onRQ = false
	cfs.accountEntityDequeue(se)
	s.syncLoadClock(cfs)
	s.leftEntity(cfs, se, f)
	s.returnCfsRQRuntime(cfs)
	s.updateCfsGroup(se)
	if f&flagDelayed != 0 {
		s.finishDelayed(se)
	}
	s.leftMinVruntime(cfs, f)
	return true
}

// updateCurr charges the current entity of a queue; update_curr().
func (s *Sched) updateCurr(cfs *cfsRQ) event.Time {
	se := cfs.curr
	if se == nil {
		return 0
	}
	rq := cfs.rq
	if rq.deferred != nil {
		s.putAside(rq)
	}
	p := se.task
	var delta event.Time
	if p != nil {
		delta = s.charge(rq, p)
	} else if delta = rq.clock - se.execStart; delta > 0 {
		se.execStart = rq.clock
		se.sumExecRuntime += delta
	}
	if delta <= 0 {
		return 0
	}
	s.work.Charged++
	if s.cfg.FairPlaced {
		se.vruntime += int64(delta)
	} else {
		se.vruntime += calcDeltaFair(delta, se)
	}
	s.updatedCurr(cfs, se, delta)
	return delta
}

// updatedCurr is what follows from a charge of delta ns.
func (s *Sched) updatedCurr(cfs *cfsRQ, se *schedEntity, delta event.Time) {
	over := s.eevdf() && s.updateDeadline(cfs, se)
	s.updateMinVruntime(cfs)
	if p := se.task; p != nil {
		s.emitRuntime(cfs.rq.cpu, p, delta, se.vruntime)
		s.dlServerUpdate(cfs.rq, delta)
	}
	s.accountCfsRQRuntime(cfs, delta)
	if s.eevdf() && s.turnIsOver(cfs, se, over) {
		s.reschedCurrLazy(cfs.rq.cpu, cfs.rq)
		s.clearBuddies(cfs, se)
	}
}

// setNextEntity makes se the current one of its queue; set_next_entity().
func (s *Sched) setNextEntity(cfs *cfsRQ, se *schedEntity) {
	s.work.SetNexts++
	s.clearBuddies(cfs, se)
	if se.onRQ {
		s.dequeueTimeline(cfs, se)
		s.updateLoadAvg(cfs, se, updateTG)
		s.pickedEntity(cfs, se)
	}
	se.setExecStart(cfs.rq.clock)
	cfs.curr = se
	se.prevSumExecRuntime = se.sumExec()
}

// putPrevEntity puts the current entity of a queue back; put_prev_entity().
func (s *Sched) putPrevEntity(cfs *cfsRQ, prev *schedEntity) event.Time {
	var delta event.Time
	if prev.onRQ {
		delta = s.updateCurr(cfs)
	}
	s.checkCfsRQRuntime(cfs)
	s.work.PutPrevs++
	if prev.onRQ {
		s.enqueueTimeline(cfs, prev)
		s.updateLoadAvg(cfs, prev, 0)
	}
	cfs.curr = nil
	return delta
}

// entityTick is entity_tick().
func (s *Sched) entityTick(cfs *cfsRQ, curr *schedEntity, queued bool) {
	s.updateCurr(cfs)
	s.updateLoadAvg(cfs, curr, updateTG)
	s.updateCfsGroup(curr)
	if queued {
		s.reschedCurrLazy(cfs.rq.cpu, cfs.rq)
		return
	}
	if !s.cfg.Fair.EEVDF && cfs.nrRunning > 1 {
		s.checkPreemptTick(cfs, curr)
	}
}

func (se *schedEntity) setExecStart(at event.Time) {
	if se.task != nil {
		se.task.execStart = at
	} else {
		se.execStart = at
	}
}

// enqueueTimeline is __enqueue_entity().
func (s *Sched) enqueueTimeline(cfs *cfsRQ, se *schedEntity) {
	if n := cfs.timeline.n; n > 0 {
		s.work.Inserts++
		s.work.Depth += bits.Len(uint(n))
	}
	if s.eevdf() {
		s.avgVruntimeAdd(cfs, se)
		cfs.timeline.insertValue(&se.node, se.deadline, se.vruntime, se.slice)
		return
	}
	cfs.timeline.insert(&se.node, se.vruntime)
}

// dequeueTimeline is __dequeue_entity().
func (s *Sched) dequeueTimeline(cfs *cfsRQ, se *schedEntity) {
	if !se.node.in {
		return
	}
	cfs.timeline.remove(&se.node)
	if s.eevdf() {
		s.avgVruntimeSub(cfs, se)
	}
}

// first returns the first entity of the timeline, nil for none; __pick_first_entity().
func (cfs *cfsRQ) first() *schedEntity {
	if cfs.timeline.first == nil {
		return nil
	}
	return cfs.timeline.first.se
}

// updateMinVruntime is update_min_vruntime() of CFS: it never goes back.
func (s *Sched) updateMinVruntime(cfs *cfsRQ) {
	if s.eevdf() {
		return // avgVruntime moves it
	}
	least := cfs.minVruntime
	curr, first := cfs.curr, cfs.first()
	if curr != nil && !curr.onRQ {
		curr = nil
	}
	switch {
	case curr != nil && first != nil:
		least = min(curr.vruntime, first.vruntime)
	case curr != nil:
		least = curr.vruntime
	case first != nil:
		least = first.vruntime
	}
	cfs.minVruntime = max(cfs.minVruntime, least)
}
