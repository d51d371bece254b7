package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// cfsQuota: the group of a fair task had used up its cpu.max quota and the task waited
// for the next period.
//
// Proven, with the machine's snapshot: it has a quota for the group or one above it; what the
// fair tasks of that group ran on all CPUs since sched_cfs_period_timer expired reaches the
// quota, give or take a tick, or does so together with periods before, whose debts count, and
// what is more is made up for in the next periods; from then on none of them ran before the next expiry, or its CPU
// idled with the task in its queue. Where several groups have quotas, the timer of one is known
// by whose tasks come to a CPU within 100 µs.
//
// Likely, never more without the snapshot, since no event tells of the
// throttling: the CPU stood idle for more than 50 µs with the fair task in its queue, which
// nothing else does, while the bandwidth timers of fair groups run; and from
// then on, whoever runs, until sched_cfs_period_timer or sched_cfs_slack_timer expires on
// whichever CPU. Idling that such an expiry does not end must last a millisecond.
//
// Not this: a fair task that waits its turn behind others while the bandwidth timers run,
// for its own group or another: that is fair_turn, and likely at most. One that by chance
// comes back right after the timer. One whose groups have no quota by the snapshot, or used
// clearly less than that.
var cfsQuota = Kind{
	Name:  "cfs_quota",
	Title: "cgroup quota",
	Needs: []event.Kind{event.SchedSwitch, event.HrtimerExpireEntry},
	Best:  Likely,
	Snapshot: func(s *sysinfo.Snapshot) Verdict {
		for i := range s.CGroups {
			if s.CGroups[i].QuotaNS > 0 {
				return Proven
			}
		}
		return Likely
	},
}

// quotaIdleLeast is how long a CPU must idle with a fair task queued for quota to be
// believed where no bandwidth timer ends it: a hypervisor may hold a CPU up as well.
const quotaIdleLeast event.Time = 1_000_000

func matchCFSQuota(p *piece) (Interval, bool) {
	if p.waiter.class != ClassFair || len(p.a.cfsPeriod) == 0 {
		return Interval{}, false
	}
	for _, g := range p.a.groupsOfTask(p.w.Task.ID) {
		if i, ok := p.outOfQuota(g); ok {
			return i, true
		}
	}
	list := windowsOf(p.a.quota, p.cpu)
	n := sort.Search(len(list), func(i int) bool { return list[i].from > p.from }) - 1
	if n < 0 {
		return Interval{}, false
	}
	if p.a.spared(p.w.Task.ID, p.to-1) {
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

// groupsOfTask are the groups with a quota in which the task is, by the snapshot.
func (a *Analysis) groupsOfTask(id timeline.TaskID) []*quotaGroup {
	if int(id) >= len(a.groupsOf) {
		return nil
	}
	return a.groupsOf[id]
}

// outOfQuota returns the piece as caused by the quota of g, if that was used up.
func (p *piece) outOfQuota(g *quotaGroup) (Interval, bool) {
	n := sort.Search(len(g.periods), func(i int) bool { return g.periods[i].to+afterTimer > p.from })
	if n == len(g.periods) || g.periods[n].from > p.from {
		return Interval{}, false
	}
	q := &g.periods[n]
	idle := p.run != nil && p.cur.task.Idle()
	stays := g.byCPU[p.cpu]
	i := sort.Search(len(stays), func(i int) bool { return stays[i].to > p.from })
	next := event.NoTime
	if i < len(stays) {
		next = stays[i].from
	}
	switch {
	case next != event.NoTime && next <= p.from: // one of the group runs here
		return Interval{}, false
	case p.from >= q.to: // the way from the expiry to the switch is a part of it
		if !idle || p.run.End-q.to > afterTimer || p.run.Start > q.to {
			return Interval{}, false
		}
	case p.from < q.dark && (!idle || next != event.NoTime && next < q.to):
		return Interval{}, false // elsewhere one of the group still runs, and here others have a turn
	}
	out := p.interval(&cfsQuota, q.verdict)
	out.Detail = q.detail
	if !idle && p.a.slackTimerIn(q.dark, p.from) {
		out.Verdict = min(out.Verdict, Likely) // what others left may have been given to this CPU
	}
	if i > 0 {
		out.Evidence = append(out.Evidence, Ref{stays[i-1].to, p.cpu})
	}
	out.Evidence = append(out.Evidence, Ref{q.to, q.at})
	if q.culprit != timeline.NoTask {
		t := p.a.x.Tracker.Task(q.culprit)
		out.blameTask(t, t.Comm, t.Prio)
	}
	return out, true
}

// spared reports whether no group of the task can have been without quota at t, by the snapshot:
// none has one, or what they used in the period is clearly less.
func (a *Analysis) spared(id timeline.TaskID, t event.Time) bool {
	if a.snap == nil || int(id) >= len(a.groupsOf) || CGroupOf(a.snap, a.x.Names, a.x.Tracker.Task(id)) == "" {
		return false
	}
	for _, g := range a.groupsOf[id] {
		if !g.known {
			return false
		}
		i := sort.Search(len(g.expires), func(i int) bool { return g.expires[i].At > t })
		from := t - event.Time(g.group.PeriodNS)
		if i > 0 {
			from = max(from, g.expires[i-1].At)
		}
		if from < a.x.From || len(timeline.Overlapping(a.gaps, from, t+1)) > 0 {
			return false // more may have run
		}
		if g.usedUp(i, t, int64(len(g.byCPU))*int64(a.tick+slice)) {
			return false
		}
	}
	return true
}

// slackTimerIn reports whether a timer that hands out what CPUs gave back expired within
// (from, to].
func (a *Analysis) slackTimerIn(from, to event.Time) bool {
	n := sort.Search(len(a.cfsSlack), func(i int) bool { return a.cfsSlack[i].At > from })
	return n < len(a.cfsSlack) && a.cfsSlack[n].At <= to
}
