package replay

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// lowRes is what timers tell of a kernel without high-resolution timers (highres=off): the
// distance of its ticks, 0 for a kernel that has them, and a time at which it ticked.
type lowRes struct{ tick, phase event.Time }

// The kernels' HZ as distances of two ticks, longest first.
var ticks = [...]event.Time{10_000_000, 4_000_000, 3_333_333, 1_000_000}

const (
	leastExpiries = 20
	// busyEnough is how long tasks must have had a CPU that surely would have ticked.
	busyEnough event.Time = 200_000_000
)

// lowResOf finds out whether timers expire at ticks only. With high-resolution timers the tick
// is one of them and leaves its own events; without, nineteen of twenty expiries come in the
// first twentieth of a tick.
func lowResOf(x *timeline.Index) lowRes {
	if !x.Occurs(event.HrtimerExpireEntry) {
		return lowRes{}
	}
	var at []event.Time
	busy := event.Time(0)
	for c := range x.CPUs {
		for _, r := range x.CPUs[c].Runs {
			if !x.Tracker.Task(r.Task).Idle() {
				busy += r.End - r.Start
			}
		}
		for _, e := range x.CPUs[c].Expiries {
			if isTick(x, e.Func) {
				return lowRes{}
			}
			if e.Hard && e.At >= x.From {
				at = append(at, e.At-x.From)
			}
		}
	}
	if len(at) < leastExpiries || busy < busyEnough {
		return lowRes{}
	}
	on := make([]event.Time, len(at))
	for _, tick := range ticks {
		for i, t := range at {
			on[i] = t % tick
		}
		if phase, arc := shortestArc(on, tick, len(on)*19/20); arc <= tick/20 {
			// What came a little earlier was less late.
			for _, t := range on {
				if early := (phase - t + tick) % tick; early <= tick/20-arc {
					phase, arc = phase-early, arc+early
				}
			}
			return lowRes{tick, x.From + phase}
		}
	}
	return lowRes{}
}

// isTick reports whether a timer's function is that of the tick.
func isTick(x *timeline.Index, function event.Name) bool {
	return function == x.Names.Intern("tick_sched_timer") || function == x.Names.Intern("tick_nohz_handler")
}

// tickBefore is the last tick at or before t.
func (r *reader) tickBefore(t event.Time) event.Time {
	d := (t - r.look.low.phase) % r.look.low.tick
	if d < 0 {
		d += r.look.low.tick
	}
	return t - d
}

// shortestArc is where the shortest arc of a circle begins that holds most+1 of the points on
// it, which are ordered by this, and how long it is.
func shortestArc(on []event.Time, circle event.Time, most int) (begin, arc event.Time) {
	slices.Sort(on)
	n := len(on)
	most = min(most, n-1)
	begin, arc = on[0], circle
	for i := range on {
		end := on[(i+most)%n]
		if i+most >= n {
			end += circle
		}
		if d := end - on[i]; d < arc {
			begin, arc = on[i], d
		}
	}
	return begin, arc
}
