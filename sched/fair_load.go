package sched

import "github.com/whylate/whylate/event"

// This file connects load tracking (pelt.go) with queues and groups, by the rules of 6.1 and
// 6.12; those of 4.11 are in fair_load_411.go. The averages of a queue are the sums of those of
// its entities, of the sleeping ones too, and are kept apart from them: an entity that comes is
// attached, one that goes to another queue is detached, or removed where nobody holds the
// queue's lock.

// cfsLoad is the part of cfs_rq that tracks load.
type cfsLoad struct {
	avg     schedAvg
	removed removedLoad

	propagate       bool  // an entity came or went: the group above has to know
	propRunnableSum int64 // what that does to the runnable sum of the group's entity

	tgLoadAvgContrib int64      // tg_load_avg_contrib: what Group.loadAvg has of avg.loadAvg
	tgLoadNext       event.Time // when that may change again
	runnableLoad     runnableLoad

	hLoad   int64 // h_load: what it has of the load of its CPU
	hLoadAt int64 // last_h_load_update: one more than the tick of that

	loadStopped bool       // the queue is throttled: its load does not age
	stoppedAt   event.Time // throttled_clock_pelt
	stoppedTime event.Time // throttled_clock_pelt_time: how long it was, all in all
}

// removedLoad is what entities took along that left while they slept; cfs_rq.removed.
type removedLoad struct {
	nr                            int
	loadAvg, utilAvg, runnableAvg uint64
}

// loadFlags say what updateLoadAvg does beside.
type loadFlags uint8

const (
	updateTG    loadFlags = 1 << iota // UPDATE_TG
	skipAgeLoad                       // SKIP_AGE_LOAD
	doAttach                          // DO_ATTACH: the entity is enqueued
	doDetach                          // DO_DETACH: it is dequeued and moves to another CPU
	doDequeue                         // it is dequeued
)

// detachFlags are those of a dequeue.
func detachFlags(se *schedEntity, _ flags) loadFlags {
	if se.task != nil && se.task.moving {
		return updateTG | doDequeue | doDetach
	}
	return updateTG | doDequeue
}

// peltEpoch is what load tracking shows at time 0: a time of 0 means that nothing is attached.
// Periods of all CPUs begin together.
const peltEpoch event.Time = 1 << 40

// clockPelt is rq_clock_pelt(). All CPUs are alike and at full speed, so that nothing of
// rq_clock_task() is scaled and no idle time is lost. It never goes back, as the clock of who follows
// a recording does by some ns: two that were updated at different times would not agree any more on when
// a period begins.
func (rq *RQ) clockPelt() event.Time {
	rq.peltClock = max(rq.peltClock, rq.clock)
	return rq.peltClock + peltEpoch
}

// clockPelt is cfs_rq_clock_pelt(): time in which the queue was throttled does not count.
func (cfs *cfsRQ) clockPelt() event.Time {
	if cfs.loadStopped {
		return cfs.stoppedAt - cfs.stoppedTime
	}
	return cfs.rq.clockPelt() - cfs.stoppedTime
}

// syncLoadClock stops the clock of cfs while it or a queue above is throttled; where tasks are
// throttled one by one (TaskThrottle) only once all have left.
func (s *Sched) syncLoadClock(cfs *cfsRQ) {
	stop := cfs.throttleCount > 0 && (!s.cfg.Fair.TaskThrottle || cfs.nrRunning == 0)
	if cfs.loadStopped == stop {
		return
	}
	cfs.loadStopped = stop
	if stop {
		cfs.stoppedAt = cfs.rq.clockPelt()
	} else {
		cfs.stoppedTime += cfs.rq.clockPelt() - cfs.stoppedAt
	}
}

// seWeight is se_weight().
func (se *schedEntity) seWeight() uint64 { return scaleLoadDown(se.load.weight) }

// runnable is se_runnable(): how many tasks of se are runnable.
func (se *schedEntity) runnable() uint64 {
	switch {
	case se.delayed:
		return 0
	case se.task == nil:
		return uint64(se.runnableWeight)
	case se.onRQ:
		return 1
	}
	return 0
}

