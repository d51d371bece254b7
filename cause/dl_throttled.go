package cause

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
)

// dlThrottled: a deadline task had used up its runtime and waited for its replenishment.
//
// Shown and proven by: the task leaves at priority −1 although it could go on (R), and
// comes back at most 100 µs after dl_task_timer expired on that CPU.
//
// Likely: it leaves the same way for a task that goes after it, or for idle, and timer
// events are not recorded or its return is not in the trace.
//
// Not this: a deadline task that another deadline task preempts; dl_task_timer of
// another task, after which this one does not come back.
var dlThrottled = Kind{
	Name:  "dl_throttled",
	Title: "deadline throttling",
	Needs: []event.Kind{event.SchedSwitch, event.HrtimerExpireEntry},
	Best:  Proven,
}

func matchDLThrottled(p *piece) (Interval, bool) {
	if p.waiter.class != ClassDeadline || p.w.Kind == latency.Wakeup {
		return Interval{}, false
	}
	i := p.interval(&dlThrottled, Likely)
	i.Evidence = []Ref{{p.w.Woken, p.w.CPU}}
	if !p.w.Open() {
		last := p.w.CPUAt(p.w.OnCPU)
		i.Evidence = append(i.Evidence, Ref{p.w.OnCPU, last})
		if int(last) < len(p.a.dlTimer) && last >= 0 {
			if e, ok := lastExpiry(p.a.dlTimer[last], p.w.OnCPU); ok && e.At >= p.w.Woken && p.w.OnCPU-e.At <= afterTimer {
				i.Verdict = Proven
				i.Evidence = append(i.Evidence, Ref{e.At, e.CPU})
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
