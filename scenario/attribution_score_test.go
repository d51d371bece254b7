package scenario_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
	"github.com/whylate/whylate/truth"
)

// recording is all events of one run.
type recording struct {
	src    *scenario.Source
	events []event.Event
}

func record(src *scenario.Source) (*recording, error) {
	st, err := src.Events(event.Options{})
	if err != nil {
		return nil, err
	}
	defer st.Close()
	r := &recording{src: src}
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		r.events = append(r.events, *ev)
	}
}

// answer is what the analysis says of one wait, stretch by stretch.
type answer struct {
	pid         event.PID
	prio        event.Prio
	from, to    event.Time
	due         event.Time
	dueVerdict  cause.Verdict
	verdict     cause.Verdict
	stretches   []cause.Interval
	wait        latency.Kind
	moves, open bool
	elsewhere   []cause.Elsewhere // of long waits
}

// longWait is how long a wait has to be for its idle CPUs to be asked for.
const longWait = ms

// analyse explains every wait of r as if the kinds in off had not been recorded; snap is the
// machine as far as it is known.
func (r *recording) analyse(off event.KindSet, snap *sysinfo.Snapshot) []answer {
	info, names := r.src.Info(), r.src.Names()
	tr := timeline.NewTracker(info.Machine, names)
	b := timeline.NewBuilder(tr, kernel.Of(info.Kernel), names)
	r.pass(off, func(ev *event.Event) { b.Push(ev, tr.Push(ev)) })
	b.Finish()
	a := cause.New(b.Index(), snap)
	again := timeline.NewTracker(info.Machine, names)
	var list []answer
	lt := latency.NewTracker(again, func(w *latency.Wait) {
		e := a.Explain(w)
		n := answer{pid: w.Task.PID, prio: w.Prio, from: w.Woken, to: w.End, due: e.Due, dueVerdict: e.DueVerdict, verdict: e.Verdict, wait: w.Kind, moves: len(w.Moves) > 0, open: w.Open()}
		if w.End-w.Woken >= longWait {
			n.elsewhere = a.Elsewhere(w)
		}
		a.Stretches(w, func(i cause.Interval) { n.stretches = append(n.stretches, i) })
		list = append(list, n)
	})
	lt.KnowGaps(b.Index().Gaps())
	r.pass(off, func(ev *event.Event) { lt.Push(ev, again.Push(ev)) })
	lt.Finish()
	return list
}

func (r *recording) pass(off event.KindSet, f func(*event.Event)) {
	for i := range r.events {
		if ev := r.events[i]; off == 0 || !off.Has(ev.Kind) {
			f(&ev)
		}
	}
}

// tally is time, ns, by what was said and whether it was right.
type tally struct {
	total, proven, right   event.Time // right: of proven
	likely, likelyRight    event.Time
	waits, long, longRight int // waits; ≥ 100 µs; of them with nothing proven wrong
}

// score sums many runs.
type score struct {
	all   tally
	kinds map[string]*tally // by the kind that is right
	// reserved is what is proven with the words that part of it may be an exit, and is one.
	reserved event.Time
	missed   event.Time // waiting that no answer tells
	wrong    []string   // stories of what was proven and is wrong, the first few
	nWrong   int
	sorts    map[string]*mistake // what is proven and wrong, by what was said and what is
}

// mistake is one sort of them.
type mistake struct {
	n     int
	ns    event.Time
	first string
}

func (s *score) sort(name string, c *cause.Interval, f *fact, ns event.Time) {
	key := c.Kind.Name + " is " + strings.Join(f.kinds, "/") + f.why
	if slices.Contains(f.kinds, c.Kind.Name) {
		key += " of another"
	}
	m := s.sorts[key]
	if m == nil {
		m = &mistake{first: fmt.Sprintf("%s, %d at %d", name, c.PID, c.Start)}
		s.sorts[key] = m
	}
	m.n++
	m.ns += ns
}

// mistakes lists the sorts, those of most time first.
func (s *score) mistakes() string {
	keys := slices.Collect(maps.Keys(s.sorts))
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.sorts[b].ns, s.sorts[a].ns), strings.Compare(a, b))
	})
	var b strings.Builder
	for _, k := range keys {
		m := s.sorts[k]
		fmt.Fprintf(&b, "  %6d × %12.1f µs  %s; first %s\n", m.n, float64(m.ns)/1e3, k, m.first)
	}
	return b.String()
}

func newScore() *score { return &score{kinds: map[string]*tally{}, sorts: map[string]*mistake{}} }

// run scores the answers of one run.
func (s *score) run(name string, src *scenario.Source, o *oracle, list []answer) {
	told := map[event.PID]event.Time{}
	end := event.Time(0) // of the events: the truth goes on to the end of the run
	for i := range list {
		w := &list[i]
		told[w.pid] += w.to - w.from
		end = max(end, min(w.to, o.log.Ended()))
		s.wait(name, src, o, w)
	}
	for pid, waits := range o.waits {
		total := event.Time(0)
		for _, w := range waits {
			total += max(0, min(w.To, end)-w.From)
		}
		s.missed += max(0, total-told[pid])
	}
}

