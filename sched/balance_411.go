package sched

import "github.com/whylate/whylate/event"

// This file and balance_411_imbalance.go say which CPU is the busiest by the rules of 4.11. Groups of CPUs
// are compared by the load of what is runnable, per capacity, and by whether they have more tasks than they
// can run. That load is what the root queue of each CPU says of itself (weightedCPULoad): what it does not
// know of the groups below it, nobody here knows.

// groupType411 is what a group of CPUs is to others; group_type, up to 5.4.
type groupType411 uint8

const (
	other411 groupType411 = iota
	imbalanced411
	overloaded411
)

// String is the kernel's name.
func (t groupType411) String() string { return [...]string{"other", "imbalanced", "overloaded"}[t] }

// groupStats411 is what a pass finds out about a group; sg_lb_stats.
type groupStats411 struct {
	load        int64 // of its CPUs, low for those to take from and high for those to give to
	weighted    int64 // of its CPUs, as it is
	avgLoad     int64 // load per capacity, of 1024
	loadPerTask int64
	capacity    int64
	util        int64
	running     int // fair tasks
	idle        int // CPUs
	weight      int // CPUs
	kind        groupType411
	noCapacity  bool // more tasks than it can run
}

// domainStats411 is what it finds out about the domain; sd_lb_stats.
type domainStats411 struct {
	busiest, local         *schedGroup
	busiestStat, localStat groupStats411
	totalLoad, avgLoad     int64
	totalCapacity          int64
}

// findBusiestGroup411 returns the group to take load from, and in env.imbalance how much; nil: the
// domain is balanced; find_busiest_group(), 4.11.
func (s *Sched) findBusiestGroup411(env *lbEnv) *schedGroup {
	env.tellNoGroups()
	g, imbalance, why := s.busiestGroup411(env, nil)
	env.imbalance, env.migration = imbalance, migrateLoad
	if env.pass != nil {
		s.tellBusiest411(env, g, why)
	}
	return g
}

// busiestGroup411 is findBusiestGroup411 if the load of each CPU were that in loads; nil: what the
// kernel takes it to be. It also says why there is none.
func (s *Sched) busiestGroup411(env *lbEnv, loads []int64) (g *schedGroup, imbalance int64, why string) {
	var sds domainStats411
	s.updateDomainStats411(env, &sds, loads)
	local, busiest := &sds.localStat, &sds.busiestStat
	if sds.busiest == nil || busiest.running == 0 {
		return nil, 0, "no busier group"
	}
	sds.avgLoad = capacityScale * sds.totalLoad / sds.totalCapacity
	switch {
	case busiest.kind == imbalanced411:
		// Affinity is in the way there: loads say nothing.
	case env.idle == cpuNewlyIdle && local.hasCapacity411(env.sd) && busiest.noCapacity:
	case local.avgLoad >= busiest.avgLoad, local.avgLoad >= sds.avgLoad:
		return nil, 0, "balanced"
	case env.idle == cpuIdle:
		if busiest.kind != overloaded411 && local.idle <= busiest.idle+1 {
			return nil, 0, "balanced"
		}
	case 100*busiest.avgLoad <= env.sd.imbalancePct*local.avgLoad:
		return nil, 0, "balanced"
	}
	return sds.busiest, s.calculateImbalance411(env, &sds, loads), ""
}

// updateDomainStats411 is update_sd_lb_stats().
func (s *Sched) updateDomainStats411(env *lbEnv, sds *domainStats411, loads []int64) {
	preferSibling := env.sd.child != nil && env.sd.child.flags&sdPreferSibling != 0
	overload := false
	for g := env.sd.groups; ; {
		var stats groupStats411
		local := g.cpus.has(env.dst.cpu)
		if local && (env.idle != cpuNewlyIdle || s.jiffies(s.host.Now()) >= g.capacity.nextUpdate) {
			s.updateGroupCapacity(env.sd, env.dst.cpu)
		}
		waits := s.updateGroupStats411(env, g, local, &stats, loads)
		switch {
		case local:
			sds.local, sds.localStat = g, stats
		default:
			// Where tasks should be spread over the groups below, one with two is to give one away as
			// long as there is room here.
			if preferSibling && sds.local != nil && sds.localStat.hasCapacity411(env.sd) && stats.running > 1 {
				stats.noCapacity = true
				stats.classify411(g)
			}
			b := &sds.busiestStat
			if stats.kind > b.kind || stats.kind == b.kind && stats.avgLoad > b.avgLoad {
				sds.busiest, sds.busiestStat = g, stats
			}
		}
		sds.totalLoad += stats.load
		sds.totalCapacity += stats.capacity
		overload = overload || waits
		if loads == nil {
			s.work.Searched += g.weight
			env.tellGroup411(g, local, &stats)
		}
		if g = g.next; g == env.sd.groups {
			break
		}
	}
	if env.sd.parent == nil && loads == nil {
		env.dst.rd.overload = overload
	}
}