// updateRunnable is se_update_runnable().
func (se *schedEntity) updateRunnable() {
	if q := se.myQ; q != nil {
		se.runnableWeight = int64(q.hNrRunning - q.hNrDelayed)
	}
}

// addPositive is add_positive(): what goes below 0 is 0.
func addPositive[T uint32 | uint64](v *T, by int64) {
	sum := *v + T(by)
	if by < 0 && sum > *v {
		sum = 0
	}
	*v = sum
}

// subPositive is sub_positive().
func subPositive[T uint32 | uint64](v *T, by T) {
	if *v < by {
		*v = 0
		return
	}
	*v -= by
}

// atLeast keeps a sum from falling below what its average needs. It compares the lower 32 bits, as
// the kernel does: the load of more than some ninety tasks of nice 0 does not fit into them.
func atLeast(sum, avg uint64) uint64 {
	return uint64(max(uint32(sum), uint32(avg*peltMinDivider)))
}

// countLoad counts an update of n sums in which so many periods ended.
func (s *Sched) countLoad(periods uint64, n int) {
	s.work.PeltUpdates++
	if periods > 0 {
		s.work.PeltPeriods += int(min(periods, peltAllPeriods))
		s.work.PeltDecays += n
	}
}

// updateLoadAvgSE is __update_load_avg_se().
func (s *Sched) updateLoadAvgSE(now event.Time, cfs *cfsRQ, se *schedEntity) {
	load := uint64(0)
	if se.onRQ {
		load = 1
	}
	periods := se.avg.updateLoadSum(now, load, se.runnable(), cfs.curr == se)
	s.countLoad(periods, 3)
	if periods > 0 {
		se.avg.updateLoadAvg(se.seWeight())
		se.avg.utilEst.enqueued &^= utilAvgUnchanged
	}
}

// updateLoadAvgBlockedSE is __update_load_avg_blocked_se().
func (s *Sched) updateLoadAvgBlockedSE(now event.Time, se *schedEntity) {
	periods := se.avg.updateLoadSum(now, 0, 0, false)
	s.countLoad(periods, 3)
	if periods > 0 {
		se.avg.updateLoadAvg(se.seWeight())
	}
}

// updateCfsRQLoadAvg takes away what was removed and brings the averages of cfs to now. It
// reports whether they may have changed; update_cfs_rq_load_avg().
func (s *Sched) updateCfsRQLoadAvg(now event.Time, cfs *cfsRQ) bool {
	sa, changed := &cfs.avg, false
	if r := cfs.removed; r.nr > 0 {
		cfs.removed = removedLoad{}
		divider := sa.peltDivider()
		subPositive(&sa.loadAvg, r.loadAvg)
		subPositive(&sa.loadSum, r.loadAvg*divider)
		sa.loadSum = atLeast(sa.loadSum, sa.loadAvg)
		subPositive(&sa.utilAvg, r.utilAvg)
		subPositive(&sa.utilSum, uint32(r.utilAvg*divider))
		sa.utilSum = uint32(atLeast(uint64(sa.utilSum), sa.utilAvg))
		subPositive(&sa.runnableAvg, r.runnableAvg)
		subPositive(&sa.runnableSum, r.runnableAvg*divider)
		sa.runnableSum = atLeast(sa.runnableSum, sa.runnableAvg)
		cfs.addTGCfsPropagate(-int64(r.runnableAvg*divider) >> capacityShift)
		changed = true
	}
	running := cfs.curr != nil
	periods := sa.updateLoadSum(now, scaleLoadDown(cfs.load.weight), uint64(cfs.hNrRunning-cfs.hNrDelayed), running)
	s.countLoad(periods, 3)
	if periods > 0 {
		sa.updateLoadAvg(1)
		changed = true
	}
	return changed
}

