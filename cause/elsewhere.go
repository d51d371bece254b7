package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// idleRun is one stay of the idle task on a CPU.
type idleRun struct {
	from, to event.Time
	before   event.Time // sum of the earlier ones of this CPU
}

// collectIdle lists when each CPU stood idle.
func (a *Analysis) collectIdle() {
	a.idle = make([][]idleRun, len(a.x.CPUs))
	for c := range a.x.CPUs {
		var before event.Time
		for i := range a.x.CPUs[c].Runs {
			r := &a.x.CPUs[c].Runs[i]
			if r.End > r.Start && a.x.Tracker.Task(r.Task).Idle() {
				a.idle[c] = append(a.idle[c], idleRun{r.Start, r.End, before})
				before += r.End - r.Start
			}
		}
	}
}

// idleUntil sums how long c stood idle until t.
func (a *Analysis) idleUntil(c event.CPU, t event.Time) event.Time {
	runs := a.idle[c]
	i := sort.Search(len(runs), func(i int) bool { return runs[i].from >= t }) - 1
	if i < 0 {
		return 0
	}
	return runs[i].before + min(t, runs[i].to) - runs[i].from
}

// Elsewhere finds the CPUs that stood idle while the task of w waited, the longest first.
// The CPU where it was queued is left out, for as long as it was queued there. That the
// task may use another one is only known if it ran there and may still, or if the machine's
// snapshot allows it; one that the snapshot forbids, and where it did not run, is left out.
// Else it is likely.
func (a *Analysis) Elsewhere(w *latency.Wait) []Elsewhere {
	ns := make([]event.Time, len(a.idle))
	for c := range ns {
		if len(a.idle[c]) > 0 {
			ns[c] = a.idleUntil(event.CPU(c), w.End) - a.idleUntil(event.CPU(c), w.Woken)
		}
	}
	a.eachQueue(w, func(c event.CPU, from, to event.Time) {
		if c >= 0 && int(c) < len(ns) {
			ns[c] -= a.idleUntil(c, to) - a.idleUntil(c, from)
		}
	})
	var list []Elsewhere
	for c, idle := range ns {
		if idle <= 0 {
			continue
		}
		if v := a.mayUse(w.Task, event.CPU(c)); v != Unknown {
			list = append(list, Elsewhere{event.CPU(c), int64(idle), v})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].NS > list[j].NS })
	return list
}

// mayUse says whether the task may run on c: it did, and the stopper has not taken it off
// there since, as it does when the affinity changes; or the snapshot allows it. Unknown: the
// snapshot forbids it.
func (a *Analysis) mayUse(t *timeline.Task, c event.CPU) Verdict {
	if int(t.ID) < len(a.x.Tasks) {
		for _, s := range a.x.Tasks[t.ID].RanOn {
			if s.CPU != c || s.Last == event.NoTime {
				continue
			}
			if s.Off < s.Last {
				return Proven
			}
			return Likely // its affinity has changed: what a snapshot says may be of before
		}
	}
	x := TaskOf(a.snap, a.x.Names, t)
	switch {
	case x == nil:
		return Likely
	case !x.Allows(int32(c)):
		return Unknown
	}
	return Proven
}
