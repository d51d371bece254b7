package explain_test

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/trace"
)

// The recordings of this file are small and part of the project. What ran and how the
// true answers were found out is told in the README beside them.
const recordings = "../cause/testdata/recorded/"

// recorded explains a recording of real kernels, every wait of it.
func recorded(t *testing.T, name string) *result.Explain {
	t.Helper()
	file := filepath.Join(recordings, name+".dat.xz")
	if r, ok := cached[file]; ok {
		return r
	}
	src, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime, Over: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	if r.Input.Lost != 0 || len(r.Late) == 0 {
		t.Fatalf("%s: %d events lost, %d late waits", name, r.Input.Lost, len(r.Late))
	}
	cached[file] = r
	return r
}

// share is how much of a wait the truth gives to one kind and culprit, in µs.
type share struct {
	kind, comm string
	us, within float64
}

// TestWhatTheLoadMeasured compares with what the tasks printed: when the wait was due and
// how late they were, both on CLOCK_MONOTONIC, which was the trace clock too. A task reads
// the clock 2 µs after the stamp of its sched_switch.
func TestWhatTheLoadMeasured(t *testing.T) {
	tests := []struct {
		name, file, comm string
		due              event.Time // as printed
		late             int64      // as printed
		verdicts         string     // space-separated; the truth allows no other
		shares           []share    // nothing else may reach 5 %
	}{
		// _exit was called 0.6 ms before the wait began.
		{"exit with the system call recorded", "exit-sys64-v61rt", "victim", 6_905_419_186, us(35799.2), "proven",
			[]share{{"exit_teardown", "hog", 35796, 5}}},
		// Due at .801270, _exit at .940048: the rest is the exit.
		{"140 ms of work, then exit, with the system call", "exit-spin-sys-v61rt", "victim", 18_801_270_318, us(139631.6), "proven",
			[]share{{"higher_prio", "hog", 138777.9, 60}}},
		// The exit of 1 MB, 0.85 ms, cannot be told from the work before it.
		{"work interrupted by FIFO 50, then exit", "exit-spin-preempted-v61rt", "victim", 24_895_619_023, us(144770.4), "proven",
			[]share{{"higher_prio", "hog", 139642, 900}}},
		{"work of a new task, then exit", "exit-spin-new-v61rt", "victim", 30_966_956_238, us(140023.1), "proven likely",
			[]share{{"higher_prio", "hog", 139000, 900}}},
		{"work, then fork and exit", "exit-spin-fork-v61rt", "victim", 37_130_379_330, us(140325.1), "proven",
			[]share{{"higher_prio", "hog", 139700, 900}}},
		// begin_new_exec took 36,400.9 µs, do_exit of the new program 0.27 ms.
		{"exec gives back 64 MB, with functions", "exec-fn-v61rt", "victim", 50_863_388_556, us(36911.6), "proven",
			[]share{{"higher_prio", "nothing", 36644, 5}}},
		{"exec gives back 64 MB, with system calls", "exec-sys-v61rt", "victim", 57_889_384_990, us(36090.6), "proven",
			[]share{{"higher_prio", "nothing", 35945, 5}}},
		{"SIGKILL, with functions", "exit-kill9-fn-v61rt", "victim", 8_469_383_450, us(36037.6), "proven",
			[]share{{"exit_teardown", "hog", 36034, 5}}},
		{"SIGKILL", "exit-kill9-v61rt", "victim", 15_573_267_337, us(36131.2), "proven likely",
			[]share{{"exit_teardown", "hog", 36128, 5}}},
		// do_coredump lasted until .287406, do_group_exit began 0.8 µs later.
		{"core dump, with functions", "exit-core-fn-v61rt", "victim", 23_187_374_605, us(136430.8), "proven",
			[]share{{"higher_prio", "hog", 100032, 5}, {"exit_teardown", "hog", 36397, 5}}},
		// The thread that called exit_group left at once; the other gave back the memory.
		{"exit of two threads, with functions", "exit-thread-fn-v61rt", "victim", 44_223_432_660, us(40254.2), "proven",
			[]share{{"exit_teardown", "hogmate", 40246, 5}}},
		{"exit of two threads, with the system call", "exit-thread-sys-v61rt", "victim", 36_661_387_144, us(39446.9), "proven likely",
			[]share{{"exit_teardown", "hogmate", 39439, 10}}},
		// One system call took up to 934 µs in the kernel, which does not preempt itself.
		{"kernel mode without preemption", "np-bpf-v61", "victim", 4_262_665_788, us(451.6), "proven likely",
			[]share{{"preempt_off", "bpfer", 448, 5}}},
		// clone took 5,989.9 µs, most of it in dup_fd.
		{"a long copy in clone", "np-fork-v61", "victim", 10_299_870_744, us(5173.7), "proven likely",
			[]share{{"preempt_off", "forker", 5160, 20}}},
		// The same with preempt=full: dup_fd holds a spinlock.
		{"a spinlock on a kernel that preempts itself", "np-fork-v61-full", "victim", 10_339_857_653, us(5076.7), "proven likely",
			[]share{{"preempt_off", "forker", 5065, 20}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := recorded(t, tt.file)
			l := wakeupDue(r, tt.comm, tt.due)
			if l == nil {
				t.Fatalf("no wakeup wait of %s due at %d", tt.comm, tt.due)
			}
			if d := tt.late - l.LatenessNS; d < 0 || d > us(4) {
				t.Errorf("lateness %d ns, the program saw %d", l.LatenessNS, tt.late)
			}
			if !slices.Contains(strings.Fields(tt.verdicts), l.Verdict) {
				t.Errorf("verdict %s, the truth allows %s", l.Verdict, tt.verdicts)
			}
			checkShares(t, l, tt.shares)
		})
	}
}

