package sched

import "github.com/whylate/whylate/event"

// This file lets the fair class of a scheduler that follows a recorded one have the state that
// the recording tells, or that its decisions prove.

// VirtualTime is where an entity of the fair class stands, in virtual ns of its queue.
type VirtualTime struct {
	VRuntime int64
	// Deadline is the virtual deadline of EEVDF; 0: not known.
	Deadline int64
}

// ExecStart is up to when p, which runs, has been charged.
func (p *Task) ExecStart() event.Time { return p.execStart }

// ForceGroupsCharged moves, by by ns, up to when the groups of p, which runs, have been charged: it was
// charged up to another time than the clock had.
func (s *Sched) ForceGroupsCharged(p *Task, by event.Time) {
	for se := p.se.parent; se != nil && !s.cfg.FairPlaced; se = se.parent {
		if se.cfsRQ.curr == se {
			se.execStart += by
		}
	}
}

// VirtualTime returns where p stands among the fair tasks of its queue.
func (p *Task) VirtualTime() VirtualTime { return VirtualTime{p.se.vruntime, p.se.deadline} }

// VirtualOf returns what ran ns of p are in virtual time.
func (s *Sched) VirtualOf(p *Task, ran event.Time) int64 { return calcDeltaFair(ran, &p.se) }

// ForceVirtual puts p at v in the queue of its group on its CPU. One that sleeps keeps that
// until it is woken; to EEVDF it owes nothing then and is owed nothing.
func (s *Sched) ForceVirtual(p *Task, v VirtualTime) {
	se := &p.se
	if !p.onRQ {
		p.migrated = false
	}
	s.forceEntity(se.cfsRQ, se, func() {
		se.vruntime = v.VRuntime
		switch {
		case v.Deadline != 0:
			se.deadline = v.Deadline
		case se.onRQ:
			se.deadline = v.VRuntime + calcDeltaFair(se.slice, se)
		}
	})
}

// ForceQueue says what the queue of g on c measures virtual time from, before anything is in it.
func (s *Sched) ForceQueue(c event.CPU, g *Group, least int64) {
	cfs := &s.rqs[c].cfs
	if g != nil {
		cfs = &g.cpus[c].cfs
	}
	if cfs.nrRunning == 0 {
		cfs.minVruntime = least
	}
}

// ForceGroupEntity says where g stands in the queue above it on c, and with which weight, 0: it
// keeps its own. No group weighs more than maxShares.
func (s *Sched) ForceGroupEntity(c event.CPU, g *Group, vruntime, weight int64) {
	se := &g.cpus[c].se
	if se.onRQ {
		return
	}
	se.vruntime = vruntime
	if weight > 0 {
		se.load = s.groupWeight(min(weight, maxShares))
	}
}

// ForceFork says that the current task of c makes p now: there CFS finds out where p begins.
func (s *Sched) ForceFork(c event.CPU, p *Task) {
	if p.class != fairClass || p.State != event.StateNew {
		return
	}
	s.begin(c)
	if p.allowed(c) {
		s.placeNew(p, c)
		s.taskForkFair(c, p)
	}
}

// SetGroup says to which group p, which is in no queue, belongs.
func (s *Sched) SetGroup(p *Task, g *Group) {
	if p.onRQ || p.group == g {
		return
	}
	p.group = g
	s.setTaskRQ(p, p.cpu)
}

// Group returns the group of p, nil for the root.
func (p *Task) Group() *Group { return p.group }

// ForceFairFirst makes p, which is runnable on c, the one that its class would choose there, and
// changes as little as that takes. Who was chosen instead was not as far behind as the model
// had it. It reports whether p would be chosen now.
func (s *Sched) ForceFairFirst(c event.CPU, p *Task) bool {
	rq := s.rqs[c]
	if p.class != fairClass || p.cpu != c || !p.se.onRQ || s.cfg.FairPlaced {
		return false
	}
	var path []*schedEntity
	for se := &p.se; se != nil; se = se.parent {
		path = append(path, se)
	}
	for i := len(path) - 1; i >= 0; i-- {
		if !s.forceFirst(path[i].cfsRQ, path[i]) {
			return false
		}
	}
	return s.First(c, rq.curr) == p
}

