package sched

import "github.com/whylate/whylate/event"

// This file is the fair class as the core sees it; fair_sched_class. Its tasks stand in queues
// of their groups, a group in the queue of the group above, and the queue of the CPU is the
// root (cfsRQ, schedEntity). CFS chooses by fair_cfs.go, EEVDF by fair_eevdf.go.

// enqueueTaskFair is enqueue_task_fair(): p comes into its queue, and each group that was
// empty into the one above.
func (s *Sched) enqueueTaskFair(rq *RQ, p *Task, f flags) {
	if p.throttled && s.enqueueThrottledTask(rq, p) {
		return
	}
	was := rq.cfs.hNrRunning
	sleeps := p.se.delayed && f&flagDelayed == 0 // it is moved or changed, and sleeps on
	if !sleeps {
		s.utilEstEnqueue(rq, p)
	}
	if f&flagDelayed != 0 {
		s.requeueDelayedEntity(&p.se)
		s.fairWaits(rq)
		return
	}
	if p.nrAllowed > 1 && !sleeps {
		rq.movable++
	}
	n := fairCount{tasks: 1, idle: p.se.isIdle()}
	if sleeps {
		n.delayed = 1
	}
	throttled := false
	se, slice := &p.se, event.Time(0)
	for ; se != nil; se = se.parent {
		if se.onRQ {
			if se.delayed {
				s.requeueDelayedEntity(se)
			}
			break
		}
		cfs := se.cfsRQ
		if slice != 0 {
			se.slice, se.customSlice = slice, true
		}
		s.enqueueEntity(cfs, se, f)
		slice = s.groupSlice(cfs)
		if throttled = n.add(cfs); throttled {
			break
		}
		f = flagWakeup
	}
	if !throttled {
		throttled = s.updateAbove(se, &n, slice)
	}
	if !throttled {
		s.fairCame(rq, was)
		s.addNrRunning(rq)
	}
	s.hrtickUpdate(rq)
	s.fairWaits(rq)
}

// updateAbove brings the groups from se upwards up to date, which stay in their queues where a task
// comes or leaves below: the second loop of enqueue_task_fair() and dequeue_entities(). slice is the
// shortest slice below se. It reports whether a throttled queue hides the task from those above.
func (s *Sched) updateAbove(se *schedEntity, n *fairCount, slice event.Time) (throttled bool) {
	for ; se != nil; se = se.parent {
		s.updateLoadAvg(se.cfsRQ, se, updateTG)
		se.updateRunnable()
		s.updateCfsGroup(se)
		slice = s.setGroupSlice(se, slice)
		if n.add(se.cfsRQ) {
			return true
		}
	}
	return false
}

// fairCame starts the fair server if the CPU had no fair task before.
func (s *Sched) fairCame(rq *RQ, was int) {
	if was == 0 && rq.cfs.hNrRunning > 0 {
		if rq.nrRunning == 0 {
			s.dlServerUpdateIdle(rq, rq.curr)
		}
		s.dlServerStart(rq)
	}
}

// fairCount are tasks that come, or with negative counts go: how many of them are delayed, and whether
// they are idle where they are counted.
type fairCount struct {
	tasks, delayed int
	idle           bool
}

// add counts them in cfs. It reports whether cfs is throttled and hidden, so that nothing above
// knows of them.
func (n *fairCount) add(cfs *cfsRQ) (throttled bool) {
	cfs.hNrRunning += n.tasks
	cfs.hNrDelayed += n.delayed
	if n.idle {
		cfs.idleHNr += n.tasks
	}
	n.idle = n.idle || cfs.idle
	return cfs.hidden
}

// dequeueTaskFair is dequeue_task_fair(). It reports false if p sleeps and stays in the queue
// until its lag is paid.
func (s *Sched) dequeueTaskFair(rq *RQ, p *Task, f flags) bool {
	if rq.deferred == p {
		s.settlePutPrev(rq)
	}
	if p.throttled {
		s.dequeueThrottledTask(p, f)
		return true
	}
	sleeps := p.se.delayed
	if !sleeps || f&flagSleep != 0 {
		s.utilEstDequeue(rq, p)
	}
	left := s.dequeueEntities(rq, &p.se, f)
	s.utilEstUpdate(rq, p, f&flagSleep != 0)
	s.hrtickUpdate(rq)
	if left && !sleeps && p.nrAllowed > 1 {
		rq.movable--
	}
	s.fairWaits(rq)
	return left
}

