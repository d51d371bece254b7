package sched

// This file is how much load should move to the local group, by the rules of 4.11.

// noLoadLimit is more than any load.
const noLoadLimit int64 = 1 << 40

// calculateImbalance411 brings both groups to the mean of the domain, and no further, and takes no load from a
// group that it can run itself, unless there are idle CPUs for it; calculate_imbalance(), 4.11.
func (s *Sched) calculateImbalance411(env *lbEnv, sds *domainStats411, loads []int64) int64 {
	local, busiest := &sds.localStat, &sds.busiestStat
	if busiest.kind == imbalanced411 {
		busiest.loadPerTask = min(busiest.loadPerTask, sds.avgLoad)
	}
	if busiest.avgLoad <= sds.avgLoad || local.avgLoad >= sds.avgLoad {
		return s.fixSmallImbalance411(env, sds, 0, loads)
	}
	above := noLoadLimit
	if busiest.kind == overloaded411 && local.kind == overloaded411 {
		if tasks := int64(busiest.running) * capacityScale; tasks > busiest.capacity {
			above = (tasks - busiest.capacity) * (nice0Load >> weightShift) / busiest.capacity
		}
	}
	give := min(busiest.avgLoad-sds.avgLoad, above) * busiest.capacity
	take := (sds.avgLoad - local.avgLoad) * local.capacity
	imbalance := min(give, take) / capacityScale
	if imbalance < busiest.loadPerTask {
		return s.fixSmallImbalance411(env, sds, imbalance, loads)
	}
	return imbalance
}

// fixSmallImbalance411 is where what should move is less than a task: imbalance stays, or becomes one
// task where the groups are further apart than that or run more together if one moves;
// fix_small_imbalance().
func (s *Sched) fixSmallImbalance411(env *lbEnv, sds *domainStats411, imbalance int64, loads []int64) int64 {
	local, busiest := &sds.localStat, &sds.busiestStat
	apart := int64(2)
	if local.running == 0 {
		local.loadPerTask = s.loadPerTaskOf(env.dst, loads)
	} else if busiest.loadPerTask > local.loadPerTask {
		apart = 1
	}
	task := busiest.loadPerTask * capacityScale / busiest.capacity
	if busiest.avgLoad+task >= local.avgLoad+task*apart {
		return busiest.loadPerTask
	}

	now := busiest.capacity*min(busiest.loadPerTask, busiest.avgLoad) + local.capacity*min(local.loadPerTask, local.avgLoad)
	moved := int64(0)
	if busiest.avgLoad > task {
		moved = busiest.capacity * min(busiest.loadPerTask, busiest.avgLoad-task)
	}
	add := min(busiest.avgLoad*busiest.capacity, busiest.loadPerTask*capacityScale) / local.capacity
	moved += local.capacity * min(local.loadPerTask, local.avgLoad+add)
	if moved/capacityScale > now/capacityScale {
		return busiest.loadPerTask
	}
	return imbalance
}

// loadPerTaskOf is cpu_avg_load_per_task().
func (s *Sched) loadPerTaskOf(rq *RQ, loads []int64) int64 {
	if n := int64(rq.cfs.hNrRunning); n > 0 {
		return s.weightedLoadOf(rq.cpu, loads) / n
	}
	return 0
}
