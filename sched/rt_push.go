package sched

import "github.com/whylate/whylate/event"

// pushRTTasks is push_rt_tasks(): as many as go.
func (s *Sched) pushRTTasks(from event.CPU, rq *RQ) {
	for s.pushRTTask(from, rq, false) {
	}
}

// pushRTTask moves the first waiting real-time task of rq to a CPU where it runs at once,
// and reports whether it did; push_rt_task(). With pull it is asked by another CPU that
// could take it: then a task that is pinned for the moment may have the CPU, and the
// current one is pushed instead.
func (s *Sched) pushRTTask(from event.CPU, rq *RQ, pull bool) bool {
	next := rq.rt.pushable.first()
	if next == nil {
		return false
	}
	if next.prio < rq.curr.prio {
		s.reschedCurr(from, rq) // it will run here: no need to move it
		return false
	}
	if next.migrateDisabled > 0 {
		if !pull || rq.curr.class != rtClass {
			return false
		}
		if c := s.findLowestRQ(from, rq.curr); c != event.NoCPU && c != rq.cpu {
			s.pushCurrent(from, rq)
		}
		return false
	}
	lowest := s.findLockLowestRQ(from, rq, next)
	if lowest == nil || s.wasPushed(next) || !s.mayMove(next, rq, lowest) {
		return false
	}
	s.moveQueued(from, rq, lowest, next)
	s.reschedCurr(from, lowest)
	return true
}

// wasPushed reports whether p was moved at this moment already. With RT_GROUP_SCHED a boosted
// task opens its throttled group on the CPU to which it comes and closes it where it was; so
// two CPUs could send it to and fro, for ever where that takes no time.
func (s *Sched) wasPushed(p *Task) bool {
	if !s.cfg.RTGroupSched {
		return false
	}
	before := p.pushedAt
	p.pushedAt = s.host.Now()
	return before == p.pushedAt
}

// findLockLowestRQ is find_lock_lowest_rq(). Nothing can change between look and lock in
// the model, so one try is enough.
func (s *Sched) findLockLowestRQ(from event.CPU, rq *RQ, p *Task) *RQ {
	c := s.findLowestRQ(from, p)
	if c == event.NoCPU || c == rq.cpu || s.rqs[c].rt.highest() <= p.prio {
		return nil
	}
	return s.rqs[c]
}

// moveQueued takes a waiting task from one queue to another.
func (s *Sched) moveQueued(at event.CPU, from, to *RQ, p *Task) {
	s.updateRQClock(from)
	s.updateRQClock(to)
	p.moving = true
	s.deactivateTask(from, p, 0)
	s.setTaskCPU(at, p, to.cpu)
	s.activateTask(to, p, 0)
	p.moving = false
}

// pullRTTask is pull_rt_task(): from every overloaded CPU, in the order of their numbers, it
// takes the first waiting task that may run here, if it goes before what is here.
func (s *Sched) pullRTTask(rq *RQ) {
	rd := rq.rd
	if s.cfg.RTPushIPI {
		others := rd.cpus - rd.rto.count[noRTPrio] // overloaded CPUs
		if rd.rto.prio[rq.cpu] < noRTPrio {
			others--
		}
		if others > 0 {
			s.tellCPUToPush(rq)
		}
		return
	}
	if !rd.rto.someBefore(rq.rt.highest()) {
		return
	}
	pulled := false
	for c := rd.rto.next(0, rq.rt.highest()); c != event.NoCPU; c = rd.rto.next(c+1, rq.rt.highest()) {
		src := s.rqs[c]
		if src == rq {
			continue
		}
		s.work.Searched++
		p := src.pickHighestPushable(rq.cpu)
		if p == nil || p.prio >= rq.rt.highest() || p.prio < src.curr.prio {
			continue // the last: it was just woken and is about to run there
		}
		if p.migrateDisabled > 0 {
			s.pushCurrent(rq.cpu, src)
			continue
		}
		if s.wasPushed(p) || !s.mayMove(p, src, rq) {
			continue
		}
		s.moveQueued(rq.cpu, src, rq, p)
		pulled = true
	}
	if pulled {
		s.reschedCurr(rq.cpu, rq)
	}
}

// pickHighestPushable is pick_highest_pushable_task(). It asks for the affinity alone: a
// task that is pinned for the moment is told apart by the caller.
func (rq *RQ) pickHighestPushable(c event.CPU) *Task {
	prio := rq.rt.pushable.highest()
	if prio == noRTPrio {
		return nil
	}
	for l := rq.rt.pushable.queue[prio].head; l != nil; l = rq.rt.pushable.behind(l) {
		if !l.task.onCPU && l.task.mask.has(c) {
			return l.task
		}
	}
	return nil
}

// tellCPUToPush starts the round of interrupts over the overloaded CPUs, or lets the one
// that runs go round once more; tell_cpu_to_push().
func (s *Sched) tellCPUToPush(rq *RQ) {
	rq.rd.rtoNext++
	if rq.rd.rtoCPU != event.NoCPU {
		return
	}
	if c := s.nextRTO(rq.cpu); c != event.NoCPU {
		s.host.Kick(rq.cpu, c)
	}
}

// nextRTO returns the overloaded CPU whose turn it is in the round, NoCPU at its end;
// rto_next_cpu().
func (s *Sched) nextRTO(here event.CPU) event.CPU {
	rd := s.rqs[here].rd
	for {
		c := rd.rto.next(rd.rtoCPU+1, noRTPrio)
		rd.rtoCPU = c
		switch {
		case c != event.NoCPU && c != here:
			return c
		case c != event.NoCPU:
			continue // no interrupt to oneself
		case rd.rtoLoop == rd.rtoNext:
			return event.NoCPU
		}
		rd.rtoLoop = rd.rtoNext
	}
}

// PushCPU is the interrupt of RT_PUSH_IPI on an overloaded CPU: it pushes what goes, and
// hands the interrupt on; rto_push_irq_work_func().
func (s *Sched) PushCPU(c event.CPU) Work {
	s.begin(c)
	rq := s.rqs[c]
	s.updateRQClock(rq)
	for s.pushRTTask(c, rq, true) {
	}
	if next := s.nextRTO(c); next != event.NoCPU {
		s.host.Kick(c, next)
	}
	return s.work
}
