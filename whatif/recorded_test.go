package whatif

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/result"
)

// advised explains a recording and advises its late waits.
func advised(t *testing.T, name string) *result.Explain {
	t.Helper()
	return adviceOn(t, shared.Path(t, "traces/"+name))
}

// mainKind is the kind of cause with the largest part in a wait.
func mainKind(l *result.Late) string {
	sums := make(map[string]int64)
	kind := ""
	for _, c := range l.Causes {
		if sums[c.Kind] += c.NS; sums[c.Kind] > sums[kind] {
			kind = c.Kind
		}
	}
	return kind
}

// recordedCases are those with known answers. The bounds are those of the recordings without the
// trouble: cyclictest waits 112.9 µs at most where nobody dies with memory, hi25 less than 8 µs
// where nothing is throttled; a fair server of 5 ms keeps real-time tasks waiting for 5 ms and a
// tick at most; without the section fifo30 waits for hilock, which works for 0.32 ms.
var recordedCases = []struct {
	trace, comm, kind string
	best              []string // one of these is the first
	also              []string // these are told, too
	never             []string // no change contains this
	most              int64    // what is left with the first, ns
	refused           string
}{
	{trace: "exit-storm-v61rt-smp1/exit-256.dat", comm: "cyclictest", kind: "exit_teardown",
		best: []string{"task=exitstorm exit_normalize=rt"}, also: []string{"task=cyclictest/174 policy=fifo prio=12", "set exit_normalize=rt"}, never: []string{"set sched_"}, most: 112_900},
	{trace: "exit-storm-v61rt-smp1/exit-64.dat", comm: "cyclictest", kind: "exit_teardown",
		best: []string{"task=exitstorm exit_normalize=rt"}, also: []string{"set exit_normalize=rt"}, never: []string{"set sched_"}, most: 112_900},
	{trace: "exit-storm-v61rt-smp1/exitfn-256.dat", comm: "cyclictest", kind: "exit_teardown",
		best: []string{"task=exitstorm exit_normalize=rt"}, also: []string{"set exit_normalize=rt"}, never: []string{"set sched_"}, most: 112_900},
	{trace: "exit-storm-v612rt-smp1/exit-256.dat", comm: "cyclictest", kind: "exit_teardown",
		best: []string{"task=exitstorm exit_normalize=rt"}, also: []string{"set exit_normalize=rt"}, never: []string{"set sched_"}, most: 112_900},
	{trace: "rt-throttle-v61rt-smp1/throttle950000.dat", comm: "hi25", kind: "rt_throttled",
		best: []string{"task=burn22 policy=other"}, also: []string{"set sched_rt_runtime_us="}, never: []string{"task=hi25", "fair_server"}, most: 8_000},
	{trace: "rt-throttle-v61rt-smp1/throttle960000-hog.dat", comm: "hi25", kind: "rt_throttled",
		best: []string{"task=burn22 policy=other"}, also: []string{"set sched_rt_runtime_us="}, never: []string{"task=hi25", "fair_server"}, most: 8_000},
	{trace: "rt-throttle-v612rt-smp1/throttle-off-hog.dat", comm: "hi25", kind: "fair_server",
		best: []string{"set fair_server_period_ns=100000000 fair_server_runtime_ns=5000000"}, never: []string{"sched_rt_", "task=hi25"}, most: 9_000_000, refused: "EBUSY"},
	{trace: "rt-throttle-v612rt-smp1/throttle950000-hog.dat", comm: "hi25", kind: "fair_server",
		best: []string{"set fair_server_period_ns=100000000 fair_server_runtime_ns=5000000"}, never: []string{"sched_rt_", "task=hi25"}, most: 9_000_000, refused: "EBUSY"},
	{trace: "rtapp-v61rt-smp1/rtapp.dat", comm: "fifo30", kind: "pi_boosted",
		best: []string{"mutex=lolock held=outside"}, also: []string{"mutex=lolock held=×0.5"}, never: []string{"set ", "pi=off"}, most: 320_000 + 50_000},
}