// wait scores one answer against the facts.
func (s *score) wait(name string, src *scenario.Source, o *oracle, w *answer) {
	due, facts := o.late(w.pid, w.from)
	if w.due == event.NoTime {
		facts = nil
	}
	facts = slices.AppendSeq(facts, o.facts(w.pid, w.from, w.to))
	wrong := ""
	if w.due != event.NoTime && w.due < w.from && w.dueVerdict == cause.Proven && w.due != due {
		wrong = fmt.Sprintf("due at %d, the truth is %d", w.due, due)
	}
	s.all.waits++
	n := 0
	for i := range w.stretches {
		c := &w.stretches[i]
		c.End = min(c.End, o.log.Ended()) // the events may go on a little
		for at := c.Start; at < c.End; {
			for n < len(facts) && facts[n].to <= at {
				n++
			}
			f := fact{to: c.End, why: "it did not wait", pid: event.NoPID}
			switch {
			case n < len(facts) && facts[n].from <= at:
				f = facts[n]
			case n < len(facts):
				f.to = facts[n].from
			}
			to := min(f.to, c.End)
			right := s.count(c, &f, to-at)
			if !right {
				s.sort(name, c, &f, to-at)
			}
			if !right && wrong == "" {
				wrong = fmt.Sprintf("%s of %s proven at %d for %d ns, the truth is %s", c.Kind.Name, who(src, c.PID), at, to-at, f.say(src))
			}
			at = to
		}
	}
	if w.to-w.from >= 100*us {
		s.all.long++
		if wrong == "" {
			s.all.longRight++
		}
	}
	if wrong != "" {
		if s.nWrong++; len(s.wrong) < 12 {
			s.wrong = append(s.wrong, name+": "+wrong+"\n"+story(src, w, facts))
		}
	}
}

// count adds ns of c where f is the truth; false if c is proven and wrong.
func (s *score) count(c *cause.Interval, f *fact, ns event.Time) bool {
	kind := "none"
	if len(f.kinds) > 0 {
		kind = f.kinds[0]
	}
	k := s.kinds[kind]
	if k == nil {
		k = &tally{}
		s.kinds[kind] = k
	}
	right := slices.Contains(f.kinds, c.Kind.Name) && (c.PID == f.pid || slices.Contains(f.or, c.PID)) && (f.name == 0 || c.Comm == f.name)
	// "Part of it may be its exit" is no claim that it is not: the kind is left open, who it was
	// is not.
	if !right && strings.HasSuffix(c.Detail, "part of it may be its exit") && slices.Contains(f.kinds, "exit_teardown") && c.PID == f.pid {
		right = true
		if c.Verdict == cause.Proven {
			s.reserved += ns
		}
	}
	for _, t := range []*tally{&s.all, k} {
		t.total += ns
		switch c.Verdict {
		case cause.Proven:
			t.proven += ns
			if right {
				t.right += ns
			}
		case cause.Likely:
			t.likely += ns
			if right {
				t.likelyRight += ns
			}
		}
	}
	return right || c.Verdict != cause.Proven
}

func (f *fact) say(src *scenario.Source) string {
	kinds := strings.Join(f.kinds, " or ")
	if kinds == "" {
		kinds = f.why
	}
	if f.pid != event.NoPID {
		kinds += " of " + who(src, f.pid)
	}
	if len(f.or) > 0 {
		kinds += fmt.Sprint(" of ", f.or)
	}
	return kinds
}

func who(_ *scenario.Source, pid event.PID) string {
	if pid == event.NoPID {
		return "nobody"
	}
	return fmt.Sprint(pid)
}

// story tells one wait twice: as the analysis has it, and as it was.
func story(src *scenario.Source, w *answer, facts []fact) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  wait of %d (prio %d, %s) from %d to %d\n  said:\n", w.pid, w.prio, w.wait, w.from, w.to)
	for i := range w.stretches {
		c := &w.stretches[i]
		fmt.Fprintf(&b, "    %12d %9d  cpu%d %s %s of %s: %s\n", c.Start, c.End-c.Start, c.CPU, c.Verdict, c.Kind.Name, who(src, c.PID), c.Detail)
		if i > 12 {
			b.WriteString("    …\n")
			break
		}
	}
	b.WriteString("  is:\n")
	for i := 0; i < len(facts); i++ {
		f := facts[i]
		for i+1 < len(facts) && facts[i+1].from == f.to && facts[i+1].say(src) == f.say(src) {
			i++
			f.to = facts[i].to
		}
		fmt.Fprintf(&b, "    %12d %9d  %s\n", f.from, f.to-f.from, f.say(src))
		if i > 16 {
			b.WriteString("    …\n")
			break
		}
	}
	return b.String()
}

func percent(part, of event.Time) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f %%", 100*float64(part)/float64(of))
}

// table prints the score: the sum, and by the kind that is right.
func (s *score) table(name string) string {
	var b strings.Builder
	a := &s.all
	fmt.Fprintf(&b, "%-24s %7d waits, %6d ≥ 100 µs, %6d of them right; %9.1f ms: %s proven, %s of that right; %s likely, %s of that right; %d waits with something wrong, %.3f ms; an exit left open %.1f ms\n", name, a.waits, a.long, a.longRight,
		float64(a.total)/1e6, percent(a.proven, a.total), percent(a.right, a.proven), percent(a.likely, a.total), percent(a.likelyRight, a.likely), s.nWrong, float64(a.proven-a.right)/1e6, float64(s.reserved)/1e6)
	return b.String()
}

func (s *score) byKind() string {
	var b strings.Builder
	names := make([]string, 0, len(s.kinds))
	for k := range s.kinds {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		t := s.kinds[k]
		fmt.Fprintf(&b, "  %-14s %10.1f ms  proven %9s  right %9s  likely %9s  right %9s\n", k, float64(t.total)/1e6,
			percent(t.proven, t.total), percent(t.right, t.proven), percent(t.likely, t.total), percent(t.likelyRight, t.likely))
	}
	return b.String()
}

var _ = truth.Log{}
