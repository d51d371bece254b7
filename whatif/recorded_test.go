package whatif_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/trace"
	"github.com/whylate/whylate/whatif"
)

// advised explains a recording and advises its late waits.
func advised(t *testing.T, name string) *result.Explain {
	t.Helper()
	src, err := trace.Open(shared.Path(t, "traces/"+name))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime})
	if err != nil {
		t.Fatal(err)
	}
	load, err := replay.Read(src, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := whatif.NewStudy(load)
	if err != nil {
		t.Fatal(err)
	}
	if err := whatif.Advise(t.Context(), r, s, whatif.AdviceOptions{}); err != nil {
		t.Fatal(err)
	}
	return r
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

// TestAdviceOnRecordedCases: what an expert would say to each, and that a replay says it with
// numbers. The bounds are those of the recordings without the trouble: cyclictest waits 112.9 µs
// at most where nobody dies with memory, hi25 less than 8 µs where nothing is throttled; a
// fair server of 5 ms keeps real-time tasks waiting for 5 ms and a tick at most; without the
// section fifo30 waits for hilock, which works for 0.32 ms.
func TestAdviceOnRecordedCases(t *testing.T) {
	for _, c := range []struct {
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
	} {
		t.Run(c.trace, func(t *testing.T) {
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
			t.Logf("%s: %d µs → %d µs (others at most %d) ± %d: %s", l.ID, first.BeforeNS/1000, first.AfterNS/1000, first.WorseNS/1000, first.ErrorNS/1000, first.Change)
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
}
