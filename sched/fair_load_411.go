package sched

import "github.com/whylate/whylate/event"

// This file is updateLoadAvg by the rules of 4.11. What differs from later ones (pelt_411.go has
// the arithmetic): a queue has beside its load that of its runnable entities, which the balancer
// goes by; a task that is moved while it is runnable is removed like a sleeping one; and what
// comes or goes in a group is handed on as a share of the load of the whole group.

// updateLoadAvg411 is update_load_avg(), with enqueue_entity_load_avg() and
// dequeue_entity_load_avg(), 4.10.
func (s *Sched) updateLoadAvg411(cfs *cfsRQ, se *schedEntity, f loadFlags) {
	now := cfs.clockPelt()
	if se.avg.lastUpdateTime != 0 && f&skipAgeLoad == 0 {
		weight := uint64(0)
		if se.onRQ {
			weight = uint64(se.load.weight >> weightShift)
		}
		s.countLoad(se.avg.updateLoad411(now, weight, cfs.curr == se, nil), 2)
	}
	changed := s.updateCfsRQLoad411(now, cfs)
	if se.myQ != nil && s.propagateEntityLoad411(cfs, se) {
		changed = true
	}
	if changed && f&updateTG != 0 {
		s.updateTGLoadAvg(cfs)
	}
	switch r := &cfs.runnableLoad; {
	case f&doAttach != 0:
		r.avg += se.avg.loadAvg
		r.sum += se.avg.loadSum
		if se.avg.lastUpdateTime == 0 {
			cfs.attachEntityLoad411(se)
			s.updateTGLoadAvg(cfs)
		}
	case f&doDequeue != 0:
		subPositive(&r.avg, se.avg.loadAvg)
		subPositive(&r.sum, se.avg.loadSum)
	}
}

// updateCfsRQLoad411 is update_cfs_rq_load_avg(), 4.10.
func (s *Sched) updateCfsRQLoad411(now event.Time, cfs *cfsRQ) bool {
	sa, removed := &cfs.avg, false
	if r := cfs.removed; r.nr > 0 {
		cfs.removed = removedLoad{}
		subPositive(&sa.loadAvg, r.loadAvg)
		subPositive(&sa.loadSum, r.loadAvg*loadAvgMax)
		subPositive(&sa.utilAvg, r.utilAvg)
		subPositive(&sa.utilSum, uint32(r.utilAvg*loadAvgMax))
		cfs.propagate = cfs.propagate || r.loadAvg > 0 || r.utilAvg > 0
		removed = r.loadAvg > 0
	}
	periods := sa.updateLoad411(now, uint64(cfs.load.weight>>weightShift), cfs.curr != nil, &cfs.runnableLoad)
	s.countLoad(periods, 3)
	return removed || periods > 0
}

// attachEntityLoad411 is attach_entity_load_avg(), 4.10: the periods of se stay its own.
func (cfs *cfsRQ) attachEntityLoad411(se *schedEntity) {
	sa := &cfs.avg
	se.avg.lastUpdateTime = sa.lastUpdateTime
	sa.loadAvg += se.avg.loadAvg
	sa.loadSum += se.avg.loadSum
	sa.utilAvg += se.avg.utilAvg
	sa.utilSum += se.avg.utilSum
	cfs.propagate = true
}

// detachEntityLoad411 is detach_entity_load_avg(), 4.10.
func (cfs *cfsRQ) detachEntityLoad411(se *schedEntity) {
	sa := &cfs.avg
	subPositive(&sa.loadAvg, se.avg.loadAvg)
	subPositive(&sa.loadSum, se.avg.loadSum)
	subPositive(&sa.utilAvg, se.avg.utilAvg)
	subPositive(&sa.utilSum, se.avg.utilSum)
	cfs.propagate = true
}

// propagateEntityLoad411 is propagate_entity_load_avg(), 4.10. With propagate_runnable_load it
// hands on at every update, whether something came or went or not.
func (s *Sched) propagateEntityLoad411(cfs *cfsRQ, se *schedEntity) bool {
	q := se.myQ
	if !q.propagate && !s.cfg.Fair.PropagateRunnableLoad {
		return false
	}
	if q.propagate {
		q.propagate, cfs.propagate = false, true
		cfs.propagateUtil411(se)
	}
	return cfs.propagateLoad411(se, s.groupLoad411(q)) || cfs.propagate
}

// propagateUtil411 is update_tg_cfs_util(), 4.10.
func (cfs *cfsRQ) propagateUtil411(se *schedEntity) {
	delta := int64(se.myQ.avg.utilAvg - se.avg.utilAvg)
	if delta == 0 {
		return
	}
	se.avg.utilAvg = se.myQ.avg.utilAvg
	se.avg.utilSum = uint32(se.avg.utilAvg * loadAvgMax)
	addPositive(&cfs.avg.utilAvg, delta)
	cfs.avg.utilSum = uint32(cfs.avg.utilAvg * loadAvgMax)
}

// groupLoad411 is the load that the entity of q gets; the first half of update_tg_cfs_load(),
// 4.10: that of q, scaled to the shares of the group only where all of the group has more than
// those. So it has nothing to do with what the entity weighs, to which its load moves again as it ages:
// a heavy group has too little of it when something has just come or gone. With the feature
// propagate_group_load it is scaled by the weight that the entity should have now; with
// propagate_runnable_load it is the load of those that are runnable, without that of sleepers.
func (s *Sched) groupLoad411(q *cfsRQ) uint64 {
	load := int64(q.avg.loadAvg)
	if s.cfg.Fair.PropagateRunnableLoad {
		load = int64(q.runnableLoad.avg)
	}
	switch shares := q.tg.shares >> weightShift; {
	case load == 0:
	case s.cfg.Fair.PropagateGroupLoad:
		if q.load.weight == 0 {
			return 0
		}
		shares := s.calcGroupShares(q)
		load = min(load*shares/q.load.weight, shares>>weightShift)
	default:
		if all := q.tg.loadAvg + 1 - q.tgLoadAvgContrib + load; all > shares {
			load = load * shares / all
		}
	}
	return uint64(load)
}

// propagateLoad411 gives se the load and cfs the difference; the second half of
// update_tg_cfs_load(), 4.10.
func (cfs *cfsRQ) propagateLoad411(se *schedEntity, load uint64) bool {
	delta := int64(load - se.avg.loadAvg)
	if delta == 0 {
		return false
	}
	se.avg.loadAvg, se.avg.loadSum = load, load*loadAvgMax
	addPositive(&cfs.avg.loadAvg, delta)
	cfs.avg.loadSum = cfs.avg.loadAvg * loadAvgMax
	if se.onRQ {
		addPositive(&cfs.runnableLoad.avg, delta)
		cfs.runnableLoad.sum = cfs.runnableLoad.avg * loadAvgMax
	}
	return true
}
