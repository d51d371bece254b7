package cause

import (
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// weighs is the share of a wait, one in so many, from which on a cause's verdict counts
// for the whole.
const weighs = 20

// Explain says why w was as long as it was. The result keeps w.
func (a *Analysis) Explain(w *latency.Wait) *Explanation {
	d := a.dueFor(w)
	e := &Explanation{Wait: w, Due: d.at, DueVerdict: d.verdict, DueDetail: d.detail}
	start := w.Woken
	if d.at != event.NoTime {
		start = d.at
	}
	e.LatenessNS = int64(w.End - start)
	a.each(w, d, e.add)
	e.conclude()
	if e.Verdict == Proven && a.lostMeanwhile(w) {
		e.Verdict, e.Needs = Likely, union(e.Needs, biggerBuffer)
	}
	return e
}

// Stretches calls visit for each stretch of the lateness of w, in order of time, each with its
// own cause: what Explain sums.
func (a *Analysis) Stretches(w *latency.Wait, visit func(Interval)) { a.each(w, a.dueFor(w), visit) }

// dueFor is dueOf for waits that lost events have not touched.
func (a *Analysis) dueFor(w *latency.Wait) due {
	if w.GapFrom != event.NoTime {
		return due{at: event.NoTime}
	}
	return a.dueOf(w)
}

func (a *Analysis) each(w *latency.Wait, d due, visit func(Interval)) {
	if d.at != event.NoTime && d.at < w.Woken {
		a.late(w, d, visit)
	}
	a.eachQueue(w, func(cpu event.CPU, from, to event.Time) {
		a.cut(w, cpu, from, from, to, to, func(p *piece) { visit(a.name(p)) })
	})
}

// biggerBuffer is what lost events need.
var biggerBuffer = []string{"a larger buffer"}

// lostMeanwhile reports whether events of any CPU are missing during w. That it ran there
// in between and came back is unlikely, and more cannot be said.
func (a *Analysis) lostMeanwhile(w *latency.Wait) bool {
	for c := range a.x.CPUs {
		gaps := a.x.CPUs[c].Gaps
		if i := firstEnding(gaps, w.Woken); i < len(gaps) && gaps[i].From < w.End {
			return true
		}
	}
	return false
}

// eachQueue calls visit for each stretch of w on one CPU.
func (a *Analysis) eachQueue(w *latency.Wait, visit func(cpu event.CPU, from, to event.Time)) {
	from, cpu := w.Woken, w.CPU
	for _, m := range w.Moves {
		at := min(max(m.At, from), w.End)
		if at > from {
			visit(cpu, from, at)
		}
		from, cpu = at, m.To
	}
	if from < w.End {
		visit(cpu, from, w.End)
	}
}

// name asks the kinds in their order.
func (a *Analysis) name(p *piece) Interval {
	for _, q := range questions {
		if i, ok := q.ask(p); ok {
			return p.ifMoved(p.ifThrottled(i))
		}
	}
	panic("cause: the last question always answers")
}

// ifMoved weakens i where the task was moved at a moment that no event tells: it may have been
// in the queue of another CPU already.
func (p *piece) ifMoved(i Interval) Interval {
	if i.Verdict == Proven && p.w.MovedUnseen() && !p.a.x.Occurs(event.SchedMigrateTask) {
		i.Verdict = Likely
		i.Needs = append(i.Needs[:len(i.Needs):len(i.Needs)], "sched:sched_migrate_task")
	}
	return i
}

// add sums i with an earlier interval of the same cause.
func (e *Explanation) add(i Interval) {
	if i.NS == 0 {
		return
	}
	if c := e.find(&i); c != nil {
		c.NS += i.NS
		c.Pieces += i.Pieces
		c.End = max(c.End, i.End)
		c.Needs = union(c.Needs, i.Needs)
		c.Evidence = appendRefs(c.Evidence, i.Evidence)
		return
	}
	i.Evidence = slices.Clone(i.Evidence)
	e.Causes = append(e.Causes, i)
	if e.index != nil {
		e.index[i.key()] = len(e.Causes) - 1
	}
}

// fewCauses is up to how many causes a walk over them is faster than a map.
const fewCauses = 32

// find returns the earlier interval of the same cause, nil if there is none.
func (e *Explanation) find(i *Interval) *Interval {
	if len(e.Causes) <= fewCauses {
		for n := range e.Causes {
			if e.Causes[n].key() == i.key() {
				return &e.Causes[n]
			}
		}
		return nil
	}
	if e.index == nil {
		e.index = make(map[causeKey]int, 2*len(e.Causes))
		for n := range e.Causes {
			e.index[e.Causes[n].key()] = n
		}
	}
	if n, ok := e.index[i.key()]; ok {
		return &e.Causes[n]
	}
	return nil
}

// mostRefs bounds the events that one cause points to.
const mostRefs = 64

func appendRefs(list, more []Ref) []Ref {
	for _, r := range more {
		if len(list) < mostRefs && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list
}

func union(list, more []string) []string {
	if len(list) > 0 && len(more) > 0 && &list[0] == &more[0] {
		return list
	}
	out := list
	for _, s := range more {
		if !slices.Contains(out, s) {
			out = append(slices.Clip(out), s)
		}
	}
	return out
}

// conclude orders the causes and takes the weakest verdict among those that make up at
// least 5 % of the wait.
func (e *Explanation) conclude() {
	e.index = nil
	sort.SliceStable(e.Causes, func(i, j int) bool { return e.Causes[i].NS > e.Causes[j].NS })
	e.Verdict = Proven
	for i := range e.Causes {
		c := &e.Causes[i]
		if c.NS >= (e.LatenessNS+weighs-1)/weighs {
			e.Verdict = min(e.Verdict, c.Verdict)
			e.Needs = union(e.Needs, c.Needs)
		}
	}
	if e.Wait.GapFrom != event.NoTime {
		e.Verdict = Unknown
	}
}

func (a *Analysis) armed(c event.CPU, n int) (timeline.Arming, bool) {
	arm, ok := a.x.Armed[timeline.ExpiryKey{CPU: c, N: n}]
	return arm, ok
}
