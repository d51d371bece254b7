package sched

import "github.com/whylate/whylate/event"

// This file has the rules of CFS for virtual run time where entities come and go: in a queue and
// while it sleeps an entity has that of its queue, on its way between two only how far it is
// from min_vruntime.

// placeEnqueued gives se, which comes into cfs, its virtual run time, as far as it is not one
// that was woken; what enqueue_entity() does around update_curr().
func (s *Sched) placeEnqueued(cfs *cfsRQ, se *schedEntity, f flags) {
	switch {
	case s.cfg.FairPlaced:
		enqueuedPlaced(cfs, se)
	case s.cfg.Fair.EEVDF:
		s.placeEEVDF(cfs, se, f)
	case f&flagWakeup == 0 || f&flagMigrated != 0:
		se.vruntime += cfs.minVruntime
	}
}

// placeEntity is place_entity() of CFS: a new task comes a slice behind, a sleeper some of a
// latency ahead, and nobody goes back.
func (s *Sched) placeEntity(cfs *cfsRQ, se *schedEntity, initial bool) {
	fair := &s.cfg.Fair
	vruntime := cfs.minVruntime
	if !initial {
		thresh := fair.Latency
		if s.idleEntity(se) {
			thresh = fair.MinGranularity
		}
		if s.has(GentleFairSleepers) {
			thresh /= 2
		}
		vruntime -= int64(thresh)
	} else if s.has(StartDebit) {
		vruntime += s.schedVslice(cfs, se)
	}
	if fair.LongSleepers && se.sleptLong(cfs.rq.clock) {
		se.vruntime = vruntime
		return
	}
	se.vruntime = max(se.vruntime, vruntime)
}

// longSleep is the sleep after which virtual run times cannot be compared any more: in it that
// of an entity of the least weight may have gone around; 104 days.
const longSleep event.Time = 1 << 63 / 1024

// sleptLong is entity_is_long_sleeper().
func (se *schedEntity) sleptLong(now event.Time) bool {
	ran := se.execStart
	if se.task != nil {
		ran = se.task.execStart
	}
	return ran != 0 && now > ran && now-ran > longSleep
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

// leftMinVruntime moves min_vruntime on after an entity has left, except where it will be back
// at once and would only come further behind. Up to 4.19 the kernel has it the other way round.
func (s *Sched) leftMinVruntime(cfs *cfsRQ, f flags) {
	if f.keepsPlace() == (s.cfg.Fair.MinVruntimeOnSave && s.isCFS()) {
		s.updateMinVruntime(cfs)
	}
}

// taskForkFair is task_fork_fair(): where a new task begins, relative to the queue of the CPU
// that makes it.
func (s *Sched) taskForkFair(from event.CPU, p *Task) {
	se := &p.se
	if !s.isCFS() || p.class != fairClass || se.forked {
		return
	}
	se.forked = true
	s.setTaskRQ(p, from)
	rq := s.rqs[from]
	s.updateRQClock(rq)
	cfs := se.cfsRQ
	curr := cfs.curr
	if curr != nil {
		s.updateCurr(cfs)
		se.vruntime = curr.vruntime
	}
	s.placeEntity(cfs, se, true)
	if s.cfg.Fair.ChildRunsFirst && curr != nil && curr.vruntime < se.vruntime {
		curr.vruntime, se.vruntime = se.vruntime, curr.vruntime
		s.reschedCurrLazy(from, rq)
	}
	se.vruntime -= cfs.minVruntime
}

// migrateTaskRQFair is migrate_task_rq_fair(): p, which is in no queue, goes to another CPU and
// takes along only where it stood among the others.
func (s *Sched) migrateTaskRQFair(p *Task, _ event.CPU) {
	s.migrateLoad(p)
	if p.moving {
		return // the dequeue has done it
	}
	if s.isCFS() && !p.migrated {
		p.se.vruntime -= p.se.cfsRQ.minVruntime
	}
	p.migrated = true
}

// AutogroupExit is sched_autogroup_exit_task(), soon after sched_process_exit: a current task that
// exits leaves the group of its session. Before 6.4 it goes out of its queue and back even if it
// has none: where it stood before the others, it then stands with the first of them, and
// min_vruntime goes on. A kernel asks for a new choice then, too, and sends a real-time task behind
// its equals; here neither is done.
func (s *Sched) AutogroupExit(from event.CPU, p *Task) Work {
	s.begin(from)
	g := p.group
	auto := g != nil && g.auto
	rq := s.rqs[p.cpu]
	if p.class != fairClass || rq.curr != p || !p.onRQ || !auto && !s.cfg.Fair.ExitMoves {
		return s.work
	}
	if auto {
		g = nil
	}
	s.updateRQClock(rq)
	s.dequeueTask(rq, p, flagSave|flagMove)
	s.putPrevTask(rq, p)
	s.taskChangeGroup(p, g)
	s.enqueueTask(rq, p, flagSave|flagMove)
	s.setNextTask(rq, p, false)
	return s.work
}

// vruntimeNormalized is vruntime_normalized(): whether the virtual run time of p, which is in no
// queue of its class now, is relative. A runnable one was dequeued for it, a new one has never
// been in a queue, and one that is woken elsewhere is on its way.
func (p *Task) vruntimeNormalized() bool {
	return p.onRQ || p.State == event.StateNew || p.migrated
}

// detachVruntime is what detach_task_cfs_rq() does to the virtual run time of p: how long it
// sleeps elsewhere must bring it nothing.
func (s *Sched) detachVruntime(p *Task) {
	if se := &p.se; s.isCFS() && !p.vruntimeNormalized() {
		s.placeEntity(se.cfsRQ, se, false)
		se.vruntime -= se.cfsRQ.minVruntime
	}
}

// attachVruntime is what attach_task_cfs_rq() does to it.
func (s *Sched) attachVruntime(p *Task) {
	if s.isCFS() && !p.vruntimeNormalized() {
		p.se.vruntime += p.se.cfsRQ.minVruntime
	}
}
