package report

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/result"
)

func TestExplain(t *testing.T) {
	quiet := machine()
	quiet.Late, quiet.Diagnostics = nil, nil
	lost := machine()
	lost.Late, lost.Tasks, lost.Input.Lost = nil, nil, 12
	lost.Diagnostics = append(lost.Diagnostics, result.Diagnostic{Kind: "lost_events", Count: 12, Text: "events were lost on CPU 3"})
	byComm := machine()
	byComm.Tasks = []result.Task{{Comm: "ctl-loop", PID: -1, Group: "ctl-loop", Class: "rt", Prio: 19, Wakeup: byComm.Tasks[0].Wakeup}}
	byCGroup := machine()
	byCGroup.Tasks = []result.Task{
		{Comm: "", PID: -1, Group: "/system.slice/robot.service", CGroup: "/system.slice/robot.service", Wakeup: byCGroup.Tasks[0].Wakeup, Preempted: byCGroup.Tasks[0].Preempted, Blame: byCGroup.Tasks[0].Blame},
		{Comm: "", PID: -1, Group: "/idle.slice"}}
	byCGroup.Late = byCGroup.Late[:1]
	tests := []struct {
		name string
		in   *result.Explain
		o    Options
	}{
		{"explain", machine(), Options{}},
		{"explain-verbose", machine(), Options{Verbose: true}},
		{"explain-all", machine(), Options{All: true}},
		{"explain-nano", machine(), Options{Nano: true}},
		{"explain-color", machine(), Options{Color: true}},
		{"explain-nothing-late", quiet, Options{}},
		{"explain-lost", lost, Options{}},
		{"explain-by-comm", byComm, Options{}},
		{"explain-by-cgroup", byCGroup, Options{}},
		{"explain-many-causes", manyCauses(), Options{}},
		{"explain-empty", &result.Explain{}, Options{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			golden(t, test.name, func(w io.Writer) error { return Explain(w, test.in, test.o) })
		})
	}
}

// manyCauses is a fair task in a container that waited for its turn behind a dozen others,
// one of them twice.
func manyCauses() *result.Explain {
	l := result.Late{ID: "77@10.000000", Comm: "worker", PID: 77, Class: "fair", Prio: 120, CPU: -1, WaitKind: "yielded", OnCPUNS: at(1), Verdict: "proven"}
	for i := range int32(12) {
		l.Causes = append(l.Causes, result.Cause{Kind: "fair_turn", NS: 1_000_000 - int64(i)*50_000, CPU: i % 2, Comm: "burn", PID: 100 + i, Prio: 120, Verdict: "proven"})
	}
	l.Causes = append(l.Causes,
		result.Cause{Kind: "fair_turn", NS: 2_000_000, Comm: "burn", PID: 101, Prio: 120, Verdict: "proven", Detail: "2 turns"},
		result.Cause{Kind: "brand_new_kind", NS: 3_000_000, PID: -1, Comm: "quota", Verdict: "likely", Detail: "a kind added later"})
	for _, c := range l.Causes {
		l.LatenessNS += c.NS
	}
	l.WaitNS = l.LatenessNS
	return &result.Explain{Input: result.Input{File: "web.txt", Format: "ftrace text", Events: 1, Lost: -1, EndNS: 5e9}, Late: []result.Late{l},
		Tasks: []result.Task{{Comm: "worker", PID: 77, Class: "fair", Prio: 120, CGroup: "/kubepods/web", Preempted: result.Waits{Waits: 1, MaxNS: 14_700_000}}}}
}

func TestPrintedCausesSumToTheLateness(t *testing.T) {
	amount := regexp.MustCompile(`(?m)^     +(\d+) ns `)
	rapid.Check(t, func(t *rapid.T) {
		l := result.Late{ID: "1@1.000000", Comm: "a", PID: 1, Class: "rt", Prio: 1, WaitKind: "wakeup"}
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			c := result.Cause{Kind: rapid.SampledFrom([]string{"irq", "switch", "unknown"}).Draw(t, "kind"), PID: rapid.Int32Range(1, 9).Draw(t, "pid"), NS: rapid.Int64Range(0, 1e9).Draw(t, "ns")}
			l.Causes = append(l.Causes, c)
			l.LatenessNS += c.NS
		}
		var b strings.Builder
		if err := Explain(&b, &result.Explain{Late: []result.Late{l}}, Options{Nano: true, Verbose: rapid.Bool().Draw(t, "verbose")}); err != nil {
			t.Fatal(err)
		}
		var sum int64
		for _, m := range amount.FindAllStringSubmatch(b.String(), -1) {
			ns, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += ns
		}
		if sum != l.LatenessNS {
			t.Fatalf("the lines sum to %d ns, the wait is %d ns late:\n%s", sum, l.LatenessNS, b.String())
		}
	})
}

