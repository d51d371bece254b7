package sched

import "github.com/whylate/whylate/event"

// This file lets a follower keep the virtual run times that a kernel tells charge by charge.

// ForceVruntime says which vruntime p has in the queue of its group and CPU. min_vruntime of that goes on
// where it has to, and never back.
func (s *Sched) ForceVruntime(p *Task, v int64) {
	se := &p.se
	cfs := se.cfsRQ
	if queued := se.node.in; queued {
		s.dequeueTimeline(cfs, se)
		defer s.updateMinVruntime(cfs)
		defer s.enqueueTimeline(cfs, se)
	} else if cfs.curr == se {
		defer s.updateMinVruntime(cfs)
	}
	se.vruntime = v
	if p.migrated {
		se.vruntime -= cfs.minVruntime
	}
}

// ForceMinVruntime says what min_vruntime of the queue of g on c is; a nil g is the root.
func (s *Sched) ForceMinVruntime(c event.CPU, g *Group, v int64) {
	cfs := &s.rqs[c].cfs
	if g != nil {
		cfs = &g.cpus[c].cfs
	}
	cfs.minVruntime = v
}

// SharesQueue reports whether p and q wait in one queue of the fair class, so that each of them
// charges the other's group with its coming.
func SharesQueue(p, q *Task) bool {
	return p.class == fairClass && q.class == fairClass && p.se.cfsRQ == q.se.cfsRQ
}

// ForceAttr says what p, a fair task, has been for a while: its weight and its policy change, and
// nothing else does. a is of a fair policy, too.
func (s *Sched) ForceAttr(p *Task, a Attr) {
	if p.class != fairClass || classOf(a.prio()) != fairClass {
		return
	}
	was := p.Attr.Policy == Idle
	p.Attr = a
	if p.donor == nil {
		p.prio = a.prio()
	}
	se, n := &p.se, 0
	se.cfsRQ.reload(se, weightOf(&a))
	switch is := a.Policy == Idle; {
	case !se.onRQ || is == was:
		return
	case is:
		n = 1
	default:
		n = -1
	}
	se.cfsRQ.idleNr += n
	for ; se != nil; se = se.parent {
		if se.cfsRQ.idleHNr += n; se.cfsRQ.idle || se.cfsRQ.hidden {
			break // above it counts anyway, or not at all
		}
	}
}

// reload gives se another weight where it is.
func (cfs *cfsRQ) reload(se *schedEntity, load loadWeight) {
	if se.onRQ {
		cfs.setLoad(cfs.load.weight - se.load.weight + load.weight)
	}
	se.load = load
}

// VirtualRun returns what delta ns of run time are in virtual time for a task with attributes a,
// as the kernel rounds it.
func VirtualRun(delta event.Time, a Attr) int64 {
	se := schedEntity{load: weightOf(&a)}
	return calcDeltaFair(delta, &se)
}

// QuotaWaits reports whether queues of the group with that number (Timer.Group) are throttled.
func (s *Sched) QuotaWaits(group int) bool {
	return group > 0 && group <= len(s.groups) && len(s.groups[group-1].quota.throttled) > 0
}

// ForceQuotaKept says that the queue of g on c, which is empty, has run before: it then keeps a bit of
// the slice that it took.
func (s *Sched) ForceQuotaKept(c event.CPU, g *Group) {
	if cfs := &g.cpus[c].cfs; cfs.runtimeEnabled && cfs.nrRunning == 0 {
		cfs.runtimeRemaining = minCfsRQRuntime
	}
}
