package cause

import (
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// dlThrottled: a deadline task had used up its runtime and waited for its replenishment.
//
// Shown and proven by: its own dl_task_timer, from when it was started, at most 100 µs before
// the task left at priority −1 although it could go on (R), to its expiry. Where the starts of
// timers are not recorded: the task left like that and comes back at most 100 µs after a
// dl_task_timer of that CPU, and no other deadline task ran in the trace.
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
	if own := p.a.ownTimer(p.w.Task.ID); own != nil {
		start, end := own.around(p.from)
		if end != event.NoTime && !p.w.Open() && p.w.OnCPU-end <= afterTimer {
			end = max(end, p.w.OnCPU) // the way to the switch is a part of it
		}
		if start == event.NoTime || end != event.NoTime && end <= p.from {
			return Interval{}, false
		}
		i.Verdict = Proven
		i.Evidence = []Ref{{start, p.w.CPU}, {end, p.cpu}}
		return i, true
	}
	if p.w.Kind == latency.Wakeup {
		return Interval{}, false
	}
	i.Evidence = []Ref{{p.w.Woken, p.w.CPU}}
	if !p.w.Open() {
		last := p.w.CPUAt(p.w.OnCPU)
		i.Evidence = append(i.Evidence, Ref{p.w.OnCPU, last})
		if last >= 0 && int(last) < len(p.a.dlTimer) {
			if e, ok := lastExpiry(p.a.dlTimer[last], p.w.OnCPU); ok && e.At >= p.w.Woken && p.w.OnCPU-e.At <= afterTimer {
				i.Evidence = append(i.Evidence, Ref{e.At, e.CPU})
				if p.a.deadlineTasks == 1 {
					i.Verdict = Proven
				} else {
					i.Detail, i.Needs = "or the timer was another deadline task's", []string{"timer:hrtimer_start"}
				}
				return i, true
			}
		}
		if p.a.x.Occurs(event.HrtimerExpireEntry) {
			return Interval{}, false
		}
	}
	if p.run == nil || p.cur.class <= ClassDeadline {
		return Interval{}, false
	}
	i.Detail = "a task that goes after it ran meanwhile"
	i.Needs = []string{"timer:hrtimer_expire_entry"}
	return i, true
}

// ownTimer is when the dl_task_timer of one task was started and when it expired.
type ownTimer struct{ starts, expiries []event.Time }

// around returns the newest start at or before t and the first expiry after that start;
// NoTime where there is none.
func (o *ownTimer) around(t event.Time) (start, end event.Time) {
	n := sort.Search(len(o.starts), func(i int) bool { return o.starts[i] > t })
	if n == 0 {
		return event.NoTime, event.NoTime
	}
	start = o.starts[n-1]
	return start, o.next(start)
}

// next returns the first expiry after t, NoTime if there is none.
func (o *ownTimer) next(t event.Time) event.Time {
	n := sort.Search(len(o.expiries), func(i int) bool { return o.expiries[i] > t })
	if n == len(o.expiries) {
		return event.NoTime
	}
	return o.expiries[n]
}

// ownTimer returns the timer of task id, nil if its throttling was not seen.
func (a *Analysis) ownTimer(id timeline.TaskID) *ownTimer { return a.ownTimers[id] }

// collectOwnTimers ties expiries to the deadline tasks whose timers they are.
func (a *Analysis) collectOwnTimers() {
	byAddress := make(map[int64][]event.Time)
	for _, list := range a.dlTimer {
		for _, e := range list {
			byAddress[e.Timer] = append(byAddress[e.Timer], e.At)
		}
	}
	a.ownTimers = make(map[timeline.TaskID]*ownTimer)
	for id := range a.x.Tasks {
		ti := &a.x.Tasks[id]
		if ti.DLTimer == event.NoArg {
			continue
		}
		list := byAddress[ti.DLTimer]
		slices.Sort(list)
		a.ownTimers[timeline.TaskID(id)] = &ownTimer{ti.Throttled, list}
	}
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
