package cause

import (
	"fmt"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// rtThrottled: the real-time tasks of the CPU had used up sched_rt_runtime_us, and the
// kernel kept all of them off it until the next sched_rt_period_us.
//
// Shown by: a switch from a real-time task that could go on (R) to a fair task or to
// idle, on a kernel without fair servers, until the first switch to a real-time task at
// most 100 µs after sched_rt_period_timer has expired, on whichever CPU that was. Stop
// class, deadline tasks and fair tasks that become real-time may run inside; they are no
// counter-evidence.
//
// The budget may also run out at the moment at which a real-time task goes to sleep. Then the
// start does not show, and it is likely at most: a real-time task was queued for more than
// 100 µs before sched_rt_period_timer expired, all that time a fair task or idle had the CPU,
// and at most 100 µs after the expiry a real-time task has it.
//
// Or a fair task or idle is chosen, after a deadline or stop-class task, while a real-time task
// is in the queue: it was kept off since then at least.
//
// Proven: start and end are seen, and the sum S of sched_stat_runtime of the real-time
// and deadline tasks of this CPU since the last expiry is known: the budget R then lies in
// (S − tick, S], which is printed; over n periods one after the other that all ended so, in
// ((S − tick)/n, S/n], for debts are carried over. Where deadline tasks ran too, it is at most S:
// they go on when the budget is used up. Where the machine's snapshot has R, it must lie
// there, up to a tick above, or above by the debt of periods before (unless CPUs borrow:
// RT_RUNTIME_SHARE), else likely; and then it is also proven without
// charges, if by the switches alone they ran for R, give or take a tick. Else likely, from the
// pattern alone.
//
// Not this: a real-time task that leaves with R for a fair one on a kernel with fair
// servers; the timer's expiry without the switch; a real-time task that goes to sleep with
// nobody of its class queued, or before one that becomes real-time in its next run and keeps
// the CPU for more than a tick.
var rtThrottled = Kind{
	Name:  "rt_throttled",
	Title: "real-time throttling",
	Needs: []event.Kind{event.SchedSwitch, event.HrtimerExpireEntry, event.SchedStatRuntime},
	Best:  Proven,
	On:    func(f kernel.Facts) kernel.Answer { return f.RTThrottling },
}

func matchRTThrottled(p *piece) (Interval, bool) {
	if p.waiter.class != ClassRT {
		return Interval{}, false
	}
	w := in(windowsOf(p.a.throttled, p.cpu), p.from)
	if w == nil || w.quiet && w.ends-p.since <= idleExitLongest {
		return Interval{}, false
	}
	if e, ok := lastExpiry(p.a.rtPeriod, p.from); ok && e.At > w.from && !p.lower() && p.run != nil && !p.cur.task.Idle() {
		return Interval{}, false // it is over: who runs now has the CPU by right
	}
	return p.windowed(&rtThrottled, w), true
}

// windowed returns the piece as caused by a window.
func (p *piece) windowed(k *Kind, w *window) Interval {
	i := p.interval(k, w.verdict)
	i.Detail, i.Needs, i.Evidence = w.detail, w.needs, w.evidence
	if w.culprit != timeline.NoTask {
		t := p.a.x.Tracker.Task(w.culprit)
		i.blameTask(t, t.Comm, t.Prio)
	}
	return i
}

// mostBoosted bounds how many boosted tasks one throttled stretch lets run inside.
const mostBoosted = 1000

// throttledWindow decides whether w, which ends before runs[end], is RT throttling, and
// how sure that is. It moves the end of w over boosted tasks, which may run inside. runs
// are those up to the end of what is known.
func (a *Analysis) throttledWindow(c event.CPU, runs []timeline.Run, end int, w *window) bool {
	if !a.throttles() {
		return false
	}
	if !a.x.Occurs(event.HrtimerExpireEntry) {
		a.blameBudget(c, w, false)
		return true
	}
	until := w.to
	if end < len(runs) {
		until = runs[len(runs)-1].End
	}
	for range mostBoosted {
		if end == len(runs) {
			break
		}
		w.to = runs[end].Start
		e, ok := lastExpiry(a.rtPeriod, w.to)
		if ok && e.At > w.from && w.to-e.At <= afterTimer {
			w.evidence = append(w.evidence[:1:1], Ref{e.At, e.CPU}, Ref{w.to, c})
			w.ends = e.At
			a.blameBudget(c, w, true)
			return true
		}
		if _, _, boosted := a.x.PrioAt(&runs[end], w.to); !boosted {
			return false // a real-time task ran although nothing had ended the window
		}
		end = a.nextRealTime(runs, end+1)
	}
	if end < len(runs) || len(a.rtPeriod) == 0 {
		return false
	}
	w.to = until // the trace, or what is known of it, ends within the window
	a.blameBudget(c, w, false)
	return true
}

// quietWindow returns the window between runs[i], in which a real-time task went to sleep, and
// the next real-time run, if sched_rt_period_timer ended it. Only whoever was queued in it can
// tell whether it was one.
func (a *Analysis) quietWindow(c event.CPU, runs []timeline.Run, i int) (window, bool) {
	prev := &runs[i]
	if a.x.Facts.FairServer == kernel.Yes || !a.throttles() || prev.State.Runnable() || !a.leaves(prev, &runs[i+1]) {
		return window{}, false
	}
	end := a.nextRealTime(runs, i+1)
	if end == len(runs) || a.staysRealTime(runs[i+1:end]) {
		return window{}, false
	}
	w := window{from: prev.End, to: runs[end].Start, culprit: timeline.NoTask, quiet: true}
	e, ok := lastExpiry(a.rtPeriod, w.to)
	if !ok || w.to-e.At > afterTimer || e.At <= w.from {
		return window{}, false
	}
	// A second expiry in between would have ended it; lost events may hide anything.
	before, ok := lastExpiry(a.rtPeriod, e.At-1)
	if ok && before.At > w.from || len(timeline.Overlapping(a.x.CPUs[c].Gaps, w.from, w.to)) > 0 {
		return window{}, false
	}
	w.ends, w.evidence = e.At, []Ref{{w.from, c}, {e.At, e.CPU}, {w.to, c}}
	a.blameBudget(c, &w, true)
	w.verdict = Likely
	return w, true
}

// budgetOf bounds the runtime R that was used up at the start of w, of which sum was charged
// since the period began at from. What is used beyond R, up to a tick, is a debt of the next
// period; so over n periods one after the other that all ended dark, n·R < sum ≤ n·R + tick.
// A deadline task that had the CPU up to until goes on although R is used up: then 0 is the least.
func (a *Analysis) budgetOf(c event.CPU, w *window, from, until event.Time, sum int64) (least, most int64) {
	w.budgetFrom, w.periods = from, 1
	since := from
	if list := a.throttled[c]; len(list) > 0 {
		// Of a quiet one nobody knows whether it was one.
		if last := &list[len(list)-1]; last.ends == from && last.periods > 0 && !last.quiet {
			w.budgetFrom, w.periods = last.budgetFrom, last.periods+1
			w.deadline, since = last.deadline, last.until
			sum = a.charged(c, w.budgetFrom, w.from)
		}
	}
	w.until = until
	if w.deadline = w.deadline || a.deadlineRan(c, since, until); !w.deadline {
		least = (sum - int64(a.tick)) / w.periods
	}
	return least, sum / w.periods
}

// staysRealTime reports whether a task that became real-time in one of the runs was left on the
// CPU for more than a tick: with the budget used up the next tick would have ended its run.
func (a *Analysis) staysRealTime(runs []timeline.Run) bool {
	for i := range runs {
		if r := &runs[i]; a.realTime(r, r.PrioOut) && r.End-r.Start > a.tick+afterTimer {
			return true
		}
	}
	return false
}

// blameBudget names who used the budget that ran out at the start of w.
func (a *Analysis) blameBudget(c event.CPU, w *window, endSeen bool) {
	w.verdict = Likely
	from := w.from - a.rtPeriodLength()
	e, began := lastExpiry(a.rtPeriod, w.from)
	if began = began && e.At > from-a.tick; began {
		from = e.At
		w.evidence = append(w.evidence, Ref{e.At, e.CPU})
	}
	// Only a real-time task finds out that the budget is used up: what a deadline task runs
	// after the last of them is none of it.
	until := a.lastRealTime(c, from, w.from)
	users, sum := a.usage(c, from, until)
	whole := len(timeline.Overlapping(a.x.CPUs[c].Gaps, from, w.from)) == 0
	exact := len(users) > 0 && whole
	if len(users) == 0 {
		users, sum = a.usageBySwitches(c, from, until)
	}
	if len(users) > 0 {
		w.culprit = users[0].task
	}
	w.detail = fmt.Sprintf("RT tasks kept off CPU %d for %s; budget used by %s", c, millis(int64(w.to-w.from)), a.describe(users))
	switch {
	case began && exact && endSeen:
		w.verdict = Proven
		w.least, w.most = a.budgetOf(c, w, e.At, until, sum)
		a.compareBudget(c, w, until)
	case began && whole && endSeen && a.fitsBudget(sum):
		w.verdict = Proven
		w.detail += a.saysBudget()
		return
	case !began:
		w.detail += " in the second before"
		w.needs = append(w.needs, "timer:hrtimer_expire_entry")
	}
	if !exact {
		w.needs = append(w.needs, "sched:sched_stat_runtime")
	}
	if began && endSeen && !exact {
		w.least, w.most = sum-int64(a.tick), sum+int64(a.tick)
	}
	if !endSeen && began {
		w.detail += "; its end is not in the trace"
	}
}

// compareBudget holds what was used of the budget of w to what the snapshot says of it.
// Less than a tick of runtime is nothing that a tick could enforce.
func (a *Analysis) compareBudget(c event.CPU, w *window, until event.Time) {
	runtime, _, known := a.rtBandwidth()
	bounds := fmt.Sprintf("sched_rt_runtime_us is more than %d and at most %d", w.least/1000, w.most/1000)
	if w.least == 0 {
		bounds = fmt.Sprintf("sched_rt_runtime_us is at most %d", w.most/1000)
	}
	switch {
	case !known || a.sharesRuntime():
		w.detail += " (" + bounds + ")"
	case (w.least < runtime || runtime < int64(a.tick)) && (runtime <= w.most+int64(a.tick) || a.inDebt(c, w.from, until, runtime)):
		w.detail += a.saysBudget()
	default:
		w.verdict = Likely
		w.detail += fmt.Sprintf(" (%s; the machine's snapshot has %d, which does not fit)", bounds, runtime/1000)
		w.least, w.most = 0, 0
	}
}

// mostDebts bounds over how many periods a debt is followed.
const mostDebts = 16

// inDebt reports whether, over some periods up to the one of at, as much was used of c as
// runtime allows in all of them: what is used beyond it is taken from the next.
func (a *Analysis) inDebt(c event.CPU, at, until event.Time, runtime int64) bool {
	n := sort.Search(len(a.rtPeriod), func(i int) bool { return a.rtPeriod[i].At > at })
	for k := 1; k <= mostDebts && n-k >= 0; k++ {
		if a.charged(c, a.rtPeriod[n-k].At, until) >= int64(k)*runtime {
			return true
		}
	}
	return false
}

// deadlineRan reports whether a deadline task held c within (from, to].
func (a *Analysis) deadlineRan(c event.CPU, from, to event.Time) bool {
	runs := a.x.CPUs[c].Runs
	i := sort.Search(len(runs), func(i int) bool { return runs[i].End > from })
	for ; i < len(runs) && runs[i].Start < to; i++ {
		if runs[i].PrioIn.Deadline() || runs[i].PrioOut.Deadline() {
			return true
		}
	}
	return false
}

// fitsBudget reports whether sum, which switches show and no charges, is the whole budget, by
// the snapshot.
func (a *Analysis) fitsBudget(sum int64) bool {
	runtime, _, known := a.rtBandwidth()
	return known && runtime > 0 && !a.sharesRuntime() && max(sum-runtime, runtime-sum) <= int64(a.tick)
}

// saysBudget is what the snapshot has of the budget.
func (a *Analysis) saysBudget() string {
	runtime, period, _ := a.rtBandwidth()
	return fmt.Sprintf(" (of sched_rt_runtime_us %d in %d)", runtime/1000, period/1000)
}

// lastRealTime returns when a real-time task was last switched out on c within (from, t], from if
// none was, t if the trace has none before.
func (a *Analysis) lastRealTime(c event.CPU, from, t event.Time) event.Time {
	runs := a.x.CPUs[c].Runs
	i := sort.Search(len(runs), func(i int) bool { return runs[i].End > t })
	for i--; i >= 0; i-- {
		if runs[i].End <= from {
			return from
		}
		if a.realTime(&runs[i], runs[i].PrioOut) {
			return runs[i].End
		}
	}
	return t
}
