package sched

// This file is how a balancing CPU chooses the group of CPUs that it takes from, from 5.5 on. Groups
// are classed by what they need, and only groups of one class are compared by numbers: by load
// where all have more than they can do, else by idle CPUs and tasks. The rules of 4.11 are in
// balance_411.go.

// findBusiestGroup is find_busiest_group(), sched_balance_find_src_group() from 6.10 on: the group of
// env.sd to take from, with env.imbalance and env.migration saying how much; nil: it is balanced.
func (s *Sched) findBusiestGroup(env *lbEnv) *schedGroup {
	if s.cfg.Fair.LoadBalance411 {
		return s.findBusiestGroup411(env)
	}
	var sds sdStats
	s.updateSdStats(env, &sds)
	env.imbalance = 0
	if sds.busiest == nil || !s.worthMoving(env, &sds) {
		return nil
	}
	s.calculateImbalance(env, &sds)
	env.tellImbalance(sds.busiest)
	if env.imbalance == 0 {
		return nil
	}
	return sds.busiest
}

// worthMoving is the table of the classes of both groups, by which the kernel decides whether it
// looks closer at all.
func (s *Sched) worthMoving(env *lbEnv, sds *sdStats) bool {
	local, busiest := &sds.localStats, &sds.busiestStats
	if busiest.kind == groupMisfitTask || busiest.kind == groupImbalanced {
		return true // what follows takes all tasks and CPUs to be alike, which does not hold there
	}
	if local.kind > busiest.kind {
		return false
	}
	if local.kind == groupOverloaded && !sds.moreThanAverage(env.sd.imbalancePct) {
		return false
	}
	if sds.preferSibling && local.kind == groupHasSpare && s.siblingImbalance(env, sds) > 1 {
		return true
	}
	if busiest.kind == groupOverloaded {
		return true
	}
	switch {
	case env.idle == cpuNotIdle:
		return false // an idle CPU should rather take it
	case busiest.kind == groupSMTBalance && sds.local.smt != sds.busiest.smt:
		return true
	case busiest.weight > 1 && local.idleCPUs <= busiest.idleCPUs+1:
		return false // a task more or less would only move the difference elsewhere
	}
	return busiest.hNrRunning > 1
}

// moreThanAverage says of overloaded groups whether the local one is below the average of all, and
// the busiest above the local one by more than pct.
func (sds *sdStats) moreThanAverage(pct int64) bool {
	local, busiest := &sds.localStats, &sds.busiestStats
	if local.avgLoad >= busiest.avgLoad {
		return false
	}
	sds.averageLoad()
	return local.avgLoad < sds.avgLoad && 100*busiest.avgLoad > pct*local.avgLoad
}

// averageLoad is what each CPU would have if all of the domain had the same, for its capacity.
func (sds *sdStats) averageLoad() {
	sds.avgLoad = sds.totalLoad * capacityScale / sds.totalCapacity
}

// calculateImbalance is calculate_imbalance(): what should move, and in what it is counted.
func (s *Sched) calculateImbalance(env *lbEnv, sds *sdStats) {
	local, busiest := &sds.localStats, &sds.busiestStats
	switch busiest.kind {
	case groupMisfitTask:
		env.migration, env.imbalance = migrateLoad, busiest.misfitLoad
		return
	case groupSMTBalance, groupImbalanced:
		env.migration, env.imbalance = migrateTask, 1
		return
	}
	if local.kind == groupHasSpare {
		s.fillSpare(env, sds)
		return
	}
	if local.kind < groupOverloaded {
		// It will be overloaded, so that loads count.
		local.avgLoad = local.load * capacityScale / local.capacity
		if local.avgLoad >= busiest.avgLoad {
			env.imbalance = 0
			return
		}
		if sds.averageLoad(); local.avgLoad >= sds.avgLoad {
			env.imbalance = 0
			return
		}
	}
	// Neither should the source come below the average nor the destination above. The kernel counts
	// without sign: a source below the average (groups that are not overloaded have more) does not bind.
	over := uint64(busiest.avgLoad-sds.avgLoad) * uint64(busiest.capacity)
	under := uint64(sds.avgLoad-local.avgLoad) * uint64(local.capacity)
	env.migration, env.imbalance = migrateLoad, int64(min(over, under)/capacityScale)
}

// fillSpare is what a group that has spare capacity takes, without being overloaded by it.
func (s *Sched) fillSpare(env *lbEnv, sds *sdStats) {
	local, busiest := &sds.localStats, &sds.busiestStats
	if busiest.kind > groupFullyBusy && env.sd.flags&sdShareLLC == 0 {
		env.migration, env.imbalance = migrateUtil, max(local.capacity-local.util, 0)
		if env.idle != cpuNotIdle && env.imbalance == 0 {
			env.migration, env.imbalance = migrateTask, 1 // somebody waits there, and this CPU is idle
		}
		return
	}
	env.migration = migrateTask
	if busiest.weight == 1 || sds.preferSibling {
		env.imbalance = s.siblingImbalance(env, sds)
	} else {
		env.imbalance = max(0, int64(local.idleCPUs-busiest.idleCPUs))
	}
	if env.sd.flags&sdNUMA != 0 {
		env.imbalance = adjustNUMAImbalance(env.imbalance, local.nrRunning+1, env.sd.imbNUMANr)
	}
	env.imbalance >>= 1 // half of the difference evens it out
}

// siblingImbalance is how many tasks the busiest group has more than the local one, with
// SiblingsByCores for its cores; sibling_imbalance().
func (s *Sched) siblingImbalance(env *lbEnv, sds *sdStats) int64 {
	busiest, local := int64(sds.busiestStats.nrRunning), int64(sds.localStats.nrRunning)
	if !s.cfg.Fair.SiblingsByCores {
		return max(0, busiest-local)
	}
	if env.idle == cpuNotIdle || busiest == 0 {
		return 0
	}
	theirs, ours := int64(sds.busiest.cores), int64(sds.local.cores)
	if theirs == ours {
		return max(0, busiest-local)
	}
	by := max(0, ours*busiest-theirs*local)
	by = (2*by + ours + theirs) / (ours + theirs)
	if by <= 1 && local == 0 && busiest > 1 {
		return 2
	}
	return by
}

// numaImbalanceMin is NUMA_IMBALANCE_MIN: two tasks that talk to each other may stay on a node.
const numaImbalanceMin = 2

// adjustNUMAImbalance is adjust_numa_imbalance(): with few tasks on a node a small difference is left.
func adjustNUMAImbalance(imbalance int64, running, allowed int) int64 {
	if running <= allowed && imbalance <= numaImbalanceMin {
		return 0
	}
	return imbalance
}
