package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// rtEntity is the part of a task that the real-time class owns; sched_rt_entity.
type rtEntity struct {
	prev, next *Task // in the list of its priority
	queued     bool
	pushable   bool // in the CPU's list of tasks that could run elsewhere
	timeSlice  int  // ticks left of a SCHED_RR turn
}

// rtList is the queue of one priority; the head runs first.
type rtList struct{ head, tail *Task }

// rtRQ is rt_rq: a hundred lists and the bitmap of those that are not empty.
type rtRQ struct {
	bitmap    [2]uint64
	queue     [100]rtList
	nrRunning int
	pushable  []*Task // by priority, then by arrival; plist of rt->pushable_tasks
}

// noPrio is highest_prio.curr of a queue without real-time tasks.
const noRTPrio = event.MaxRTPrio

// highest returns the priority of the first task, MaxRTPrio if there is none;
// rt_rq->highest_prio.curr.
func (rt *rtRQ) highest() event.Prio {
	switch {
	case rt.bitmap[0] != 0:
		return event.Prio(bits.TrailingZeros64(rt.bitmap[0]))
	case rt.bitmap[1] != 0:
		return event.Prio(64 + bits.TrailingZeros64(rt.bitmap[1]))
	}
	return noRTPrio
}

// highestNext returns the priority of the first task that could be pushed;
// rt_rq->highest_prio.next.
func (rt *rtRQ) highestNext() event.Prio {
	if len(rt.pushable) == 0 {
		return noRTPrio
	}
	return rt.pushable[0].prio
}

// first is pick_next_rt_entity(): the head of the highest list.
func (rt *rtRQ) first() *Task { return rt.queue[rt.highest()].head }

func (rt *rtRQ) link(p *Task, head bool) {
	l := &rt.queue[p.prio]
	switch {
	case l.head == nil:
		l.head, l.tail = p, p
		rt.bitmap[p.prio/64] |= 1 << (p.prio % 64)
	case head:
		p.rt.next, l.head.rt.prev = l.head, p
		l.head = p
	default:
		p.rt.prev, l.tail.rt.next = l.tail, p
		l.tail = p
	}
	p.rt.queued = true
}

func (rt *rtRQ) unlink(p *Task) {
	l := &rt.queue[p.prio]
	if p.rt.prev != nil {
		p.rt.prev.rt.next = p.rt.next
	} else {
		l.head = p.rt.next
	}
	if p.rt.next != nil {
		p.rt.next.rt.prev = p.rt.prev
	} else {
		l.tail = p.rt.prev
	}
	if l.head == nil {
		rt.bitmap[p.prio/64] &^= 1 << (p.prio % 64)
	}
	p.rt.prev, p.rt.next, p.rt.queued = nil, nil, false
}

// enqueueTaskRT is enqueue_task_rt(): at the tail of its priority, at the head where the
// task did not lose its place by itself.
func (s *Sched) enqueueTaskRT(rq *RQ, p *Task, f flags) {
	rq.rt.link(p, f&enqueueHead != 0)
	rq.rt.nrRunning++
	rq.nrRunning++
	s.updateCPUPri(rq)
	if rq.curr != p && p.nrCPUsAllowed() > 1 {
		s.enqueuePushableTask(rq, p)
	}
}

// dequeueTaskRT is dequeue_task_rt().
func (s *Sched) dequeueTaskRT(rq *RQ, p *Task, _ flags) {
	if rq.curr == p {
		s.updateCurrRT(rq)
	}
	rq.rt.unlink(p)
	rq.rt.nrRunning--
	rq.nrRunning--
	s.updateCPUPri(rq)
	s.dequeuePushableTask(rq, p)
}

// requeueTaskRT moves p to the end or to the head of its list; requeue_task_rt().
func (s *Sched) requeueTaskRT(rq *RQ, p *Task, head bool) {
	if p.rt.queued {
		rq.rt.unlink(p)
		rq.rt.link(p, head)
	}
}

