package replay

import (
	"cmp"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
)

// LongWait is from where on each wait is looked at by itself, in ns; of those below only the
// distributions are compared.
const LongWait event.Time = 500_000

// Fidelity says how well the unchanged load, run free, meets the waits of the recording.
type Fidelity struct {
	Classes []ClassFidelity // dl, rt, fair, … in this order, those that occur
}

// ClassFidelity is that of the waits of one class. Times are ns.
type ClassFidelity struct {
	Class string
	// Waits are those of the recording that can be trusted, Matched of them are in the run,
	// Untrusted are left out, OnlyRun are only in the run.
	Waits, Matched, Untrusted, OnlyRun int
	// Long are the pairs in which one side is longer than LongWait, worst first; Within of
	// them are less than 5 % apart.
	Long   []Pair
	Within int
	// Rest are all others.
	Rest Distribution
	// Late are recorded waits of 50 µs and more, Answerable of them are met well enough for
	// an answer (Pair.Answerable).
	Late, Answerable int
}

// Distribution compares short waits by their distributions. A wait that one side does not
// have is not in that side's.
type Distribution struct {
	N, RunN                int // recorded, run
	P50, RunP50            event.Time
	P99, RunP99, Distance  event.Time // Distance: between the two p99
	Max, RunMax            event.Time
	WorstMiss, MissAtP99   event.Time // of |run − recorded| of each pair that both have
	OnlyRecorded, OnlyRunN int
}

// longPerMille is how far the pairs of ClassFidelity.Within may be apart.
const longPerMille = 50

// LateFrom is from where a recorded wait counts as late, in ns, as in the default choice of explain.
const LateFrom event.Time = 50_000

// classOrder is that in which classes are told; others follow by name.
var classOrder = []string{"dl", "rt", "fair", "stop", "idle", "unknown"}

// Compare makes the fidelity of pairs, as Match returns them.
func Compare(pairs []Pair) Fidelity {
	of := make(map[string]*classPairs)
	for i := range pairs {
		p := &pairs[i]
		w := p.Recorded
		if w == nil {
			w = p.Run
		}
		c := of[w.Class]
		if c == nil {
			c = &classPairs{}
			of[w.Class] = c
		}
		c.add(p)
	}
	var f Fidelity
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(rankOf(a)-rankOf(b), cmp.Compare(a, b)) })
	for _, name := range names {
		f.Classes = append(f.Classes, of[name].fidelity(name))
	}
	return f
}

func rankOf(class string) int {
	if i := slices.Index(classOrder, class); i >= 0 {
		return i
	}
	return len(classOrder)
}

// classPairs collects the pairs of a class.
type classPairs struct {
	f                  ClassFidelity
	recorded, run, off []event.Time // of the short ones
}

func (c *classPairs) add(p *Pair) {
	if p.Recorded != nil && p.Recorded.Untrusted {
		c.f.Untrusted++
		return
	}
	recorded, run := p.Times()
	switch {
	case p.Recorded == nil:
		c.f.OnlyRun++
	case p.Run == nil:
		c.f.Waits++
	default:
		c.f.Waits++
		c.f.Matched++
	}
	if p.Recorded != nil && recorded >= LateFrom {
		c.f.Late++
		if p.Answerable() {
			c.f.Answerable++
		}
	}
	if max(recorded, run) > LongWait {
		c.f.Long = append(c.f.Long, *p)
		if distance(recorded, run)*1000 <= max(recorded, 0)*longPerMille {
			c.f.Within++
		}
		return
	}
	if p.Recorded != nil {
		c.recorded = append(c.recorded, recorded)
	} else {
		c.f.Rest.OnlyRunN++
	}
	if p.Run != nil {
		c.run = append(c.run, run)
	} else {
		c.f.Rest.OnlyRecorded++
	}
	if p.Recorded != nil && p.Run != nil {
		c.off = append(c.off, distance(recorded, run))
	}
}

func (c *classPairs) fidelity(name string) ClassFidelity {
	f := &c.f
	f.Class = name
	slices.SortStableFunc(f.Long, func(a, b Pair) int {
		aRecorded, aRun := a.Times()
		bRecorded, bRun := b.Times()
		return cmp.Compare(max(bRecorded, bRun), max(aRecorded, aRun))
	})
	slices.Sort(c.recorded)
	slices.Sort(c.run)
	slices.Sort(c.off)
	d := &f.Rest
	d.N, d.RunN = len(c.recorded), len(c.run)
	d.P50, d.RunP50 = percentile(c.recorded, 500), percentile(c.run, 500)
	d.P99, d.RunP99 = percentile(c.recorded, 990), percentile(c.run, 990)
	d.Max, d.RunMax = percentile(c.recorded, 1000), percentile(c.run, 1000)
	d.Distance = distance(d.P99, d.RunP99)
	d.MissAtP99, d.WorstMiss = percentile(c.off, 990), percentile(c.off, 1000)
	return *f
}

// percentile is the smallest value that perMille of the sorted list do not exceed; 0 of none.
func percentile(sorted []event.Time, perMille int) event.Time {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[latency.Rank(int64(perMille), 1000, int64(len(sorted)))-1]
}
