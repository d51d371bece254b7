package sched

// taskHLoad is the share that p has of the load of its CPU, at whatever depth of groups;
// task_h_load().
func (s *Sched) taskHLoad(p *Task) int64 {
	cfs := p.se.cfsRQ
	s.updateCfsRQHLoad(cfs)
	return int64(p.se.avg.loadAvg) * cfs.hLoad / int64(cfs.avg.loadAvg+1)
}

// updateCfsRQHLoad works out, from the root down, what the queues above cfs and itself have of the load of the
// CPU, once a tick; update_cfs_rq_h_load(). Between ticks it stands still.
func (s *Sched) updateCfsRQHLoad(cfs *cfsRQ) {
	now := s.jiffies(s.host.Now()) + 1 // 0: never
	if cfs.hLoadAt == now {
		return
	}
	se := cfs.se
	if se == nil {
		cfs.hLoad, cfs.hLoadAt = int64(cfs.avg.loadAvg), now
		return
	}
	s.updateCfsRQHLoad(se.cfsRQ)
	cfs.hLoad = se.cfsRQ.hLoad * int64(se.avg.loadAvg) / int64(se.cfsRQ.avg.loadAvg+1)
	cfs.hLoadAt = now
}
