package cause

import (
	"fmt"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// fairServer: a fair task that real-time tasks had starved got its time from the
// deadline server of the CPU, in front of every real-time task. It is no priority
// inversion and no RT throttling, and sched_rt_runtime_us = −1 does not switch it off.
//
// Shown by: dl_task_timer expires on the CPU and at most 100 µs later a real-time task
// that could go on (R) makes way for a fair task, on a kernel that has deadline servers;
// until the next switch to a real-time task.
//
// Proven: all of it is seen, and it lasts at most the server's runtime (50 ms unless the
// machine's snapshot says otherwise) and one tick. Else likely; also while a fair task that
// runs inside may have become real-time, from when on it has the CPU by right.
//
// The server may also begin while only fair tasks run: then no real-time task makes way. Likely
// is that where a real-time task is queued, the scheduler is asked, and the fair task that
// it charges goes on.
//
// Not this: an expiry that only arms the timer again, without the switch; the
// replenishment of a deadline task, after which that task runs; idle instead of a fair
// task; a longer stretch that no expiry began.
var fairServer = Kind{
	Name:  "fair_server",
	Title: "fair server",
	Needs: []event.Kind{event.SchedSwitch, event.HrtimerExpireEntry},
	Best:  Proven,
	On:    func(f kernel.Facts) kernel.Answer { return f.FairServer },
}

func matchFairServer(p *piece) (Interval, bool) {
	if p.waiter.class != ClassRT {
		return Interval{}, false
	}
	w := in(windowsOf(p.a.served, p.cpu), p.from)
	// A fair task that becomes real-time meanwhile, or inherits that, has the CPU by right.
	if w == nil || p.run != nil && !p.cur.inferred && p.cur.class < ClassFair && p.cur.class != ClassUnknown && p.cur.class != ClassStop {
		return Interval{}, false
	}
	i := p.windowed(&fairServer, w)
	if p.run != nil && p.cur.class == ClassFair {
		i.blameTask(p.cur.task, p.run.Comm, p.cur.prio)
	}
	if p.run != nil && p.cur.inferred {
		i.Verdict = min(i.Verdict, Likely) // from when on it has the CPU by right does not show
	}
	return i, true
}

// serverWindow decides whether w on c is the fair server's, and how sure that is.
func (a *Analysis) serverWindow(c event.CPU, w *window, ended bool) bool {
	if a.x.Facts.FairServer == kernel.No {
		return false
	}
	e, ok := lastExpiry(a.dlTimer[c], w.from)
	started := ok && w.from-e.At <= afterTimer
	if a.x.Facts.FairServer == kernel.Maybe && !started {
		return false
	}
	length := w.to - w.from
	longest := event.Time(a.serverRuntime(c)) + a.tick
	if !started && length > longest {
		return false // neither its beginning nor its length speaks for it
	}
	w.detail = fmt.Sprintf("deadline server of CPU %d ran fair tasks in front of RT for %s", c, millis(int64(length)))
	w.verdict = Likely
	switch {
	case started:
		w.evidence = append([]Ref{{e.At, e.CPU}}, w.evidence...)
		if ended && length <= longest && a.x.Facts.FairServer == kernel.Yes {
			w.verdict = Proven
		}
	case a.x.Occurs(event.HrtimerExpireEntry):
		w.detail += "; no dl_task_timer is seen before it"
	default:
		w.needs = append(w.needs, "timer:hrtimer_expire_entry")
	}
	return true
}

// findKept looks for fair tasks that the scheduler chose again with a real-time task in the
// queue, which only a deadline server makes it do.
func (a *Analysis) findKept(c event.CPU) {
	if a.x.Facts.FairServer != kernel.Yes {
		return
	}
	ci := &a.x.CPUs[c]
	last := event.NoTime
	for _, k := range ci.Kept {
		at := k.To
		if last != event.NoTime && at < last || in(a.served[c], at) != nil {
			continue
		}
		i := sort.Search(len(ci.Runs), func(i int) bool { return ci.Runs[i].End > at })
		if i == len(ci.Runs) || ci.Runs[i].Start >= at {
			continue
		}
		w := window{from: max(k.From, ci.Runs[i].Start), to: a.x.To, culprit: timeline.NoTask, evidence: []Ref{{at, c}}}
		if lost := firstEnding(ci.Gaps, at); lost < len(ci.Gaps) {
			w.to = min(w.to, ci.Gaps[lost].From)
		}
		if end := a.nextRealTime(ci.Runs, i+1); end < len(ci.Runs) {
			w.to = min(w.to, ci.Runs[end].Start)
		}
		last = max(w.to, at+windowsApart)
		if w.to > at && a.serverWindow(c, &w, true) {
			w.from = max(w.from-atOnce, ci.Runs[i].Start) // the wake began before the task was queued
			w.verdict = min(w.verdict, Likely)
			w.detail += "; the scheduler kept them on it when it was asked"
			a.served[c] = append(a.served[c], w)
		}
	}
	sort.SliceStable(a.served[c], func(i, j int) bool { return a.served[c][i].from < a.served[c][j].from })
}