// wakeupDue returns the wakeup wait of comm that was due at due of the trace clock, 2 µs
// more or less.
func wakeupDue(r *result.Explain, comm string, due event.Time) *result.Late {
	for i := range r.Late {
		l := &r.Late[i]
		if l.Comm != comm || l.WaitKind != "wakeup" || l.DueNS == nil {
			continue
		}
		if d := *l.DueNS + r.Input.StartNS - int64(due); d > -us(2) && d < us(2) {
			return l
		}
	}
	return nil
}

// checkShares compares the causes of l, summed by kind and culprit.
func checkShares(t *testing.T, l *result.Late, shares []share) {
	t.Helper()
	type key struct{ kind, comm string }
	sums := map[key]int64{}
	for _, c := range l.Causes {
		sums[key{c.Kind, c.Comm}] += c.NS
	}
	for _, s := range shares {
		k := key{s.kind, s.comm}
		if d := sums[k] - us(s.us); d < -us(s.within) || d > us(s.within) {
			t.Errorf("%s by %s: %d ns, the truth is %.1f µs ± %.0f", s.kind, s.comm, sums[k], s.us, s.within)
		}
		delete(sums, k)
	}
	for k, ns := range sums {
		if ns*20 >= l.LatenessNS {
			t.Errorf("%s by %s: %d ns of %d, the truth has no such cause", k.kind, k.comm, ns, l.LatenessNS)
		}
	}
}

// TestTheDeadAreBuriedByTheNext: on kernels without PREEMPT_RT the task that runs after a
// dead one gives back its last pages between the stamp of sched_switch and its own code
// (__mmdrop, 3,855.0 µs here). The wait ends at the stamp; the program sees the sum.
func TestTheDeadAreBuriedByTheNext(t *testing.T) {
	l := wakeupDue(recorded(t, "exit-after-v61"), "victim", 5_873_243_033)
	if l == nil {
		t.Fatal("the wait is not there")
	}
	if d := us(32674.9) - l.LatenessNS - us(3855.0); d < us(2) || d > us(6) {
		t.Errorf("lateness %d ns: with __mmdrop that is %d ns off what the program saw", l.LatenessNS, d)
	}
	checkShares(t, l, []share{{"exit_teardown", "hog", 28814, 5}})
	if l.Verdict != "proven" {
		t.Errorf("verdict %s, the functions are in the trace", l.Verdict)
	}
}

// TestAKernelThatPreemptsItself: with preempt=full the same long system calls keep nobody
// waiting; the program saw at most 11.6 µs.
func TestAKernelThatPreemptsItself(t *testing.T) {
	for _, l := range recorded(t, "np-bpf-v61-full").Late {
		if l.Comm == "victim" && l.Class == "rt" && l.LatenessNS > us(11.6) {
			t.Errorf("wait %s: %d ns, the program saw at most 11.6 µs", l.ID, l.LatenessNS)
		}
	}
}