// updateGroupStats411 looks at the CPUs of g, and reports whether a task waits on one of them;
// update_sg_lb_stats(), without what NUMA balancing needs.
func (s *Sched) updateGroupStats411(env *lbEnv, g *schedGroup, local bool, stats *groupStats411, loads []int64) (waits bool) {
	idx := env.sd.loadIdx(env.idle)
	for c := g.cpus.nextAnd(env.cpus, 0); c != event.NoCPU; c = g.cpus.nextAnd(env.cpus, c+1) {
		rq := s.rqs[c]
		if local {
			stats.load += s.targetLoadOf(c, idx, loads)
		} else {
			stats.load += s.sourceLoadOf(c, idx, loads)
		}
		stats.weighted += s.weightedLoadOf(c, loads)
		stats.util += s.cpuUtil(c)
		stats.running += rq.cfs.hNrRunning
		waits = waits || rq.nrRunning > 1
		if rq.nrRunning == 0 && s.idleCPU(c) {
			stats.idle++
		}
	}
	stats.capacity, stats.weight = g.capacity.capacity, g.weight
	stats.avgLoad = stats.load * capacityScale / stats.capacity
	if stats.running > 0 {
		stats.loadPerTask = stats.weighted / int64(stats.running)
	}
	stats.noCapacity = stats.overloaded411(env.sd)
	stats.classify411(g)
	return waits
}

// hasCapacity411 is group_has_capacity(): there are fewer tasks than CPUs, or they leave a good part
// of them.
func (g *groupStats411) hasCapacity411(sd *schedDomain) bool {
	return g.running < g.weight || g.capacity*100 > g.util*sd.imbalancePct
}

// overloaded411 is group_is_overloaded(). With as many tasks as CPUs a group is neither.
func (g *groupStats411) overloaded411(sd *schedDomain) bool {
	return g.running > g.weight && g.capacity*100 < g.util*sd.imbalancePct
}

// classify411 is group_classify().
func (g *groupStats411) classify411(of *schedGroup) {
	switch {
	case g.noCapacity:
		g.kind = overloaded411
	case of.capacity.imbalance != 0:
		g.kind = imbalanced411
	default:
		g.kind = other411
	}
}

// loadIdx is which of cpu_load[] counts; get_sd_load_idx().
func (sd *schedDomain) loadIdx(idle cpuIdleType) int {
	switch idle {
	case cpuNotIdle:
		return sd.busyIdx
	case cpuNewlyIdle:
		return sd.newidleIdx
	}
	return sd.idleIdx
}

// findBusiestQueue411 returns the CPU of g with the most load per capacity, nil if there is none that
// could give; find_busiest_queue(), 4.11.
func (s *Sched) findBusiestQueue411(env *lbEnv, g *schedGroup) *RQ {
	s.work.Searched += g.weight
	rq := s.busiestQueue411(env, g, env.imbalance, nil)
	if env.pass != nil {
		s.tellQueue411(env, g, rq)
	}
	return rq
}

// busiestQueue411 is findBusiestQueue411 if the load of each CPU were that in loads. A single task
// that is more than what should move would only change places with the imbalance.
func (s *Sched) busiestQueue411(env *lbEnv, g *schedGroup, imbalance int64, loads []int64) (busiest *RQ) {
	most, mostCapacity := int64(0), int64(1)
	for c := g.cpus.nextAnd(env.cpus, 0); c != event.NoCPU; c = g.cpus.nextAnd(env.cpus, c+1) {
		rq := s.rqs[c]
		capacity, load := s.capacityOf(rq), s.weightedLoadOf(c, loads)
		if rq.nrRunning == 1 && load > imbalance && !s.squeezed(rq, env.sd) {
			continue
		}
		if load*mostCapacity > most*capacity {
			busiest, most, mostCapacity = rq, load, capacity
		}
	}
	return busiest
}
