package sched

// A group is a queue, and an entity in the queue above. What tasks do by themselves reaches
// both alike, since both are updated. What comes with a task that moves, or goes with it, is
// added to the queue only and has to be handed on to the entity, and from there to the queue
// above. This file does that by the rules of 6.1.

// addTGCfsPropagate is add_tg_cfs_propagate().
func (cfs *cfsRQ) addTGCfsPropagate(runnableSum int64) {
	cfs.propagate = true
	cfs.propRunnableSum += runnableSum
}

// propagateEntityLoadAvg hands on what came or went in the queue of se, which stands in cfs.
// It reports whether there was anything; propagate_entity_load_avg().
func propagateEntityLoadAvg(cfs *cfsRQ, se *schedEntity) bool {
	q := se.myQ
	if !q.propagate {
		return false
	}
	q.propagate = false
	cfs.addTGCfsPropagate(q.propRunnableSum)
	updateTGCfsUtil(cfs, se, q)
	updateTGCfsRunnable(cfs, se, q)
	updateTGCfsLoad(cfs, se, q)
	return true
}

// updateTGCfsUtil: a group runs when one of its tasks does; update_tg_cfs_util().
func updateTGCfsUtil(cfs *cfsRQ, se *schedEntity, q *cfsRQ) {
	delta := int64(q.avg.utilAvg - se.avg.utilAvg)
	if delta == 0 {
		return
	}
	sa := &cfs.avg
	sum := uint32(q.avg.utilAvg * sa.peltDivider())
	by := int64(sum) - int64(se.avg.utilSum)
	se.avg.utilAvg, se.avg.utilSum = q.avg.utilAvg, sum
	addPositive(&sa.utilAvg, delta)
	addPositive(&sa.utilSum, by)
	sa.utilSum = uint32(atLeast(uint64(sa.utilSum), sa.utilAvg))
}

// updateTGCfsRunnable: as many of its tasks are runnable as in its queue;
// update_tg_cfs_runnable().
func updateTGCfsRunnable(cfs *cfsRQ, se *schedEntity, q *cfsRQ) {
	delta := int64(q.avg.runnableAvg - se.avg.runnableAvg)
	if delta == 0 {
		return
	}
	sa := &cfs.avg
	sum := q.avg.runnableAvg * sa.peltDivider()
	by := int64(sum - se.avg.runnableSum)
	se.avg.runnableAvg, se.avg.runnableSum = q.avg.runnableAvg, sum
	addPositive(&sa.runnableAvg, delta)
	addPositive(&sa.runnableSum, by)
	sa.runnableSum = atLeast(sa.runnableSum, sa.runnableAvg)
}

// updateTGCfsLoad: the load of the queue has the weights of its tasks in it, that of the entity its
// own, and how far the tasks were runnable at the same time is not known. So who comes is
// taken to be runnable when nobody else was, and when somebody goes all are taken to be
// runnable alike; update_tg_cfs_load().
func updateTGCfsLoad(cfs *cfsRQ, se *schedEntity, q *cfsRQ) {
	change := q.propRunnableSum
	if change == 0 {
		return
	}
	q.propRunnableSum = 0
	sa := &cfs.avg
	divider := int64(sa.peltDivider())
	sum := int64(se.avg.loadSum)
	if change > 0 {
		sum = min(sum+change, divider)
	} else {
		alike := int64(0)
		if w := scaleLoadDown(q.load.weight); w > 0 {
			alike = int64(q.avg.loadSum / w)
		}
		sum = min(sum, alike)
	}
	sum = max(sum, int64(se.avg.utilSum>>capacityShift)) // who runs is runnable

	w := int64(se.seWeight())
	avg := uint64(w * sum / divider)
	delta := int64(avg - se.avg.loadAvg)
	if delta == 0 {
		return
	}
	by := w*sum - w*int64(se.avg.loadSum)
	se.avg.loadSum, se.avg.loadAvg = uint64(sum), avg
	addPositive(&sa.loadAvg, delta)
	addPositive(&sa.loadSum, by)
	sa.loadSum = atLeast(sa.loadSum, sa.loadAvg)
}
