package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// dlThrottled: a deadline task had used up its runtime and waited for its replenishment.
//
// Shown and proven by: the task comes back at most 100 µs after its own dl_task_timer
// expired on that CPU. It is its own if it was started at most 100 µs before the task left at
// priority −1 although it could go on (R); or, where the starts of timers are not recorded and
// the task left like that for this wait, if no other deadline task ran in the trace.
//
// Likely: it leaves the same way and comes back after a dl_task_timer that may be another
// task's; or it leaves for a task that goes after it, or for idle, and timer events are not
// recorded or its return is not in the trace.
//
// Not this: a deadline task that another deadline task preempts; dl_task_timer of another
// task, or of the fair server.
var dlThrottled = Kind{
	Name:  "dl_throttled",
	Title: "deadline throttling",
	Needs: []event.Kind{event.SchedSwitch, event.HrtimerExpireEntry},
	Best:  Proven,
}

func matchDLThrottled(p *piece) (Interval, bool) {
	if p.waiter.class != ClassDeadline {
		return Interval{}, false
	}
	i := p.interval(&dlThrottled, Likely)
	i.Evidence = []Ref{{p.w.Woken, p.w.CPU}}
	if !p.w.Open() {
		last := p.w.CPUAt(p.w.OnCPU)
		i.Evidence = append(i.Evidence, Ref{p.w.OnCPU, last})
		if e, v, ok := p.a.replenished(p.w, last); ok {
			i.Verdict = v
			i.Evidence = append(i.Evidence, Ref{e.At, e.CPU})
			if v == Likely {
				i.Detail = "or the timer was another deadline task's"
				i.Needs = []string{"timer:hrtimer_start"}
			}
			return i, true
		}
		if p.a.x.Occurs(event.HrtimerExpireEntry) {
			return Interval{}, false
		}
	}
	if p.w.Kind == latency.Wakeup || p.run == nil || p.cur.class <= ClassDeadline {
		return Interval{}, false
	}
	i.Detail = "a task that goes after it ran meanwhile"
	i.Needs = []string{"timer:hrtimer_expire_entry"}
	return i, true
}

// replenished looks for the dl_task_timer after which the task of w came back on c, and says
// how sure it is that it is this task's.
func (a *Analysis) replenished(w *latency.Wait, c event.CPU) (timeline.Expiry, Verdict, bool) {
	if c < 0 || int(c) >= len(a.dlTimer) {
		return timeline.Expiry{}, Unknown, false
	}
	own := event.NoArg
	if int(w.Task.ID) < len(a.x.Tasks) {
		own = a.x.Tasks[w.Task.ID].DLTimer
	}
	list := a.dlTimer[c]
	for n := sort.Search(len(list), func(i int) bool { return list[i].At > w.OnCPU }) - 1; n >= 0; n-- {
		e := list[n]
		switch {
		case e.At < w.Woken || w.OnCPU-e.At > afterTimer:
			return timeline.Expiry{}, Unknown, false
		case own != event.NoArg && e.Timer == own:
			return e, Proven, true
		case own != event.NoArg || w.Kind == latency.Wakeup:
			continue
		case a.deadlineTasks == 1:
			return e, Proven, true
		}
		return e, Likely, true
	}
	return timeline.Expiry{}, Unknown, false
}

// countDeadlineTasks counts the tasks that ran at a deadline priority of their own.
func (a *Analysis) countDeadlineTasks() {
	seen := make([]bool, len(a.x.Tasks))
	for c := range a.x.CPUs {
		for i := range a.x.CPUs[c].Runs {
			r := &a.x.CPUs[c].Runs[i]
			if !r.PrioOut.Deadline() || seen[r.Task] {
				continue
			}
			if _, _, boosted := a.x.PrioAt(r, r.End-1); !boosted {
				seen[r.Task] = true
				a.deadlineTasks++
			}
		}
	}
}
