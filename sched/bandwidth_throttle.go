package sched

import "github.com/whylate/whylate/event"

// throttleCfsRQ takes cfs, with all that is in it, out of the queues above; throttle_cfs_rq(). It
// reports false if there is runtime after all. With TaskThrottle the queue stays, and its tasks
// are taken out one by one when they are on their way to user mode.
func (s *Sched) throttleCfsRQ(cfs *cfsRQ) bool {
	if s.assignCfsRQRuntime(cfs, 1) {
		return false
	}
	b := &cfs.tg.quota
	b.throttled = append(b.throttled, cfs)
	s.throttleDown(cfs.tg, cfs.rq)
	if !s.cfg.Fair.TaskThrottle {
		s.hideQueue(cfs)
		cfs.hidden = true
	}
	cfs.throttled = true
	s.countThrottled(cfs)
	return true
}

// countThrottled lets throttled_time count from now on, if it does not yet.
func (s *Sched) countThrottled(cfs *cfsRQ) {
	if !cfs.throttled || cfs.throttledClock != 0 {
		return
	}
	waits := cfs.nrRunning > 0
	if s.cfg.Fair.TaskThrottle {
		waits = len(cfs.limbo) > 0
	}
	if waits || s.cfg.Fair.QuotaEmptyThrottled {
		cfs.throttledClock = cfs.rq.clock
	}
}

// throttleDown counts a throttled queue of g on rq for it and all groups below;
// tg_throttle_down().
func (s *Sched) throttleDown(g *Group, rq *RQ) {
	cfs := &g.cpus[rq.cpu].cfs
	cfs.throttleCount++
	s.syncLoadClock(cfs)
	for _, child := range g.children {
		s.throttleDown(child, rq)
	}
}

// throttleUp takes that back; tg_unthrottle_up(). Throttled tasks come back where nothing
// throttles them any more.
func (s *Sched) throttleUp(g *Group, rq *RQ) {
	for _, child := range g.children {
		s.throttleUp(child, rq)
	}
	cfs := &g.cpus[rq.cpu].cfs
	if cfs.throttleCount--; cfs.throttleCount > 0 {
		return
	}
	s.syncLoadClock(cfs)
	for len(cfs.limbo) > 0 {
		p := cfs.limbo[len(cfs.limbo)-1]
		cfs.limbo[len(cfs.limbo)-1] = nil
		cfs.limbo = cfs.limbo[:len(cfs.limbo)-1]
		p.throttled = false
		s.enqueueTaskFair(rq, p, flagWakeup)
	}
}

// counts are how many tasks a queue counts: all, those that are idle, those that only wait to
// leave.
type counts struct{ tasks, idle, delayed int }

func (cfs *cfsRQ) counts() counts { return counts{cfs.hNrRunning, cfs.idleHNr, cfs.hNrDelayed} }

// count counts the tasks of se, a group, in the queue that it is in.
func (n *counts) count(se *schedEntity, sign int) {
	if se.myQ.idle {
		n.idle = n.tasks
	}
	q := se.cfsRQ
	q.hNrRunning += sign * n.tasks
	q.idleHNr += sign * n.idle
	q.hNrDelayed += sign * n.delayed
}

// hideQueue takes cfs out of the queues above it. Groups that it leaves empty go, too, and the
// CPU has fewer runnable tasks.
func (s *Sched) hideQueue(cfs *cfsRQ) {
	n := cfs.counts()
	se := cfs.se
	for ; se != nil; se = se.parent {
		if !se.onRQ {
			return // a queue above is throttled, or cfs is only just being filled
		}
		f := flagSleep | flagSpecial
		if se.delayed {
			f |= flagDelayed
		}
		s.dequeueEntity(se.cfsRQ, se, f)
		n.count(se, -1)
		if se.cfsRQ.load.weight != 0 {
			se = se.parent
			break
		}
	}
	for ; se != nil; se = se.parent {
		if !se.onRQ {
			return
		}
		s.updateLoadAvg(se.cfsRQ, se, 0)
		se.updateRunnable()
		n.count(se, -1)
	}
	for range n.tasks {
		s.subNrRunning(cfs.rq)
	}
}

// unthrottleCfsRQ brings cfs back; unthrottle_cfs_rq(). A CPU that is idle chooses anew; another
// one goes on with what it does.
func (s *Sched) unthrottleCfsRQ(cfs *cfsRQ) {
	rq := cfs.rq
	s.updateRQClock(rq)
	b := &cfs.tg.quota
	cfs.throttled, cfs.hidden = false, false
	if cfs.throttledClock != 0 {
		b.stat.ThrottledTime += rq.clock - cfs.throttledClock
		cfs.throttledClock = 0
	}
	b.forget(cfs)
	s.throttleUp(cfs.tg, rq)
	if !s.cfg.Fair.TaskThrottle {
		if cfs.load.weight == 0 {
			return
		}
		s.showQueue(cfs)
	}
	if rq.curr == rq.idle && rq.cfs.nrRunning > 0 {
		s.reschedCurr(s.hereOr(rq), rq)
	}
}

// showQueue puts cfs back into the queues above, up to one that is throttled itself.
func (s *Sched) showQueue(cfs *cfsRQ) {
	rq := cfs.rq
	was := rq.cfs.hNrRunning
	n := cfs.counts()
	se := cfs.se
	for ; se != nil; se = se.parent {
		q := se.cfsRQ
		if se.delayed {
			s.dequeueEntity(q, se, flagSleep|flagDelayed)
		} else if se.onRQ {
			break
		}
		s.enqueueEntity(q, se, flagWakeup)
		if n.count(se, 1); q.throttled {
			return
		}
	}
	for ; se != nil; se = se.parent {
		s.updateLoadAvg(se.cfsRQ, se, updateTG)
		se.updateRunnable()
		if n.count(se, 1); se.cfsRQ.throttled {
			return
		}
	}
	if was == 0 && rq.cfs.hNrRunning > 0 {
		s.dlServerStart(rq)
	}
	for range n.tasks {
		s.addNrRunning(rq)
	}
}

// distributeCfsRuntime gives what there is to the throttled queues of a group, to each what
// lets it run for 1 ns: the rest it takes itself. It reports whether some stay throttled;
// distribute_cfs_runtime().
func (s *Sched) distributeCfsRuntime(b *cfsBandwidth) (throttled bool) {
	remaining := event.Time(1)
	for i := 0; i < len(b.throttled); {
		if remaining == 0 {
			return true
		}
		cfs := b.throttled[i]
		amount := min(1-cfs.runtimeRemaining, b.runtime)
		b.runtime -= amount
		remaining = b.runtime
		cfs.runtimeRemaining += amount
		cfs.runtimeExpires, cfs.expiresSeq = b.runtimeExpires, b.expiresSeq
		if cfs.runtimeRemaining > 0 {
			s.unthrottleCfsRQ(cfs) // which takes it out of the list
			continue
		}
		throttled = true
		i++
	}
	return throttled
}
