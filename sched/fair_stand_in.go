package sched

import "github.com/whylate/whylate/event"

// This file is a stand-in for load balancing where loads are not known (Config.FairPlaced): no CPU idles
// while a fair task waits that it could run. It is no kernel's rule.

// fairWaits notes whether fair tasks wait on rq that could run elsewhere.
func (s *Sched) fairWaits(rq *RQ) {
	waiting := rq.movable
	if c := rq.curr; c.class == fairClass && c.se.onRQ && !c.se.delayed && c.nrAllowed > 1 {
		waiting--
	}
	s.fairWait.put(rq.cpu, waiting > 0)
}

// placeStandIn takes the CPU where p was if it is idle, else the next idle one, else
// for a new task the one with the fewest tasks.
func (s *Sched) placeStandIn(p *Task, cpu event.CPU, fork bool) event.CPU {
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

// mostTried bounds how many waiting tasks are looked at for one that may move.
const mostTried = 256

// pullStandIn looks for a waiting fair task for a CPU that would go idle, on the CPUs
// that follow it, and reports whether it found one.
func (s *Sched) pullStandIn(rq *RQ) bool {
	tried := 0
	for _, from := range [...]event.CPU{rq.cpu + 1, 0} {
		for c := s.fairWait.next(from); c != event.NoCPU && tried < mostTried; c = s.fairWait.next(c + 1) {
			src := s.rqs[c]
			if src == rq {
				continue
			}
			s.updateRQClock(src)
			s.settlePutPrev(src) // so that it is found
			var found *Task
			src.cfs.eachWaiting(func(p *Task) bool {
				tried++
				if p.migrateDisabled == 0 && p.mask.has(rq.cpu) && !p.throttledOn(rq) && s.mayMove(p, src, rq) {
					found = p
				}
				return found == nil && tried < mostTried
			})
			if found != nil {
				s.work.Searched += tried
				s.moveQueued(rq.cpu, src, rq, found)
				return true
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
	s.settlePutPrev(rq)
	tried, to := 0, event.NoCPU
	var found *Task
	rq.cfs.eachWaiting(func(p *Task) bool {
		tried++
		if p.migrateDisabled == 0 {
			if to = s.idle.nextAnd(p.mask, 0); to != event.NoCPU && !p.throttledOn(s.rqs[to]) && s.mayMove(p, rq, s.rqs[to]) {
				found = p
			}
		}
		return found == nil && tried < mostTried
	})
	if found != nil {
		s.moveQueued(rq.cpu, rq, s.rqs[to], found)
		s.reschedCurr(rq.cpu, s.rqs[to])
	}
	s.work.Searched += tried
}
