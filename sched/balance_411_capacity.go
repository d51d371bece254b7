package sched

import "github.com/whylate/whylate/event"

// This file is what real-time and deadline tasks leave of a CPU, up to 4.18: their run time, of which half
// is forgotten every half second.

// rtAvg is rq.rt_avg and rq.age_stamp.
type rtAvg struct {
	used  event.Time // by real-time and deadline tasks, as far as it is not forgotten
	since event.Time // up to when it was forgotten
}

// rtAvgPeriod is sched_avg_period(): half of sysctl_sched_time_avg.
const rtAvgPeriod event.Time = 500_000_000

// forget is sched_avg_update().
func (a *rtAvg) forget(now event.Time) {
	for now-a.since > rtAvgPeriod {
		a.since += rtAvgPeriod
		if a.used /= 2; a.used == 0 {
			a.since += (now - a.since) / rtAvgPeriod * rtAvgPeriod
		}
	}
}

// chargeRTAvg is sched_rt_avg_update(): a real-time or deadline task of rq ran for delta.
func (s *Sched) chargeRTAvg(rq *RQ, delta event.Time) {
	if s.cfg.Fair.PELT411 {
		rq.rtAvg.used += delta
		rq.rtAvg.forget(rq.clock)
	}
}

// scaleRTCapacity411 is scale_rt_capacity(), 4.11: what is left of rq, of 1024 and at least 1.
func (s *Sched) scaleRTCapacity411(rq *RQ) int64 {
	total := rtAvgPeriod + max(0, rq.clock-rq.rtAvg.since)
	return max(1, capacityScale-int64(rq.rtAvg.used*capacityScale/total))
}
