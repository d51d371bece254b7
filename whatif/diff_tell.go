package whatif

import (
	"cmp"
	"maps"
	"slices"

	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/stats"
)

// tell is the public form of a pair, with its tests.
func (p *pair) tell(c *comparison) *result.DiffTask {
	t := &result.DiffTask{PIDA: -1, PIDB: -1, ClassA: "", ClassB: "", PrioA: result.NoPrio, PrioB: result.NoPrio, Causes: p.causes(c)}
	for _, s := range []struct {
		m            *merged
		pid          *int32
		class        *string
		prio         *result.Prio
		tasks        *int64
		only         string
		wakeup, pree *result.Waits
	}{
		{p.a, &t.PIDA, &t.ClassA, &t.PrioA, &t.TasksA, "a", &t.Wakeup.A, &t.Preempted.A},
		{p.b, &t.PIDB, &t.ClassB, &t.PrioB, &t.TasksB, "b", &t.Wakeup.B, &t.Preempted.B},
	} {
		if s.m == nil {
			continue
		}
		t.Comm, t.Group = s.m.row.Comm, s.m.row.Group
		*s.pid, *s.class, *s.prio, *s.tasks = s.m.row.PID, s.m.row.Class, s.m.row.Prio, int64(s.m.tasks)
		*s.wakeup, *s.pree = explain.Waits(&s.m.series[Wakeup]), explain.Waits(&s.m.series[Preempted])
		t.User = t.User || s.m.row.User
		t.Only = s.only
	}
	if p.a != nil && p.b != nil {
		t.Only = ""
		t.Few = min(p.a.waits(), p.b.waits()) < fewWaits
		if !t.Few {
			p.testWaits(c, &t.Wakeup)
		}
	}
	slices.SortStableFunc(t.Causes, func(x, y result.DiffCause) int {
		return cmp.Compare(abs(y.B.PerWait-y.A.PerWait), abs(x.B.PerWait-x.A.PerWait))
	})
	return t
}

// waits are those of the longer series: a task that never sleeps has preemption waits only.
func (m *merged) waits() int64 { return max(m.series[Wakeup].Count(), m.series[Preempted].Count()) }

func (p *pair) tests() []*result.Difference {
	list := []*result.Difference{p.out.Wakeup.P50, p.out.Wakeup.P99, p.out.Wakeup.Max}
	for i := range p.out.Causes {
		list = append(list, p.out.Causes[i].Test)
	}
	return list
}

// order puts first what people look for: see result.Diff.Tasks.
func (p *pair) order(o *pair) int {
	rank := func(p *pair) int {
		n := 0
		switch {
		case p.a == nil || p.b == nil:
			n = 2
		case p.out.Few:
			n = 1
		}
		m := p.a
		if m == nil {
			m = p.b
		}
		switch {
		case p.out.User:
		case !m.row.Kernel:
			n += 3
		default:
			n += 6
		}
		return n
	}
	effect := func(p *pair) int64 { return abs(p.out.Wakeup.B.MaxNS - p.out.Wakeup.A.MaxNS) }
	longest := func(p *pair) int64 { return max(p.out.Wakeup.A.MaxNS, p.out.Wakeup.B.MaxNS) }
	return cmp.Or(cmp.Compare(rank(p), rank(o)), cmp.Compare(effect(o), effect(p)), cmp.Compare(longest(o), longest(p)), cmp.Compare(p.out.Comm, o.out.Comm))
}

// answer names what changed the longest wait of the pair most.
func (p *pair) answer() *result.DiffAnswer {
	t := p.out
	a := &result.DiffAnswer{Comm: t.Comm, PIDA: t.PIDA, PIDB: t.PIDB, MaxA: t.Wakeup.A.MaxNS, MaxB: t.Wakeup.B.MaxNS, Few: t.Few}
	if t.Group != "" {
		a.Comm = t.Group
	}
	longer := p.b
	if a.MaxA > a.MaxB {
		longer = p.a
	}
	a.Wait, a.File = longer.worst[Wakeup].id, longer.file
	sign, most := int64(cmp.Compare(a.MaxB, a.MaxA)), int64(0)
	for _, k := range append(slices.Clone(p.a.longest), p.b.longest...) {
		was, is := p.a.inLongest(k.kind), p.b.inLongest(k.kind)
		if changed := sign * (is.ns - was.ns); changed > most {
			most = changed
			a.Kind, a.InA, a.InB, a.By = k.kind, was.ns, is.ns, is.comm
			if sign < 0 {
				a.By = was.comm
			}
		}
	}
	return a
}

