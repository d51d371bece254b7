package sched

import "github.com/whylate/whylate/event"

// rtEntity is the part of a task that the real-time class owns; sched_rt_entity.
type rtEntity struct {
	run       link // in the list of its priority
	push      link // in the CPU's list of tasks that could run elsewhere
	onRQ      bool // counted, also while its place in the list is kept for it
	parked    bool // its group is throttled: it is in no list
	boosted   bool // counted in rt_nr_boosted
	timeSlice int  // ticks left of a SCHED_RR turn
}

// rtRQ is rt_rq: a list for each priority, and those of the tasks that could run
// elsewhere.
type rtRQ struct {
	active      prioArray
	pushable    prioArray // rt->pushable_tasks, a plist
	nrRunning   int
	rrNrRunning int

	queued bool // rt_queued: its tasks count in nr_running
	rtBudget
}

// highest is rt_rq->highest_prio.curr.
func (rt *rtRQ) highest() event.Prio { return rt.active.highest() }

// highestNext is rt_rq->highest_prio.next: that of the first task that could be pushed.
func (rt *rtRQ) highestNext() event.Prio { return rt.pushable.highest() }

// enqueueTaskRT is enqueue_task_rt(): at the tail of its priority, at the head where the
// task did not lose its place by itself.
func (s *Sched) enqueueTaskRT(rq *RQ, p *Task, f flags) {
	p.rt.onRQ = true
	if !s.cfg.RTGroupSched {
		s.startRTBandwidth(rq, nil)
	} else if p.rt.parked = s.enterGroups(rq, p); p.rt.parked {
		rq.rt.active.remove(&p.rt.run)
		s.updateCPUPri(rq)
		return
	}
	s.enqueueRT(rq, p, f)
	if p.rt.boosted && p.prio < rq.curr.prio {
		s.reschedCurr(s.hereOr(rq), rq) // it may have opened its group; a kernel waits for the next reason
	}
}

// enqueueRT puts p into the lists of rq.
func (s *Sched) enqueueRT(rq *RQ, p *Task, f flags) {
	if !p.rt.run.on {
		rq.rt.active.insert(&p.rt.run, p.prio, f&flagHead != 0)
		s.updateCPUPri(rq)
	}
	rq.rt.nrRunning++
	if p.Attr.Policy == RR {
		rq.rt.rrNrRunning++
	}
	if rq.rt.queued {
		s.addNrRunning(rq)
	} else {
		s.enqueueTopRTRQ(rq)
	}
	if rq.curr != p && p.nrAllowed > 1 {
		s.enqueuePushableTask(rq, p)
	}
}

// dequeueTaskRT is dequeue_task_rt().
func (s *Sched) dequeueTaskRT(rq *RQ, p *Task, f flags) {
	s.updateCurrRT(rq)
	p.rt.onRQ = false
	if s.cfg.RTGroupSched {
		s.leaveGroups(rq, p)
		if p.rt.parked {
			p.rt.parked = false
			return
		}
	}
	s.dequeueRT(rq, p, f)
}

// dequeueRT takes p out of the lists of rq, or with the flags for that lets it keep its
// place.
func (s *Sched) dequeueRT(rq *RQ, p *Task, f flags) {
	if !f.keepsPlace() {
		rq.rt.active.remove(&p.rt.run)
		s.updateCPUPri(rq)
	}
	rq.rt.nrRunning--
	if p.Attr.Policy == RR {
		rq.rt.rrNrRunning--
	}
	if rq.rt.queued {
		s.subNrRunning(rq)
		rq.rt.queued = rq.rt.nrRunning > 0
	}
	s.dequeuePushableTask(rq, p)
}

// requeueTaskRT moves p to the end or to the head of its list; requeue_task_rt().
func (s *Sched) requeueTaskRT(rq *RQ, p *Task, head bool) {
	if l := &p.rt.run; l.on && !l.alone() {
		rq.rt.active.remove(l)
		rq.rt.active.insert(l, l.prio, head)
	}
}

// enqueuePushableTask keeps the order of priority, equal ones by arrival;
// enqueue_pushable_task().
func (s *Sched) enqueuePushableTask(rq *RQ, p *Task) {
	rq.rt.pushable.remove(&p.rt.push)
	rq.rt.pushable.insert(&p.rt.push, p.prio, false)
	rq.rd.rto.set(rq.cpu, rq.rt.highestNext())
}

func (s *Sched) dequeuePushableTask(rq *RQ, p *Task) {
	if !p.rt.push.on {
		return
	}
	rq.rt.pushable.remove(&p.rt.push)
	rq.rd.rto.set(rq.cpu, rq.rt.highestNext())
}

// updateCurrRT is update_curr_rt().
func (s *Sched) updateCurrRT(rq *RQ) {
	if rq.curr.class != rtClass {
		return
	}
	if delta := s.chargeNamed(rq, rq.curr); delta > 0 {
		s.chargeRT(rq, rq.curr, delta)
	}
}

// selectTaskRQRT is select_task_rq_rt(): p stays where it was unless it would have to
// wait there behind a real-time task that will not make way.
func (s *Sched) selectTaskRQRT(from event.CPU, p *Task, cpu event.CPU) event.CPU {
	curr := s.rqs[cpu].curr
	if curr.prio >= event.MaxRTPrio || curr.nrAllowed >= 2 && curr.prio > p.prio {
		return cpu
	}
	target := s.findLowestRQ(from, p)
	if target != event.NoCPU && p.prio < s.rqs[target].rt.highest() {
		return target
	}
	return cpu
}

