package sched

// What a task uses decays while it sleeps, so that a task which has just woken looks smaller than
// it is. util_est remembers what it used when it went to sleep. Nothing of the fair class itself
// goes by it, only who places tasks and balances.

// taskUtilEst is _task_util_est().
func (s *Sched) taskUtilEst(sa *schedAvg) uint32 {
	if s.cfg.Fair.UtilEstMerged {
		return sa.utilEst.ewma
	}
	return max(sa.utilEst.ewma, sa.utilEst.enqueued&^utilAvgUnchanged)
}

// utilEstEnqueue is util_est_enqueue(): the root queue of a CPU has the sum of those that are
// queued.
func (s *Sched) utilEstEnqueue(rq *RQ, p *Task) {
	if s.has(UtilEst) {
		rq.cfs.avg.utilEst.enqueued += s.taskUtilEst(&p.se.avg)
	}
}

// utilEstDequeue is util_est_dequeue().
func (s *Sched) utilEstDequeue(rq *RQ, p *Task) {
	if s.has(UtilEst) {
		sum := &rq.cfs.avg.utilEst.enqueued
		*sum -= min(*sum, s.taskUtilEst(&p.se.avg))
	}
}

// utilEstMargin is UTIL_EST_MARGIN: changes below it do not count.
const utilEstMargin = capacityScale / 100

// utilEstUpdate takes what p used until it went to sleep as a new sample: at once if it is more
// than before, else a quarter of the difference; util_est_update(). utilAvgUnchanged is set while
// there is nothing new to be learned.
func (s *Sched) utilEstUpdate(_ *RQ, p *Task, sleep bool) {
	sa := &p.se.avg
	ue := &sa.utilEst
	if !s.has(UtilEst) || !sleep || ue.enqueued&utilAvgUnchanged != 0 {
		return
	}
	util := uint32(sa.utilAvg)
	if s.cfg.Fair.UtilEstMerged {
		ue.enqueued |= utilAvgUnchanged
		switch {
		case ue.ewma <= util:
			ue.ewma = util
		case ue.ewma-util < utilEstMargin:
		case util > capacityScale:
			ue.enqueued &^= utilAvgUnchanged
		case uint64(util+utilEstMargin) < sa.runnableAvg:
			// it did not get all that it wanted
		default:
			ue.ewma = (ue.ewma<<2 - (ue.ewma - util)) >> 2
		}
		return
	}
	was := ue.enqueued
	switch diff := int32(util) - int32(ue.ewma); {
	case s.has(UtilEstFastup) && diff > 0:
		ue.ewma = util
	case withinMargin(diff):
		if withinMargin(int32(was) - int32(util)) {
			return
		}
	case util > capacityScale:
		return
	default:
		ue.ewma = uint32(int32(ue.ewma<<2)+diff) >> 2
	}
	ue.enqueued = util | utilAvgUnchanged
}

// withinMargin is within_margin().
func withinMargin(diff int32) bool { return -utilEstMargin < diff && diff < utilEstMargin }
