package cause_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// explained is a wait with its explanation, as values.
type explained struct {
	refWait
	gap       bool
	verdict   cause.Verdict
	lateness  int64
	causes    []string
	byCulprit map[event.PID]int64
}

// explainAll runs the whole way from events to causes.
func explainAll(names *event.Names, events []event.Event, release string) []explained {
	return explainWith(names, events, release, nil)
}

// explainWith is explainAll with a snapshot of the machine.
func explainWith(names *event.Names, events []event.Event, release string, snap *sysinfo.Snapshot) []explained {
	tr := timeline.NewTracker("x86_64", names)
	b := timeline.NewBuilder(tr, kernel.Of(release), names)
	for i := range events {
		b.Push(&events[i], tr.Push(&events[i]))
	}
	b.Finish()
	a := cause.New(b.Index(), snap)
	var list []explained
	again := timeline.NewTracker("x86_64", names)
	lt := latency.NewTracker(again, func(w *latency.Wait) { list = append(list, explainOne(a, w)) })
	lt.KnowGaps(b.Index().Gaps())
	for i := range events {
		lt.Push(&events[i], again.Push(&events[i]))
	}
	lt.Finish()
	slices.SortFunc(list, func(a, b explained) int { return compareWaits(a.refWait, b.refWait) })
	return list
}

func explainOne(a *cause.Analysis, w *latency.Wait) explained {
	e := a.Explain(w)
	a.Elsewhere(w)
	x := explained{refWait: refWait{pid: w.Task.PID, kind: w.Kind, from: w.Woken, to: w.End, open: w.Open()},
		gap: w.GapFrom != event.NoTime, verdict: e.Verdict, lateness: e.LatenessNS, byCulprit: map[event.PID]int64{}}
	for _, c := range e.Causes {
		x.causes = append(x.causes, fmt.Sprintf("%s %d %d %s %s", c.Kind.Name, c.PID, c.NS, c.Verdict, c.Detail))
		x.byCulprit[max(c.PID, 0)] += c.NS
	}
	return x
}

// TestWaitsEqualTheReference: on any legal schedule the waits are those that really were,
// to the ns; their causes sum to them, and blame whoever really had the CPU.
func TestWaitsEqualTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := event.NewNames()
		s := drawSchedule(t, &schedule{names: names, next: 100, ties: true}, 120)
		got := explainAll(names, s.events, "")
		if diff := cmp.Diff(texts(s.waits), texts(waitsOf(got))); diff != "" {
			t.Fatalf("waits (-really +got):\n%s%s", diff, dump(s.events))
		}
		for i := range got {
			g := &got[i]
			if g.gap && !g.open { // an open one may be of a task that sleeps after an early wake
				t.Errorf("%s is not trusted, but nothing was lost", g)
			}
			if g.lateness != int64(g.to-g.from) {
				t.Errorf("%s is late by %d ns", g, g.lateness)
			}
			if sum(g.byCulprit) != g.lateness {
				t.Errorf("%s: causes %q sum to %d ns", g, g.causes, sum(g.byCulprit))
			}
		}
	})
}

// TestCulpritsEqualTheReference: each ns of a wait is blamed on the task that had the CPU
// on which the waiter was queued.
func TestCulpritsEqualTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := event.NewNames()
		s := drawSchedule(t, &schedule{names: names, next: 100, strict: true}, 120)
		for i, g := range explainAll(names, s.events, "") {
			if g.gap {
				continue
			}
			really := s.culprits(&s.waits[i])
			if diff := cmp.Diff(really, g.byCulprit); diff != "" {
				t.Fatalf("%s (-really +blamed):\n%s%q\n%s", g, diff, g.causes, dump(s.events))
			}
		}
	})
}

// culprits sums by task who had the CPUs on which w was queued.
func (s *schedule) culprits(w *refWait) map[event.PID]int64 {
	by := map[event.PID]int64{}
	for _, q := range w.queue {
		left := int64(q.to - q.from)
		for _, r := range s.cpus[q.cpu-s.first].runs {
			if ns := int64(min(r.to, q.to) - max(r.from, q.from)); ns > 0 {
				left -= ns
				by[r.pid] += ns
			}
		}
		if left > 0 {
			by[0] += left
		}
	}
	return by
}