// findLowestRQ returns the CPU with the lowest priority that p may use and would run on
// at once, NoCPU if there is none; find_lowest_rq(). Where p was is best, then here if it
// shares p's cache, then any that does.
func (s *Sched) findLowestRQ(from event.CPU, p *Task) event.CPU {
	if p.nrAllowed == 1 {
		return event.NoCPU
	}
	s.work.Searched++
	if !s.rqs[p.cpu].rd.cpupri.find(p, s.scratch) {
		return event.NoCPU
	}
	return s.closest(from, p)
}

// closest returns the best CPU of scratch for p: the one that it was on, then the one that
// asks, then one that is near it, domain by domain, then any.
func (s *Sched) closest(from event.CPU, p *Task) event.CPU {
	if s.scratch.has(p.cpu) {
		return p.cpu
	}
	here := s.scratch.has(from)
	for sd := s.rqs[p.cpu].sd; sd != nil; sd = sd.parent {
		if sd.flags&sdWakeAffine == 0 {
			continue
		}
		if here && sd.span.has(from) {
			return from
		}
		if s.nearby.and(s.scratch, sd.span) {
			return s.anyDistribute(from, s.nearby)
		}
	}
	if here {
		return from
	}
	return s.anyDistribute(from, s.scratch)
}

// anyDistribute takes the CPUs of a mask in turn; cpumask_any_distribute(). Each CPU that
// asks has its own turn.
func (s *Sched) anyDistribute(from event.CPU, m cpuMask) event.CPU {
	rq := s.rqs[max(from, 0)]
	c := m.next(rq.rotor + 1)
	if c == event.NoCPU {
		c = m.first()
	}
	if s.follow != nil && m.count() > 1 {
		s.tookTurn = true
	}
	rq.rotor = max(c, 0)
	return c
}

// wakeupPreemptRT is wakeup_preempt_rt(): a higher priority gets the CPU; at an equal one
// a current task that can run elsewhere makes way for one that cannot.
func (s *Sched) wakeupPreemptRT(from event.CPU, rq *RQ, p *Task) {
	curr := rq.curr
	if p.prio < curr.prio {
		s.reschedCurr(from, rq)
		return
	}
	if p.prio > curr.prio || rq.needResched {
		return
	}
	if curr.nrAllowed == 1 || !rq.rd.cpupri.find(curr, nil) {
		return
	}
	if p.nrAllowed != 1 && rq.rd.cpupri.find(p, nil) {
		return
	}
	s.requeueTaskRT(rq, p, true)
	s.reschedCurr(from, rq)
}

func (s *Sched) putPrevTaskRT(rq *RQ, p *Task) {
	s.updateCurrRT(rq)
	if p.rt.onRQ && !p.rt.parked && p.nrAllowed > 1 {
		s.enqueuePushableTask(rq, p)
	}
}

func (s *Sched) setNextTaskRT(rq *RQ, p *Task, first bool) {
	s.dequeuePushableTask(rq, p)
	if first && s.rtBandwidthEnabled() && rq.rt.runtime != noLimit {
		rq.rt.time += s.cfg.RTSwitchCharge // the next update finds out whether that is too much
	}
	if first && rq.rt.highestNext() < noRTPrio {
		rq.callbacks |= pushRTTasks
	}
}

// taskTickRT is task_tick_rt(): a SCHED_RR task whose turn is over goes to the end of its
// list, where others wait in it.
func (s *Sched) taskTickRT(rq *RQ, p *Task) {
	s.updateCurrRT(rq)
	if p.Attr.Policy != RR {
		return
	}
	if p.rt.timeSlice--; p.rt.timeSlice > 0 {
		return
	}
	p.rt.timeSlice = s.cfg.RRTimeslice
	if p.rt.run.on && !p.rt.run.alone() {
		s.requeueTaskRT(rq, p, false)
		s.reschedCurr(rq.cpu, rq)
	}
}

// taskWokenRT is task_woken_rt(): a woken task that has to wait is offered elsewhere.
func (s *Sched) taskWokenRT(from event.CPU, rq *RQ, p *Task) {
	curr := rq.curr
	if p.onCPU || rq.needResched || p.nrAllowed <= 1 || curr.prio >= event.MaxRTPrio {
		return
	}
	if curr.nrAllowed < 2 || curr.prio <= p.prio {
		s.pushRTTasks(from, rq)
	}
}

// switchedFromRT is switched_from_rt(): the last real-time task of a CPU left the class,
// so others may come.
func (s *Sched) switchedFromRT(rq *RQ, p *Task) {
	if p.onRQ && rq.rt.nrRunning == 0 {
		rq.callbacks |= pullRTTasks
	}
}

// switchedToRT is switched_to_rt().
func (s *Sched) switchedToRT(from event.CPU, rq *RQ, p *Task) {
	if rq.curr == p || !p.onRQ {
		return
	}
	if p.nrAllowed > 1 && rq.rt.highestNext() < noRTPrio {
		rq.callbacks |= pushRTTasks
	}
	if p.prio < rq.curr.prio {
		s.reschedCurr(from, rq)
	}
}

// prioChangedRT is prio_changed_rt().
func (s *Sched) prioChangedRT(from event.CPU, rq *RQ, p *Task, old event.Prio) {
	switch {
	case !p.onRQ:
	case rq.curr != p:
		if p.prio < rq.curr.prio {
			s.reschedCurr(from, rq)
		}
	default:
		if old < p.prio {
			rq.callbacks |= pullRTTasks
		}
		if p.prio > rq.rt.highest() {
			s.reschedCurr(from, rq)
		}
	}
}
