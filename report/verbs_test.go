package report

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/whylate/whylate/result"
)

// wicked is a name that somebody chose to break a page or a terminal.
const wicked = "a|b`<b>@me\x1b[31m"

func gateFixture() *result.Gate {
	before := int64(90_000)
	return &result.Gate{Input: result.Input{File: "t.dat", Format: "trace.dat v7", CPUs: 4, Events: 10, EndNS: 1e9, Lost: 12}, Status: "failed", Budgets: []result.Budget{
		{Budget: "p99.9<100us", Status: "failed", Note: "half a cycle", Tasks: []result.Judged{
			{Comm: wicked, PID: 7, Class: "rt", Prio: 9, Unit: "ns", Value: 250_000, Limit: 100_000, Waits: 1200, Status: "failed", Wait: "7@1.000000", AtLeast: true},
			{Comm: "ctl", PID: 311, Class: "rt", Prio: 19, Unit: "ns", Value: 20_000, Limit: 100_000, Waits: 50, Status: "unreliable", Why: "n=50 needs 1000"},
			{Comm: "x", PID: 8, Class: "rt", Prio: 19, Unit: "ns", Value: 10, Limit: 100_000, Waits: 5000, Status: "ok"},
			{Comm: "y", PID: 9, Class: "rt", Prio: 19, Unit: "ns", Value: 10, Limit: 100_000, Waits: 5000, Status: "ok"}}},
		{Budget: "deadline_misses==0", Status: "ok", Tasks: []result.Judged{
			{Comm: "ctl", PID: 311, Class: "dl", Prio: -1, Unit: "count", Before: &before, Waits: 1, Status: "ok"},
			{PID: -1, Group: "/web", Class: "unknown", Prio: result.NoPrio, Unit: "count", Waits: 50, Status: "ok"}}}},
		Diagnostics: []result.Diagnostic{{Kind: "lost_events", Count: 12, Text: "lost"}}}
}

func diffFixture() *result.Diff {
	waits := func(n, p50, p99, most int64) result.Waits {
		return result.Waits{Waits: n, P50NS: p50, P99NS: p99, MaxNS: most}
	}
	return &result.Diff{
		A:      result.DiffSide{Inputs: []result.Input{{File: "a.dat", Format: "trace.dat v7", Kernel: "6.1-rt", CPUs: 1, Events: 10, EndNS: 2e9}}, NS: 2e9, Parts: 10, PartNS: 2e8},
		B:      result.DiffSide{Inputs: []result.Input{{File: "b.dat", Format: "trace.dat v7", CPUs: 1, Events: 12, EndNS: 3e9}}, NS: 3e9, Parts: 10, PartNS: 3e8},
		Answer: &result.DiffAnswer{Comm: "ctl", PIDA: 311, PIDB: 411, MaxA: 6_400, MaxB: 39_844_000, Kind: "rt_throttled", InB: 39_844_000, By: wicked},
		Tasks: []result.DiffTask{
			{Comm: "ctl", PIDA: 311, PIDB: 411, ClassA: "rt", PrioA: 19, ClassB: "fair", PrioB: 120, TasksA: 1, TasksB: 1, User: true,
				Wakeup: result.DiffWait{A: waits(100, 4_000, 6_000, 6_400), B: waits(120, 5_000, 7_000, 39_844_000),
					P50: &result.Difference{Verdict: "higher", Delta: 1_000, P: 0.002}, Max: &result.Difference{Verdict: "none_shown", P: 0.7}},
				Causes: []result.DiffCause{
					{Kind: "rt_throttled", B: result.DiffAmount{NS: 39_844_000, MostNS: 39_844_000, PerWait: 332_033, SharePPM: 970_000, Comm: wicked}, Test: &result.Difference{Verdict: "none_shown", P: 1}},
					{Kind: "idle_exit", A: result.DiffAmount{NS: 400_000, PerWait: 4_000, MostNS: 6_000, SharePPM: 1_000_000}, B: result.DiffAmount{NS: 600_000, PerWait: 5_000, MostNS: 6_000, SharePPM: 30_000}, Test: &result.Difference{Verdict: "higher", Delta: 1_000, P: 0.0004, Note: "drifts"}},
					{Kind: "irq", A: result.DiffAmount{NS: 4, SharePPM: 10}, B: result.DiffAmount{NS: 5, SharePPM: 10}}}},
			{Comm: "w", PIDA: -1, PIDB: -1, ClassA: "unknown", PrioA: result.NoPrio, ClassB: "unknown", PrioB: result.NoPrio, TasksA: 4, TasksB: 5, Preempted: result.DiffWait{A: waits(40, 1, 2, 3), B: waits(40, 1, 2, 3)}},
			{Comm: "few", PIDA: 5, PIDB: 5, ClassA: "fair", PrioA: 120, ClassB: "fair", PrioB: 120, TasksA: 1, TasksB: 1, Few: true, Wakeup: result.DiffWait{A: waits(1, 1, 1, 1), B: waits(1, 2, 2, 2)}},
			{Comm: wicked, PIDA: 134, PIDB: -1, ClassA: "rt", PrioA: 77, PrioB: result.NoPrio, TasksA: 1, Only: "a"},
			{Comm: "new", PIDA: -1, PIDB: 9, PrioA: result.NoPrio, ClassB: "fair", PrioB: 120, TasksB: 1, Only: "b"}},
		Causes: []result.DiffCause{{Kind: "rt_throttled", B: result.DiffAmount{NS: 39_844_000, PerS: 13_281_333, MostNS: 39_844_000, SharePPM: 970_000, Comm: wicked}}},
		Test:   result.DiffTest{Test: "Mann-Whitney U", Parts: "stretches", Tests: 4, Shown: 2, Drifting: 1, Assumes: "stretches do not depend on each other"},
		Conditions: []result.Budget{{Budget: "p99>+10%", Status: "failed", Tasks: []result.Judged{
			{Comm: "ctl", PID: 411, Class: "fair", Prio: 120, Unit: "ns", Value: 7_000, Limit: 6_600, Before: ptr(6_000), Waits: 120, Status: "failed"}}}},
	}
}

