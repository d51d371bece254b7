package sched

// This file is about the load of tasks that come into being, change class, group or CPU, or die.

// initEntityLoad is init_entity_runnable_average(): a task begins with all the load that its
// weight can have, a group with none.
func (s *Sched) initEntityLoad(se *schedEntity) {
	se.avg = schedAvg{}
	if s.cfg.Fair.PELT411 {
		se.avg.periodContrib = peltPeriod - 1
	}
	if se.task != nil {
		se.avg.loadAvg = se.seWeight()
		if s.cfg.Fair.PELT411 {
			se.avg.loadSum = se.avg.loadAvg * loadAvgMax
		}
		return
	}
	s.updateRQClock(se.cfsRQ.rq)
	s.attachEntityCfsRQ(se) // online_fair_sched_group()
}

// postInitEntityUtilAvg guesses what a new task will use: as much as the others do by their
// weight, half of what is left at most; post_init_entity_util_avg(). The clock of its CPU is up to date.
func (s *Sched) postInitEntityUtilAvg(p *Task) {
	se := &p.se
	s.initEntityLoad(se)
	cfs := se.cfsRQ
	old := s.cfg.Fair.PELT411
	if p.class != fairClass && !old {
		se.avg.lastUpdateTime = cfs.clockPelt()
		return
	}
	if limit := (capacityScale - int64(cfs.avg.utilAvg)) / 2; limit > 0 {
		util := uint64(limit)
		if cfs.avg.utilAvg != 0 {
			weight := se.seWeight()
			if s.cfg.Fair.InitialUtilUnscaled {
				weight = uint64(se.load.weight)
			}
			util = min(util, cfs.avg.utilAvg*weight/(cfs.avg.loadAvg+1))
		}
		se.avg.utilAvg = util
		if old {
			se.avg.utilSum = uint32(util * loadAvgMax)
		}
	}
	switch {
	case !old:
		se.avg.runnableAvg = se.avg.utilAvg
	case p.class != fairClass:
		se.avg.lastUpdateTime = cfs.clockPelt()
	default:
		s.attachEntityCfsRQ(se)
	}
}

// attachEntityCfsRQ adds the load of se to its queue and to all above;
// attach_entity_cfs_rq().
func (s *Sched) attachEntityCfsRQ(se *schedEntity) {
	if s.cfg.FairPlaced {
		return
	}
	f := skipAgeLoad
	if s.has(AttachAgeLoad) {
		f = 0
	}
	s.updateLoadAvg(se.cfsRQ, se, f)
	if s.cfg.Fair.PELT411 {
		se.cfsRQ.attachEntityLoad411(se)
	} else {
		se.cfsRQ.attachEntityLoadAvg(se)
	}
	s.updateTGLoadAvg(se.cfsRQ)
	s.propagateEntityCfsRQ(se)
}

// detachEntityCfsRQ takes it away again; detach_entity_cfs_rq().
func (s *Sched) detachEntityCfsRQ(se *schedEntity) {
	if se.avg.lastUpdateTime == 0 || s.cfg.FairPlaced {
		return // it never was there, or is on its way to another CPU
	}
	s.updateLoadAvg(se.cfsRQ, se, 0)
	if s.cfg.Fair.PELT411 {
		se.cfsRQ.detachEntityLoad411(se)
	} else {
		se.cfsRQ.detachEntityLoadAvg(se)
	}
	s.updateTGLoadAvg(se.cfsRQ)
	s.propagateEntityCfsRQ(se)
}

// propagateEntityCfsRQ hands on to the groups above what came or went;
// propagate_entity_cfs_rq(). A throttled queue keeps it for later.
func (s *Sched) propagateEntityCfsRQ(se *schedEntity) {
	se.cfsRQ.rq.linkLeaf(se.cfsRQ)
	if se.cfsRQ.hidden {
		return
	}
	for se = se.parent; se != nil; se = se.parent {
		s.updateLoadAvg(se.cfsRQ, se, updateTG)
		if se.cfsRQ.hidden {
			return
		}
	}
}

// attachTask is what attach_task_cfs_rq() does to the load of p, which has become fair or
// belongs to another group; detachTask the opposite.
func (s *Sched) attachTask(p *Task) { s.attachEntityCfsRQ(&p.se) }

func (s *Sched) detachTask(p *Task) { s.detachEntityCfsRQ(&p.se) }

// syncEntityLoadAvg lets the load of se age as far as that of its queue has;
// sync_entity_load_avg().
func (s *Sched) syncEntityLoadAvg(se *schedEntity) {
	now := se.cfsRQ.avg.lastUpdateTime
	if s.cfg.Fair.PELT411 {
		s.countLoad(se.avg.updateLoad411(now, 0, false, nil), 2)
		return
	}
	s.updateLoadAvgBlockedSE(now, se)
}

// removeEntityLoadAvg leaves word that se, which is in no queue, has gone: its queue takes its load
// off at the next update; remove_entity_load_avg().
func (s *Sched) removeEntityLoadAvg(se *schedEntity) {
	if s.cfg.FairPlaced {
		return
	}
	s.syncEntityLoadAvg(se)
	r := &se.cfsRQ.removed
	r.nr++
	r.loadAvg += se.avg.loadAvg
	r.utilAvg += se.avg.utilAvg
	r.runnableAvg += se.avg.runnableAvg
	se.cfsRQ.noteRemoved()
}

// migrateLoad is the part of migrate_task_rq_fair() that is about load: p goes to another CPU.
func (s *Sched) migrateLoad(p *Task) {
	se := &p.se
	if se.avg.lastUpdateTime == 0 || s.cfg.FairPlaced {
		return
	}
	old := s.cfg.Fair.PELT411
	if !p.moving || old {
		s.removeEntityLoadAvg(se)
	}
	if !p.moving && !old {
		s.migrateSEPeltLag(se)
	}
	se.avg.lastUpdateTime = 0
}

// migrateSEPeltLag lets se age for the time in which its CPU, being idle, did not look at its
// clock; migrate_se_pelt_lag(), from 6.0 on.
func (s *Sched) migrateSEPeltLag(se *schedEntity) {
	cfs := se.cfsRQ
	if se.avg.decayed() || cfs.rq.curr != cfs.rq.idle || cfs.loadStopped {
		return
	}
	s.updateLoadAvgBlockedSE(max(s.host.Now()+peltEpoch-cfs.stoppedTime, cfs.avg.lastUpdateTime), se)
}

// decayed is load_avg_is_decayed(): nothing is left.
func (sa *schedAvg) decayed() bool { return sa.loadSum == 0 && sa.utilSum == 0 && sa.runnableSum == 0 }

// setTaskRQLoad moves the load of se, which is attached nowhere, from the clock of one queue to
// that of another; set_task_rq_fair().
func (s *Sched) setTaskRQLoad(se *schedEntity, next *cfsRQ) {
	if !s.has(AttachAgeLoad) || se.avg.lastUpdateTime == 0 || se.cfsRQ == next || s.cfg.FairPlaced {
		return
	}
	s.syncEntityLoadAvg(se)
	se.avg.lastUpdateTime = next.avg.lastUpdateTime
}

// taskDeadFair is task_dead_fair(): p has been switched out for the last time.
func (s *Sched) taskDeadFair(p *Task) { s.removeEntityLoadAvg(&p.se) }
