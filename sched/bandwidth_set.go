package sched

import "github.com/whylate/whylate/event"

// SetQuota lets the fair tasks of g, and of the groups below, use at most quota ns of every
// period, on all CPUs together, and save up what they leave of it up to burst; executed on CPU
// from. They are cpu.max and cpu.max.burst, in ns; tg_set_cfs_bandwidth(). A negative quota: no
// limit.
//
// EINVAL: the root group, a quota or period under 1 ms, a period over 1 s, a burst over the
// quota, and with cgroup v1 a share of a CPU that is more than that of a group above. With v2
// the group above is the limit then.
func (s *Sched) SetQuota(from event.CPU, g *Group, quota, period, burst event.Time) (Work, error) {
	s.begin(from)
	if quota < 0 {
		quota = noLimit
	}
	if err := s.checkQuota(g, quota, period, burst); err != nil {
		return s.work, err
	}
	if s.cfg.CGroup1 && !s.cfsSchedulable(g, g, quota, period) {
		return s.work, verdict(ErrInval, "%d of %d ns is more than a group above has, or less than one below (cgroup v1)", quota, period)
	}
	b := &g.quota
	b.quota, b.period, b.burst = quota, period, burst
	s.shareQuota(g)
	s.refillCfsBandwidthRuntime(b)
	if quota != noLimit {
		s.startCfsBandwidth(g, s.rqs[from])
	}
	for c := range g.cpus {
		cfs := &g.cpus[c].cfs
		s.updateRQClock(cfs.rq)
		cfs.runtimeEnabled, cfs.runtimeRemaining = quota != noLimit, 0
		if cfs.throttled {
			s.unthrottleCfsRQ(cfs)
		}
	}
	return s.work, nil
}

func (s *Sched) checkQuota(g *Group, quota, period, burst event.Time) error {
	switch {
	case g == nil:
		return verdict(ErrInval, "the root group has no quota")
	case quota != noLimit && quota < minCfsPeriod || period < minCfsPeriod:
		return verdict(ErrInval, "a quota of %d ns every %d ns: both must be 1 ms at least", quota, period)
	case period > maxCfsPeriod:
		return verdict(ErrInval, "a period of %d ns: at most 1 s", period)
	case quota > maxCfsRuntime || quota != noLimit && (burst > quota || burst+quota > maxCfsRuntime):
		return verdict(ErrInval, "a burst of %d ns is more than the quota of %d ns, or both are too much", burst, quota)
	case burst < 0 || burst > 0 && !s.cfg.Fair.QuotaBurst:
		return verdict(ErrInval, "a burst of %d ns: the kernel has bursts from 5.14 on, and none is negative", burst)
	}
	return nil
}

// cfsSchedulable is __cfs_schedulable() of cgroup v1 for at and all groups below, if set had
// quota of period.
func (s *Sched) cfsSchedulable(at, set *Group, quota, period event.Time) bool {
	share := at.quotaShare()
	if at == set {
		share = quotaRatio(quota, period)
	}
	if above := at.shareAbove(set, quotaRatio(quota, period)); above != noQuota && share > above {
		return false
	}
	for _, child := range at.children {
		if !s.cfsSchedulable(child, set, quota, period) {
			return false
		}
	}
	return true
}

// shareAbove is the share of a CPU that the next group with a quota above g has, if set had
// share.
func (g *Group) shareAbove(set *Group, share int64) int64 {
	for up := g.parent; up != nil; up = up.parent {
		own := up.quotaShare()
		if up == set {
			own = share
		}
		if own != noQuota {
			return own
		}
	}
	return noQuota
}

// quotaShare is what g may use in parts of a CPU, noQuota: all.
func (g *Group) quotaShare() int64 { return quotaRatio(g.quota.quota, g.quota.period) }

func quotaRatio(quota, period event.Time) int64 {
	if quota == noLimit {
		return noQuota
	}
	return toRatio(period, quota)
}

// shareQuota computes anew how much of a CPU g and the groups below may use at most;
// tg_cfs_schedulable_down().
func (s *Sched) shareQuota(g *Group) {
	share := g.quotaShare()
	if g.parent != nil {
		if above := g.parent.quota.hierarchical; share == noQuota || above != noQuota && above < share {
			share = above
		}
	}
	g.quota.hierarchical = share
	for _, child := range g.children {
		s.shareQuota(child)
	}
}

// Quota returns what SetQuota has set; a negative quota: no limit.
func (g *Group) Quota() (quota, period, burst event.Time) {
	return g.quota.quota, g.quota.period, g.quota.burst
}

// QuotaStat is what cpu.stat says of a group. Times are ns.
type QuotaStat struct {
	Periods   int64 // nr_periods: that have ended while there was something to do
	Throttled int64 // nr_throttled: at whose end a queue was throttled
	// ThrottledTime is throttled_time: how long queues were throttled, that of each CPU added up,
	// those that still are not counted.
	ThrottledTime event.Time
	Bursts        int64      // nr_bursts: periods that used more than the quota
	BurstTime     event.Time // burst_time: what they used more
	// Usage is how long fair tasks of the group, and of the groups below, have run up to now.
	Usage event.Time
}

// QuotaStat returns what cpu.stat of g says.
func (s *Sched) QuotaStat(g *Group) QuotaStat {
	stat := g.quota.stat
	now := s.host.Now()
	for c := range g.cpus {
		se := &g.cpus[c].se
		stat.Usage += se.sumExecRuntime
		if p := s.rqs[c].curr; se.cfsRQ.curr == se && p.class == fairClass {
			stat.Usage += now - se.execStart
		}
	}
	return stat
}
