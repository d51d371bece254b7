package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
)

// idleExit: the CPU was idle and on its way to the task: the wake had to reach it, it had
// to leave its idle state and to switch.
//
// Shown by: the idle task is current from the wake on.
//
// Proven: cpu_idle, IPI or call-function events show it leave the idle state, up to that
// moment and for at most 100 µs after it; or the wake was executed on that CPU, which then
// switches within a tick and is not one on which real-time tasks may be throttled. Likely:
// neither is seen and it lasts at most 100 µs.
//
// Not this: a CPU that went idle with the task in its queue, or stayed idle for longer
// without such events, or that had left its idle state and still did not switch: that is
// unknown.
var idleExit = Kind{
	Name:  "idle_exit",
	Title: "idle exit",
	Needs: []event.Kind{event.CPUIdle, event.IPIEntry},
	Best:  Proven,
}

// idleExitLongest is how long an idle CPU may take for a wake without events that show
// its way out.
const idleExitLongest event.Time = 100_000

func matchIdleExit(p *piece) (Interval, bool) {
	if p.run == nil || !p.cur.task.Idle() || p.cameAfter() {
		return Interval{}, false
	}
	from, to := max(p.since, p.run.Start), min(p.run.End, p.end)
	i := p.interval(&idleExit, Likely)
	signs := p.ci.Idle
	next := sort.Search(len(signs), func(i int) bool { return signs[i] > p.from })
	here := p.w.Waker.CPU == p.cpu || p.w.QueuedBy == p.cpu
	switch {
	case next < len(signs) && signs[next] <= to:
		i.Verdict, i.Evidence = Proven, []Ref{{signs[next], p.cpu}}
	case next > 0 && signs[next-1] >= from:
		if to-signs[next-1] > idleExitLongest {
			return Interval{}, false
		}
		i.Verdict, i.Evidence = Proven, []Ref{{signs[next-1], p.cpu}}
	case here && p.w.Kind == latency.Wakeup && to-from <= p.a.tick && !p.mayBeKeptOff(to-from, to):
		i.Verdict, i.Evidence = Proven, []Ref{{p.w.Woken, p.cpu}}
	case to-from > idleExitLongest:
		return Interval{}, false
	default:
		i.Needs = idleNeeds
	}
	if p.w.Queued != event.NoTime && p.from < p.w.Queued {
		i.Detail = "in flight"
	}
	if p.keptOffUnseen(to) {
		i.Verdict = Likely
	}
	return i, true
}

// mayBeKeptOff reports whether RT throttling that does not show may have kept the waiter from
// an idle CPU for so long, until to: nothing else would for more than idleExitLongest, and
// only an expiry of sched_rt_period_timer ends it.
func (p *piece) mayBeKeptOff(long, to event.Time) bool {
	if p.waiter.class != ClassRT || long <= idleExitLongest || !p.a.throttles() {
		return false
	}
	if !p.a.x.Occurs(event.HrtimerExpireEntry) {
		return true
	}
	e, ok := lastExpiry(p.a.rtPeriod, to)
	return ok && to-e.At <= afterTimer
}

// keptOffUnseen reports whether the real-time tasks of this CPU may have been kept off it
// until to, when its current task leaves, without a sign of that: the period timer expired
// meanwhile, or the one that comes then is no real-time task either.
func (p *piece) keptOffUnseen(to event.Time) bool {
	if p.waiter.class != ClassRT || !p.a.throttles() && p.a.x.Facts.FairServer == kernel.No {
		return false
	}
	if e, ok := lastExpiry(p.a.rtPeriod, to); ok && e.At >= p.from && p.a.throttles() {
		return true
	}
	if p.n+1 >= len(p.ci.Runs) || to != p.run.End {
		return false
	}
	next := &p.ci.Runs[p.n+1]
	return next.Task != p.w.Task.ID && !p.a.realTime(next, next.PrioIn)
}

// idleNeeds has the events that show a CPU leave its idle state, or another one call it.
var idleNeeds = []string{"power:cpu_idle", "ipi:ipi_entry", "irq_vectors:reschedule_entry", "irq_vectors:call_function_single_entry"}
