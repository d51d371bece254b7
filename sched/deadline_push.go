package sched

import "github.com/whylate/whylate/event"

func (s *Sched) enqueuePushableDLTask(rq *RQ, p *Task) {
	if p.dl.push.in {
		rq.dl.pushable.remove(&p.dl.push)
	}
	rq.dl.pushable.insert(&p.dl.push, int64(p.dl.deadline))
	rq.rd.dlo.set(rq.cpu)
}

func (s *Sched) dequeuePushableDLTask(rq *RQ, p *Task) {
	if !p.dl.push.in {
		return
	}
	rq.dl.pushable.remove(&p.dl.push)
	if rq.dl.pushable.n == 0 {
		rq.rd.dlo.clear(rq.cpu)
	}
}

// selectTaskRQDL is select_task_rq_dl(): p stays unless it would wait behind a deadline
// task that will not make way.
func (s *Sched) selectTaskRQDL(from event.CPU, p *Task, cpu event.CPU, fork bool) event.CPU {
	curr := s.rqs[cpu].curr
	if fork || curr.class != dlClass || curr.nrAllowed >= 2 && dlEntityPreempt(p, curr) {
		return cpu
	}
	target := s.findLaterRQ(from, p)
	if target != event.NoCPU && s.isEarliest(p, s.rqs[target]) {
		return target
	}
	return cpu
}

// isEarliest is dl_task_is_earliest_deadline().
func (s *Sched) isEarliest(p *Task, rq *RQ) bool {
	return rq.dl.nrRunning == 0 || p.dl.deadline < rq.dl.earliest()
}

// findLaterRQ returns a CPU without deadline tasks that p may use, else the one with the
// latest deadline if that is later than p's; find_later_rq().
func (s *Sched) findLaterRQ(from event.CPU, p *Task) event.CPU {
	if p.nrAllowed == 1 {
		return event.NoCPU
	}
	s.work.Searched++
	if !s.rqs[p.cpu].rd.cpudl.find(p, s.scratch) {
		return event.NoCPU
	}
	return s.closest(from, p)
}

// findLockLaterRQ is find_lock_later_rq().
func (s *Sched) findLockLaterRQ(from event.CPU, rq *RQ, p *Task) *RQ {
	c := s.findLaterRQ(from, p)
	if c == event.NoCPU || c == rq.cpu || !s.isEarliest(p, s.rqs[c]) {
		return nil
	}
	return s.rqs[c]
}

// taskWokenDL is task_woken_dl().
func (s *Sched) taskWokenDL(from event.CPU, rq *RQ, p *Task) {
	curr := rq.curr
	if p.onCPU || rq.needResched || p.nrAllowed <= 1 || curr.class != dlClass {
		return
	}
	if curr.nrAllowed < 2 || !dlEntityPreempt(p, curr) {
		s.pushDLTasks(from, rq)
	}
}

// pushDLTasks is push_dl_tasks(): as many as go.
func (s *Sched) pushDLTasks(from event.CPU, rq *RQ) {
	for s.pushDLTask(from, rq) {
	}
}

// pushDLTask moves the first waiting deadline task of rq to a CPU where it runs at once,
// and reports whether it did; push_dl_task().
func (s *Sched) pushDLTask(from event.CPU, rq *RQ) bool {
	next := rq.dl.pushable.head()
	if next == nil {
		return false
	}
	if rq.curr.class == dlClass && dlEntityPreempt(next, rq.curr) && rq.curr.nrAllowed > 1 {
		s.reschedCurr(from, rq)
		return false
	}
	if next.migrateDisabled > 0 {
		return false
	}
	later := s.findLockLaterRQ(from, rq, next)
	if later == nil || !s.mayMove(next, rq, later) {
		return false
	}
	s.moveQueued(from, rq, later, next)
	s.reschedCurr(from, later)
	return true
}

// pullDLTask is pull_dl_task(): from overloaded CPUs it takes the earliest waiting task
// that may run here, if it is earlier than what is here.
func (s *Sched) pullDLTask(rq *RQ) {
	least := event.Time(1<<63 - 1)
	pulled := false
	for c := rq.rd.dlo.first(); c != event.NoCPU; c = rq.rd.dlo.next(c + 1) {
		src := s.rqs[c]
		if src == rq || src.dl.nrRunning <= 1 || src.dl.pushable.n == 0 ||
			rq.dl.nrRunning > 0 && rq.dl.earliest() < event.Time(src.dl.pushable.first.key) {
			continue
		}
		s.work.Searched++
		p := src.pickEarliestPushable(rq.cpu)
		if p == nil || p.dl.deadline >= least || !s.isEarliest(p, rq) {
			continue
		}
		if src.curr.class == dlClass && dlEntityPreempt(p, src.curr) {
			continue // it was just woken and is about to run there
		}
		if p.migrateDisabled > 0 {
			s.pushCurrent(rq.cpu, src)
			continue
		}
		if !s.mayMove(p, src, rq) {
			continue
		}
		least = p.dl.deadline
		s.moveQueued(rq.cpu, src, rq, p)
		pulled = true
	}
	if pulled {
		s.reschedCurr(rq.cpu, rq)
	}
}

// pickEarliestPushable is pick_earliest_pushable_dl_task().
func (rq *RQ) pickEarliestPushable(c event.CPU) *Task {
	for n := rq.dl.pushable.first; n != nil; n = n.next() {
		if p := n.task; !p.onCPU && p.mask.has(c) {
			return p
		}
	}
	return nil
}
