package sched

import "github.com/whylate/whylate/event"

// startCfsBandwidth starts the period timer of g where it is stopped, on the CPU that executes
// this; start_cfs_bandwidth(). It keeps to its multiples of the period.
func (s *Sched) startCfsBandwidth(g *Group, rq *RQ) {
	b := &g.quota
	if b.active {
		return
	}
	b.active = true
	forward(&b.expires, s.host.Now(), b.period)
	s.host.SetTimer(Timer{Kind: TimerCFSPeriod, CPU: s.hereOr(rq), Group: g.id}, b.expires)
}

// schedCfsPeriodTimer is sched_cfs_period_timer() on CPU at. A kernel lengthens a period in
// which its function does not come to an end; here that takes no time.
func (s *Sched) schedCfsPeriodTimer(at event.CPU, g *Group) {
	b := &g.quota
	b.inTimer = true
	stop := false
	if n := forward(&b.expires, s.host.Now(), b.period); n > 0 {
		stop = s.doSchedCfsPeriodTimer(b, n)
	}
	b.inTimer = false
	if stop {
		b.active = false
		return
	}
	s.host.SetTimer(Timer{Kind: TimerCFSPeriod, CPU: at, Group: g.id}, b.expires)
}

// doSchedCfsPeriodTimer begins a new period of a group, lets throttled queues go on, and reports
// whether the timer may stop, since nobody has taken anything in the period that ended;
// do_sched_cfs_period_timer().
func (s *Sched) doSchedCfsPeriodTimer(b *cfsBandwidth, overrun int64) (stop bool) {
	if b.quota == noLimit {
		return true
	}
	throttled := len(b.throttled) > 0
	b.stat.Periods += overrun
	s.refillCfsBandwidthRuntime(b)
	switch {
	case b.idle && !throttled:
		return true
	case !throttled:
		b.idle = true
		return false
	}
	b.stat.Throttled += overrun
	for throttled && b.runtime > 0 {
		throttled = s.distributeCfsRuntime(b)
	}
	b.idle = false
	return false
}

// runtimeRefreshWithin reports whether the next period of a group begins within d;
// runtime_refresh_within().
func (s *Sched) runtimeRefreshWithin(b *cfsBandwidth, d event.Time) bool {
	return b.inTimer || b.expires-s.host.Now() < d
}

// startCfsSlackBandwidth is start_cfs_slack_bandwidth(): what was given back waits for more, unless
// the period ends soon.
func (s *Sched) startCfsSlackBandwidth(g *Group, rq *RQ) {
	b := &g.quota
	if b.slackStarted || s.runtimeRefreshWithin(b, cfsSlackPeriod+minBandwidthExpiration) {
		return
	}
	b.slackStarted = true
	s.host.SetTimer(Timer{Kind: TimerCFSSlack, CPU: s.hereOr(rq), Group: g.id}, s.host.Now()+cfsSlackPeriod)
}

// schedCfsSlackTimer gives throttled queues what others gave back; sched_cfs_slack_timer() and
// do_sched_cfs_slack_timer().
func (s *Sched) schedCfsSlackTimer(g *Group) {
	b := &g.quota
	b.slackStarted = false
	if s.runtimeRefreshWithin(b, minBandwidthExpiration) || b.quota == noLimit || b.runtime <= s.cfg.Fair.BandwidthSlice {
		return
	}
	s.distributeCfsRuntime(b)
}

// forward moves the next expiry of a timer past now by whole intervals and returns how many they
// are; hrtimer_forward().
func forward(expires *event.Time, now, interval event.Time) int64 {
	late := now - *expires
	if late < 0 {
		return 0
	}
	n := int64(late/interval) + 1
	*expires += event.Time(n) * interval
	return n
}
