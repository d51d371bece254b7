package sched

import "github.com/whylate/whylate/event"

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
	current := rq.curr == p && p.class == fairClass
	if current {
		at -= int64(s.host.Now() - p.execStart) // it is charged for that later
	}
	p.se.vruntime, p.se.placed = at, true
	if !p.se.node.in {
		return
	}
	rq.cfs.queue.remove(&p.se.node)
	rq.cfs.queue.insert(&p.se.node, int64(place))
	if first := rq.cfs.queue.first; current && first != &p.se.node && first.key < int64(place) {
		s.begin(p.cpu)
		s.reschedCurrLazy(p.cpu, rq)
	}
}

// ForgetFairPlace takes p its place: it has to share like somebody new.
func (s *Sched) ForgetFairPlace(p *Task) {
	if p.se.placed && !p.se.node.in {
		p.se.placed, p.se.vruntime = false, s.rqs[p.cpu].cfs.minVruntime
	}
}