func TestTheWorstWaitIsOnTheFirstScreen(t *testing.T) {
	var b strings.Builder
	if err := Explain(&b, machine(), Options{}); err != nil {
		t.Fatal(err)
	}
	screen := strings.Join(strings.Split(b.String(), "\n")[:24], "\n")
	for _, want := range []string{"11 020.3 µs", "logger/5298 (RT 90)", "exit teardown", "PROVEN"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the first 24 lines lack %q:\n%s", want, screen)
		}
	}
}

func TestHostileNamesReachNoTerminal(t *testing.T) {
	evil := "\x1b[2J\x07\u202e\r\n\xff\u009b"
	r := machine()
	r.Input.File, r.Input.Format, r.Input.Kernel = evil, evil, evil
	r.Tasks = append(r.Tasks, result.Task{Comm: evil, Class: evil, Group: evil, Wakeup: result.Waits{Waits: 1}})
	r.Diagnostics = append(r.Diagnostics, result.Diagnostic{Kind: evil}, result.Diagnostic{Text: evil})
	r.Late[0] = result.Late{ID: evil, Comm: evil, Class: evil, WaitKind: evil, Waker: result.Waker{Comm: evil, Context: evil},
		DueNS: at(1), DueVerdict: evil, DueDetail: evil, Verdict: evil, LatenessNS: 5,
		Causes: []result.Cause{{Kind: evil, Comm: evil, Verdict: evil, Detail: evil, Evidence: []string{evil}}},
		IdleElsewhere: []result.IdleElsewhere{{Verdict: evil, Evidence: []string{evil},
			Balancing: &result.Balancing{Verdict: evil, Needs: []string{evil}, Pulls: 1, Pulled: []result.Pull{{Comm: evil, How: evil}}}}}, Advice: []result.Advice{{Change: evil, Command: evil, Text: evil, Kind: evil, Harm: []result.Harm{{Comm: evil}}, Confirmed: &result.Confirmed{Mechanism: evil, Predictions: 1}}}, Refused: []result.Refusal{{Change: evil, Text: evil}}, Withheld: evil, Needs: []string{evil}}
	r.Late[1].ID = evil
	latency := &result.Latency{By: evil, Tasks: r.Tasks, Diagnostics: r.Diagnostics,
		Histograms: []result.Histogram{{Label: evil, CPU: -1, BucketNS: 1000, Counts: []int64{1}}}}
	info := &result.Info{Snapshot: &result.Snapshot{Kernel: evil, Settings: []result.Setting{{Name: evil, Value: evil}}, Features: []result.Feature{{Name: evil}},
		CPUs: 1, Isolated: evil, NoHZFull: evil, Tasks: 1, Policies: []result.Policy{{Policy: evil}}}, Machine: evil, Profile: evil, Buffers: []string{evil}, Commands: []string{evil}, Record: []string{evil},
		Counts: []result.EventCount{{Event: evil}}, Verdicts: []result.Support{{Kind: evil, Best: evil, Needs: []string{evil}}}}
	o := Options{Verbose: true, Width: 80}
	prints := map[string]func(io.Writer) error{
		"Explain":         func(w io.Writer) error { return Explain(w, r, o) },
		"Explain grouped": func(w io.Writer) error { return Explain(w, r, Options{}) },
		"Latency":         func(w io.Writer) error { return Latency(w, latency, o) },
		"HistCyclictest":  func(w io.Writer) error { return HistCyclictest(w, latency) },
		"HistRTLA":        func(w io.Writer) error { return HistRTLA(w, latency) },
		"Info":            func(w io.Writer) error { return Info(w, info, o) },
	}
	for name, print := range prints {
		var b bytes.Buffer
		if err := print(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if i := strings.IndexAny(b.String(), "\x1b\x07\r\u202e\u009b"); i >= 0 || strings.Contains(b.String(), "\xff") {
			t.Errorf("%s let a control character through at byte %d:\n%q", name, i, b.String())
		}
		if !strings.Contains(b.String(), `\x1b[2J`) {
			t.Errorf("%s does not show the name in escaped form", name)
		}
	}
}

func TestOnlyColorAddsSequences(t *testing.T) {
	var plain, color strings.Builder
	if err := Explain(&plain, machine(), Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if err := Explain(&color, machine(), Options{Verbose: true, Color: true}); err != nil {
		t.Fatal(err)
	}
	if color.String() == plain.String() {
		t.Error("Color changes nothing")
	}
	stripped := strings.NewReplacer(ansiBold, "", ansiRed, "", ansiYellow, "", ansiDim, "", ansiReset, "").Replace(color.String())
	if stripped != plain.String() {
		t.Errorf("beside its sequences Color changes the text:\n%s", stripped)
	}
}

func TestLongNamesAreCutOnTerminalsOnly(t *testing.T) {
	r := &result.Latency{By: "cgroup", Tasks: []result.Task{{Group: "/system.slice/" + strings.Repeat("x", 80), PID: -1, Class: "fair", Prio: 120, Wakeup: result.Waits{Waits: 1}}}}
	for width, want := range map[int]string{0: r.Tasks[0].Group + " ", 90: r.Tasks[0].Group[:29] + "… ", 10: "/system.slice/… "} {
		var b strings.Builder
		if err := Latency(&b, r, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("width %d: no %q in\n%s", width, want, b.String())
		}
	}
}

// failing is a writer with room for a few bytes, such as a full disk.
type failing struct{ room int }

var errFull = errors.New("no space left on device")

func (f *failing) Write(b []byte) (int, error) {
	if len(b) > f.room {
		return f.room, errFull
	}
	f.room -= len(b)
	return len(b), nil
}

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	hist := &result.Latency{Histograms: []result.Histogram{{BucketNS: 1000, Counts: []int64{1}}}}
	for name, print := range map[string]func(io.Writer) error{
		"Explain":        func(w io.Writer) error { return Explain(w, machine(), Options{}) },
		"Latency":        func(w io.Writer) error { return Latency(w, &result.Latency{}, Options{}) },
		"HistCyclictest": func(w io.Writer) error { return HistCyclictest(w, hist) },
		"HistRTLA":       func(w io.Writer) error { return HistRTLA(w, hist) },
		"Info":           func(w io.Writer) error { return Info(w, &result.Info{}, Options{}) },
	} {
		if err := print(&failing{room: 20}); !errors.Is(err, errFull) {
			t.Errorf("%s returned %v", name, err)
		}
	}
}

func TestGroupsKeepEveryWaitOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &result.Explain{}
		for i := range rapid.IntRange(0, 60).Draw(t, "waits") {
			l := result.Late{PID: rapid.Int32Range(1, 4).Draw(t, "pid"), WaitKind: rapid.SampledFrom([]string{"wakeup", "preempted"}).Draw(t, "kind"), LatenessNS: int64(1000 - i)}
			l.Causes = []result.Cause{{Kind: rapid.SampledFrom([]string{"irq", "switch"}).Draw(t, "cause"), NS: l.LatenessNS}}
			r.Late = append(r.Late, l)
		}
		single := rapid.Bool().Draw(t, "single")
		seen := make(map[int]bool)
		firstBlock := -1
		for _, b := range groupLate(r, single) {
			if f := b.groups[0].late[0]; f <= firstBlock {
				t.Fatalf("a block begins with wait %d after one that began with %d", f, firstBlock)
			} else {
				firstBlock = f
			}
			firstGroup := -1
			for _, g := range b.groups {
				if g.late[0] <= firstGroup {
					t.Fatal("groups are not in the order of their first waits")
				}
				firstGroup = g.late[0]
				if single && len(g.late) != 1 {
					t.Fatal("grouped although single waits were asked for")
				}
				for _, i := range g.late {
					first, l := r.Late[g.late[0]], r.Late[i]
					if seen[i] || i < g.late[0] || l.PID != first.PID || l.WaitKind != first.WaitKind || l.Causes[0].Kind != first.Causes[0].Kind {
						t.Fatalf("wait %d is twice in, out of order, or does not fit its group", i)
					}
					seen[i] = true
				}
			}
		}
		if len(seen) != len(r.Late) {
			t.Fatalf("%d of %d waits are in groups", len(seen), len(r.Late))
		}
	})
}

func TestSharesSumToTheIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var causes []result.Cause
		var total int64
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			c := result.Cause{Kind: rapid.SampledFrom([]string{"irq", "switch", "unknown"}).Draw(t, "kind"), PID: rapid.Int32Range(1, 3).Draw(t, "pid"), NS: rapid.Int64Range(0, 1e6).Draw(t, "ns")}
			total += c.NS
			causes = append(causes, c)
		}
		before := int64(1 << 60)
		for _, s := range sumCauses(causes) {
			if s.ns > before {
				t.Fatal("not sorted by length")
			}
			before = s.ns
			total -= s.ns
		}
		if total != 0 {
			t.Fatalf("%d ns are missing", total)
		}
	})
}
