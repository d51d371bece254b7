package scenario_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/workload"
)

// restarted is a supervisor that waits for the death of a process and forks the next one.
// All have one CPU; the cyclic task measures what that costs others.
const restarted = `{
  "global": {"duration": 1, "lock_pages": true},
  "tasks": {
    "cyclic": {"policy": "SCHED_FIFO", "priority": 10, "cpus": [0], "loop": -1, "timer": {"ref": "unique", "period": 2000}, "run": 10},
    "super":  {"policy": "SCHED_FIFO", "priority": 5, "cpus": [0], "loop": -1, "sem_wait": "died", "fork": "next"},
    "first":  {"policy": "SCHED_RR", "priority": 11, "cpus": [0], "loop": -1, "sleep": 1000000},
    "next":   {"instance": 0, "policy": "SCHED_RR", "priority": 11, "cpus": [0], "loop": -1, "sleep": 1000000}
  },
  "whylate": {
    "kernel": "KERNEL", "cpus": 1,
    "tasks": {
      "first": {"mm_bytes": "64MiB", "vmas": 40, "mlockall": true, "exit": {"after": "200ms", "post": "died"}},
      "next":  {"mm_bytes": "64MiB", "vmas": 40, "mlockall": true, "exit": {"after": "200ms", "signal": "SIGTERM", "post": "died"}}
    }
  }
}`

// explained runs a plan with its changes and explains it.
func explained(t *testing.T, file string, changes ...string) *result.Explain {
	t.Helper()
	return explainedWith(t, file, func(*scenario.Setup) {}, changes...)
}