// enqueuePushableTask keeps the list in the order of priority, equal ones by arrival;
// enqueue_pushable_task().
func (s *Sched) enqueuePushableTask(rq *RQ, p *Task) {
	s.dequeuePushableTask(rq, p)
	list := rq.rt.pushable
	i := len(list)
	for i > 0 && list[i-1].prio > p.prio {
		i--
	}
	list = append(list, nil)
	copy(list[i+1:], list[i:])
	list[i] = p
	rq.rt.pushable = list
	p.rt.pushable = true
	s.rto.set(rq.cpu)
}

func (s *Sched) dequeuePushableTask(rq *RQ, p *Task) {
	if !p.rt.pushable {
		return
	}
	p.rt.pushable = false
	list := rq.rt.pushable
	for i := range list {
		if list[i] == p {
			copy(list[i:], list[i+1:])
			list[len(list)-1] = nil
			rq.rt.pushable = list[:len(list)-1]
			break
		}
	}
	if len(rq.rt.pushable) == 0 {
		s.rto.clear(rq.cpu)
	}
}

// updateCurrRT is update_curr_rt().
func (s *Sched) updateCurrRT(rq *RQ) {
	if delta := s.charge(rq, rq.curr); delta > 0 && s.cfg.StatRuntimeRT {
		s.emitRuntime(rq.cpu, rq.curr, delta, 0)
	}
}

// selectTaskRQRT is select_task_rq_rt(): p stays where it was unless it would have to
// wait there behind a real-time task that will not make way.
func (s *Sched) selectTaskRQRT(from event.CPU, p *Task) event.CPU {
	curr := s.rqs[p.cpu].curr
	if curr.class != rtClass || curr.nrCPUsAllowed() >= 2 && curr.prio > p.prio {
		return p.cpu
	}
	target := s.findLowestRQ(from, p)
	if target != event.NoCPU && p.prio < s.rqs[target].rt.highest() {
		return target
	}
	return p.cpu
}

// findLowestRQ returns the CPU with the lowest priority that p may use and would run on
// at once, NoCPU if there is none; find_lowest_rq(). Where p was is best, then here.
func (s *Sched) findLowestRQ(from event.CPU, p *Task) event.CPU {
	if p.nrCPUsAllowed() == 1 {
		return event.NoCPU
	}
	s.work.Searched++
	if !s.cpupri.find(p, s.scratch) {
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

// anyDistribute takes the CPUs of a mask in turn; cpumask_any_distribute().
func (s *Sched) anyDistribute(m cpuMask) event.CPU {
	c := m.next(s.rotor + 1)
	if c == event.NoCPU {
		c = m.first()
	}
	s.rotor = max(c, 0)
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
	if curr.nrCPUsAllowed() == 1 || !s.cpupri.find(curr, nil) {
		return
	}
	if p.nrCPUsAllowed() != 1 && s.cpupri.find(p, nil) {
		return
	}
	s.requeueTaskRT(rq, p, true)
	s.reschedCurr(from, rq)
}

func (s *Sched) putPrevTaskRT(rq *RQ, p *Task) {
	s.updateCurrRT(rq)
	if p.onRQ && p.nrCPUsAllowed() > 1 {
		s.enqueuePushableTask(rq, p)
	}
}

func (s *Sched) setNextTaskRT(rq *RQ, p *Task, first bool) {
	s.dequeuePushableTask(rq, p)
	if first && len(rq.rt.pushable) > 0 {
		rq.pushRT = true
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
	if p.rt.prev != nil || p.rt.next != nil {
		s.requeueTaskRT(rq, p, false)
		s.reschedCurr(rq.cpu, rq)
	}
}

// taskWokenRT is task_woken_rt(): a woken task that has to wait is offered elsewhere.
func (s *Sched) taskWokenRT(from event.CPU, rq *RQ, p *Task) {
	curr := rq.curr
	if p == curr || rq.needResched || p.nrCPUsAllowed() <= 1 || curr.class != dlClass && curr.class != rtClass {
		return
	}
	if curr.nrCPUsAllowed() < 2 || curr.prio <= p.prio {
		for s.pushRTTask(from, rq) {
		}
	}
}