// TestUnrelatedCPUsDoNotMatter: a second schedule on other CPUs with other tasks changes
// nothing about the waits of the first.
func TestUnrelatedCPUsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := event.NewNames()
		one := drawSchedule(t, &schedule{names: names, next: 100}, 60)
		two := drawSchedule(t, &schedule{names: names, first: 8, next: 1000}, 60)
		both := merge(one.events, two.events)
		got := slices.DeleteFunc(explainAll(names, both, ""), func(e explained) bool { return e.pid >= 1000 || e.open })
		alone := slices.DeleteFunc(explainAll(names, one.events, ""), func(e explained) bool { return e.open })
		if diff := cmp.Diff(answers(alone), answers(got)); diff != "" {
			t.Fatalf("(-alone +together):\n%s%s", diff, dump(both))
		}
	})
}

// TestAnswersRepeat: the same events give the same answers, in the same order.
func TestAnswersRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := event.NewNames()
		s := drawSchedule(t, &schedule{names: names, next: 100, ties: true}, 80)
		if diff := cmp.Diff(answers(explainAll(names, s.events, "6.1.0")), answers(explainAll(names, s.events, "6.1.0"))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestLostEventsGiveNoWrongWait: events of one CPU are lost and the trace says so. Each
// wait that is still trusted must have been, exactly.
func TestLostEventsGiveNoWrongWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := event.NewNames()
		s := drawSchedule(t, &schedule{names: names, next: 100, real: true, strict: rapid.Bool().Draw(t, "strict")}, 150)
		events := s.lose(t)
		got := explainAll(names, events, "")
		checkTrusted(t, s, got, events)
		for i := range got {
			g := &got[i]
			apart := !slices.ContainsFunc(events, func(e event.Event) bool {
				return e.Kind == event.Gap && e.From <= g.to && g.from <= e.Time
			})
			if g.kind == latency.Wakeup && !wakingBefore(events, g.from) {
				continue
			}
			if apart && !g.gap && !slices.Contains(texts(s.waits), g.String()) {
				t.Errorf("%s never was, and lies far from the gap; really %q\n%s", g, texts(s.waits), dump(events))
			}
		}
	})
}

// TestDroppedSwitchesGiveNoWrongWait: single switches are missing without a word.
func TestDroppedSwitchesGiveNoWrongWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := event.NewNames()
		s := drawSchedule(t, &schedule{names: names, next: 100, real: true, strict: rapid.Bool().Draw(t, "strict")}, 150)
		events := s.dropSwitches(t)
		checkTrusted(t, s, explainAll(names, events, ""), events)
	})
}

// checkTrusted holds the proven waits to what really happened.
func checkTrusted(t *rapid.T, s *schedule, got []explained, events []event.Event) {
	for i := range got {
		g := &got[i]
		if sum(g.byCulprit) != g.lateness {
			t.Errorf("%s: causes %q sum to %d ns", g, g.causes, sum(g.byCulprit))
		}
		if g.gap {
			if g.verdict == cause.Proven {
				t.Errorf("%s is proven although events were lost", g)
			}
			continue
		}
		if g.verdict != cause.Proven {
			continue
		}
		if g.kind == latency.Wakeup && !wakingBefore(events, g.from) {
			continue // it looks like a trace without sched_waking
		}
		if !slices.ContainsFunc(s.waits, func(w refWait) bool {
			return w.String() == g.String() || nearly(w, g.refWait) && gapOver(events, g.from)
		}) {
			t.Fatalf("%s (%s) never was; really:\n%q\nwith %d of %d events:\n%s", g, g.verdict, texts(s.waits), len(events), len(s.events), dump(events))
		}
	}
}

