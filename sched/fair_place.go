package sched

import "github.com/whylate/whylate/event"

// This file is the order of recorded fair tasks: with Config.FairPlaced the host says where each
// task stands, and that lies in vruntime. Weights and groups then mean nothing.

// SetFairPlace gives p its place among the fair tasks of its CPU, in ns: the least goes first,
// and a place grows by what its task runs. A current task makes way for one that is before it
// now. Without Config.FairPlaced it does nothing.
//
// A recorded task whose place is the recorded time of what it does now goes before all that
// did later what they do now: with nothing changed fair tasks take turns as they were recorded,
// and else nobody gets further ahead of the recording than the others.
// Who has no place comes among them as into any queue: not before those that are there.
func (s *Sched) SetFairPlace(p *Task, place event.Time) {
	if !s.cfg.FairPlaced {
		return
	}
	rq, at := s.rqs[p.cpu], int64(place)
	if rq.deferred == p {
		s.updateRQClock(rq)
		s.settlePutPrev(rq)
	}
	current := rq.curr == p && p.class == fairClass
	if current {
		at -= int64(s.host.Now() - p.execStart) // it is charged for that later
	}
	p.se.vruntime, p.se.placed = at, true
	if p.se.node.in {
		rq.cfs.timeline.remove(&p.se.node)
		rq.cfs.timeline.insert(&p.se.node, at)
		return
	}
	if first := rq.cfs.first(); current && first != nil && first.vruntime < int64(place) {
		s.begin(p.cpu)
		s.reschedCurrLazy(p.cpu, rq)
	}
}

// ForgetFairPlace takes p its place: it has to share like somebody new.
func (s *Sched) ForgetFairPlace(p *Task) {
	if p.se.placed && !p.se.onRQ {
		p.se.placed, p.se.vruntime = false, s.rqs[p.cpu].cfs.minVruntime
	}
}

// placedSlice is how far the current task may run ahead before another gets its turn.
const placedSlice int64 = 3_000_000

// enqueuedPlaced gives se, which comes, a place if nobody gave it one: who sleeps much comes
// soon.
func enqueuedPlaced(cfs *cfsRQ, se *schedEntity) {
	if se.placed {
		return
	}
	if se.task.moving {
		se.vruntime += cfs.minVruntime
	}
	se.vruntime = max(se.vruntime, cfs.minVruntime-placedSlice)
}

func pickPlaced(cfs *cfsRQ, curr *schedEntity) *schedEntity {
	first := cfs.first()
	if first == nil || curr != nil && curr.vruntime < first.vruntime {
		return curr
	}
	return first
}

func (s *Sched) wakeupPreemptPlaced(from event.CPU, rq *RQ, p *Task) {
	s.updateCurrFair(rq)
	if rq.curr.se.vruntime > p.se.vruntime {
		s.reschedCurrLazy(from, rq)
	}
}

func (s *Sched) tickPlaced(rq *RQ, p *Task) {
	s.updateCurrFair(rq)
	if first := rq.cfs.first(); first != nil && p.se.vruntime-first.vruntime >= placedSlice {
		s.reschedCurrLazy(rq.cpu, rq)
	}
}

// yieldPlaced sends the current task behind all others.
func (s *Sched) yieldPlaced(rq *RQ) {
	s.updateCurrFair(rq)
	se := &rq.curr.se
	se.cfsRQ.timeline.each(func(n *node) { se.vruntime = max(se.vruntime, n.se.vruntime) })
}