// updateLoadAvg brings the load of se and of its queue to now, tells the queue what has come
// or gone below se, and attaches or detaches se; update_load_avg().
func (s *Sched) updateLoadAvg(cfs *cfsRQ, se *schedEntity, f loadFlags) {
	switch {
	case s.cfg.FairPlaced:
		return // nobody asks for loads
	case s.cfg.Fair.PELT411:
		s.updateLoadAvg411(cfs, se, f)
		return
	}
	now := cfs.clockPelt()
	if se.avg.lastUpdateTime != 0 && f&skipAgeLoad == 0 {
		s.updateLoadAvgSE(now, cfs, se)
	}
	changed := s.updateCfsRQLoadAvg(now, cfs)
	if se.myQ != nil && propagateEntityLoadAvg(cfs, se) {
		changed = true
	}
	switch {
	case se.avg.lastUpdateTime == 0 && f&doAttach != 0:
		cfs.attachEntityLoadAvg(se)
		s.updateTGLoadAvg(cfs)
	case f&doDetach != 0:
		cfs.detachEntityLoadAvg(se)
		s.updateTGLoadAvg(cfs)
	case changed && f&updateTG != 0:
		s.updateTGLoadAvg(cfs)
	}
}

// enqueueLoadAvg is enqueue_load_avg(), dequeueLoadAvg dequeue_load_avg().
func (cfs *cfsRQ) enqueueLoadAvg(se *schedEntity) {
	cfs.avg.loadAvg += se.avg.loadAvg
	cfs.avg.loadSum += se.seWeight() * se.avg.loadSum
}

func (cfs *cfsRQ) dequeueLoadAvg(se *schedEntity) {
	sa := &cfs.avg
	subPositive(&sa.loadAvg, se.avg.loadAvg)
	subPositive(&sa.loadSum, se.seWeight()*se.avg.loadSum)
	sa.loadSum = atLeast(sa.loadSum, sa.loadAvg)
}

// attachEntityLoadAvg adds the load of se to cfs, which was just updated. The periods of se go on with
// those of cfs, and its sums are made anew for that; attach_entity_load_avg().
func (cfs *cfsRQ) attachEntityLoadAvg(se *schedEntity) {
	sa, divider := &se.avg, cfs.avg.peltDivider()
	sa.lastUpdateTime, sa.periodContrib = cfs.avg.lastUpdateTime, cfs.avg.periodContrib
	sa.utilSum = uint32(sa.utilAvg * divider)
	sa.runnableSum = sa.runnableAvg * divider
	sa.loadSum = sa.loadAvg * divider
	if w := se.seWeight(); w < sa.loadSum {
		sa.loadSum /= w
	} else {
		sa.loadSum = 1
	}
	cfs.enqueueLoadAvg(se)
	cfs.avg.utilAvg += sa.utilAvg
	cfs.avg.utilSum += sa.utilSum
	cfs.avg.runnableAvg += sa.runnableAvg
	cfs.avg.runnableSum += sa.runnableSum
	cfs.addTGCfsPropagate(int64(sa.loadSum))
}

// detachEntityLoadAvg is detach_entity_load_avg(); cfs was just updated.
func (cfs *cfsRQ) detachEntityLoadAvg(se *schedEntity) {
	sa := &cfs.avg
	cfs.dequeueLoadAvg(se)
	subPositive(&sa.utilAvg, se.avg.utilAvg)
	subPositive(&sa.utilSum, se.avg.utilSum)
	sa.utilSum = uint32(atLeast(uint64(sa.utilSum), sa.utilAvg))
	subPositive(&sa.runnableAvg, se.avg.runnableAvg)
	subPositive(&sa.runnableSum, se.avg.runnableSum)
	sa.runnableSum = atLeast(sa.runnableSum, sa.runnableAvg)
	cfs.addTGCfsPropagate(-int64(se.avg.loadSum))
}

// updateTGLoadAvg brings the sum of the loads of a group up to date, if what cfs adds to it has
// changed by more than 1/64; update_tg_load_avg().
func (s *Sched) updateTGLoadAvg(cfs *cfsRQ) {
	if cfs.tg == nil {
		return // nobody asks for that of the root
	}
	every := s.cfg.Fair.TGLoadEvery
	if every > 0 && cfs.rq.clock < cfs.tgLoadNext {
		return
	}
	delta := int64(cfs.avg.loadAvg) - cfs.tgLoadAvgContrib
	if max(delta, -delta) > cfs.tgLoadAvgContrib/64 {
		cfs.tg.loadAvg += delta
		cfs.tgLoadAvgContrib += delta
		cfs.tgLoadNext = cfs.rq.clock + every
	}
}
