package whatif

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
)

// AdviceOptions bound what advice costs.
type AdviceOptions struct {
	// Waits is for how many of the late waits changes are sought, the first ones; 0: 20.
	Waits int
	// Changes is how many different changes are replayed at most; 0: 60, of a long trace as
	// many as take some ten seconds on two processors. Further ones are counted in a
	// diagnostic.
	Changes int
}

// What AdviceOptions are where they say nothing.
const (
	defaultWaits  = 20
	MostChanges   = 60
	fewestChanges = 8
	mostReplayed  = 12_000_000 // events in all replays together; one takes some 1.5 µs
)

func (o *AdviceOptions) complete(events int64) {
	o.Waits = cmp.Or(o.Waits, defaultWaits)
	if o.Changes == 0 {
		o.Changes = int(min(MostChanges, max(fewestChanges, mostReplayed/max(events, 1))))
	}
}

// leastGain is how much of a wait a change must take away to be worth telling, in percent. It
// must be more than the error of the replay as well.
const leastGain = 10

// Advise fills the advice of the late waits of r, which must be of the recording that the study
// is made of. Of each group of waits, of one task with the same main cause, one is enough to
// find the changes; all of the group are told what these do to them.
// When ctx is done it gives up.
func Advise(ctx context.Context, r *result.Explain, s *Study, o AdviceOptions) error {
	o.complete(r.Input.Events)
	sought := s.seek(r, &o)
	var lists [][]string
	index := make(map[string]int)
	left := make(map[string]bool)
	for _, w := range sought {
		for _, c := range w.candidates {
			if _, ok := index[c.Change]; ok {
				continue
			}
			if len(lists) == o.Changes {
				left[c.Change] = true
				continue
			}
			index[c.Change] = len(lists)
			lists = append(lists, []string{c.Change})
		}
	}
	ids := make([]string, 0, len(sought))
	for _, w := range sought {
		ids = append(ids, w.late.ID)
	}
	answers, errs := s.AskAll(ctx, lists, ids)
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, w := range sought {
		var list []weighed
		for size, c := range w.candidates {
			at, ok := index[c.Change]
			if !ok || errs[at] != nil {
				continue
			}
			a := answers[at]
			if a.Refused != "" {
				w.late.Refused = append(w.late.Refused, result.Refusal{Change: c.Change, Command: c.Command, Text: a.Refused})
				continue
			}
			if adv, ok := advice(w.late, &c, a, &a.Late[i]); ok {
				list = append(list, weighed{adv, size})
			}
		}
		w.late.Advice = ranked(list)
	}
	for _, err := range errs {
		if err != nil {
			r.Diagnostics = append(r.Diagnostics, result.Diagnostic{Kind: "advice", Count: 1, Text: fmt.Sprintf("a change was not tried: %v", err)})
		}
	}
	if len(left) > 0 {
		r.Diagnostics = append(r.Diagnostics, result.Diagnostic{Kind: "advice", Count: int64(len(left)), Text: "changes that causes suggest were not tried, since there are so many; --wait tries those of one wait"})
	}
	return nil
}

// sought is a late wait that is to be advised.
type sought struct {
	late       *result.Late
	candidates []Candidate
}

// leastLate is from where a wait is late enough to be advised, in ns, as explain chooses those
// of real-time tasks.
const leastLate = 50_000

// mostAdvised bounds the waits of all groups together; --over may tell 100,000.
const mostAdvised = 1000

// seek chooses the waits to advise: real-time and deadline ones, and those of fair tasks where a replay
// runs them by the rules of their class. It says of those for which nothing can be predicted why.
func (s *Study) seek(r *result.Explain, o *AdviceOptions) []sought {
	var list []sought
	groups := make(map[groupKey][]Candidate)
	for i := range r.Late {
		l := &r.Late[i]
		if l.Class != "rt" && l.Class != "dl" && (l.Class != "fair" || !s.Load.FairClass) || l.LatenessNS < leastLate {
			continue
		}
		key := groupOf(l)
		candidates, known := groups[key]
		if !known && len(groups) == o.Waits {
			continue
		}
		if l.Withheld = s.Withheld(l.ID); l.Withheld == "" && len(list) < mostAdvised {
			if candidates == nil {
				candidates = Candidates(l, s.known)
			}
			list = append(list, sought{l, candidates})
		}
		groups[key] = candidates
	}
	return list
}

