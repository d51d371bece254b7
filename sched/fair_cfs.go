package sched

import "github.com/whylate/whylate/event"

// This file has the rules by which CFS chooses: who has run least, by weight, goes first, for
// the slice that its weight gives it. Where entities come into the order is told in
// fair_cfs_place.go, who preempts whom in fair_cfs_preempt.go.

// isCFS reports whether fair tasks go by virtual run time.
func (s *Sched) isCFS() bool { return !s.cfg.Fair.EEVDF && !s.cfg.FairPlaced }

// nrLatency is sched_nr_latency: so many slices of min_granularity fill a latency.
func (f *FairConfig) nrLatency() int {
	if f.MinGranularity <= 0 {
		return 8
	}
	return int((f.Latency + f.MinGranularity - 1) / f.MinGranularity)
}

// schedPeriod is __sched_period(): in which time each of n tasks runs once.
func (s *Sched) schedPeriod(n int) event.Time {
	fair := &s.cfg.Fair
	if n > fair.nrLatency() {
		return event.Time(n) * fair.MinGranularity
	}
	return fair.Latency
}

// schedSlice is sched_slice(): the wall time that se should run.
func (s *Sched) schedSlice(cfs *cfsRQ, se *schedEntity) event.Time {
	n := cfs.nrRunning
	if s.has(AltPeriod) {
		n = cfs.rq.cfs.hNrRunning
	}
	if !se.onRQ {
		n++
	}
	slice := int64(s.schedPeriod(n))
	for at := se; at != nil; at = at.parent {
		if at.onRQ {
			slice = s.calcDelta(slice, at.load.weight, at.cfsRQ.inverted(s))
			continue
		}
		with := s.groupWeight(at.cfsRQ.load.weight + at.load.weight)
		slice = s.calcDelta(slice, at.load.weight, &with)
	}
	if s.has(BaseSlice) {
		least := s.cfg.Fair.MinGranularity
		if s.idleEntity(se) && (cfs.nrRunning == 0 || cfs.nrRunning != cfs.idleNr) {
			least = s.cfg.Fair.IdleMinGranularity
		}
		slice = max(slice, int64(least))
	}
	return event.Time(slice)
}

// schedVslice is sched_vslice(): a slice in virtual time.
func (s *Sched) schedVslice(cfs *cfsRQ, se *schedEntity) int64 {
	return calcDeltaFair(s.schedSlice(cfs, se), se)
}

// idleEntity reports whether this kernel treats se as idle: before 5.15 only the policy of the
// current and of the woken task counts.
func (s *Sched) idleEntity(se *schedEntity) bool { return s.cfg.Fair.IdleEntities && se.isIdle() }

// pickCFS is pick_next_entity() of CFS: the first, unless it is to be skipped, or a buddy is not
// far behind it.
func (s *Sched) pickCFS(cfs *cfsRQ, curr *schedEntity) *schedEntity {
	left := cfs.first()
	if left == nil || curr != nil && curr.vruntime < left.vruntime {
		left = curr
	}
	if left == nil {
		return nil
	}
	picked := left
	if cfs.skip == left {
		if second := cfs.second(left, curr); second != nil && !s.wakeupPreemptEntity(second, left) {
			picked = second
		}
	}
	switch {
	case cfs.next != nil && !s.wakeupPreemptEntity(cfs.next, left):
		picked = cfs.next
	case cfs.last != nil && !s.wakeupPreemptEntity(cfs.last, left):
		picked = cfs.last
	}
	if s.cfg.Fair.PickClearsBuddies {
		s.clearBuddies(cfs, picked)
	}
	return picked
}

// second returns who comes behind left, which is the first of all, nil for nobody.
func (cfs *cfsRQ) second(left, curr *schedEntity) *schedEntity {
	if left == curr {
		return cfs.first()
	}
	n := left.node.next()
	if n == nil || curr != nil && curr.vruntime < n.se.vruntime {
		return curr
	}
	return n.se
}

// checkPreemptTick is check_preempt_tick(): the current entity leaves at the end of its slice,
// or when it is a slice ahead of the first.
func (s *Sched) checkPreemptTick(cfs *cfsRQ, curr *schedEntity) {
	if cfs.rq.hrtickOn && !s.has(DoubleTick) {
		return // that comes at the end of the slice
	}
	ideal := s.schedSlice(cfs, curr)
	ran := curr.sumExec() - curr.prevSumExecRuntime
	if ran > ideal {
		s.reschedCurrLazy(cfs.rq.cpu, cfs.rq)
		s.clearBuddies(cfs, curr) // so that none of them brings it back
		return
	}
	if ran < s.cfg.Fair.MinGranularity {
		return
	}
	if first := cfs.first(); first != nil && curr.vruntime-first.vruntime > int64(ideal) {
		s.reschedCurrLazy(cfs.rq.cpu, cfs.rq)
	}
}

// hrtickStartFair is hrtick_start_fair(): a tick at the end of the slice of p, which is or
// becomes current.
func (s *Sched) hrtickStartFair(rq *RQ, p *Task) {
	if rq.cfs.hNrRunning <= 1 {
		return
	}
	se := &p.se
	slice := se.slice
	if !s.cfg.Fair.EEVDF {
		slice = s.schedSlice(se.cfsRQ, se)
	}
	left := slice - (se.sumExec() - se.prevSumExecRuntime)
	if left < 0 {
		if rq.curr == p {
			s.reschedCurrLazy(rq.cpu, rq)
		}
		return
	}
	s.startHRTick(rq, left)
}

// hrtickUpdate is hrtick_update(): who came or went has changed the slice of the current task.
func (s *Sched) hrtickUpdate(rq *RQ) {
	if p := rq.curr; s.cfg.HRTick && p.class == fairClass && (!s.isCFS() || p.se.cfsRQ.nrRunning < s.cfg.Fair.nrLatency()) {
		s.hrtickStartFair(rq, p)
	}
}
