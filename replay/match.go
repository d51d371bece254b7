package replay

import "github.com/whylate/whylate/event"

// Pair is a wait of the recording and the same wait of a run. One of them is nil where the
// other side has none: a task that did not have to wait there, or did not come so far.
type Pair struct {
	Recorded, Run *Wait
}

// Match pairs waits by their keys, in the order of these. Both lists must be sorted by key
// (SortWaits), as those of a Load and of a Run are; the pairs point into them.
func Match(recorded, run []Wait) []Pair {
	pairs := make([]Pair, 0, max(len(recorded), len(run)))
	for len(recorded) > 0 || len(run) > 0 {
		order := 0
		switch {
		case len(recorded) == 0:
			order = 1
		case len(run) == 0:
			order = -1
		default:
			order = recorded[0].Key.Compare(run[0].Key)
		}
		var p Pair
		if order <= 0 {
			p.Recorded, recorded = &recorded[0], recorded[1:]
		}
		if order >= 0 {
			p.Run, run = &run[0], run[1:]
		}
		pairs = append(pairs, p)
	}
	return pairs
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