// forceFirst makes se the choice of its queue.
func (s *Sched) forceFirst(cfs *cfsRQ, se *schedEntity) bool {
	chosen := func() *schedEntity {
		curr := cfs.curr
		if curr != nil && !curr.onRQ {
			curr = nil
		}
		return s.pickNextEntity(cfs, curr)
	}
	if chosen() == se {
		return true
	}
	// Buddies and a protected turn are forgotten first: the state of the others may be right.
	cfs.next, cfs.last, cfs.skip = nil, nil, nil
	if c := cfs.curr; c != nil && c != se && s.cfg.Fair.EEVDF {
		s.cancelProtectSlice(c)
	}
	m := chosen()
	if m == se || m == nil {
		return m == se // nil: somebody who slept has left; the next choice sees that
	}
	if s.cfg.Fair.EEVDF {
		s.forceEligible(cfs, se)
		if m = chosen(); m != nil && m != se && se.deadline >= m.deadline {
			s.forceEntity(cfs, se, func() { se.deadline = m.deadline - 1 })
		}
	} else {
		s.forceEntity(cfs, se, func() { se.vruntime = min(se.vruntime, m.vruntime-1) })
	}
	return chosen() == se
}

// forceEligible takes away from se what it owes. The mean goes back with it, by its part of the weight.
func (s *Sched) forceEligible(cfs *cfsRQ, se *schedEntity) {
	sum, load := cfs.sums()
	over, others := (se.vruntime-cfs.minVruntime)*load-sum, load-se.scaledWeight()
	if over > 0 && others > 0 {
		s.forceEntity(cfs, se, func() { se.vruntime -= (over-1)/others + 1 })
	}
}

// forceEntity changes se, and takes it out of its timeline meanwhile.
func (s *Sched) forceEntity(cfs *cfsRQ, se *schedEntity, change func()) {
	in := se.node.in
	if in {
		s.dequeueTimeline(cfs, se)
	}
	change()
	if in {
		s.enqueueTimeline(cfs, se)
	}
}

// ForceQuota lets p run where its group or one above is throttled, or with on false throttles the
// nearest of these groups that has a quota. It reports whether something has changed.
func (s *Sched) ForceQuota(p *Task, on bool) bool {
	changed := false
	s.begin(p.cpu)
	for g := p.group; g != nil; g = g.parent {
		cfs := &g.cpus[p.cpu].cfs
		switch {
		case on && cfs.throttled:
			cfs.runtimeRemaining = max(cfs.runtimeRemaining, minCfsRQRuntime)
			s.unthrottleCfsRQ(cfs)
			changed = true
		case !on && cfs.runtimeEnabled && !cfs.throttled:
			g.quota.runtime, cfs.runtimeRemaining = 0, min(cfs.runtimeRemaining, 0)
			return s.throttleCfsRQ(cfs)
		}
	}
	return changed
}

// ForceQuotaPeriod says when the period of a group's quota that runs now ends; group is that of its
// timer.
func (s *Sched) ForceQuotaPeriod(group int, at event.Time) {
	if group > 0 && group <= len(s.groups) {
		s.groups[group-1].quota.expires = at
	}
}

// ForceQuotaRested lets g, if it has a quota, be as a group is whose tasks ran once and have slept since
// some time of the period that ends at at: all of the quota and of the burst is there, and each CPU
// has kept what an empty queue keeps.
func (s *Sched) ForceQuotaRested(g *Group, at event.Time) {
	b := &g.quota
	if b.quota == noLimit {
		return
	}
	s.host.SetTimer(Timer{Kind: TimerCFSPeriod, Group: g.id}, at)
	b.active, b.idle, b.expires, b.runtime = true, true, at, b.quota+b.burst
	b.snap = b.runtime
	for c := range g.cpus {
		g.cpus[c].cfs.runtimeRemaining = minCfsRQRuntime
	}
}

// QuotaGroup returns the group of p, or the nearest above, that has a quota, as its timers name it;
// 0: there is none.
func (p *Task) QuotaGroup() int {
	for g := p.group; g != nil; g = g.parent {
		if g.quota.quota != noLimit {
			return g.id
		}
	}
	return 0
}

// ForceQuotaTaken lets c have taken the first slice of a quota that nobody had used: group is that of its timer.
func (s *Sched) ForceQuotaTaken(group int, c event.CPU) {
	if group <= 0 || group > len(s.groups) {
		return
	}
	g := s.groups[group-1]
	slice := s.cfg.Fair.BandwidthSlice
	if g.cpus[c].cfs.runtimeRemaining == slice {
		return // the charge at hand has taken it, with what the queue owed
	}
	g.cpus[c].cfs.runtimeRemaining = slice
	g.quota.runtime = max(g.quota.quota+g.quota.burst-slice, 0)
}

// QuotaLeft returns what p may still run before its group, or the nearest above with a quota, is
// throttled on its CPU, as far as nobody else takes from it; false: there is no quota.
func (s *Sched) QuotaLeft(p *Task) (event.Time, bool) {
	for g := p.group; g != nil; g = g.parent {
		if cfs := &g.cpus[p.cpu].cfs; cfs.runtimeEnabled {
			return g.quota.runtime + cfs.runtimeRemaining, true
		}
	}
	return 0, false
}
