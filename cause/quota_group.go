package cause

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// quotaGroup is a control group that has a quota by the snapshot, with what its tasks ran, those
// of the groups below it among them.
type quotaGroup struct {
	group   *sysinfo.CGroup
	stays   []stay // of all CPUs, by their starts
	byCPU   map[event.CPU][]stay
	edges   []edgeOf          // of the sum over the CPUs
	expires []timeline.Expiry // of its period timer
	periods []quotaPeriod     // in which the quota was used up, by time
	known   bool              // its period timer was found
}

// stay is a run of a fair task of a group.
type stay struct {
	from, to event.Time
	task     timeline.TaskID
}

// edgeOf is where the number of CPUs that a group uses changes, and what it had used by then.
type edgeOf struct {
	at   event.Time
	used int64
	cpus int64
}

// quotaPeriod is a period whose quota was used up.
type quotaPeriod struct {
	from, to event.Time // the expiries of the period timer
	at       event.CPU  // where that of to was
	dark     event.Time // from when on none of the group ran any more
	verdict  Verdict
	culprit  timeline.TaskID
	detail   string
}

// mostNested bounds how many groups with a quota lie in each other.
const mostNested = 8

// slice is what a CPU takes of a group's quota at once, sched_cfs_bandwidth_slice_us.
const slice event.Time = 5_000_000

// findQuotaGroups looks where groups with a quota had used it up.
func (a *Analysis) findQuotaGroups() {
	if a.snap == nil || len(a.cfsPeriod) == 0 {
		return
	}
	var list []*quotaGroup
	byPath := map[string]*quotaGroup{}
	for i := range a.snap.CGroups {
		if g := &a.snap.CGroups[i]; g.QuotaNS > 0 && g.PeriodNS > 0 {
			list = append(list, &quotaGroup{group: g, byCPU: map[event.CPU][]stay{}})
			byPath[g.Path] = list[len(list)-1]
		}
	}
	a.groupsOf = make([][]*quotaGroup, len(a.x.Tasks))
	known := map[string][]*quotaGroup{}
	for id := range a.groupsOf {
		path := CGroupOf(a.snap, a.x.Names, a.x.Tracker.Task(timeline.TaskID(id)))
		chain, ok := known[path]
		if !ok {
			chain = chainOf(path, byPath)
			known[path] = chain
		}
		a.groupsOf[id] = chain
	}
	for c := range a.x.CPUs {
		for i := range a.x.CPUs[c].Runs {
			r := &a.x.CPUs[c].Runs[i]
			if r.PrioOut.RealTime() || r.PrioOut.Deadline() || r.PrioIn.RealTime() || r.PrioIn.Deadline() || a.x.Tracker.Task(r.Task).Idle() {
				continue // what it ran is not the group's
			}
			for _, g := range a.groupsOf[r.Task] {
				s := stay{r.Start, r.End, r.Task}
				g.stays = append(g.stays, s)
				g.byCPU[event.CPU(c)] = append(g.byCPU[event.CPU(c)], s)
			}
		}
	}
	a.assignPeriodTimers(list)
	a.gaps = a.allGaps()
	for _, g := range list {
		g.sumUp()
		a.findPeriodsOf(g)
	}
}

