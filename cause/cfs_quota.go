package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
)

// cfsQuota: the group of a fair task had used up its cpu.max quota and the task waited
// for the next period.
//
// Likely, never more without the machine's snapshot, since no event tells of the
// throttling: the task comes back at most 100 µs after sched_cfs_period_timer or
// sched_cfs_slack_timer expired, on whichever CPU, and meanwhile the CPU stood idle with
// the task in its queue, or the task had been taken off the CPU although it could go on
// and waited for at least a millisecond.
//
// Not this: a fair task that waits its turn behind others while the bandwidth timers run
// for another group: it does not come back right after the timer.
var cfsQuota = Kind{
	Name:  "cfs_quota",
	Title: "cgroup quota",
	Needs: []event.Kind{event.SchedSwitch, event.HrtimerExpireEntry},
	Best:  Likely,
}

// quotaWaitLeast is the shortest wait after a preemption that the bandwidth timer's
// expiry at its end is believed to explain; shorter ones meet the timer by chance.
const quotaWaitLeast event.Time = 1_000_000

func matchCFSQuota(p *piece) (Interval, bool) {
	if p.waiter.class != ClassFair || p.w.Open() || len(p.a.cfsPeriod) == 0 {
		return Interval{}, false
	}
	e, ok := lastExpiry(p.a.cfsPeriod, p.w.OnCPU)
	if !ok || e.At <= p.w.Woken || p.w.OnCPU-e.At > afterTimer {
		return Interval{}, false
	}
	preempted := p.w.Kind == latency.Preempted && p.w.OnCPU-p.w.Woken >= quotaWaitLeast
	if !preempted && !p.a.idleWhileQueued(p) {
		return Interval{}, false
	}
	i := p.interval(&cfsQuota, Likely)
	i.Detail = "came back right after the bandwidth timer"
	i.Needs = []string{"snapshot of cpu.max and cpu.stat"}
	i.Evidence = []Ref{{e.At, e.CPU}, {p.w.OnCPU, p.cpu}}
	return i, true
}

// idleWhileQueued reports whether the CPU of the piece stood idle for longer than a
// switch takes while the task was queued there.
func (a *Analysis) idleWhileQueued(p *piece) bool {
	if p.ci == nil {
		return false
	}
	from := p.since
	if p.w.Queued != event.NoTime {
		from = max(from, p.w.Queued)
	}
	runs := p.ci.Runs
	i := sort.Search(len(runs), func(i int) bool { return runs[i].End > from })
	for ; i < len(runs) && runs[i].Start < p.end; i++ {
		r := &runs[i]
		if a.x.Tracker.Task(r.Task).Idle() && min(r.End, p.end)-max(r.Start, from) > atOnce {
			return true
		}
	}
	return false
}
