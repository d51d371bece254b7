package whatif

import (
	"maps"
	"slices"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// tally has what gate and diff ask of one row of a trace.
type tally struct {
	row    explain.Row
	series [4]latency.Series // by Series
	worst  [4]worstWait      // by Series
	// open is the longest wait of each series that had not ended with the trace: so long at
	// least. Untrusted counts the waits whose length is no number, since events were lost.
	open      [2]worstWait // Wakeup, Preempted
	untrusted int64
	// longest is what the longest wakeup wait was made of.
	longest []part
	kinds   map[string]*kindTally
	// jobs has what a task in it does between sleeps, by task.
	jobs   map[timeline.TaskID]*jobs
	points []point  // with spread
	pieces []piece  // with spread
	joined []*tally // that this one is made of
}

// worstWait is the longest of some waits; id names it, "": there is none.
type worstWait struct {
	id string
	ns int64
}

func (w *worstWait) see(id func() string, ns int64) {
	if w.id == "" || ns > w.ns {
		w.id, w.ns = id(), ns
	}
}

// part is what a kind has in one wait, and the culprit of most of it.
type part struct {
	kind string
	ns   int64
	comm string
}

// partsOf sums the causes of a wait by kind.
func partsOf(e *cause.Explanation, names *event.Names) []part {
	var list []part
	for i := range e.Causes { // the largest first
		c := &e.Causes[i]
		at := slices.IndexFunc(list, func(p part) bool { return p.kind == c.Kind.Name })
		if at < 0 {
			list = append(list, part{kind: c.Kind.Name, comm: names.String(c.Comm)})
			at = len(list) - 1
		}
		list[at].ns += c.NS
	}
	return list
}

// kindTally sums one kind of cause.
type kindTally struct {
	kind  *cause.Kind
	ns    int64
	waits int64
	most  worstWait // in one wait
	// by sums by culprit.
	by map[string]int64
}

// point is one wait in its place, piece one kind of cause in a wait: what the stretches of a
// trace are made of.
type point struct {
	at event.Time
	ns int64
	of Series
}

type piece struct {
	at   event.Time
	ns   int64
	kind *cause.Kind
}

// wanted says what a tally must know beside wakeup and preemption waits.
type wanted struct {
	causes bool // kinds of causes, lateness
	jobs   bool // responses and misses
	spread bool // each wait in its place
}

// tallies reads a trace. The rows come in the order of their first wait.
func tallies(src explain.Source, o explain.Options, want wanted) ([]*tally, *explain.Walked, error) {
	var rows []*tally
	var open map[timeline.TaskID]openJob
	names := src.Names()
	walked, err := explain.Walk(src, o, want.causes || want.jobs, func() func(*explain.Told) {
		rows, open = nil, make(map[timeline.TaskID]openJob)
		return func(t *explain.Told) {
			for t.Row >= len(rows) {
				rows = append(rows, &tally{kinds: make(map[string]*kindTally), jobs: make(map[timeline.TaskID]*jobs)})
			}
			rows[t.Row].add(t, names, want)
			if want.jobs && t.Kind == latency.Wakeup {
				rows[t.Row].job(t, open)
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	machine := sysinfo.Of(src)
	for i, r := range rows {
		r.row = walked.Rows[i]
		r.finish(want, machine)
	}
	return rows, walked, nil
}

func (t *tally) add(w *explain.Told, names *event.Names, want wanted) {
	s := Wakeup
	if w.Kind != latency.Wakeup {
		s = Preempted
	}
	before := t.worst[s].ns
	switch {
	case w.GapFrom != event.NoTime:
		t.untrusted++
	case w.Open():
		t.open[s].see(w.ID, w.Length())
	default:
		t.count(s, w, w.Length(), want)
	}
	if e := w.Explanation; e != nil {
		if want.spread && s == Wakeup && w.Counts() && (t.series[s].Count() == 1 || w.Length() > before) {
			t.longest = partsOf(e, names)
		}
		t.explain(e, w, names, want)
		if s == Wakeup && w.Counts() {
			t.count(Lateness, w, e.LatenessNS, want)
		}
	}
}

func (t *tally) count(s Series, w *explain.Told, ns int64, want wanted) {
	t.series[s].Add(ns)
	t.worst[s].see(w.ID, ns)
	if want.spread && s <= Preempted {
		t.points = append(t.points, point{w.Woken, ns, s})
	}
}

// explain adds the causes of a wait: of one that is open or touched by lost events too, since
// they sum to what is known of it.
func (t *tally) explain(e *cause.Explanation, w *explain.Told, names *event.Names, want wanted) {
	var seen [mostKinds]struct {
		kind *cause.Kind
		ns   int64
	}
	n := 0
	for i := range e.Causes {
		c := &e.Causes[i]
		k := t.kinds[c.Kind.Name]
		if k == nil {
			k = &kindTally{kind: c.Kind, by: make(map[string]int64)}
			t.kinds[c.Kind.Name] = k
		}
		k.ns += c.NS
		k.culprit(names.String(c.Comm), c.NS)
		at := 0
		for at < n && seen[at].kind != c.Kind {
			at++
		}
		switch {
		case at < n:
			seen[at].ns += c.NS
		case n < len(seen):
			seen[n].kind, seen[n].ns = c.Kind, c.NS
			n++
		}
	}
	for _, s := range seen[:n] {
		k := t.kinds[s.kind.Name]
		k.waits++
		k.most.see(w.ID, s.ns)
		if want.spread {
			t.pieces = append(t.pieces, piece{w.Woken, s.ns, s.kind})
		}
	}
}

// mostKinds is more than there are kinds of causes.
const mostKinds = 32

// mostCulprits bounds the culprits that a kind keeps apart; beyond them nobody is named.
const mostCulprits = 1000

func (k *kindTally) culprit(comm string, ns int64) {
	if _, ok := k.by[comm]; !ok && len(k.by) >= mostCulprits {
		comm = ""
	}
	k.by[comm] += ns
}

// chief is the culprit of the largest part, "" if that is nobody in particular.
func (k *kindTally) chief() string {
	if k == nil {
		return ""
	}
	best := ""
	for _, n := range slices.Sorted(maps.Keys(k.by)) {
		if k.by[n] > k.by[best] {
			best = n
		}
	}
	return best
}
