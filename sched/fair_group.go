package sched

import "github.com/whylate/whylate/event"

// This file is about the weights of groups. A group has one weight, its shares, and an entity on
// every CPU. What an entity weighs is the part of the shares that the load of the group on its
// CPU is of all its load.

// leastShares is what the entity of a group weighs at least; MIN_SHARES, not shifted.
const leastShares int64 = 2

// calcGroupShares is calc_group_shares(); calc_cfs_shares() in 4.11. The averages of other CPUs are slow, so
// for this CPU the weight of what is queued counts if it is more: a group that was asleep
// everywhere has all its shares at once.
func (s *Sched) calcGroupShares(q *cfsRQ) int64 {
	load := s.scaleDown(q.load.weight)
	if !s.cfg.Fair.PELT411 {
		load = max(load, int64(q.avg.loadAvg))
	}
	all := q.tg.loadAvg - q.tgLoadAvgContrib + load
	shares := q.tg.shares * load
	if all != 0 {
		shares /= all
	}
	return min(max(shares, leastShares), q.tg.shares)
}

// updateCfsGroup gives the entity of a group the weight that it should have now;
// update_cfs_group(), update_cfs_shares() in 4.11.
func (s *Sched) updateCfsGroup(se *schedEntity) {
	q, keeps := se.myQ, s.cfg.Fair.GroupKeepsWeight
	if q == nil || keeps && q.load.weight == 0 || s.throttledHierarchy(q) {
		return
	}
	if shares := s.calcGroupShares(q); !keeps || shares != se.load.weight {
		s.reweightEntity(se.cfsRQ, se, s.groupWeight(shares))
	}
}

// reweightTask gives p the weight of its attributes; set_load_weight().
func (s *Sched) reweightTask(p *Task) {
	load := weightOf(&p.Attr)
	if p.class != fairClass || p.State == event.StateNew || s.cfg.FairPlaced {
		p.se.load = load
		return
	}
	s.reweightEntity(p.se.cfsRQ, &p.se, load)
}

// reweightEntity is reweight_entity(): se weighs load from now on, and its queue has the
// difference in its weight and in its load.
func (s *Sched) reweightEntity(cfs *cfsRQ, se *schedEntity, load loadWeight) {
	fair := &s.cfg.Fair
	if se.onRQ && (fair.EEVDF || cfs.curr == se) {
		s.updateCurr(cfs)
	}
	if fair.EEVDF {
		s.reweightEEVDF(cfs, se, load.weight)
	}
	if se.onRQ {
		cfs.setLoad(cfs.load.weight - se.load.weight)
	}
	if fair.PELT411 {
		se.load = load // the load follows the weight as it ages
	} else {
		cfs.dequeueLoadAvg(se)
		se.load = load
		se.avg.loadAvg = se.seWeight() * se.avg.loadSum / se.avg.peltDivider()
		cfs.enqueueLoadAvg(se)
	}
	if se.onRQ {
		cfs.setLoad(cfs.load.weight + se.load.weight)
		if fair.EEVDF && cfs.curr != se {
			s.enqueueTimeline(cfs, se)
		}
	}
}

// SetShares gives g the weight shares, that of one nice 0 task is 1024; sched_group_set_shares().
// cpu.weight w of cgroup v2 is w×1024/100 to the nearest; what is below 2 or above 2¹⁸ is cut to that. EINVAL: the
// root has no weight, and one with cpu.idle keeps its own.
func (s *Sched) SetShares(g *Group, shares int64) error {
	switch {
	case g == nil:
		return verdict(ErrInval, "the root group has no weight")
	case g.idle:
		return verdict(ErrInval, "a group with cpu.idle keeps its weight")
	}
	s.setShares(g, shares)
	return nil
}

// setShares is __sched_group_set_shares().
func (s *Sched) setShares(g *Group, shares int64) {
	shares = min(max(shares, leastShares), maxShares>>weightShift) << weightShift
	if g.shares == shares {
		return
	}
	g.shares = shares
	for c := range g.cpus {
		s.updateRQClock(s.rqs[c])
		for se := &g.cpus[c].se; se != nil; se = se.parent {
			s.updateLoadAvg(se.cfsRQ, se, updateTG)
			s.updateCfsGroup(se)
		}
	}
}

// SetIdle writes cpu.idle of g: with true all of g is as if it were SCHED_IDLE, for those beside it,
// and weighs 3; else it weighs 1024 again; sched_group_set_idle(). EINVAL: the root cannot be idle.
func (s *Sched) SetIdle(g *Group, idle bool) error {
	switch {
	case g == nil:
		return verdict(ErrInval, "the root group cannot be idle")
	case g.idle == idle:
		return nil
	}
	g.idle = idle
	s.idlePolicySeen = s.idlePolicySeen || idle
	for c := range g.cpus {
		s.updateRQClock(s.rqs[c])
		g.cpus[c].setIdle(idle)
	}
	if idle {
		s.setShares(g, idleWeight)
	} else {
		s.setShares(g, nice0Load>>weightShift)
	}
	return nil
}

// setIdle counts the tasks of a group as idle ones from now on, or no more, in all queues above
// up to one that is idle anyway.
func (q *groupRQ) setIdle(idle bool) {
	q.cfs.idle = idle
	se, tasks, n := &q.se, q.cfs.hNrRunning-q.cfs.idleHNr, 1
	if !idle {
		tasks, n = -tasks, -1
	}
	if se.onRQ {
		se.cfsRQ.idleNr += n
	}
	for ; se != nil && se.onRQ; se = se.parent {
		se.cfsRQ.idleHNr += tasks
		if se.cfsRQ.idle {
			break
		}
	}
}

// NewAutogroup makes the group of a session; autogroup_create(). Its tasks compete with those of other
// sessions only as a whole, whatever their nice values: it weighs as much as one task of nice 0.
func (s *Sched) NewAutogroup() *Group {
	g := s.NewGroup(nil)
	g.auto = true
	return g
}

// SetAutogroupNice writes /proc/PID/autogroup of a session's task;
// proc_sched_autogroup_set_nice(). EINVAL: nice is not in −20 to 19, or g is no session's group.
func (s *Sched) SetAutogroupNice(g *Group, nice int) error {
	if nice < -20 || nice > 19 || g == nil || !g.auto {
		return verdict(ErrInval, "no nice value, or no autogroup")
	}
	return s.SetShares(g, niceWeights[nice+20])
}

// taskChangeGroup moves p, which is in no queue, into g; task_change_group_fair().
func (s *Sched) taskChangeGroup(p *Task, g *Group) {
	fair := p.class == fairClass && p.State != event.StateNew
	if fair {
		s.detachVruntime(p)
		s.detachTask(p)
		p.se.avg.lastUpdateTime = 0
	}
	p.group = g
	s.setTaskRQ(p, p.cpu)
	if fair {
		s.attachTask(p)
		s.attachVruntime(p)
	}
}