// inLongest is what a kind has in the longest wakeup wait.
func (m *merged) inLongest(kind string) part {
	for _, p := range m.longest {
		if p.kind == kind {
			return p
		}
	}
	return part{}
}

// testWaits compares the parts of both sides.
func (p *pair) testWaits(c *comparison, w *result.DiffWait) {
	a, b := c.a.seriesOf(p.a), c.b.seriesOf(p.b)
	of := func(list []*latency.Series, least int64, q int64) []int64 {
		var values []int64
		for _, s := range list {
			if s.Count() >= least {
				n, _ := s.Percentile(q, 100)
				values = append(values, n)
			}
		}
		return values
	}
	w.P50 = c.test(of(a, 1, 50), of(b, 1, 50))
	w.Max = c.test(of(a, 1, 100), of(b, 1, 100))
	// A p99 of fewer than 100 waits is their maximum.
	w.P99 = c.test(of(a, 100, 99), of(b, 100, 99))
}

// drifting is from where on stretches seem to depend on each other, see stats.Drift.
const drifting = 500

// test compares the parts of both sides, in order of time.
func (c *comparison) test(a, b []int64) *result.Difference {
	d := stats.Test(a, b, stats.Nothing)
	if d != nil && d.Test != "" && !c.a.byFile && max(stats.Drift(a), stats.Drift(b)) > drifting {
		d.Note = "drifts"
	}
	return d
}

// seriesOf are the wakeup waits of each part.
func (s *side) seriesOf(m *merged) []*latency.Series {
	list := make([]*latency.Series, s.parts())
	for i := range list {
		list[i] = &latency.Series{}
	}
	for _, p := range m.points {
		if p.of == Wakeup {
			list[s.part(p.file, p.at)].Add(p.ns)
		}
	}
	return list
}

// causes compares the kinds of both sides, in the order of their names.
func (p *pair) causes(c *comparison) []result.DiffCause {
	names := make(map[string]bool)
	for _, m := range []*merged{p.a, p.b} {
		if m != nil {
			for name := range m.kinds {
				names[name] = true
			}
		}
	}
	list := []result.DiffCause{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d := result.DiffCause{Kind: name, A: p.a.amount(name, c.a.length()), B: p.b.amount(name, c.b.length())}
		if p.a != nil && p.b != nil && min(p.a.waits(), p.b.waits()) >= fewWaits {
			d.Test = c.test(c.a.perWait(p.a, name), c.b.perWait(p.b, name))
		}
		list = append(list, d)
	}
	return list
}

// amount sums up a kind; length is the time of the side in ns. Nothing of nil.
func (m *merged) amount(kind string, length int64) result.DiffAmount {
	if m == nil || m.kinds[kind] == nil {
		return result.DiffAmount{}
	}
	k, total := m.kinds[kind], int64(0)
	for _, other := range m.kinds {
		total += other.ns
	}
	n := m.series[Wakeup].Count() + m.series[Preempted].Count()
	return result.DiffAmount{NS: k.ns, Waits: k.waits, MostNS: k.most.ns, Wait: k.most.id, Comm: k.chief(), PerWait: k.ns / max(n, 1),
		PerS: int64(float64(k.ns) / float64(length) * 1e9), SharePPM: int64(float64(k.ns) / float64(max(total, 1)) * 1e6)}
}

// perWait has the ns per wait of a kind for each part in which there are waits.
func (s *side) perWait(m *merged, kind string) []int64 {
	ns, waits := make([]int64, s.parts()), make([]int64, s.parts())
	for _, p := range m.points {
		waits[s.part(p.file, p.at)]++
	}
	for _, p := range m.pieces {
		if p.kind.Name == kind {
			ns[s.part(p.file, p.at)] += p.ns
		}
	}
	var list []int64
	for i, n := range waits {
		if n > 0 {
			list = append(list, ns[i]/n)
		}
	}
	return list
}
