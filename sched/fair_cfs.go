package sched

import "github.com/whylate/whylate/event"

// This file has the rules of CFS: who has run least, by weight, goes first.

// placeEnqueued gives se, which comes into cfs, its virtual run time; what enqueue_entity()
// does before and after its first half.
func (s *Sched) placeEnqueued(cfs *cfsRQ, se *schedEntity, f flags) {
	switch {
	case s.cfg.FairPlaced:
		enqueuedPlaced(cfs, se)
	case s.cfg.Fair.EEVDF:
		s.placeEEVDF(cfs, se, f)
	default:
		if f&flagWakeup == 0 || f&flagMigrated != 0 {
			se.vruntime += cfs.minVruntime
		}
		if f&flagWakeup != 0 {
			s.placeEntity(cfs, se, false)
		}
	}
}

// placeEntity is place_entity() of CFS: a new task comes a slice behind, a sleeper some of a
// latency ahead, and nobody goes back.
func (s *Sched) placeEntity(cfs *cfsRQ, se *schedEntity, initial bool) {
	fair := &s.cfg.Fair
	vruntime := cfs.minVruntime
	if initial && s.has(StartDebit) {
		vruntime += s.schedVslice(cfs, se)
	}
	if !initial {
		thresh := fair.Latency
		if se.isIdle() && fair.IdleMinGranularity > 0 {
			thresh = fair.MinGranularity
		}
		if s.has(GentleFairSleepers) {
			thresh /= 2
		}
		vruntime -= int64(thresh)
	}
	se.vruntime = max(se.vruntime, vruntime)
}

// leaveEntity is what becomes of the virtual run time of se, which leaves cfs.
func (s *Sched) leaveEntity(cfs *cfsRQ, se *schedEntity, f flags) {
	if s.cfg.Fair.EEVDF && !s.cfg.FairPlaced {
		s.leaveEEVDF(cfs, se, f)
	}
}

// leftEntity is the rest of it, after se has left.
func (s *Sched) leftEntity(cfs *cfsRQ, se *schedEntity, f flags) {
	switch {
	case s.cfg.FairPlaced:
		if se.task.moving && !se.placed {
			se.vruntime -= cfs.minVruntime
		}
	case s.cfg.Fair.EEVDF:
	case f&flagSleep == 0:
		se.vruntime -= cfs.minVruntime
	}
}

// schedPeriod is __sched_period(): in which time each of n tasks runs once.
func (s *Sched) schedPeriod(n int) event.Time {
	fair := &s.cfg.Fair
	if n > schedNrLatency {
		return event.Time(n) * fair.MinGranularity
	}
	return fair.Latency
}

// schedNrLatency is sched_nr_latency: as many slices of min_granularity fit into a latency.
const schedNrLatency = 8

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
	first := se
	for ; se != nil; se = se.parent {
		load := se.cfsRQ.load.weight
		if !se.onRQ {
			load += se.load.weight
		}
		w := groupWeight(load)
		slice = calcDelta(slice, se.load.weight, &w)
	}
	if s.has(BaseSlice) {
		least := s.cfg.Fair.MinGranularity
		if first.isIdle() && s.cfg.Fair.IdleMinGranularity > 0 && cfs.nrRunning > cfs.idleNr {
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

// pickCFS is pick_next_entity() of CFS.
func (s *Sched) pickCFS(cfs *cfsRQ, curr *schedEntity) *schedEntity {
	first := cfs.first()
	if first == nil || curr != nil && curr.vruntime < first.vruntime {
		return curr
	}
	return first
}

// checkPreemptTick is check_preempt_tick().
func (s *Sched) checkPreemptTick(cfs *cfsRQ, curr *schedEntity) {
	ideal := s.schedSlice(cfs, curr)
	ran := curr.sumExec() - curr.prevSumExecRuntime
	if ran > ideal {
		s.reschedCurrLazy(cfs.rq.cpu, cfs.rq)
		s.clearBuddies(cfs, curr)
		return
	}
	if ran < s.cfg.Fair.MinGranularity {
		return
	}
	first := cfs.first()
	if first == nil {
		return
	}
	if curr.vruntime-first.vruntime > int64(ideal) {
		s.reschedCurrLazy(cfs.rq.cpu, cfs.rq)
	}
}

// wakeupPreemptCFS is check_preempt_wakeup() of CFS.
func (s *Sched) wakeupPreemptCFS(from event.CPU, rq *RQ, p *Task, _ flags) {
	curr := rq.curr
	switch {
	case rq.needResched:
		return
	case curr.Attr.Policy == Idle && p.Attr.Policy != Idle:
		s.reschedCurrLazy(from, rq)
		return
	case p.Attr.Policy != Normal || !s.has(WakeupPreemption):
		return
	}
	se, pse := findMatchingSE(&curr.se, &p.se)
	if c, pi := se.isIdle(), pse.isIdle(); c != pi {
		if c {
			s.reschedCurrLazy(from, rq)
		}
		return
	}
	s.updateCurr(se.cfsRQ)
	if s.wakeupPreemptEntity(se, pse) {
		s.reschedCurrLazy(from, rq)
	}
}

// wakeupPreemptEntity is wakeup_preempt_entity(): whether se is before curr by more than the
// granularity, in the weight of se.
func (s *Sched) wakeupPreemptEntity(curr, se *schedEntity) bool {
	return curr.vruntime-se.vruntime > calcDeltaFair(s.cfg.Fair.WakeupGranularity, se)
}

func (s *Sched) setNextBuddy(*schedEntity) {}

func (s *Sched) clearBuddies(*cfsRQ, *schedEntity) {}

// taskForkFair is task_fork_fair(): where a new task begins, relative to the queue.
func (s *Sched) taskForkFair(from event.CPU, p *Task) {
	se := &p.se
	if s.cfg.Fair.EEVDF || s.cfg.FairPlaced || se.forked {
		return
	}
	se.forked = true
	s.setTaskRQ(p, from)
	rq := s.rqs[from]
	s.updateRQClock(rq)
	cfs := se.cfsRQ
	if curr := cfs.curr; curr != nil {
		s.updateCurr(cfs)
		se.vruntime = curr.vruntime
	}
	s.placeEntity(cfs, se, true)
	se.vruntime -= cfs.minVruntime
}

// yieldTaskFair is yield_task_fair().
func (s *Sched) yieldTaskFair(rq *RQ) {
	s.updateCurrFair(rq)
	cfs := rq.curr.se.cfsRQ
	cfs.timeline.each(func(n *node) { rq.curr.se.vruntime = max(rq.curr.se.vruntime, n.se.vruntime) })
}

// migrateTaskRQFair is migrate_task_rq_fair(): p, which is in no queue, goes to another CPU and
// takes along only where it stood among the others.
func (s *Sched) migrateTaskRQFair(p *Task, _ event.CPU) {
	if p.moving {
		return // the dequeue has done it
	}
	p.migrated = true
	if !s.cfg.Fair.EEVDF && !s.cfg.FairPlaced {
		p.se.vruntime -= p.se.cfsRQ.minVruntime
	}
}

// hrtickStartFair is hrtick_start_fair(): a tick at the end of the slice.
func (s *Sched) hrtickStartFair(rq *RQ, p *Task) {
	se := &p.se
	slice := s.cfg.Fair.BaseSlice
	if !s.cfg.Fair.EEVDF {
		slice = s.schedSlice(se.cfsRQ, se)
	}
	left := slice - (se.sumExec() - se.prevSumExecRuntime)
	if left < 0 {
		s.reschedCurrLazy(rq.cpu, rq)
		return
	}
	s.startHRTick(rq, left)
}