// dequeueEntities takes se out of its queue, and groups that it leaves empty out of
// theirs; dequeue_entities(). It reports false for a task that is delayed now.
func (s *Sched) dequeueEntities(rq *RQ, se *schedEntity, f flags) bool {
	p := se.task
	sleep, throttled := f&flagSleep != 0, false
	n, slice := fairCount{}, event.Time(0)
	if p != nil {
		n = fairCount{tasks: -1, idle: se.isIdle()}
		if p.se.delayed && !sleep {
			n.delayed = -1
		}
	}
	finished := p != nil && f&flagDelayed != 0
	for ; se != nil; se = se.parent {
		cfs := se.cfsRQ
		if !s.dequeueEntity(cfs, se, f) {
			if se.task != nil {
				return false
			}
			slice = s.groupSlice(cfs)
			break
		}
		if throttled = n.add(cfs); throttled {
			break
		}
		if cfs.load.weight != 0 {
			slice = s.groupSlice(cfs)
			se = se.parent
			if sleep && se != nil && !s.throttledHierarchy(cfs) {
				s.setNextBuddy(se)
			}
			break
		}
		f |= flagSleep
		f &^= flagDelayed | flagSpecial
	}
	if !throttled {
		throttled = s.updateAbove(se, &n, slice)
	}
	if !throttled && n.tasks != 0 {
		s.subNrRunning(rq)
	}
	if finished {
		p.onRQ = false
	}
	return true
}

// updateCurrFair charges the current fair task, at its own level, and returns what it has run
// since the last time; update_curr_fair().
func (s *Sched) updateCurrFair(rq *RQ) event.Time {
	p := rq.curr
	if p.class != fairClass {
		return 0
	}
	return s.updateCurr(p.se.cfsRQ)
}

// pickTaskFair returns the fair task that should run next, nil for none; pick_task_fair().
func (s *Sched) pickTaskFair(rq *RQ) *Task {
	s.settlePutPrev(rq)
	for {
		if rq.cfs.nrRunning == 0 {
			return nil
		}
		if p := s.pickDown(&rq.cfs); p != nil {
			return p
		}
	}
}

// pickDown picks from cfs downwards. nil: something has changed, so that it has to begin anew.
func (s *Sched) pickDown(cfs *cfsRQ) *Task {
	throttled := false
	for {
		curr := cfs.curr
		if curr != nil && curr.onRQ {
			s.updateCurr(cfs)
		}
		if (curr != nil || s.cfg.Fair.TaskThrottle) && s.checkCfsRQRuntime(cfs) {
			if throttled = true; !s.cfg.Fair.TaskThrottle {
				return nil
			}
		}
		if curr != nil && !curr.onRQ {
			curr = nil
		}
		se := s.pickNextEntity(cfs, curr)
		if se == nil {
			return nil
		}
		if p := se.task; p != nil {
			p.throttleWork = p.throttleWork || throttled
			return p
		}
		cfs = se.myQ
	}
}

// pickNextEntity is pick_next_entity().
func (s *Sched) pickNextEntity(cfs *cfsRQ, curr *schedEntity) *schedEntity {
	switch {
	case s.cfg.FairPlaced:
		return pickPlaced(cfs, curr)
	case s.cfg.Fair.EEVDF:
		return s.pickNextEEVDF(cfs)
	}
	return s.pickCFS(cfs, curr)
}

// putPrevTaskFair is put_prev_task_fair(): every level puts its current entity back.
func (s *Sched) putPrevTaskFair(rq *RQ, p *Task) {
	for se := &p.se; se != nil; se = se.parent {
		if s.putPrevEntity(se.cfsRQ, se) == 0 && se.task != nil && se.onRQ {
			s.dlServerLeft(rq)
		}
	}
	s.fairWait.put(rq.cpu, rq.movable > 0)
}

// setNextTaskFair is set_next_task_fair(): every level makes its entity the current one.
func (s *Sched) setNextTaskFair(rq *RQ, p *Task, first bool) {
	s.settlePutPrev(rq) // a current real-time task may have become fair
	for se := &p.se; se != nil; se = se.parent {
		s.setNextEntity(se.cfsRQ, se)
		s.accountCfsRQRuntime(se.cfsRQ, 0)
	}
	s.nextIsFair(rq, p, first)
}