func ptr(n int64) *int64 { return &n }

func replayFixture() *result.Replay {
	points := func(n, p50, p99, most int64) result.Points {
		return result.Points{Waits: n, P50NS: p50, P99NS: p99, MaxNS: most}
	}
	rt := result.ReplayedClass{Class: "rt", Waits: 430, Matched: 429, OnlyRun: 2, Late: 43, Answerable: 42, Long: 3, Within: 1,
		Worst: []result.ReplayedWait{
			{ID: "7@1.000000", Comm: wicked, PID: 7, RecordedNS: 39_845_100, ReplayedNS: 39_842_600, ErrorNS: -2_500, Answerable: true},
			{ID: "7@2.000000", Comm: "b", PID: 7, RecordedNS: 600_000, ReplayedNS: 900_000, ErrorNS: 300_000, Error: 500},
			{Comm: "c", PID: 8, ReplayedNS: 700_000, ErrorNS: 700_000, Only: "replay"},
			{ID: "9@2.000000", Comm: "d", PID: 9, RecordedNS: 800_000, ErrorNS: -800_000, Error: 1000, Only: "recorded"}},
		Rest: result.ReplayedRest{Recorded: points(387, 4_800, 24_600, 28_600), Replayed: points(389, 5_700, 23_600, 28_600)}}
	one := rt
	one.Comm, one.PID, one.Worst = "ctl", 311, nil
	return &result.Replay{Input: result.Input{File: "t.dat", Format: "trace.dat v7", CPUs: 1, Events: 10, StartNS: 10e9, EndNS: 12e9},
		Decisions: []result.Decisions{
			{Class: "rt", Type: "pick", N: 1000, Agree: 999, Baseline: 110, Undecided: 3, Why: []result.Reason{{Reason: "was_asked_before", Count: 2}, {Reason: "another_came", Count: 1}}},
			{Class: "dl", Type: "class", Undecided: 14, Why: []result.Reason{{Reason: "deadline_parameters_unknown", Count: 14}}}},
		Missed: 9, Misses: []result.Missed{{AtNS: 331_532_000, CPU: 0, Class: "rt", Type: "pick", Recorded: wicked + "/7", Model: "b/8", Reason: "unexplained"},
			{AtNS: 331_533_000, CPU: 1, Class: "rt", Type: "preempt", Recorded: "preempt", Model: "stay", Reason: "late_event", Text: "the event came late"}},
		Waits:      result.ReplayedWaits{LongFromNS: 500_000, LateFromNS: 50_000, Late: 43, Answerable: 42, Classes: []result.ReplayedClass{rt, {Class: "fair", Waits: 3}}, Tasks: []result.ReplayedClass{one}},
		Unfinished: []result.Unfinished{{Comm: "sh", PID: 131, Done: 98, Steps: 100}, {Comm: "w", PID: 5, Done: 1, Steps: 10, Stuck: true}},
		Assumed:    []result.Diagnostic{{Kind: "timer_grid", Count: 319, Text: "sleeps on a grid"}}}
}