// wakingBefore reports whether a sched_waking lies at t or before it.
func wakingBefore(events []event.Event, t event.Time) bool {
	return slices.ContainsFunc(events, func(e event.Event) bool { return e.Kind == event.SchedWaking && e.Time <= t })
}

// nearly reports whether g began with a wake that came shortly before the task left the
// CPU. Where that CPU's events are lost nobody can see that the task still ran.
func nearly(w, g refWait) bool {
	return w.pid == g.pid && w.to == g.to && w.open == g.open && w.early && g.kind == latency.Wakeup && g.from < w.from
}

// gapOver reports whether events are missing on any CPU at t.
func gapOver(events []event.Event, t event.Time) bool {
	return slices.ContainsFunc(events, func(e event.Event) bool { return e.Kind == event.Gap && e.From <= t && t <= e.Time })
}

// lose removes a stretch of one CPU's events, with the gap that a reader would report.
func (s *schedule) lose(t *rapid.T) []event.Event {
	cpu := s.first + event.CPU(rapid.IntRange(0, len(s.cpus)-1).Draw(t, "lossy cpu"))
	var at []int
	for i := range s.events {
		if s.events[i].CPU == cpu {
			at = append(at, i)
		}
	}
	if len(at) < 3 {
		return s.events
	}
	from := rapid.IntRange(0, len(at)-3).Draw(t, "last kept")
	to := rapid.IntRange(from+2, len(at)-1).Draw(t, "first kept again")
	var out []event.Event
	for i, e := range s.events {
		switch {
		case e.CPU != cpu || i <= at[from] || i > at[to]:
		case i < at[to]:
			continue
		default:
			var g event.Event
			g.Reset()
			g.Kind, g.CPU, g.PID, g.Arg = event.Gap, cpu, event.NoPID, int64(to-from-1)
			g.From, g.Time = s.events[at[from]].Time, e.Time
			out = append(out, g)
		}
		out = append(out, e)
	}
	return out
}

// dropSwitches removes single switches, never the last one of a CPU nor two in a row.
func (s *schedule) dropSwitches(t *rapid.T) []event.Event {
	last, before := map[event.CPU]int{}, map[event.CPU]bool{}
	for i := range s.events {
		if s.events[i].Kind == event.SchedSwitch {
			last[s.events[i].CPU] = i
		}
	}
	var out []event.Event
	for i, e := range s.events {
		if e.Kind == event.SchedSwitch {
			drop := i != last[e.CPU] && !before[e.CPU] && rapid.IntRange(0, 3).Draw(t, "drop") == 0
			before[e.CPU] = drop
			if drop {
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

func merge(a, b []event.Event) []event.Event {
	both := append(slices.Clone(a), b...)
	slices.SortStableFunc(both, func(x, y event.Event) int { return int(x.Time - y.Time) })
	return both
}

func waitsOf(list []explained) []refWait {
	var out []refWait
	for _, e := range list {
		out = append(out, e.refWait)
	}
	return out
}

func texts(list []refWait) []string {
	var out []string
	for _, w := range list {
		out = append(out, w.String())
	}
	return out
}

func answers(list []explained) []string {
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprintf("%s %s %q", e, e.verdict, e.causes))
	}
	return out
}

func sum(m map[event.PID]int64) (n int64) {
	for v := range maps.Values(m) {
		n += v
	}
	return n
}

// dump prints events for a failure.
func dump(events []event.Event) string {
	out := ""
	for _, e := range events {
		out += fmt.Sprintf("cpu %d at %d in %d: %s task %d", e.CPU, e.Time, e.PID, e.Kind, e.Task)
		switch e.Kind {
		case event.SchedSwitch:
			out += fmt.Sprintf(" %s -> %d", e.State, e.Next)
		case event.SchedProcessFork:
			out += fmt.Sprintf(" -> %d", e.Next)
		case event.SchedMigrateTask:
			out += fmt.Sprintf(" from %d to %d", e.Orig, e.Target)
		case event.SchedWaking, event.SchedWakeup, event.SchedWakeupNew:
			out += fmt.Sprintf(" to %d", e.Target)
		}
		out += "\n"
	}
	return out
}
