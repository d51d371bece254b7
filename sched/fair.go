package sched

import "github.com/whylate/whylate/event"

// This file is a stand-in for the fair class: a plain weighted virtual run time, the
// least of which runs next and is preempted at ticks. It is no kernel's rule. Shares are
// right in the long run and no CPU idles while a fair task waits that it could run;
// latencies of fair tasks are not the kernel's. With Config.FairPlaced the host says where each
// task stands, and that lies in vruntime.

// fairEntity is the part of a task that the fair class owns; sched_entity.
type fairEntity struct {
	node     node
	vruntime int64
	weight   int64
	placed   bool // vruntime is a place that SetFairPlace gave it
}

func (se *fairEntity) init(p *Task) { se.node.task = p }

// fairRQ is cfs_rq. The current task stays in the queue.
type fairRQ struct {
	queue       tree // by vruntime
	movable     int  // tasks in queue that may use other CPUs too
	minVruntime int64
}

// nice0 is the weight of nice 0; NICE_0_LOAD.
const nice0 int64 = 1024

// weightOf is the weight of a nice value: each step changes it by a quarter, as
// sched_prio_to_weight does, computed instead of copied.
func weightOf(a *Attr) int64 {
	if a.Policy == Idle {
		return 3
	}
	w := nice0 << 20
	for n := a.Nice; n > 0; n-- {
		w = w * 4 / 5
	}
	for n := a.Nice; n < 0; n++ {
		w = w * 5 / 4
	}
	return max(1, (w+1<<19)>>20)
}

// enqueueTaskFair gives p its place: not before the others, whatever it has saved.
func (s *Sched) enqueueTaskFair(rq *RQ, p *Task, _ flags) {
	if !p.se.placed {
		if p.moving {
			p.se.vruntime += rq.cfs.minVruntime
		}
		least := rq.cfs.minVruntime
		if s.cfg.FairPlaced {
			least -= fairSlice // who sleeps much comes soon
		}
		p.se.vruntime = max(p.se.vruntime, least)
	}
	if p.nrAllowed > 1 {
		rq.cfs.movable++
	}
	rq.cfs.queue.insert(&p.se.node, p.se.vruntime)
	if rq.cfs.queue.n == 1 {
		if rq.nrRunning == 0 {
			s.dlServerUpdateIdle(rq, rq.curr)
		}
		s.dlServerStart(rq)
	}
	s.addNrRunning(rq)
	s.fairWaits(rq)
}

func (s *Sched) dequeueTaskFair(rq *RQ, p *Task, _ flags) {
	s.updateCurrFair(rq)
	rq.cfs.queue.remove(&p.se.node)
	if p.nrAllowed > 1 {
		rq.cfs.movable--
	}
	if p.moving && !p.se.placed {
		p.se.vruntime -= rq.cfs.minVruntime
	}
	s.subNrRunning(rq)
	s.fairWaits(rq)
}

// fairWaits notes whether fair tasks wait on rq that could run elsewhere.
func (s *Sched) fairWaits(rq *RQ) {
	waiting := rq.cfs.movable
	if c := rq.curr; c.class == fairClass && c.se.node.in && c.nrAllowed > 1 {
		waiting--
	}
	s.fairWait.put(rq.cpu, waiting > 0)
}

// updateCurrFair charges the current fair task and returns what it has run since the last
// time.
func (s *Sched) updateCurrFair(rq *RQ) event.Time {
	p := rq.curr
	if p.class != fairClass {
		return 0
	}
	delta := s.charge(rq, p)
	if delta <= 0 {
		return 0
	}
	if s.cfg.FairPlaced {
		p.se.vruntime += int64(delta)
	} else {
		p.se.vruntime += int64(delta) * nice0 / max(p.se.weight, 1)
	}
	if p.se.node.in {
		rq.cfs.queue.raise(&p.se.node, p.se.vruntime)
		rq.cfs.minVruntime = max(rq.cfs.minVruntime, rq.cfs.queue.first.key)
	}
	s.emitRuntime(rq.cpu, p, delta, p.se.vruntime)
	s.dlServerUpdate(rq, delta)
	return delta
}

// selectTaskRQFair takes the CPU where p was if it is idle, else the next idle one, else
// for a new task the one with the fewest tasks.
func (s *Sched) selectTaskRQFair(_ event.CPU, p *Task, cpu event.CPU, fork bool) event.CPU {
	s.work.Searched++
	if s.idle.has(cpu) && p.mask.has(cpu) {
		return cpu
	}
	c := s.idle.nextAnd(p.mask, cpu+1)
	if c == event.NoCPU {
		c = s.idle.nextAnd(p.mask, 0)
	}
	switch {
	case c != event.NoCPU:
		return c
	case !fork:
		return cpu
	}
	best := cpu
	for c := p.mask.first(); c != event.NoCPU; c = p.mask.next(c + 1) {
		s.work.Searched++
		if s.rqs[c].nrRunning < s.rqs[best].nrRunning {
			best = c
		}
	}
	return best
}

