package cause

import (
	"fmt"
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// period is the regularity of a task that a timer wakes: it should be woken at
// phase + n·length for whole n.
type period struct {
	phase  event.Time
	length int64      // ps: a trace can have a million turns
	slop   event.Time // a wake up to this much after its due time is ordinary
	wakes  int
}

// grid returns the last point of the grid at or before t, which lies after phase.
func (p *period) grid(t event.Time) event.Time {
	turns := int64(t-p.phase) * 1000 / p.length
	return p.phase + event.Time(turns*p.length/1000)
}

const (
	// leastWakes is how many wakes make a regularity.
	leastWakes = 20
	// regular is the share, one in so many, of the period within which three of four
	// wakes must come.
	regular = 20
	// roundTo is what programmed periods are multiples of, in ps: 10 µs.
	roundTo int64 = 10_000_000
	// longestSpan bounds the time that a period is fitted to: 100 minutes in picoseconds
	// fit into 63 bits.
	longestSpan event.Time = 6_000e9
	// leastSlop is the smallest lateness that an inferred period is believed to show.
	leastSlop event.Time = 50_000
)

// findPeriods infers the periods of sleepers where the trace has no timer events.
func (a *Analysis) findPeriods() {
	if a.x.Occurs(event.HrtimerExpireEntry) {
		return
	}
	a.periods = make(map[timeline.TaskID]period)
	for id := range a.x.Tasks {
		if p, ok := periodOf(a.x.Tasks[id].TimerWakes); ok {
			a.periods[timeline.TaskID(id)] = p
		}
	}
}

// periodOf fits a period to wakes, which are in order: the median distance first, then
// the median over ever longer stretches. A wake can only be late, so the earliest of them
// relative to the grid fixes its phase.
func periodOf(wakes []event.Time) (period, bool) {
	n := len(wakes)
	if n < leastWakes || wakes[n-1]-wakes[0] > longestSpan {
		return period{}, false
	}
	length := int64(0)
	for _, apart := range []int{1, 8, n / 4, n / 2} {
		if apart < n {
			length = medianTurn(wakes, apart, length)
		}
		if length < 1000 {
			return period{}, false
		}
	}
	// People program round periods; the clocks of timers and trace drift a little apart.
	if round := (length + roundTo/2) / roundTo * roundTo; round > 0 {
		if p, ok := fit(wakes, round); ok {
			return p, true
		}
	}
	return fit(wakes, length)
}

// fit lays a grid of the given length under wakes: on the circle of one turn it looks for
// the shortest arc that holds three of four wakes, and takes its start for the due time.
func fit(wakes []event.Time, length int64) (period, bool) {
	n := len(wakes)
	p := period{phase: wakes[0], length: length, wakes: n}
	on := make([]event.Time, n)
	for i, w := range wakes {
		on[i] = w - p.grid(w)
	}
	slices.Sort(on)
	turn := event.Time(length / 1000)
	best, arc, most := 0, turn, n*3/4
	for i := range on {
		end := on[(i+most)%n]
		if i+most >= n {
			end += turn
		}
		if d := end - on[i]; d < arc {
			best, arc = i, d
		}
	}
	if arc > turn/regular {
		return period{}, false
	}
	p.phase += on[best]
	if on[best] > turn/2 {
		p.phase -= turn // the first wake itself was late
	}
	p.slop = max(2*arc, leastSlop)
	return p, true
}

// medianTurn returns the median length in ps of one turn, measured between wakes that
// lie apart in the list, given the length of a turn as known so far (0: not yet).
func medianTurn(wakes []event.Time, apart int, known int64) int64 {
	list := make([]int64, 0, len(wakes)-apart)
	for i := apart; i < len(wakes); i++ {
		d := int64(wakes[i]-wakes[i-apart]) * 1000
		turns := int64(1)
		if known > 0 {
			turns = max(1, (d+known/2)/known)
		}
		list = append(list, d/turns)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// dueByPeriod takes the first point of the task's own grid after it went to sleep: there
// its timer must have been set, however late it then was.
func (a *Analysis) dueByPeriod(w *latency.Wait) due {
	none := due{at: event.NoTime}
	p, ok := a.periods[w.Task.ID]
	if !ok || w.Left == event.NoTime || w.Left < p.phase {
		return none
	}
	wakes := a.x.Tasks[w.Task.ID].TimerWakes
	if i := sort.Search(len(wakes), func(i int) bool { return wakes[i] >= w.Woken }); i == len(wakes) || wakes[i] != w.Woken {
		return none // something else woke it
	}
	at := p.grid(w.Left + event.Time(p.length/1000))
	if w.Woken-at < p.slop {
		return none
	}
	return due{at: at, verdict: Likely, detail: fmt.Sprintf("a period of %d.%d µs inferred from %d wakes; record timer:hrtimer_start and timer:hrtimer_expire_entry",
		p.length/1e6, p.length%1e6/1e5, p.wakes)}
}
