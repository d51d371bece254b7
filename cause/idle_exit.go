package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
)

// idleExit: the CPU was idle and on its way to the task: the wake had to reach it, it had
// to leave its idle state and to switch.
//
// Shown by: the idle task is current from the wake on.
//
// Proven: the wake was executed on that CPU, which then switches within a tick, or cpu_idle
// or IPI events show it leave the idle state meanwhile. Likely: neither is seen and it
// lasts at most 100 µs.
//
// Not this: a CPU that went idle with the task in its queue, or stayed idle for longer
// without such events: that is unknown.
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
	n := sort.Search(len(signs), func(i int) bool { return signs[i] >= from })
	switch {
	case n < len(signs) && signs[n] <= to:
		i.Verdict = Proven
		i.Evidence = []Ref{{signs[n], p.cpu}}
	case p.w.Waker.CPU == p.cpu && p.w.Kind == latency.Wakeup && to-from <= p.a.tick:
		i.Verdict = Proven
		i.Evidence = []Ref{{p.w.Woken, p.cpu}}
	case to-from > idleExitLongest:
		return Interval{}, false
	default:
		i.Needs = []string{"power:cpu_idle", "ipi:ipi_entry"}
	}
	if p.w.Queued != event.NoTime && p.from < p.w.Queued {
		i.Detail = "in flight"
	}
	return i, true
}