// explainedWith lets alter change the setup before.
func explainedWith(t *testing.T, file string, alter func(*scenario.Setup), changes ...string) *result.Explain {
	t.Helper()
	plan, err := scenario.Read("exit.json", []byte(file), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if err := plan.Change(c); err != nil {
			t.Fatal(err)
		}
	}
	setup, err := plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	alter(setup)
	src, err := scenario.NewSource(setup)
	if err != nil {
		t.Fatal(err)
	}
	out, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// behindExit sums up what the waits of comm as a real-time task say of exit_teardown, and how
// often: at the end of the program it dies among the others, and with exit_normalize as a fair one.
func behindExit(out *result.Explain, comm, verdict string) (n int, ns event.Time) {
	for i := range out.Late {
		if !strings.HasPrefix(out.Late[i].Comm, comm) || out.Late[i].Class != "rt" {
			continue
		}
		for _, c := range out.Late[i].Causes {
			if c.Kind == "exit_teardown" && c.Verdict == verdict {
				n++
				ns += event.Time(c.NS)
			}
		}
	}
	return n, ns
}

// TestARestartedProcessIsInTheWay: every death, by itself or by a signal, is proven to be in
// the way of the cyclic task, on every kernel; with exit_normalize it is not in the way.
func TestARestartedProcessIsInTheWay(t *testing.T) {
	for _, kernel := range []string{"6.1-rt", "6.1", "6.12-rt", "6.18"} {
		file := strings.Replace(restarted, "KERNEL", kernel, 1)
		n, ns := behindExit(explained(t, file), "cyclic", "proven")
		if n < 4 || ns < 4*5*ms {
			t.Errorf("%s: %d waits behind an exit, %d ns in all", kernel, n, ns)
		}
		quarterN, quarter := behindExit(explained(t, file, "exit_teardown ×0.25"), "cyclic", "proven")
		if quarterN == 0 || quarter > ns/2 {
			t.Errorf("%s: with a quarter of the teardown %d ns of %d", kernel, quarter, ns)
		}
		for _, change := range []string{"rt", "all"} {
			if n, ns := behindExit(explained(t, file, "set exit_normalize="+change), "cyclic", "proven"); ns > 1*ms {
				t.Errorf("%s: with exit_normalize=%s still %d waits, %d ns", kernel, change, n, ns)
			}
		}
	}
}

// TestChangesOfTheTeardown: what is a factor and what is not.
func TestChangesOfTheTeardown(t *testing.T) {
	plan, err := scenario.Read("exit.json", []byte(strings.Replace(restarted, "KERNEL", "6.1", 1)), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, good := range []string{"exit_teardown ×0.25", "exit_teardown x0.25", "exit_teardown ×2", "exit_teardown ×0", "exit_teardown ×.000001"} {
		if err := plan.Change(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"exit_teardown", "exit_teardown 0.25", "exit_teardown ×", "exit_teardown ×-1", "exit_teardown ×1e3", "exit_teardown ×1001",
		"exit_teardown ×0.0000001", "exit_teardown ×1 ×2", "exit_teardown ×1.2.3", "set exit_normalize=fair"} {
		err := plan.Change(bad)
		if err == nil {
			_, err = plan.Setup()
		}
		if err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// TestHowAnExitIsShown: where it begins is proven by the system call or by SIGKILL; without
// either, as in the recordings, it is likely, since the run began with a wake; of a signal that
// dumps core it is told that the run ended so, and the dump is no part of the exit.
func TestHowAnExitIsShown(t *testing.T) {
	one := func(exit string) string {
		return `{"global": {"duration": 1, "lock_pages": true}, "tasks": {
			"cyclic": {"policy": "SCHED_FIFO", "priority": 10, "cpus": [0], "loop": -1, "timer": {"ref": "unique", "period": 2000}, "run": 10},
			"dies": {"policy": "SCHED_RR", "priority": 11, "cpus": [0], "loop": -1, "sleep": 1000000}},
			"whylate": {"kernel": "6.1-rt", "cpus": 1, "tasks": {"dies": {"mm_bytes": "64MiB", "exit": ` + exit + `}}}}`
	}
	for _, c := range []struct {
		exit, verdict string
		calls         bool
	}{
		{`{"after": "201ms"}`, "proven", true},
		{`{"after": "201ms"}`, "likely", false},
		{`{"after": "201ms", "signal": "SIGKILL"}`, "proven", true},
		{`{"after": "201ms", "signal": "SIGTERM"}`, "proven", false},
	} {
		out := explainedWith(t, one(c.exit), func(s *scenario.Setup) { s.Load.NoSyscalls = !c.calls })
		if n, ns := behindExit(out, "cyclic", c.verdict); n == 0 || ns < 5*ms {
			t.Errorf("%s, system calls told: %v: %d waits of %d ns behind an exit that is %s", c.exit, c.calls, n, ns, c.verdict)
		}
	}
	dump := explained(t, one(`{"after": "201ms", "signal": "SIGSEGV", "core_bytes": "16MiB"}`))
	if _, ns := behindExit(dump, "cyclic", "proven"); ns > 1*ms {
		t.Errorf("%d ns are proven to be the exit behind a core dump: nothing shows where it began", ns)
	}
}

// TestWhereAnExitIsInTheWay: pinned beside the cyclic task it delays that; on another CPU it
// delays only who is there. One that may go anywhere, with exit_normalize=rt, makes way.
func TestWhereAnExitIsInTheWay(t *testing.T) {
	file := func(cpus string) string {
		return `{"global": {"duration": 1, "lock_pages": true}, "tasks": {
			"here": {"policy": "SCHED_FIFO", "priority": 10, "cpus": [0], "loop": -1, "timer": {"ref": "unique", "period": 2000}, "run": 10},
			"there": {"policy": "SCHED_FIFO", "priority": 10, "cpus": [1], "loop": -1, "timer": {"ref": "unique", "period": 2000}, "run": 10},
			"dies": {"policy": "SCHED_RR", "priority": 11, ` + cpus + `"loop": -1, "sleep": 1000000}},
			"whylate": {"kernel": "6.1-rt", "cpus": 2, "tasks": {"dies": {"mm_bytes": "64MiB", "exit": {"after": "201ms"}}}}}`
	}
	for _, c := range []struct {
		cpus        string
		here, there bool
	}{{`"cpus": [0], `, true, false}, {`"cpus": [1], `, false, true}} {
		out := explained(t, file(c.cpus))
		_, here := behindExit(out, "here", "proven")
		_, there := behindExit(out, "there", "proven")
		if (here > 5*ms) != c.here || (there > 5*ms) != c.there {
			t.Errorf("%s: %d ns here, %d ns there", c.cpus, here, there)
		}
	}
	out := explained(t, file(""))
	_, here := behindExit(out, "here", "proven")
	_, there := behindExit(out, "there", "proven")
	if (here > 5*ms) == (there > 5*ms) {
		t.Errorf("not pinned: %d ns here, %d ns there: it should be in the way of one of them", here, there)
	}
	out = explained(t, file(""), "set exit_normalize=rt")
	_, here = behindExit(out, "here", "proven")
	_, there = behindExit(out, "there", "proven")
	if here+there > 1*ms {
		t.Errorf("with exit_normalize=rt: %d ns here, %d ns there", here, there)
	}
}

// TestLocksOfAFile: what "locks" says of a mutex, wherever it stands among the others.
func TestLocksOfAFile(t *testing.T) {
	plan, err := scenario.Read("locks.json", []byte(`{"global": {"duration": 1, "pi_enabled": true}, "tasks": {"a": {"loop": 1,
		"lock0": "plain", "unlock0": "plain", "lock1": "spin", "unlock1": "spin", "lock2": "top", "unlock2": "top", "lock3": "rest", "unlock3": "rest"}},
		"whylate": {"locks": {"top": {"protocol": "protect", "ceiling": 60}, "spin": {"kind": "spinlock"}, "plain": {"protocol": "none", "robust": true}}}}`), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []workload.Mutex{{Robust: true}, {Spin: true}, {Ceiling: 60}, {PI: true}}
	if diff := cmp.Diff(want, plan.Load.Mutexes); diff != "" {
		t.Errorf("mutexes (-want +got):\n%s", diff)
	}
}
