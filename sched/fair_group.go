package sched

import "github.com/whylate/whylate/event"

// updateCfsGroup is update_cfs_group(): the weight of a group on this CPU follows its share of
// the load.
func (s *Sched) updateCfsGroup(se *schedEntity) {
	if se.myQ == nil {
		return
	}
	if shares := se.myQ.tg.shares; se.load.weight != shares {
		s.reweightEntity(se.cfsRQ, se, s.groupWeight(shares))
	}
}

// reweightTask gives p the weight of its attributes; set_load_weight().
func (s *Sched) reweightTask(p *Task) {
	if p.class == fairClass {
		s.reweightEntity(p.se.cfsRQ, &p.se, weightOf(&p.Attr))
		return
	}
	p.se.load = weightOf(&p.Attr)
}

// reweightEntity is reweight_entity().
func (s *Sched) reweightEntity(cfs *cfsRQ, se *schedEntity, load loadWeight) {
	if se.onRQ {
		if cfs.curr == se {
			s.updateCurr(cfs)
		} else {
			s.dequeueTimeline(cfs, se)
		}
		cfs.setLoad(cfs.load.weight - se.load.weight)
	}
	se.load = load
	if se.onRQ {
		cfs.setLoad(cfs.load.weight + se.load.weight)
		if cfs.curr != se {
			s.enqueueTimeline(cfs, se)
		}
	}
}

// SetShares gives g the weight shares, that of one nice 0 task is 1024; sched_group_set_shares().
// cpu.weight w of cgroup v2 is w×1024/100 to the nearest. EINVAL: the root has none.
func (s *Sched) SetShares(g *Group, shares int64) error {
	if g == nil {
		return verdict(ErrInval, "the root group has no weight")
	}
	g.shares = min(max(shares<<weightShift, minShares), maxShares)
	for c := range g.cpus {
		s.updateRQClock(s.rqs[c])
		for se := &g.cpus[c].se; se != nil; se = se.parent {
			s.updateLoadAvg(se.cfsRQ, se, updateTG)
			s.updateCfsGroup(se)
		}
	}
	return nil
}

// taskChangeGroup moves p, which is in no queue, into g; task_change_group_fair().
func (s *Sched) taskChangeGroup(p *Task, g *Group) {
	fair := p.class == fairClass && p.State != event.StateNew
	if fair {
		s.detachVruntime(p)
		s.detachTask(s.rqs[p.cpu], p)
	}
	p.group = g
	s.setTaskRQ(p, p.cpu)
	if fair {
		s.attachTask(s.rqs[p.cpu], p)
		s.attachVruntime(p)
	}
}