// fairSlice is how far the current task may run ahead before another gets its turn, and
// a third of it how far a woken one must be behind to preempt at once.
const fairSlice int64 = 3_000_000

func (s *Sched) wakeupPreemptFair(from event.CPU, rq *RQ, p *Task) {
	s.updateCurrFair(rq)
	switch ahead := rq.curr.se.vruntime - p.se.vruntime; {
	case s.cfg.FairPlaced && ahead > 0:
		s.reschedCurrLazy(from, rq)
	case p.Attr.Policy == Normal && ahead > fairSlice/3:
		s.reschedCurrLazy(from, rq)
	}
}

func (s *Sched) taskTickFair(rq *RQ, p *Task) {
	s.updateCurrFair(rq)
	if rq.cfs.queue.n > 1 && p.se.vruntime-rq.cfs.queue.first.key >= fairSlice {
		s.reschedCurrLazy(rq.cpu, rq)
	}
}

// prioChangedFair is prio_changed_fair().
func (s *Sched) prioChangedFair(from event.CPU, rq *RQ, p *Task, old event.Prio) {
	switch {
	case !p.onRQ || rq.cfs.queue.n == 1:
	case rq.curr != p:
		s.wakeupPreempt(from, rq, p)
	case p.prio > old:
		s.reschedCurr(from, rq)
	}
}

// switchedToFair is switched_to_fair(): who was current as something better makes way.
func (s *Sched) switchedToFair(from event.CPU, rq *RQ, p *Task) {
	switch {
	case !p.onRQ:
	case rq.curr == p:
		s.reschedCurr(from, rq)
	default:
		s.wakeupPreempt(from, rq, p)
	}
}

func (s *Sched) yieldTaskFair(rq *RQ) {
	s.updateCurrFair(rq)
	se := &rq.curr.se
	if last := rq.cfs.queue.last(); se.node.in && last != &se.node {
		se.vruntime = last.key
		rq.cfs.queue.raise(&se.node, se.vruntime)
	}
}

// putPrevTaskFair counts the task that leaves among those that wait.
func (s *Sched) putPrevTaskFair(rq *RQ, p *Task) {
	if s.updateCurrFair(rq) == 0 && p.se.node.in {
		s.dlServerLeft(rq)
	}
	s.fairWait.put(rq.cpu, rq.cfs.movable > 0)
}

// setNextTaskFair starts an hrtick for the end of p's turn where others wait.
func (s *Sched) setNextTaskFair(rq *RQ, p *Task, first bool) {
	movable, waiting := rq.cfs.movable, rq.cfs.queue.n
	if p.se.node.in {
		if waiting--; p.nrAllowed > 1 {
			movable--
		}
	}
	s.fairWait.put(rq.cpu, movable > 0)
	if first && waiting > 0 && s.cfg.HRTick {
		left := fairSlice + rq.cfs.queue.first.key - p.se.vruntime
		s.startHRTick(rq, event.Time(left*p.se.weight/nice0))
	}
}

// mostTried bounds how many waiting tasks are looked at for one that may move.
const mostTried = 256

// newidleBalance looks for a waiting fair task for a CPU that would go idle, on the CPUs
// that follow it, and reports whether it found one.
func (s *Sched) newidleBalance(rq *RQ) bool {
	tried := 0
	for _, from := range [...]event.CPU{rq.cpu + 1, 0} {
		for c := s.fairWait.next(from); c != event.NoCPU && tried < mostTried; c = s.fairWait.next(c + 1) {
			src := s.rqs[c]
			if src == rq {
				continue
			}
			for n := src.cfs.queue.first; n != nil && tried < mostTried; n = n.next() {
				tried++
				if p := n.task; !p.onCPU && p.migrateDisabled == 0 && p.mask.has(rq.cpu) && s.mayMove(p, src, rq) {
					s.work.Searched += tried
					s.moveQueued(rq.cpu, src, rq, p)
					return true
				}
			}
		}
	}
	s.work.Searched += tried
	return false
}

// kickIdle sends a waiting fair task of rq to an idle CPU, at a tick; what the kernel's
// idle load balancer would do.
func (s *Sched) kickIdle(rq *RQ) {
	if !s.fairWait.has(rq.cpu) || s.idle.empty() {
		return
	}
	tried := 0
	for n := rq.cfs.queue.first; n != nil && tried < mostTried; n = n.next() {
		tried++
		p := n.task
		if p.onCPU || p.migrateDisabled > 0 {
			continue
		}
		if c := s.idle.nextAnd(p.mask, 0); c != event.NoCPU && s.mayMove(p, rq, s.rqs[c]) {
			s.moveQueued(rq.cpu, rq, s.rqs[c], p)
			s.reschedCurr(rq.cpu, s.rqs[c])
			break
		}
	}
	s.work.Searched += tried
}
