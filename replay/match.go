package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
)

// Pair is a wait of the recording and the same wait of a run. One of them is nil where the
// other side has none: a task that did not have to wait there, or did not come so far.
type Pair struct {
	Recorded, Run *Wait
}

// Match pairs waits by their keys, in the order of these. Both lists must be sorted by key
// (SortWaits), as those of a Load and of a Run are; the pairs point into them. Of a task that is
// taken off its CPU several times between two sleeps the numbers say little, since one time
// more would move all that follow: of these waits two are a pair if none of either side began
// closer to the other one.
func Match(recorded, run []Wait) []Pair {
	pairs := make([]Pair, 0, max(len(recorded), len(run)))
	for len(recorded) > 0 || len(run) > 0 {
		a, b := sameCycle(recorded), sameCycle(run)
		switch {
		case len(b) == 0:
			b = nil
		case len(a) == 0:
			a = nil
		default:
			x, y := a[0].Key, b[0].Key
			x.N, y.N = 0, 0
			if order := x.Compare(y); order < 0 {
				b = nil
			} else if order > 0 {
				a = nil
			}
		}
		recorded, run = recorded[len(a):], run[len(b):]
		pairs = matchCycle(pairs, a, b)
	}
	return pairs
}

// sameCycle is the beginning of a sorted list with one task, cycle and kind.
func sameCycle(list []Wait) []Wait {
	n := 0
	for n < len(list) {
		k := list[n].Key
		if k.N = list[0].Key.N; k != list[0].Key {
			break
		}
		n++
	}
	return list[:n]
}

// matchCycle pairs the waits of one task, cycle and kind, in their order.
func matchCycle(pairs []Pair, recorded, run []Wait) []Pair {
	i, j := 0, 0
	for i < len(recorded) || j < len(run) {
		switch {
		case j == len(run) || i < len(recorded) && goesAlone(recorded[i:], run[j:]):
			pairs = append(pairs, Pair{Recorded: &recorded[i]})
			i++
		case i == len(recorded) || goesAlone(run[j:], recorded[i:]):
			pairs = append(pairs, Pair{Run: &run[j]})
			j++
		default:
			pairs = append(pairs, Pair{&recorded[i], &run[j]})
			i, j = i+1, j+1
		}
	}
	return pairs
}

// goesAlone reports whether the first of list is not the pair of the first of other, since the
// one after it is closer to that.
func goesAlone(list, other []Wait) bool {
	if len(list) < 2 || list[0].Key.Kind == latency.Wakeup {
		return list[0].Key.Kind == latency.Wakeup && list[0].Key.N < other[0].Key.N
	}
	to := other[0].Woken
	return distance(list[1].Woken, to) < distance(list[0].Woken, to)
}

// Times are what the two sides of a pair are compared by, in ns: since the wake was due where
// both know that, else since the wake. A wait that is missing is one of 0.
func (p *Pair) Times() (recorded, run event.Time) {
	both := p.Recorded != nil && p.Run != nil
	since := both && p.Recorded.Due != event.NoTime && p.Run.Due != event.NoTime
	of := func(w *Wait) event.Time {
		switch {
		case w == nil:
			return 0
		case since || !both:
			return w.Lateness()
		}
		return w.Length()
	}
	return of(p.Recorded), of(p.Run)
}

// The bounds within which a run may miss a wait of the recording for its answers to count.
const (
	answerPerMille            = 200
	answerNS       event.Time = 50_000
)

// Answerable reports whether the run meets the recorded wait well enough that what a changed
// run says of it is an answer: within 20 % of it or 50 µs, whichever is more. It is not where
// only one side has the wait and that is longer, or where events were lost.
func (p *Pair) Answerable() bool {
	if p.Recorded == nil || p.Recorded.Untrusted {
		return false
	}
	recorded, run := p.Times()
	return distance(recorded, run) <= max(recorded*answerPerMille/1000, answerNS)
}

// ErrorPerMille is how far the run is off, in thousandths of the recorded wait.
func (p *Pair) ErrorPerMille() int64 {
	recorded, run := p.Times()
	if recorded <= 0 {
		return 0
	}
	return int64(distance(recorded, run) * 1000 / recorded)
}

func distance(a, b event.Time) event.Time { return max(a-b, b-a) }
