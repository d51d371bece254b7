package sched

import "github.com/whylate/whylate/event"

// pushRTTask moves the first waiting real-time task of rq to a CPU where it runs at once,
// and reports whether it did; push_rt_task().
func (s *Sched) pushRTTask(from event.CPU, rq *RQ) bool {
	if len(rq.rt.pushable) == 0 {
		return false
	}
	next := rq.rt.pushable[0]
	if next == rq.curr {
		return false
	}
	if next.prio < rq.curr.prio && rq.curr.class >= rtClass {
		s.reschedCurr(from, rq) // it will run here: no need to move it
		return false
	}
	lowest := s.findLockLowestRQ(rq, next)
	if lowest == nil {
		return false
	}
	s.moveQueued(from, rq, lowest, next)
	s.reschedCurr(from, lowest)
	return true
}

// findLockLowestRQ is find_lock_lowest_rq(). Nothing can change between look and lock in
// the model, so one try is enough.
func (s *Sched) findLockLowestRQ(rq *RQ, p *Task) *RQ {
	c := s.findLowestRQ(rq.cpu, p)
	if c == event.NoCPU || c == rq.cpu {
		return nil
	}
	lowest := s.rqs[c]
	if lowest.rt.highest() <= p.prio || lowest.dl.nrRunning > 0 {
		return nil
	}
	return lowest
}

// moveQueued takes a waiting task from one queue to another.
func (s *Sched) moveQueued(at event.CPU, from, to *RQ, p *Task) {
	s.updateRQClock(from)
	s.updateRQClock(to)
	s.deactivateTask(from, p, enqueueMigrated)
	s.setTaskCPU(at, p, to.cpu)
	s.activateTask(to, p, enqueueMigrated)
}

// pullRTTask is pull_rt_task(): from every overloaded CPU it takes the first waiting task
// that may run here, if it goes before what is here.
func (s *Sched) pullRTTask(rq *RQ) {
	for c := s.rto.first(); c != event.NoCPU; c = s.rto.next(c + 1) {
		src := s.rqs[c]
		if src == rq || src.rt.highestNext() >= rq.rt.highest() {
			continue
		}
		if s.cfg.RTPushIPI {
			s.host.Kick(rq.cpu, c)
			return
		}
		s.work.Searched++
		p := src.pickHighestPushable(rq.cpu)
		if p == nil || p.prio >= rq.rt.highest() || p.prio < src.curr.prio && src.curr.class >= rtClass {
			continue // the last: it was just woken and is about to run there
		}
		s.moveQueued(rq.cpu, src, rq, p)
	}
}

// pickHighestPushable is pick_highest_pushable_task().
func (rq *RQ) pickHighestPushable(c event.CPU) *Task {
	for _, p := range rq.rt.pushable {
		if p != rq.curr && p.allowed(c) {
			return p
		}
	}
	return nil
}

// PushCPU is the interrupt that an idle-going CPU sends to an overloaded one;
// rto_push_irq_work_func().
func (s *Sched) PushCPU(c event.CPU) Work {
	s.begin()
	rq := s.rqs[c]
	s.updateRQClock(rq)
	for s.pushRTTask(c, rq) {
	}
	return s.work
}

// cpupri finds the CPUs with the lowest real-time priority; struct cpupri. Idle and fair
// CPUs are one level, as in the kernel since 5.10.
type cpupri struct {
	prio  []event.Prio // by CPU: highest real-time priority, MaxRTPrio without
	level [101]cpuMask // level[p]: the CPUs whose highest priority is p
	some  [2]uint64    // levels that are not empty
}

func (c *cpupri) init(cpus int) {
	c.prio = make([]event.Prio, cpus)
	for p := range c.level {
		c.level[p] = newMask(cpus)
	}
	for i := range c.prio {
		c.prio[i] = noRTPrio
		c.level[noRTPrio].set(event.CPU(i))
	}
	c.some[1] |= 1 << (noRTPrio - 64)
}

// updateCPUPri tells the map what rq runs at best. A CPU with deadline tasks is no place
// for real-time ones (CPUPRI_HIGHER).
func (s *Sched) updateCPUPri(rq *RQ) {
	if rq.dl.nrRunning > 0 {
		s.cpupri.set(rq.cpu, event.PrioDeadline)
		return
	}
	s.cpupri.set(rq.cpu, rq.rt.highest())
}

// set is cpupri_set(); with PrioDeadline the CPU is in no level.
func (c *cpupri) set(cpu event.CPU, p event.Prio) {
	old := c.prio[cpu]
	if old == p {
		return
	}
	if old >= 0 {
		c.level[old].clear(cpu)
		if c.level[old].first() == event.NoCPU {
			c.some[old/64] &^= 1 << (old % 64)
		}
	}
	if p >= 0 {
		c.level[p].set(cpu)
		c.some[p/64] |= 1 << (p % 64)
	}
	c.prio[cpu] = p
}

// find puts into found the CPUs of the lowest level on which p could run at once, and
// reports whether there are any; cpupri_find(). found may be nil.
func (c *cpupri) find(p *Task, found cpuMask) bool {
	for level := noRTPrio; level > max(p.prio, 0); level-- {
		if c.some[level/64]&(1<<(level%64)) == 0 {
			continue
		}
		hit := false
		for w, word := range c.level[level] {
			both := word & p.mask[w]
			if p.migrateDisabled > 0 {
				both = 0
				if int(p.cpu)/64 == w {
					both = word & (1 << (p.cpu % 64))
				}
			}
			if found != nil {
				found[w] = both
			}
			hit = hit || both != 0
		}
		if hit {
			return true
		}
	}
	return false
}