// TestAdviceOnRecordedCases: what an expert would say to each, and that a replay says it with
// numbers.
func TestAdviceOnRecordedCases(t *testing.T) {
	shared.Path(t, "traces")
	var table strings.Builder
	table.WriteString("| recording and wait | advice, the best first | predicted | another wait of it | error of the replay |\n|---|---|---|---|---|\n")
	ran := 0
	for _, c := range recordedCases {
		t.Run(c.trace, func(t *testing.T) {
			ran++
			r := advised(t, c.trace)
			at := slices.IndexFunc(r.Late, func(l result.Late) bool {
				return l.Comm == c.comm && l.Class == "rt" && l.WaitKind == "wakeup" && mainKind(&l) == c.kind
			})
			if at < 0 {
				t.Fatalf("no late wait of %s for %s", c.comm, c.kind)
			}
			l := &r.Late[at]
			if len(l.Advice) == 0 {
				t.Fatalf("no advice for %s; withheld: %q", l.ID, l.Withheld)
			}
			first := l.Advice[0]
			for i := range l.Advice {
				a := &l.Advice[i]
				name := ""
				if i == 0 {
					name = fmt.Sprintf("%s: `%s`, %s of %s", strings.TrimSuffix(c.trace, ".dat"), l.ID, l.Comm, inMS(l.LatenessNS))
				}
				fmt.Fprintf(&table, "| %s | `%s` | %s | %s | %s |\n", name, a.Change, inMS(a.AfterNS), inMS(a.WorseNS), inMS(a.ErrorNS))
			}
			if !slices.Contains(c.best, first.Change) || max(first.AfterNS, first.WorseNS) > c.most || first.BeforeNS != l.LatenessNS {
				t.Errorf("first advice %+v, want one of %v and at most %d ns left", first, c.best, c.most)
			}
			var all []string
			for _, a := range l.Advice {
				all = append(all, a.Change)
				if a.BeforeNS-max(a.AfterNS, a.WorseNS) <= a.ErrorNS {
					t.Errorf("advice without a gain that is more than the error: %+v", a)
				}
				for _, no := range c.never {
					if strings.Contains(a.Change, no) {
						t.Errorf("advice %s", a.Change)
					}
				}
			}
			for _, want := range c.also {
				if !slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, want) }) {
					t.Errorf("no advice %s among %v", want, all)
				}
			}
			if c.refused != "" && !slices.ContainsFunc(l.Refused, func(r result.Refusal) bool { return strings.Contains(r.Text, c.refused) }) {
				t.Errorf("refused %+v, want %s", l.Refused, c.refused)
			}
		})
	}
	if ran == len(recordedCases) { // -run may choose
		inFidelity(t, "advice", table.String())
	}
}

// inMS is a time for the table.
func inMS(ns int64) string {
	switch {
	case ns == 0:
		return "–"
	case ns < 10_000:
		return "< 0.01 ms"
	}
	return fmt.Sprintf("%d.%02d ms", ns/1_000_000, ns/10_000%100)
}

// inFidelity compares says with the place of docs/fidelity.md that has its name.
func inFidelity(t *testing.T, place, says string) {
	t.Helper()
	text, err := os.ReadFile(fidelityDoc)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+place+": begin -->\n", "<!-- "+place+": end -->"
	head, rest, ok := strings.Cut(string(text), begin)
	have, tail, ends := strings.Cut(rest, end)
	if !ok || !ends {
		t.Fatalf("%s has no place for %s", fidelityDoc, place)
	}
	if have == says {
		return
	}
	if *update {
		if err := os.WriteFile(fidelityDoc, []byte(head+begin+says+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s of %s is another one; -update writes it (-document +now):\n%s", place, fidelityDoc, cmp.Diff(strings.Split(have, "\n"), strings.Split(says, "\n")))
}