// groupKey is what the late waits have in common that people are shown as one.
type groupKey struct {
	pid, culprit          int32
	class, waitKind, kind string
	prio                  result.Prio
}

func groupOf(l *result.Late) groupKey {
	k := groupKey{pid: l.PID, class: l.Class, waitKind: l.WaitKind, prio: l.Prio}
	if list := culprits(l); len(list) > 0 {
		k.kind, k.culprit = list[0].Kind, list[0].PID
	}
	return k
}

// advice is what a prediction comes to for a wait, false if that is nothing: no gain, or one
// that the error of the replay could be.
func advice(l *result.Late, c *Candidate, a *result.Changed, p *result.Prediction) (result.Advice, bool) {
	gain := p.BeforeNS - max(p.AfterNS, p.WorseNS)
	if p.Withheld != "" || gain <= p.ErrorNS || gain*100 < p.BeforeNS*leastGain {
		return result.Advice{}, false
	}
	out := result.Advice{Change: c.Change, Command: c.Command, BeforeNS: p.BeforeNS, AfterNS: p.AfterNS, ErrorNS: p.ErrorNS, WorseNS: p.WorseNS,
		Text: c.Text, Kind: c.Kind, Harm: []result.Harm{}, Confirmed: a.Confirmed}
	for _, h := range a.Harm {
		if h.PID != l.PID && len(out.Harm) < mostHarm {
			out.Harm = append(out.Harm, h)
		}
	}
	return out, true
}

// mostHarm is how many of those whom a change harms are told with an advice, the most
// important first.
const mostHarm = 5

// weighed is advice before it is ranked; size is its place among the candidates.
type weighed struct {
	result.Advice
	size int
}

// ranked puts the best first: what takes about as much away as the best one does (a tenth of
// the wait less, at most), then what takes half of that, then the rest; within these what harms
// nobody, then what makes no job late, then the smaller change.
func ranked(list []weighed) []result.Advice {
	gainOf := func(w *weighed) int64 { return w.BeforeNS - max(w.AfterNS, w.WorseNS) }
	best := int64(0)
	for i := range list {
		best = max(best, gainOf(&list[i]))
	}
	class := func(w *weighed) int {
		switch gain := gainOf(w); {
		case gain >= best-w.BeforeNS/10:
			return 0
		case gain >= best/2:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(class(&a), class(&b)), cmp.Compare(severity(a.Harm), severity(b.Harm)), cmp.Compare(a.size, b.size))
	})
	out := make([]result.Advice, 0, len(list))
	for i := range list {
		if !slices.ContainsFunc(list[:i], func(w weighed) bool { return w.beats(&list[i], gainOf) }) {
			out = append(out, list[i].Advice)
		}
	}
	return out
}

// beats reports whether w, which is ranked before v, leaves no reason to make v: it brings at
// least twice as much and harms no more, or it is a smaller step of the same sort that brings
// about the same.
func (w *weighed) beats(v *weighed, gain func(*weighed) int64) bool {
	if gain(w) >= 2*gain(v) && severity(w.Harm) <= severity(v.Harm) {
		return true
	}
	same := func(change string) string {
		c, err := scenario.ParseChange(change)
		if err != nil || c.Kind != scenario.ChangeTask || !c.AltersAttr() || c.AllowedCPUs() != nil {
			return change
		}
		return c.Pattern
	}
	return w.Change != v.Change && same(w.Change) == same(v.Change) && w.size < v.size && gain(v)-gain(w) <= max(w.ErrorNS, w.BeforeNS/100)
}

// severity is 0 for no harm, 1 for longer waits, 2 for jobs that are late. Of fair tasks and
// threads of the kernel it is told and does not count: what a fair task gains others wait for,
// and who waits for the latter is told himself.
func severity(list []result.Harm) int {
	n := 0
	for i := range list {
		if importance(&list[i]) > 0 {
			continue
		}
		n = max(n, 1)
		if list[i].MissesAfter > list[i].MissesBefore {
			n = 2
		}
	}
	return n
}
