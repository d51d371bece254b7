package explain_test

import (
	"math"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/trace"
)

// us is a length in ns given in µs.
func us(v float64) int64 { return int64(math.Round(v * 1e3)) }

// near reports whether two lengths agree to 0.1 µs, which is how the true answers are
// stated: rounding to that digit may be off by half of it on either side.
func near(got, want int64) bool { return got-want < 100 && want-got < 100 }

// cached keeps the explained recordings of this test binary: several tests look at them.
var cached = map[string]*result.Explain{}

func explained(t *testing.T, file string) *result.Explain {
	t.Helper()
	if r, ok := cached[file]; ok {
		return r
	}
	src, err := trace.Open(shared.Path(t, "traces/"+file))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime, Over: 5_000})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	cached[file] = r
	return r
}

// part is one cause of an expected answer.
type part struct {
	kind, comm string
	ns         int64
	verdict    string
}

// TestTrueAnswers holds whylate to what the recordings are known to show: the README
// beside each says how that was found out, mostly from what the load printed itself.
func TestTrueAnswers(t *testing.T) {
	const (
		exit61   = "exit-storm-v61rt-smp1/"
		exit612  = "exit-storm-v612rt-smp1/"
		sch61    = "schbench-v61-smp4/"
		throt61  = "rt-throttle-v61rt-smp1/"
		throt612 = "rt-throttle-v612rt-smp1/"
		rtapp    = "rtapp-v61rt-smp1/rtapp.dat"
	)
	tests := []struct {
		name, file, comm, class string
		wait                    int64
		verdict                 string
		parts                   []part // largest first; more may follow
		needs                   string
	}{
		{name: "exit with functions", file: exit61 + "exitfn-256.dat", comm: "cyclictest", class: "rt", wait: us(142379.2),
			verdict: "proven", parts: []part{{"exit_teardown", "exitstorm", us(142379.2), "proven"}}},
		{name: "exit 256 MB", file: exit61 + "exit-256.dat", comm: "cyclictest", class: "rt", wait: us(142341.5),
			verdict: "likely", parts: []part{{kind: "exit_teardown", comm: "exitstorm", verdict: "likely"}}, needs: "raw_syscalls:sys_enter"},
		{name: "exit 64 MB", file: exit61 + "exit-64.dat", comm: "cyclictest", class: "rt", wait: us(35768.1),
			verdict: "likely", parts: []part{{kind: "exit_teardown", comm: "exitstorm", verdict: "likely"}}, needs: "raw_syscalls:sys_enter"},
		{name: "exit 0 MB", file: exit61 + "exit-0.dat", comm: "cyclictest", class: "rt", wait: us(112.9),
			verdict: "likely", parts: []part{{kind: "exit_teardown", comm: "exitstorm", verdict: "likely"}}},
		{name: "exit on 6.12", file: exit612 + "exit-256.dat", comm: "cyclictest", class: "rt", wait: us(124866.2),
			verdict: "likely", parts: []part{{kind: "exit_teardown", comm: "exitstorm", verdict: "likely"}}},
		{name: "throttled at 950 ms", file: throt61 + "throttle950000.dat", comm: "hi25", class: "rt", wait: us(39844.0),
			verdict: "proven", parts: []part{{"rt_throttled", "burn22", us(39844.0), "proven"}}},
		{name: "throttled at 960 ms beside a hog", file: throt61 + "throttle960000-hog.dat", comm: "hi25", class: "rt", wait: us(32150.4),
			verdict: "proven", parts: []part{{"rt_throttled", "burn22", us(32150.4), "proven"}}},
		{name: "fair server, first period", file: throt612 + "throttle950000-hog.dat", comm: "hi25", class: "rt", wait: us(44734.8),
			verdict: "proven", parts: []part{{"fair_server", "cfs", us(44734.8), "proven"}}},
		{name: "fair server, second period", file: throt612 + "throttle950000-hog.dat", comm: "hi25", class: "rt", wait: us(48734.8),
			verdict: "proven", parts: []part{{"fair_server", "cfs", us(48734.8), "proven"}}},
		{name: "fair server without throttling", file: throt612 + "throttle-off-hog.dat", comm: "hi25", class: "rt", wait: us(48322.4),
			verdict: "proven", parts: []part{{"fair_server", "cfs", us(48322.4), "proven"}}},
		{name: "behind a deadline task", file: rtapp, comm: "fifo30", class: "rt", wait: us(2919.7),
			verdict: "likely", parts: []part{{"higher_prio", "dl", us(2919.7), "likely"}}},
		{name: "behind a boosted task", file: rtapp, comm: "fifo30", class: "rt", wait: us(2512.6), verdict: "proven",
			parts: []part{{"pi_boosted", "lolock", us(2196.4), "proven"}, {"higher_prio", "hilock", us(310.5), "proven"},
				{"switch", "lolock", us(5.8), "proven"}}},
		{name: "behind the deadline task at RT 40", file: rtapp, comm: "hilock", class: "rt", wait: us(1885.2), verdict: "proven",
			parts: []part{{kind: "higher_prio", comm: "dl", verdict: "proven"}}},
		{name: "fair queue in one group", file: sch61 + "sbench-cg.dat", comm: "sb-w0.6", class: "fair", wait: us(44015.2), verdict: "proven",
			parts: []part{{kind: "fair_turn", comm: "sb-w1.3", verdict: "proven"}, {kind: "fair_turn", comm: "sb-w1.1", verdict: "proven"},
				{kind: "fair_turn", comm: "sb-w0.1", verdict: "proven"}, {kind: "fair_turn", comm: "sb-w1.0", verdict: "proven"}}},
		// The wake at 20.338852 found the task still running: what follows is a wait from
		// the switch-out at 20.338933, not the 26,128.4 µs that a count from the wake gives.
		{name: "fair queue in the root group", file: sch61 + "sbench-root.dat", comm: "sb-w1.5", class: "fair", wait: us(26047.7), verdict: "proven",
			parts: []part{{kind: "fair_turn", comm: "sb-w1.2", verdict: "proven"}, {kind: "fair_turn", comm: "sb-w0.0", verdict: "proven"},
				{kind: "fair_turn", comm: "sb-w0.2", verdict: "proven"}}},
		// Queued on CPU 2 until it is moved to CPU 0 at 24.154584: the tasks of both count.
		{name: "fair queues of two CPUs on 6.12", file: "schbench-v612-smp4/sbench-cg.dat", comm: "sb-w0.2", class: "fair", wait: us(46815.9), verdict: "proven",
			parts: []part{{kind: "fair_turn", comm: "sb-w0.7", verdict: "proven"}, {kind: "fair_turn", comm: "sb-w0.6", verdict: "proven"}}},
		{name: "lowest FIFO task behind a spinner", file: throt61 + "throttle-off.dat", comm: "lo10", class: "rt", wait: us(2280905.1), verdict: "proven",
			parts: []part{{kind: "higher_prio", comm: "burn22", verdict: "proven"}}},
		{name: "deadline runtime used up", file: rtapp, comm: "dl", class: "dl", wait: us(6864.9), verdict: "proven",
			parts: []part{{kind: "dl_throttled", ns: us(6864.9), verdict: "proven"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := find(explained(t, tt.file), tt.comm, tt.class, tt.wait)
			if l == nil {
				t.Fatalf("no late wait of %s (%s) with %d ns", tt.comm, tt.class, tt.wait)
			}
			if l.Verdict != tt.verdict {
				t.Errorf("verdict %s, want %s", l.Verdict, tt.verdict)
			}
			checkParts(t, l, tt.parts)
			if tt.needs != "" && !contains(l.Needs, tt.needs) {
				t.Errorf("needs %v, want %s among them", l.Needs, tt.needs)
			}
		})
	}
}

func find(r *result.Explain, comm, class string, wait int64) *result.Late {
	for i := range r.Late {
		l := &r.Late[i]
		if l.Comm == comm && l.Class == class && near(l.WaitNS, wait) {
			return l
		}
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func checkParts(t *testing.T, l *result.Late, parts []part) {
	t.Helper()
	for i, p := range parts {
		if i >= len(l.Causes) {
			t.Fatalf("only %d causes, want %v", len(l.Causes), p)
		}
		c := l.Causes[i]
		if c.Kind != p.kind || p.comm != "" && c.Comm != p.comm || c.Verdict != p.verdict || p.ns != 0 && !near(c.NS, p.ns) {
			t.Errorf("cause %d is %s %s %d ns %s, want %v", i, c.Kind, c.Comm, c.NS, c.Verdict, p)
		}
	}
}

// TestBudgetIsNamed: the detail of RT throttling says who used the budget and how much.
// hi25 had not run in that period, so burn22 is the only one.
func TestBudgetIsNamed(t *testing.T) {
	l := find(explained(t, "rt-throttle-v61rt-smp1/throttle950000.dat"), "hi25", "rt", us(39844.0))
	const want = "budget used by burn22/134 952.0 ms (sched_rt_runtime_us is more than 948004 and at most 952004)"
	if l == nil || len(l.Causes) == 0 {
		t.Fatal("hi25 is not among the late")
	}
	if d := l.Causes[0].Detail; len(d) < len(want) || d[len(d)-len(want):] != want {
		t.Errorf("detail %q, want it to end with %q", d, want)
	}
}

// TestTimerThreadKeptFromRunning: rt-app's task other sleeps on a timer that a thread
// expires; it was woken late because real-time tasks kept that thread from running.
func TestTimerThreadKeptFromRunning(t *testing.T) {
	r := explained(t, "rtapp-v61rt-smp1/rtapp.dat")
	var worst *result.Late
	for i := range r.Late {
		if l := &r.Late[i]; l.Comm == "other" && (worst == nil || l.LatenessNS > worst.LatenessNS) {
			worst = l
		}
	}
	if worst == nil || !near(worst.LatenessNS, us(8518.0)) {
		t.Fatalf("worst of other is %+v, want a lateness of 8518.0 µs", worst)
	}
	checkParts(t, worst, []part{
		{"late_wakeup", "lolock", us(4108.2), "proven"}, {"late_wakeup", "dl", us(2044.5), "proven"},
		{"late_wakeup", "fifo30", us(2021.8), "proven"}, {"late_wakeup", "hilock", us(324.6), "proven"},
		{"late_wakeup", "ktimers/0", us(7.8), "proven"}})
	var sum int64
	for _, c := range worst.Causes {
		if c.Kind == "late_wakeup" {
			sum += c.NS
		}
	}
	if !near(sum, us(8506.9)) {
		t.Errorf("late_wakeup sums to %d ns, want 8506.9 µs", sum)
	}
}

// TestLatenessAsTheProgramSawIt: cyclictest measures from the programmed wake time, as
// lateness does; it printed 7810, 7406, 9324 and 9246 µs, a little more than the trace
// can show since its own code runs after the switch.
func TestLatenessAsTheProgramSawIt(t *testing.T) {
	r := explained(t, "mixed-v61-smp4/mixed.dat")
	want := map[int32][2]int64{158: {us(7795.3), us(7810)}, 159: {us(7376.5), us(7406)}, 160: {us(9305.0), us(9324)}, 161: {us(9225.2), us(9246)}}
	worst := map[int32]int64{}
	hackbench := false
	for _, l := range r.Late {
		hackbench = hackbench || l.Comm == "hackbench"
		if l.Comm == "cyclictest" && l.Prio == 9 {
			if hackbench {
				t.Fatal("a hackbench task comes before cyclictest at FIFO 90")
			}
			worst[l.PID] = max(worst[l.PID], l.LatenessNS)
		}
	}
	if !hackbench {
		t.Error("hackbench is not among the late at all")
	}
	for pid, w := range want {
		if !near(worst[pid], w[0]) {
			t.Errorf("cyclictest/%d is late by %d ns, want %d", pid, worst[pid], w[0])
		}
		if d := w[1] - worst[pid]; d < 0 || d > us(50) {
			t.Errorf("cyclictest/%d printed %d ns, the trace shows %d", pid, w[1], worst[pid])
		}
	}
}

// TestLookAlikesInRecordings: what is not there must not be told.
func TestLookAlikesInRecordings(t *testing.T) {
	for _, f := range []string{"throttle950000-hog.dat", "throttle-off-hog.dat"} {
		each(explained(t, "rt-throttle-v612rt-smp1/"+f), func(l *result.Late, c *result.Cause) {
			if c.Kind == "rt_throttled" {
				t.Errorf("%s: wait %s is blamed on RT throttling on a kernel with fair servers", f, l.ID)
			}
		})
	}
	each(explained(t, "rt-throttle-v61rt-smp1/throttle-off.dat"), func(l *result.Late, c *result.Cause) {
		// burn22 computes for 2.3 s and then exits: only its real exit, some µs, may count.
		if c.Kind == "exit_teardown" && c.Comm == "burn22" && c.NS > us(100) {
			t.Errorf("throttle-off: wait %s blames %d ns on burn22's exit", l.ID, c.NS)
		}
		if c.Kind == "rt_throttled" || c.Kind == "fair_server" {
			t.Errorf("throttle-off: wait %s is blamed on %s", l.ID, c.Kind)
		}
	})
}

func each(r *result.Explain, visit func(*result.Late, *result.Cause)) {
	for i := range r.Late {
		for j := range r.Late[i].Causes {
			visit(&r.Late[i], &r.Late[i].Causes[j])
		}
	}
}

// TestEveryRecordingIsWhole: the recordings have no broken chains and lost nothing, so
// whylate must not claim that.
func TestEveryRecordingIsWhole(t *testing.T) {
	for _, f := range []string{"exit-storm-v61rt-smp1/exit-0.dat", "exit-storm-v61rt-smp1/exit-64.dat", "exit-storm-v61rt-smp1/exit-256.dat",
		"exit-storm-v61rt-smp1/exitfn-256.dat", "exit-storm-v612rt-smp1/exit-256.dat", "rt-throttle-v61rt-smp1/throttle-off.dat",
		"rt-throttle-v61rt-smp1/throttle950000.dat", "rt-throttle-v61rt-smp1/throttle960000-hog.dat",
		"rt-throttle-v612rt-smp1/throttle-off-hog.dat", "rt-throttle-v612rt-smp1/throttle950000-hog.dat", "rtapp-v61rt-smp1/rtapp.dat",
		"mixed-v61-smp4/mixed.dat", "schbench-v61-smp4/sbench-cg.dat", "schbench-v61-smp4/sbench-root.dat", "schbench-v612-smp4/sbench-cg.dat"} {
		r := explained(t, f)
		if r.Input.Lost != 0 {
			t.Errorf("%s: %d lost", f, r.Input.Lost)
		}
		for _, d := range r.Diagnostics {
			t.Errorf("%s: %s %d: %s", f, d.Kind, d.Count, d.Text)
		}
	}
}