func whatifFixture() *result.WhatIf {
	r := &result.WhatIf{Replay: replayFixture().Waits, Assumed: replayFixture().Assumed}
	r.Input = replayFixture().Input
	for i, l := range []result.Late{{Comm: wicked, PID: 7, Class: "rt", Prio: 9}, {Comm: "ctl", PID: 311, Class: "rt", Prio: 19}, {Comm: "sh", PID: 5, Class: "fair", Prio: 120}} {
		l.ID = []string{"7@1.000000", "311@2.000000", "5@3.000000"}[i]
		r.Late = append(r.Late, l)
	}
	points := func(p50, p99, most int64) result.Points {
		return result.Points{Waits: 9, P50NS: p50, P99NS: p99, MaxNS: most}
	}
	r.Changes = []result.Changed{
		{Changes: []string{"task=a* policy=other", "cpus=4"}, Commands: []string{"chrt -o -p 0 7"}, Mechanism: "rt_throttled", Confirmed: &result.Confirmed{Mechanism: "throttle", Predictions: 4, Within: 3, Median: 12, P90: 70},
			Sum: result.Predicted{Shorter: 1, Withheld: 2},
			Late: []result.Prediction{
				{ID: "7@1.000000", BeforeNS: 900_000, ReplayedNS: 500_000, ErrorNS: 400_000, Withheld: "the unchanged replay misses it"},
				{ID: "311@2.000000", BeforeNS: 39_845_100, ReplayedNS: 39_842_600, AfterNS: 4_800, ErrorNS: 2_500, WorseNS: 60_000},
				{ID: "5@3.000000", Withheld: "fair"}},
			Tasks: []result.ChangedTask{{Comm: "ctl", PID: 311, Class: "rt", Prio: 19, Recorded: points(5, 6, 7), Replayed: points(5_000, 6_000, 7_000), Changed: points(5_000, 5_500, 6_500), MissesBefore: 1, Jobs: 224},
				{Comm: "other", PID: 5, Class: "fair", Prio: 120}},
			Harm:        []result.Harm{{Comm: wicked, PID: 8, Class: "rt", Prio: 30, Percentile: 99, BeforeNS: 1_000, AfterNS: 900_000, MissesAfter: 3, Jobs: 10}, {Comm: "kworker/0:1", PID: 9, Class: "fair", Prio: 120, Kernel: true, Percentile: 99}},
			Diagnostics: []result.Diagnostic{{Kind: "x", Count: 2, Text: "somebody is woken all the same"}}},
		{Changes: []string{"set fair_server_runtime_ns=0"}, Refused: "EBUSY"},
		{Changes: []string{"cpus=2"}, Late: []result.Prediction{{Withheld: "because"}, {Withheld: "because"}, {Withheld: "because"}}}}
	return r
}

// TestVerbs: gate, diff, replay and whatif, as text and as Markdown where they have that.
func TestVerbs(t *testing.T) {
	for name, print := range map[string]func(io.Writer, Options) error{
		"gate":   func(w io.Writer, o Options) error { return Gate(w, gateFixture(), o) },
		"diff":   func(w io.Writer, o Options) error { return Diff(w, diffFixture(), o) },
		"replay": func(w io.Writer, o Options) error { return Replay(w, replayFixture(), o) },
		"whatif": func(w io.Writer, o Options) error { return WhatIf(w, whatifFixture(), o) },
	} {
		for suffix, o := range map[string]Options{"": {}, "-all": {All: true, Verbose: true, Nano: true}, "-markdown": {Markdown: true}} {
			if name == "replay" && o.Markdown {
				continue
			}
			t.Run(name+suffix, func(t *testing.T) {
				golden(t, name+suffix, func(w io.Writer) error { return print(w, o) })
				var b bytes.Buffer
				if err := print(&b, o); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(b.String(), "\x1b") {
					t.Error("a control character of a name is printed")
				}
				if o.Markdown && (strings.Contains(b.String(), "@me") || strings.Contains(b.String(), "<b>")) {
					t.Errorf("a name of a task is a mention, or HTML:\n%s", b.String())
				}
			})
		}
	}
	golden(t, "gate-junit", func(w io.Writer) error { return GateJUnit(w, gateFixture()) })
	golden(t, "diff-nothing", func(w io.Writer) error { return Diff(w, &result.Diff{}, Options{}) })
	golden(t, "whatif-nothing", func(w io.Writer) error {
		return WhatIf(w, &result.WhatIf{Changes: []result.Changed{{Changes: []string{"cpus=4"}}}}, Options{})
	})
	golden(t, "replay-nothing", func(w io.Writer) error { return Replay(w, &result.Replay{}, Options{}) })
}

// TestWhatIsSaidOfPredictions of one sort, of a sort that none was made of, and of several changes.
func TestWhatIsSaidOfPredictions(t *testing.T) {
	for _, c := range []struct {
		changes   []string
		confirmed *result.Confirmed
		want      string
	}{
		{[]string{"a"}, &result.Confirmed{Mechanism: "exit", Predictions: 4, Within: 3}, "predicted for changes of this sort (exit) before they were recorded, 3 were within 10 %"},
		{[]string{"a"}, nil, "None of this sort"},
		{[]string{"a", "b"}, nil, "No prediction of several changes together"},
	} {
		if got := prediction(&result.Changed{Changes: c.changes, Confirmed: c.confirmed}); !strings.Contains(got, c.want) {
			t.Errorf("%v, %v: %q, want %q", c.changes, c.confirmed, got, c.want)
		}
	}
}
