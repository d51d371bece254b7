package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// idleRun is one stay of the idle task on a CPU.
type idleRun struct {
	from, to event.Time
	before   event.Time // sum of the earlier ones of this CPU
	unseen   bool       // its beginning was not seen
}

// collectIdle lists when each CPU stood idle.
func (a *Analysis) collectIdle() {
	a.idle = make([][]idleRun, len(a.x.CPUs))
	for c := range a.x.CPUs {
		var before event.Time
		for i := range a.x.CPUs[c].Runs {
			r := &a.x.CPUs[c].Runs[i]
			if r.End > r.Start && a.x.Tracker.Task(r.Task).Idle() {
				a.idle[c] = append(a.idle[c], idleRun{r.Start, r.End, before, r.Marks.Has(timeline.MarkUnseenStart)})
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

// Elsewhere is a CPU that stood idle while the task waited.
type Elsewhere struct {
	CPU     event.CPU
	NS      int64
	Verdict Verdict // whether the task might have used it
	// Since is when the first of its Stays began, which may lie before the wait; NoTime: the
	// trace does not show it. Until is when the last one ended, or the wait.
	Since, Until event.Time
	Stays        int
	Balancing    *Balancing // nil: the task is none that is balanced
	Evidence     []Ref

	idle []timeline.Span // the parts of the wait in which the CPU is looked at
}

// Elsewhere finds the CPUs that stood idle while the task of w waited, the longest first.
// The CPU where it was queued is left out, for as long as it was queued there. That the
// task may use another one is only known if it ran there and may still, or if the machine's
// snapshot allows it; one that the snapshot forbids, and where it did not run, is left out.
// Else it is likely, or where it seems to be bound to others unknown; these come last.
func (a *Analysis) Elsewhere(w *latency.Wait) []Elsewhere {
	var list []Elsewhere
	for c := range a.idle {
		if len(a.idle[c]) == 0 {
			continue
		}
		e := Elsewhere{CPU: event.CPU(c), Since: event.NoTime, Until: event.NoTime}
		a.eachQueue(w, func(queue event.CPU, from, to event.Time) {
			if queue != e.CPU {
				a.addIdle(&e, from, to)
			}
		})
		if told := false; e.NS > 0 {
			if e.Verdict, told = a.mayUse(w, e.CPU); told {
				list = append(list, e)
			}
		}
	}
	sort.SliceStable(list, func(i, j int) bool {
		if a, b := list[i].Verdict == Unknown, list[j].Verdict == Unknown; a != b {
			return b
		}
		return list[i].NS > list[j].NS
	})
	if w.Prio.Fair() {
		for i := range list {
			a.balancing(w, &list[i])
		}
	}
	return list
}

// addIdle adds to e how long its CPU stood idle from from to to.
func (a *Analysis) addIdle(e *Elsewhere, from, to event.Time) {
	runs := a.idle[e.CPU]
	i := sort.Search(len(runs), func(i int) bool { return runs[i].to > from })
	j := sort.Search(len(runs), func(j int) bool { return runs[j].from >= to })
	if i >= j || from >= to {
		return
	}
	if e.Stays == 0 && !runs[i].unseen {
		e.Since = runs[i].from
		e.Evidence = append(e.Evidence, Ref{e.Since, e.CPU})
	}
	if e.Stays > 0 && runs[i].from < e.Until {
		e.Stays-- // one that goes on
	}
	e.Stays += j - i
	e.Until = min(runs[j-1].to, to)
	e.NS += int64(a.idleUntil(e.CPU, to) - a.idleUntil(e.CPU, from))
	if n := len(e.idle); n > 0 && e.idle[n-1].To == from {
		e.idle[n-1].To = to
	} else {
		e.idle = append(e.idle, timeline.Span{From: from, To: to})
	}
}

// mayUse says whether the task of w may run on c: it did, and the stopper has not moved it since, as
// it does when the affinity changes; or the snapshot allows it. Unknown: it was woken to wait while c
// idled too often to be free to go there. Not told at all is c where the snapshot forbids it, or the
// task is a thread of the kernel that by its name belongs to another CPU. What the snapshot forbids
// may be of before it was taken, if the task ran there later than it waited.
func (a *Analysis) mayUse(w *latency.Wait, c event.CPU) (v Verdict, told bool) {
	t := w.Task
	last, left, moved := a.ranOn(t, c)
	ran := last != event.NoTime
	x := TaskOf(a.snap, a.x.Names, t)
	if cpu, bound := kernel.BoundTo(a.comm(t.Comm)); bound && x == nil && !ran && event.CPU(cpu) != c {
		return Unknown, false
	}
	switch allowed := x != nil && x.Allows(int32(c)); {
	case x != nil && !allowed:
		return Likely, !moved && last >= w.Woken
	case allowed && !left:
		return Proven, true
	case x == nil && a.refused(w, c, ran):
		return Unknown, true
	case ran && !moved:
		return Proven, true
	}
	return Likely, true
}

// mostRefused is how often since it ran there a task may be woken to wait while a CPU idles before it
// seems not to be allowed there any more: now and then a wake misses an idle CPU, or one that was about
// to be used.
const mostRefused = 2

// refused reports whether the task of w seems not to be allowed on c. For a CPU where it never ran
// one sign is enough, beside the wake of this very wait.
func (a *Analysis) refused(w *latency.Wait, c event.CPU, ran bool) bool {
	id := w.Task.ID
	if int(id) >= len(a.x.Tasks) || int(c) >= len(a.x.Tasks[id].Refused) {
		return false
	}
	n := a.x.Tasks[id].Refused[c]
	return n > mostRefused || !ran && (n > 1 || n > 0 && w.Kind != latency.Wakeup)
}

// ranOn returns when t came to c for the last time, NoTime: it never ran there, and whether after
// that the stopper took it off there, or moved it at all.
func (a *Analysis) ranOn(t *timeline.Task, c event.CPU) (last event.Time, left, moved bool) {
	last = event.NoTime
	if int(t.ID) >= len(a.x.Tasks) {
		return last, false, false
	}
	newest := event.NoTime
	for _, s := range a.x.Tasks[t.ID].RanOn {
		newest = max(newest, s.Off)
		if s.CPU == c && s.Last != event.NoTime {
			last, left = s.Last, s.Off >= s.Last
		}
	}
	return last, left, last != event.NoTime && newest >= last
}