// chainOf returns the groups with a quota in which those at path are, the innermost first.
func chainOf(path string, byPath map[string]*quotaGroup) []*quotaGroup {
	var chain []*quotaGroup
	for path != "" && len(chain) < mostNested {
		if g := byPath[path]; g != nil {
			chain = append(chain, g)
		}
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
	return chain
}

// allGaps are the stretches in which events of any CPU are missing, by time.
func (a *Analysis) allGaps() []timeline.Span {
	var all []timeline.Span
	for c := range a.x.CPUs {
		all = append(all, a.x.CPUs[c].Gaps...)
	}
	slices.SortFunc(all, func(x, y timeline.Span) int { return int(max(min(x.From-y.From, 1), -1)) })
	var out []timeline.Span
	for _, s := range all {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// assignPeriodTimers finds the period timer of each group: where one group alone has a quota all
// of them are its own, else the one after whose expiries its tasks come to a CPU.
func (a *Analysis) assignPeriodTimers(list []*quotaGroup) {
	fn, _ := a.x.Names.Lookup("sched_cfs_period_timer")
	if len(list) == 1 {
		for _, e := range a.cfsPeriod {
			if e.Func == fn {
				list[0].expires = append(list[0].expires, e)
			}
		}
		list[0].known = len(list[0].expires) > 0
		return
	}
	type begin struct {
		at event.Time
		g  *quotaGroup
	}
	var begins []begin
	for _, g := range list {
		for _, s := range g.stays {
			begins = append(begins, begin{s.from, g})
		}
	}
	slices.SortStableFunc(begins, func(x, y begin) int { return int(max(min(x.at-y.at, 1), -1)) })
	votes := map[int64]map[*quotaGroup]int{}
	for _, e := range a.cfsPeriod {
		if e.Func != fn || e.Timer == event.NoArg {
			continue
		}
		i := sort.Search(len(begins), func(i int) bool { return begins[i].at >= e.At })
		if i < len(begins) && begins[i].at-e.At <= afterTimer {
			if votes[e.Timer] == nil {
				votes[e.Timer] = map[*quotaGroup]int{}
			}
			votes[e.Timer][begins[i].g]++
		}
	}
	of := map[int64]*quotaGroup{}
	for timer, by := range votes {
		var best *quotaGroup
		most, sum := 0, 0
		for g, n := range by {
			sum += n
			if n > most {
				best, most = g, n
			}
		}
		if most >= 2 && 4*most > 3*sum { // chance would give others as many
			of[timer] = best
		}
	}
	for _, e := range a.cfsPeriod {
		if g := of[e.Timer]; g != nil && e.Func == fn {
			g.expires, g.known = append(g.expires, e), true
		}
	}
}

// sumUp makes the sum of what the group used over all CPUs.
func (g *quotaGroup) sumUp() {
	slices.SortStableFunc(g.stays, func(x, y stay) int { return int(max(min(x.from-y.from, 1), -1)) })
	type change struct {
		at event.Time
		by int64
	}
	changes := make([]change, 0, 2*len(g.stays))
	for _, s := range g.stays {
		changes = append(changes, change{s.from, 1}, change{s.to, -1})
	}
	slices.SortStableFunc(changes, func(x, y change) int { return int(max(min(x.at-y.at, 1), -1)) })
	e := edgeOf{}
	for i, c := range changes {
		if i > 0 {
			e.used += e.cpus * int64(c.at-e.at)
		}
		e.at, e.cpus = c.at, e.cpus+c.by
		g.edges = append(g.edges, e)
	}
}

// usedUntil is what the group had used by t.
func (g *quotaGroup) usedUntil(t event.Time) int64 {
	i := sort.Search(len(g.edges), func(i int) bool { return g.edges[i].at > t })
	if i == 0 {
		return 0
	}
	e := &g.edges[i-1]
	return e.used + e.cpus*int64(t-e.at)
}

// running reports whether one of the group runs at t, t itself excluded.
func (g *quotaGroup) running(t event.Time) bool {
	i := sort.Search(len(g.edges), func(i int) bool { return g.edges[i].at >= t })
	return i > 0 && g.edges[i-1].cpus > 0
}

// usedUp reports whether, over some periods up to the one that the expiry i ends, the group had
// by t used as much as it may in all of them, but for less: what is used beyond the quota is a
// debt of the next period.
func (g *quotaGroup) usedUp(i int, t event.Time, less int64) bool {
	length := event.Time(g.group.PeriodNS)
	from := t - length // where nothing shows when the period began
	for k := int64(1); k <= mostDebts && i >= 0; k, i = k+1, i-1 {
		begins := i > 0 && (i == len(g.expires) || g.expires[i].At-g.expires[i-1].At <= length+length/2)
		if begins {
			from = g.expires[i-1].At
		} else if i < len(g.expires) {
			from = g.expires[i].At - length
		}
		if g.usedUntil(t)-g.usedUntil(from) >= k*g.group.QuotaNS-less {
			return true
		}
		if !begins {
			break
		}
	}
	return false
}

// paid reports whether the quota is in force: what was used from from on, in the period that the
// expiry i ends and perhaps some that follow, is not more than most above what all of them allow.
func (g *quotaGroup) paid(i int, from event.Time, most int64) bool {
	before := g.usedUntil(from)
	for k := int64(1); k <= mostDebts && i < len(g.expires); k, i = k+1, i+1 {
		if g.usedUntil(g.expires[i].At)-before <= k*g.group.QuotaNS+most {
			return true
		}
	}
	return false
}

// findPeriodsOf lists the periods in which the quota of g was used up: what was used reaches it,
// give or take a tick, and what is more is made up for in the next ones.
func (a *Analysis) findPeriodsOf(g *quotaGroup) {
	length, quota := event.Time(g.group.PeriodNS), g.group.QuotaNS
	most := g.group.BurstNS + int64(len(g.byCPU))*int64(a.tick+slice)
	for i, e := range g.expires {
		// The timer stops while nobody uses the group, and begins anew.
		from := e.At - length
		if i > 0 && e.At-g.expires[i-1].At <= length+length/2 {
			from = g.expires[i-1].At
		}
		used := g.usedUntil(e.At) - g.usedUntil(from)
		if from < a.x.From || !g.paid(i, from, most) || !g.usedUp(i, e.At, int64(a.tick)) {
			continue
		}
		p := quotaPeriod{from: from, to: e.At, at: e.CPU, dark: e.At, verdict: Proven}
		if len(timeline.Overlapping(a.gaps, from, e.At)) > 0 {
			p.verdict = Likely // more may have run
		}
		var b budget
		n := sort.Search(len(g.stays), func(i int) bool { return g.stays[i].from >= from })
		last := from
		for ; n < len(g.stays) && g.stays[n].from < e.At; n++ {
			s := &g.stays[n]
			b.add(s.task, int64(min(s.to, e.At)-s.from))
			last = max(last, s.to)
		}
		if !g.running(e.At) {
			p.dark = last
		}
		users := b.largestFirst()
		p.culprit = timeline.NoTask
		if len(users) > 0 {
			p.culprit = users[0].task
		}
		p.detail = fmt.Sprintf("group %s may use %s of each %s and had used %s: %s", g.group.Path, millis(quota),
			millis(int64(length)), millis(used), a.describe(users))
		g.periods = append(g.periods, p)
	}
}

// edge returns when it may change after t whether the group has quota, at most limit.
func (g *quotaGroup) edge(t, limit event.Time) event.Time {
	n := sort.Search(len(g.periods), func(i int) bool { return g.periods[i].to > t })
	if n == len(g.periods) {
		return limit
	}
	for _, at := range [...]event.Time{g.periods[n].from, g.periods[n].dark, g.periods[n].to} {
		if at > t {
			return min(limit, at)
		}
	}
	return limit
}