// switchFair puts prev back and makes next current, both fair, up to the group that both
// belong to; the end of pick_next_task_fair().
func (s *Sched) switchFair(rq *RQ, prev, next *Task) {
	if prev != next {
		se, pse := &next.se, &prev.se
		for se.cfsRQ != pse.cfsRQ {
			d, pd := se.depth, pse.depth
			if d <= pd {
				s.putPrevEntity(pse.cfsRQ, pse)
				pse = pse.parent
			}
			if d >= pd {
				s.setNextEntity(se.cfsRQ, se)
				se = se.parent
			}
		}
		s.putPrevEntity(pse.cfsRQ, pse)
		s.setNextEntity(se.cfsRQ, se)
		s.dlServerLeft(rq)
	}
	s.nextIsFair(rq, next, true)
}

// nextIsFair is what is left to do when p has become current; first: it was picked.
func (s *Sched) nextIsFair(rq *RQ, p *Task, first bool) {
	if p.se.onRQ && !s.cfg.Fair.LoadBalance411 {
		rq.unlinkTask(p)
		rq.linkTask(p)
	}
	s.fairWaits(rq)
	if first && s.cfg.HRTick {
		s.hrtickStartFair(rq, p)
	}
}

// taskTickFair is task_tick_fair(); queued: it is an hrtick.
func (s *Sched) taskTickFair(rq *RQ, p *Task, queued bool) {
	if s.cfg.FairPlaced {
		s.tickPlaced(rq, p)
		return
	}
	for se := &p.se; se != nil; se = se.parent {
		s.entityTick(se.cfsRQ, se, queued)
	}
}

// wakeupPreemptFair is check_preempt_wakeup_fair(), check_preempt_wakeup() before 6.8.
func (s *Sched) wakeupPreemptFair(from event.CPU, rq *RQ, p *Task, f flags) {
	curr := rq.curr
	switch {
	case s.cfg.FairPlaced:
		s.wakeupPreemptPlaced(from, rq, p)
	case curr == p || p.throttled || s.throttledHierarchy(p.se.cfsRQ):
	case s.cfg.Fair.EEVDF:
		s.wakeupPreemptEEVDF(from, rq, p, f)
	default:
		s.wakeupPreemptCFS(from, rq, p, f)
	}
}

// findMatchingSE goes up from both entities to two that stand in one queue;
// find_matching_se().
func findMatchingSE(a, b *schedEntity) (*schedEntity, *schedEntity) {
	for a.depth > b.depth {
		a = a.parent
	}
	for b.depth > a.depth {
		b = b.parent
	}
	for a.cfsRQ != b.cfsRQ {
		a, b = a.parent, b.parent
	}
	return a, b
}

// prioChangedFair is prio_changed_fair().
func (s *Sched) prioChangedFair(from event.CPU, rq *RQ, p *Task, old event.Prio) {
	switch {
	case !p.onRQ || rq.cfs.nrRunning == 1:
	case rq.curr != p:
		s.wakeupPreempt(from, rq, p, 0)
	case p.prio > old:
		s.reschedCurrLazy(from, rq)
	}
}

// switchedToFair is switched_to_fair(): who was current as something better makes way.
func (s *Sched) switchedToFair(from event.CPU, rq *RQ, p *Task) {
	s.attachTask(p)
	s.attachVruntime(p)
	switch {
	case !p.onRQ:
	case rq.curr == p:
		s.reschedCurr(from, rq)
	default:
		s.wakeupPreempt(from, rq, p, 0)
	}
}

// switchedFromFair is switched_from_fair().
func (s *Sched) switchedFromFair(rq *RQ, p *Task) {
	s.detachVruntime(p)
	s.detachTask(p)
}

// eachWaiting calls f for the waiting tasks of cfs and below, those that are likely to run
// soon first, until it returns false.
func (cfs *cfsRQ) eachWaiting(f func(*Task) bool) bool {
	if c := cfs.curr; c != nil && c.myQ != nil && !c.myQ.eachWaiting(f) {
		return false
	}
	for n := cfs.timeline.first; n != nil; n = n.next() {
		if n.task != nil && !n.se.delayed && !f(n.task) || n.task == nil && !n.se.myQ.eachWaiting(f) {
			return false
		}
	}
	return true
}
