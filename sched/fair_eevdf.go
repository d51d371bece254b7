package sched

import "github.com/whylate/whylate/event"

// This file has the virtual time of EEVDF. Each task has run so much by its weight, vruntime; their
// mean by weight is what each should have, the 0-lag point V. Who is not ahead of it is owed
// time and eligible.

// eevdf reports whether fair tasks go by the rules of EEVDF.
func (s *Sched) eevdf() bool { return s.cfg.Fair.EEVDF && !s.cfg.FairPlaced }

// scaledWeight is scale_load_down() of the weight of se: as users know it, but at least 2.
func (se *schedEntity) scaledWeight() int64 {
	if se.load.weight == 0 {
		return 0
	}
	return max(2, se.load.weight>>weightShift)
}

// avgVruntimeAdd is avg_vruntime_add(): se comes into the timeline.
func (s *Sched) avgVruntimeAdd(cfs *cfsRQ, se *schedEntity) {
	w := se.scaledWeight()
	cfs.avgVruntime += (se.vruntime - cfs.minVruntime) * w
	cfs.avgLoad += w
}

// avgVruntimeSub is avg_vruntime_sub(): se leaves the timeline.
func (s *Sched) avgVruntimeSub(cfs *cfsRQ, se *schedEntity) {
	w := se.scaledWeight()
	cfs.avgVruntime -= (se.vruntime - cfs.minVruntime) * w
	cfs.avgLoad -= w
}

// sums returns Σ (vruntime − minVruntime) × weight and Σ weight of all entities of cfs, the
// current one included.
func (cfs *cfsRQ) sums() (sum, load int64) {
	sum, load = cfs.avgVruntime, cfs.avgLoad
	if c := cfs.curr; c != nil && c.onRQ {
		w := c.scaledWeight()
		sum += (c.vruntime - cfs.minVruntime) * w
		load += w
	}
	return sum, load
}

// avgVruntime returns V, rounded down, and moves minVruntime there so that the sums stay small;
// avg_vruntime() of kernels with zero_vruntime. Others keep min_vruntime for that, which is
// somewhere else and makes no difference to V: sums relative to another point say the same. An
// empty queue keeps its V.
func (s *Sched) avgVruntime(cfs *cfsRQ) int64 {
	sum, load := cfs.sums()
	if load == 0 {
		return cfs.minVruntime
	}
	if sum < 0 {
		sum -= load - 1
	}
	d := sum / load
	cfs.avgVruntime -= d * cfs.avgLoad
	cfs.minVruntime += d
	return cfs.minVruntime
}

// eligible is entity_eligible(): se has run no more than V. It is decided without a division, so
// that nothing is rounded.
func (cfs *cfsRQ) eligible(se *schedEntity) bool {
	sum, load := cfs.sums()
	return (se.vruntime-cfs.minVruntime)*load <= sum
}

// entityLag is entity_lag(): how far se is behind v in virtual time, at most two slices or a
// tick.
func (s *Sched) entityLag(se *schedEntity, v int64) int64 {
	most := calcDeltaFair(max(2*se.slice, s.cfg.Tick), se)
	return min(max(v-se.vruntime, -most), most)
}

// updateEntityLag is update_entity_lag(): se remembers its lag.
func (s *Sched) updateEntityLag(cfs *cfsRQ, se *schedEntity) {
	se.vlag = s.entityLag(se, s.avgVruntime(cfs))
}

// updateDeadline is update_deadline(): it reports whether the slice of se is used up, and gives it
// another one.
func (s *Sched) updateDeadline(cfs *cfsRQ, se *schedEntity) bool {
	if se.vruntime < se.deadline {
		return false
	}
	if !se.customSlice {
		se.slice = s.cfg.Fair.BaseSlice
	}
	se.deadline = se.vruntime + calcDeltaFair(se.slice, se)
	s.avgVruntime(cfs)
	return true
}

// minSlice is cfs_rq_min_slice(): the shortest slice of what is in cfs; 0 if nothing is.
func (cfs *cfsRQ) minSlice() event.Time {
	least := event.Time(0)
	if c := cfs.curr; c != nil && c.onRQ {
		least = c.slice
	}
	if r := cfs.timeline.root; r != nil && (least == 0 || r.leastSlice < least) {
		least = r.leastSlice
	}
	return least
}

// groupSlice is minSlice where groups go by that, else 0.
func (s *Sched) groupSlice(cfs *cfsRQ) event.Time {
	if !s.cfg.Fair.CustomSlices {
		return 0
	}
	return cfs.minSlice()
}

// setGroupSlice gives the entity of a group the shortest slice of what is in the group, 0: it
// keeps its own, and returns the shortest one of the queue that it is in.
func (s *Sched) setGroupSlice(se *schedEntity, slice event.Time) event.Time {
	if slice != 0 && slice != se.slice {
		se.slice = slice
		if se.node.in {
			se.node.slice = slice
			se.node.pullUp()
		}
	}
	return s.groupSlice(se.cfsRQ)
}
