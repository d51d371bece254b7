package cause

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// Due is when the wake of w should have happened, NoTime where that is not known.
func (a *Analysis) Due(w *latency.Wait) event.Time { return a.dueFor(w).at }

// TimerOffset is the clock of the timer base of e less that of the trace, in ns, from the
// expiries around e; false where none tells.
func (a *Analysis) TimerOffset(e timeline.Expiry) (ns int64, ok bool) { return a.clocks.offset(e) }

// ExitFrom is from when task id gave back what it had as it died: from the first event that
// only a dying task has, or earlier in the same run where likely that was its exit already
// (likely is set then). NoTime: it did not die, or nothing tells.
func (a *Analysis) ExitFrom(id timeline.TaskID) (from event.Time, likely bool) {
	if int(id) >= len(a.x.Tasks) {
		return event.NoTime, false
	}
	mark, early := a.x.Tasks[id].ExitMark, a.exitFrom(id)
	if early != event.NoTime && (mark == event.NoTime || early < mark) {
		return early, true
	}
	return mark, false
}

// RTRuntime bounds what real-time tasks may use of a CPU in each period, in ns, by the snapshot,
// else by the stretches in which they were proven to be throttled: more than least, at most most.
// Without such it is by the likely one in front of which they had used most: with less they were
// not throttled, however it looks. One that began with a sleep tells nothing: that the next
// real-time task came with a new period may be chance. false: nothing tells, or it contradicts itself, or by the
// snapshot there is no limit.
func (a *Analysis) RTRuntime() (least, most int64, ok bool) {
	if runtime, _, known := a.rtBandwidth(); known {
		return runtime - 1, runtime, runtime > 0
	}
	var likely *window
	for c := range a.throttled {
		for i := range a.throttled[c] {
			w := a.throttled[c][i]
			// The tick that found it used up is some µs before the switch, and so is what was charged
			// in between.
			w.least -= int64(atOnce) / max(1, w.periods)
			switch {
			case w.most <= 0, w.quiet:
			case w.verdict != Proven:
				if likely == nil || w.most > likely.most {
					likely = &w
				}
			case !ok:
				least, most, ok = w.least, w.most, true
			default:
				least, most = max(least, w.least), min(most, w.most)
			}
		}
	}
	if !ok && likely != nil {
		return likely.least, likely.most, true
	}
	return least, most, ok && least < most
}

// Throttled reports whether real-time tasks of any CPU were seen to be throttled.
func (a *Analysis) Throttled() bool {
	for c := range a.throttled {
		if len(a.throttled[c]) > 0 {
			return true
		}
	}
	return false
}

// Grid is the regularity of a task that timers wake.
type Grid struct{ p period }

// GridOf fits a grid to times in their order: at least 20, of which three of four come at most
// a twentieth of its distance after its points. false: there is none.
func GridOf(times []event.Time) (Grid, bool) {
	p, ok := periodOf(times)
	return Grid{p}, ok
}

// Every is the distance of two points in ns.
func (g Grid) Every() event.Time { return event.Time(g.p.length / 1000) }

// Before is the last point of the grid at or before t; t itself where that lies before them all.
func (g Grid) Before(t event.Time) event.Time {
	if t < g.p.phase {
		return t
	}
	return g.p.grid(t)
}
