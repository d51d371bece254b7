package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// cfsQuota: the group of a fair task had used up its cpu.max quota and the task waited
// for the next period.
//
// Likely, never more without the machine's snapshot, since no event tells of the
// throttling: the CPU stood idle for more than 50 µs with the fair task in its queue, which
// nothing else does, while the bandwidth timers of fair groups run; and from
// then on, whoever runs, until sched_cfs_period_timer or sched_cfs_slack_timer expires on
// whichever CPU. Idling that such an expiry does not end must last a millisecond.
//
// Not this: a fair task that waits its turn behind others while the bandwidth timers run,
// for its own group or another: that is fair_turn, and likely at most. One that by chance
// comes back right after the timer.
var cfsQuota = Kind{
	Name:  "cfs_quota",
	Title: "cgroup quota",
	Needs: []event.Kind{event.SchedSwitch, event.HrtimerExpireEntry},
	Best:  Likely,
}

// quotaIdleLeast is how long a CPU must idle with a fair task queued for quota to be
// believed where no bandwidth timer ends it: a hypervisor may hold a CPU up as well.
const quotaIdleLeast event.Time = 1_000_000

func matchCFSQuota(p *piece) (Interval, bool) {
	if p.waiter.class != ClassFair || len(p.a.cfsPeriod) == 0 {
		return Interval{}, false
	}
	list := windowsOf(p.a.quota, p.cpu)
	n := sort.Search(len(list), func(i int) bool { return list[i].from > p.from }) - 1
	if n < 0 {
		return Interval{}, false
	}
	w := &list[n]
	start := max(w.from, p.since, p.w.Queued)
	if w.to-start <= atOnce {
		return Interval{}, false
	}
	// Others may run meanwhile: what has no quota gets none before a timer gives some back.
	if p.from >= w.to && p.a.quotaTimerIn(start, p.from) {
		return Interval{}, false
	}
	return p.windowed(&cfsQuota, w), true
}

// findQuota lists the stretches in which c idles, with the bandwidth timer that ended each.
// Whoever of the fair class is queued there meanwhile has no quota.
func (a *Analysis) findQuota(c event.CPU) {
	if len(a.cfsPeriod) == 0 {
		return
	}
	runs := a.x.CPUs[c].Runs
	for i := range runs {
		r := &runs[i]
		if !a.x.Tracker.Task(r.Task).Idle() || i == 0 {
			continue
		}
		w := window{from: r.Start, to: r.End, verdict: Likely, culprit: timeline.NoTask,
			detail: "its CPU idled with it in the queue while bandwidth timers run", needs: []string{"snapshot of cpu.max and cpu.stat"}}
		if e, ok := lastExpiry(a.cfsPeriod, r.End); ok && e.At > r.Start && r.End-e.At <= afterTimer {
			w.evidence = []Ref{{e.At, e.CPU}, {r.End, c}}
		}
		least := quotaIdleLeast
		if len(w.evidence) > 0 {
			least = atOnce
		}
		if w.to-w.from > least {
			a.quota[c] = append(a.quota[c], w)
		}
	}
}

// quotaTimerIn reports whether a bandwidth timer expired within (from, to].
func (a *Analysis) quotaTimerIn(from, to event.Time) bool {
	n := sort.Search(len(a.cfsPeriod), func(i int) bool { return a.cfsPeriod[i].At > from })
	return n < len(a.cfsPeriod) && a.cfsPeriod[n].At <= to
}
