package sched

import (
	"sort"

	"github.com/whylate/whylate/event"
)

func (s *Sched) enqueuePushableDLTask(rq *RQ, p *Task) {
	s.dequeuePushableDLTask(rq, p)
	list := rq.dl.pushable
	i := sort.Search(len(list), func(i int) bool { return dlEntityPreempt(p, list[i]) })
	list = append(list, nil)
	copy(list[i+1:], list[i:])
	list[i] = p
	rq.dl.pushable = list
	p.dl.pushable = true
	s.dlo.set(rq.cpu)
}

func (s *Sched) dequeuePushableDLTask(rq *RQ, p *Task) {
	if !p.dl.pushable {
		return
	}
	p.dl.pushable = false
	list := rq.dl.pushable
	for i := range list {
		if list[i] == p {
			copy(list[i:], list[i+1:])
			list[len(list)-1] = nil
			rq.dl.pushable = list[:len(list)-1]
			break
		}
	}
	if len(rq.dl.pushable) == 0 {
		s.dlo.clear(rq.cpu)
	}
}

// selectTaskRQDL is select_task_rq_dl(): p stays unless it would wait behind a deadline
// task that will not make way.
func (s *Sched) selectTaskRQDL(from event.CPU, p *Task) event.CPU {
	curr := s.rqs[p.cpu].curr
	if curr.class != dlClass || curr.nrCPUsAllowed() >= 2 && dlEntityPreempt(p, curr) {
		return p.cpu
	}
	target := s.findLaterRQ(from, p)
	if target != event.NoCPU && s.isEarliest(p, s.rqs[target]) {
		return target
	}
	return p.cpu
}

// isEarliest is dl_task_is_earliest_deadline().
func (s *Sched) isEarliest(p *Task, rq *RQ) bool {
	return rq.dl.nrRunning == 0 || p.dl.deadline < rq.dl.first().dl.deadline
}

// findLaterRQ returns a CPU without deadline tasks that p may use, else the one with the
// latest deadline if that is later than p's; find_later_rq() with cpudl_find().
func (s *Sched) findLaterRQ(from event.CPU, p *Task) event.CPU {
	if p.nrCPUsAllowed() == 1 {
		return event.NoCPU
	}
	s.work.Searched++
	if !s.cpudl.find(p, s.scratch) {
		return event.NoCPU
	}
	switch {
	case s.scratch.has(p.cpu):
		return p.cpu
	case from != event.NoCPU && s.scratch.has(from):
		return from
	}
	return s.anyDistribute(s.scratch)
}

// taskWokenDL is task_woken_dl().
func (s *Sched) taskWokenDL(from event.CPU, rq *RQ, p *Task) {
	curr := rq.curr
	if p == curr || rq.needResched || p.nrCPUsAllowed() <= 1 || curr.class != dlClass {
		return
	}
	if curr.nrCPUsAllowed() < 2 || !dlEntityPreempt(p, curr) {
		for s.pushDLTask(from, rq) {
		}
	}
}

// pushDLTask is push_dl_task().
func (s *Sched) pushDLTask(from event.CPU, rq *RQ) bool {
	if len(rq.dl.pushable) == 0 {
		return false
	}
	next := rq.dl.pushable[0]
	if next == rq.curr {
		return false
	}
	if rq.curr.class == dlClass && dlEntityPreempt(next, rq.curr) && rq.curr.nrCPUsAllowed() > 1 {
		s.reschedCurr(from, rq)
		return false
	}
	c := s.findLaterRQ(rq.cpu, next)
	if c == event.NoCPU || c == rq.cpu || !s.isEarliest(next, s.rqs[c]) {
		return false
	}
	s.moveQueued(from, rq, s.rqs[c], next)
	s.reschedCurr(from, s.rqs[c])
	return true
}

// pullDLTask is pull_dl_task(): from overloaded CPUs it takes the earliest waiting task
// that may run here, if it is earlier than what is here.
func (s *Sched) pullDLTask(rq *RQ) {
	least := event.Time(1<<63 - 1)
	for c := s.dlo.first(); c != event.NoCPU; c = s.dlo.next(c + 1) {
		src := s.rqs[c]
		if src == rq || len(src.dl.pushable) == 0 {
			continue
		}
		s.work.Searched++
		var p *Task
		for _, t := range src.dl.pushable {
			if t != src.curr && t.allowed(rq.cpu) {
				p = t
				break
			}
		}
		if p == nil || p.dl.deadline >= least || !s.isEarliest(p, rq) {
			continue
		}
		if src.curr.class == dlClass && dlEntityPreempt(p, src.curr) {
			continue // it was just woken and is about to run there
		}
		least = p.dl.deadline
		s.moveQueued(rq.cpu, src, rq, p)
	}
}

// cpudl knows the earliest deadline of each CPU; struct cpudl.
type cpudl struct {
	earliest []event.Time // by CPU; noDeadline: no deadline task
	free     cpuMask
}

const noDeadline event.Time = -1

func (c *cpudl) init(cpus int) {
	c.free = allCPUs(cpus)
	c.earliest = make([]event.Time, cpus)
	for i := range c.earliest {
		c.earliest[i] = noDeadline
	}
}

func (c *cpudl) set(cpu event.CPU, deadline event.Time) {
	c.earliest[cpu] = deadline
	c.free.clear(cpu)
}

func (c *cpudl) clear(cpu event.CPU) {
	c.earliest[cpu] = noDeadline
	c.free.set(cpu)
}

// find is cpudl_find(): the free CPUs that p may use, else the CPU with the latest
// deadline of all, if p may use it and is earlier.
func (c *cpudl) find(p *Task, found cpuMask) bool {
	hit := false
	for w := range found {
		found[w] = c.free[w] & p.mask[w]
		hit = hit || found[w] != 0
	}
	if hit || p.migrateDisabled > 0 {
		return hit
	}
	best := 0
	for i, d := range c.earliest {
		if d > c.earliest[best] {
			best = i
		}
	}
	if cpu := event.CPU(best); p.allowed(cpu) && c.earliest[best] > p.dl.deadline {
		found.set(cpu)
		return true
	}
	return false
}