// TestDeadlineTasksAndTheFairServer: dlo wants 5 ms of its 3 ms per 10 ms, 20 times; the
// tick finds every second overrun. Of the two timers with the function dl_task_timer one
// is the task's, one the CPU's, which expired for nothing and then for the server. Beside
// that the server took hog 6 µs twice as it died, without a timer: it was still running.
func TestDeadlineTasksAndTheFairServer(t *testing.T) {
	for _, tt := range []struct {
		file   string
		served int64 // ns that the server gave fair tasks in one go, of hog's wait
	}{{"dl-nofair-v612rt", 0}, {"dl-fair-v612rt", us(50576.1)}} {
		throttled, served := 0, int64(0)
		each(recorded(t, tt.file), func(l *result.Late, c *result.Cause) {
			switch {
			case c.Kind == "dl_throttled":
				throttled++
				if l.Comm != "dlo" || c.Verdict != "proven" || c.NS != l.LatenessNS || c.NS < us(5000) || c.NS > us(7000) {
					t.Errorf("%s: dl_throttled of %s, %d of %d ns, %s", tt.file, l.ID, c.NS, l.LatenessNS, c.Verdict)
				}
			case c.Kind == "fair_server" && l.Comm == "hog" && l.LatenessNS > us(1000):
				served += c.NS
				if c.Verdict != "proven" {
					t.Errorf("%s: fair_server of %s %s", tt.file, l.ID, c.Verdict)
				}
			case l.Comm == "dlo" && l.Class == "dl" && l.LatenessNS > us(1000):
				t.Errorf("%s: wait %s of the deadline task also has %s", tt.file, l.ID, c.Kind)
			case c.Kind == "rt_throttled":
				t.Errorf("%s: wait %s is blamed on RT throttling on a kernel with fair servers", tt.file, l.ID)
			}
		})
		if throttled != 10 {
			t.Errorf("%s: dlo was throttled %d times, the truth is 10", tt.file, throttled)
		}
		if !near(served, tt.served) {
			t.Errorf("%s: the server took %d ns from hog, the truth is %d", tt.file, served, tt.served)
		}
	}
}

// TestWakeOfAnIdleCPU: pongee sleeps on CPU 1, pinger wakes it 60 times from CPU 0.
func TestWakeOfAnIdleCPU(t *testing.T) {
	for _, file := range []string{"idle-remote-v61", "idle-remote-v612", "idle-bare-v61", "idle-bare-v612"} {
		waits, proven := 0, 0
		for _, l := range recorded(t, file).Late {
			if l.Comm != "pongee" || l.WaitKind != "wakeup" || l.CPU != 1 {
				continue
			}
			waits++
			if l.Verdict == "proven" {
				proven++
			}
			for _, c := range l.Causes {
				if c.Kind != "idle_exit" && c.Kind != "irq" && c.Kind != "unknown" && c.Comm != "trace-cmd" && c.NS*20 >= l.LatenessNS {
					t.Errorf("%s: wait %s has %s %d ns; only trace-cmd ran there too", file, l.ID, c.Kind, c.NS)
				}
			}
		}
		if waits < 59 || waits > 61 {
			t.Errorf("%s: %d wakes, the program made 60", file, waits)
		}
		// Some wakes meet a CPU that is awake in its idle loop, without any such event.
		if file[:11] == "idle-remote" && proven < 50 {
			t.Errorf("%s: %d of %d proven, though cpu_idle and the interrupts were recorded", file, proven, waits)
		}
	}
}

// TestQuotaByFunctions compares cfs_quota with throttle_cfs_rq and unthrottle_cfs_rq,
// which were recorded too and which whylate does not look at. The number of throttlings
// is that of cpu.stat.
func TestQuotaByFunctions(t *testing.T) {
	for _, file := range []string{"quota-idle-v61", "quota-idle-v612", "quota-busy-v61", "quota-busy-v612"} {
		throttled := throttledSpans(t, file)
		if len(throttled) != 7 {
			t.Fatalf("%s: %d throttlings, cpu.stat counted 7", file, len(throttled))
		}
		r := recorded(t, file)
		exact := 0
		each(r, func(l *result.Late, c *result.Cause) {
			if c.Kind != "cfs_quota" {
				return
			}
			var truth int64
			from := r.Input.StartNS + l.WokenNS
			for _, s := range throttled {
				truth += max(0, min(from+l.WaitNS, s[1])-max(from, s[0]))
			}
			switch d := c.NS - truth; {
			case l.Comm != "qper" && l.Comm != "qspin1" && l.Comm != "qspin2":
				t.Errorf("%s: wait %s of %s, which is in no group with a quota", file, l.ID, l.Comm)
			case c.Verdict != "likely":
				t.Errorf("%s: wait %s is %s; nothing in the trace can prove it", file, l.ID, c.Verdict)
			case d > us(4000): // a tick: some tasks ran before the throttling
				t.Errorf("%s: wait %s has %d ns of cfs_quota, the truth is %d", file, l.ID, c.NS, truth)
			case d > -us(20) && d < us(20):
				exact++
			}
		})
		if file == "quota-idle-v61" && exact < 6 {
			t.Errorf("%s: %d waits are explained to 20 µs, qper alone has 6", file, exact)
		}
	}
}

// throttledSpans returns from when to when the group was throttled, by the functions.
func throttledSpans(t *testing.T, name string) (spans [][2]int64) {
	t.Helper()
	src, err := trace.Open(filepath.Join(recordings, name+".dat.xz"))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s, err := src.Events(event.Options{Want: event.Kinds(event.FuncEntry)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var since int64
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			return spans
		}
		if err != nil {
			t.Fatal(err)
		}
		switch s.Names().String(e.Func) {
		case "throttle_cfs_rq":
			since = int64(e.Time)
		case "unthrottle_cfs_rq":
			spans = append(spans, [2]int64{since, int64(e.Time)})
		}
	}
}
