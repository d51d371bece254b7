package whatif

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// machineOf is what is known of a machine with some tasks.
func machineOf(release, profile string, cpus int) *Known {
	k := &Known{CPUs: cpus, Facts: kernel.Of(release), RTRuntime: 950_000, RTPeriod: 1_000_000, FairRuntime: 50_000_000, FairPeriod: 1_000_000_000,
		Tasks: []Task{
			{Comm: "ctl", PID: 10, Attr: fifo(50)}, {Comm: "rr", PID: 11, Attr: sched.Attr{Policy: sched.RR, Priority: 50}},
			{Comm: "hog", PID: 12, Attr: fifo(60)}, {Comm: "two", PID: 13, Attr: fifo(70)}, {Comm: "two", PID: 14, Attr: fifo(70)},
			{Comm: "irq/14-ahci", PID: 15, Attr: fifo(50)}, {Comm: "ktimers/0", PID: 16, Attr: fifo(1)}, {Comm: "burn", PID: 17, Attr: sched.Attr{}},
			{Comm: "dl", PID: 18, Attr: sched.Attr{Policy: sched.Deadline, Runtime: 2_000_000, Deadline: 8_000_000, Period: 10_000_000}},
			{Comm: "Web Content", PID: 19, Attr: fifo(60)},
		},
		IRQs: []IRQ{{14, "ahci"}}}
	for _, p := range kernel.Profiles {
		if p.Name == profile {
			k.Traits = p.Traits()
		}
	}
	return k
}

// TestWhatCausesSuggest: the changes of each kind, the smallest first, as a table. A priority of
// the kernel is 99 less that of chrt.
func TestWhatCausesSuggest(t *testing.T) {
	rt61, voluntary, rt612 := machineOf("6.1.0-rt", "6.1-rt", 1), machineOf("6.1.0", "6.1", 4), machineOf("6.12.0-rt", "6.12-rt", 1)
	ctl := result.Late{Comm: "ctl", PID: 10, Class: "rt", Prio: 49, CPU: 0, WaitNS: 1000, LatenessNS: 1000, IdleElsewhere: []result.IdleElsewhere{{CPU: 3, NS: 900}}}
	of := func(kind, comm string, pid int32, prio result.Prio) result.Cause {
		return result.Cause{Kind: kind, Comm: comm, PID: pid, Prio: prio, NS: 1000, Detail: "kept ktimers/0 from running"}
	}
	for _, c := range []struct {
		name  string
		known *Known
		late  result.Late
		cause result.Cause
		want  []string
	}{
		{"another one goes first", rt61, ctl, of("higher_prio", "hog", 12, 39), []string{"task=ctl policy=fifo prio=61", "task=hog policy=fifo prio=49", "task=ctl cpus=3"}},
		{"with more CPUs", voluntary, ctl, of("higher_prio", "hog", 12, 39), []string{"task=ctl policy=fifo prio=61", "task=hog policy=fifo prio=49", "task=hog cpus=1-3", "task=ctl cpus=3"}},
		{"two tasks have the name", rt61, ctl, of("higher_prio", "two", 13, 29), []string{"task=ctl policy=fifo prio=71", "task=two/13 policy=fifo prio=49", "task=ctl cpus=3"}},
		{"a name with a blank", rt61, ctl, of("higher_prio", "Web Content", 19, 39), []string{"task=ctl policy=fifo prio=61", `task="Web Content" policy=fifo prio=49`, "task=ctl cpus=3"}},
		{"the thread of an interrupt", rt61, ctl, of("higher_prio", "irq/14-ahci", 15, 48), []string{"task=ctl policy=fifo prio=52", "irq=14-ahci policy=fifo prio=49", "irq=14-ahci policy=other", "task=ctl cpus=3"}},
		{"it used the budget up", rt61, ctl, of("rt_throttled", "irq/14-ahci", 15, 49), []string{"irq=14-ahci policy=other", "set sched_rt_runtime_us=95000 sched_rt_period_us=100000", "set sched_rt_runtime_us=975000", "set sched_rt_runtime_us=-1", "task=ctl cpus=3"}},
		{"a thread of the kernel stays as it is", voluntary, ctl, of("higher_prio", "ktimers/0", 16, 39), []string{"task=ctl policy=fifo prio=61", "task=ctl cpus=3"}},
		{"nobody comes before the stopper", rt61, ctl, of("higher_prio", "migration/0", 20, 0), nil},
		{"nor before a deadline task", rt61, ctl, of("higher_prio", "dl", 18, -1), []string{"task=dl policy=fifo prio=49", "task=ctl cpus=3"}},
		{"nobody is raised to 99", rt61, ctl, of("higher_prio", "hog", 12, 1), []string{"task=hog policy=fifo prio=49", "task=ctl cpus=3"}},
		{"who waits takes turns", rt61, result.Late{Comm: "rr", PID: 11, Class: "rt", Prio: 49, LatenessNS: 1000}, of("higher_prio", "hog", 12, 39),
			[]string{"task=rr policy=rr prio=61", "task=hog policy=fifo prio=49"}},
		{"a deadline task has no priority", rt61, result.Late{Comm: "dl", PID: 18, Class: "dl", Prio: -1, LatenessNS: 1000}, of("higher_prio", "hog", 12, 39), []string{"task=hog policy=other"}},
		{"an equal", rt61, ctl, of("same_prio", "hog", 12, 49), []string{"task=ctl policy=fifo prio=51", "task=hog policy=fifo prio=49", "task=hog policy=rr prio=50", "task=ctl cpus=3"}},
		{"a dying task", rt61, ctl, of("exit_teardown", "hog", 12, 39), []string{"task=hog exit_normalize=rt", "task=ctl policy=fifo prio=61", "set exit_normalize=rt", "task=ctl cpus=3"}},
		{"a dying deadline task", rt61, ctl, of("exit_teardown", "dl", 18, -1), []string{"task=dl exit_normalize=all", "set exit_normalize=all", "task=ctl cpus=3"}},
		{"throttling", rt61, ctl, of("rt_throttled", "hog", 12, 39), []string{"task=hog policy=other", "set sched_rt_runtime_us=95000 sched_rt_period_us=100000", "set sched_rt_runtime_us=975000", "set sched_rt_runtime_us=-1", "task=ctl cpus=3"}},
		{"throttling with more CPUs", voluntary, ctl, of("rt_throttled", "hog", 12, 39), []string{"task=hog policy=other", "set sched_rt_runtime_us=95000 sched_rt_period_us=100000", "set sched_rt_runtime_us=975000",
			"set RT_RUNTIME_SHARE=on", "set sched_rt_runtime_us=-1", "task=hog cpus=1-3", "task=ctl cpus=3"}},
		{"throttling by nobody in particular", rt61, result.Late{Comm: "ctl", PID: 10, Class: "rt", Prio: 49, LatenessNS: 1000}, of("rt_throttled", "", -1, 0),
			[]string{"set sched_rt_runtime_us=95000 sched_rt_period_us=100000", "set sched_rt_runtime_us=975000", "set sched_rt_runtime_us=-1"}},
		{"throttled by itself", rt61, result.Late{Comm: "hog", PID: 12, Class: "rt", Prio: 39, LatenessNS: 1000}, of("rt_throttled", "hog", 12, 39),
			[]string{"set sched_rt_runtime_us=95000 sched_rt_period_us=100000", "set sched_rt_runtime_us=975000", "set sched_rt_runtime_us=-1"}},
		{"the fair server", rt612, ctl, of("fair_server", "burn", 17, 120), []string{"set fair_server_period_ns=100000000 fair_server_runtime_ns=5000000", "set fair_server_runtime_ns=0", "task=ctl cpus=3"}},
		{"with more CPUs", machineOf("6.12.0", "6.12", 4), ctl, of("fair_server", "burn", 17, 120), []string{"set fair_server_period_ns=100000000 fair_server_runtime_ns=5000000", "task=burn cpus=1-3", "set fair_server_runtime_ns=0", "task=ctl cpus=3"}},
		{"an equal that takes long turns", rt61, result.Late{Comm: "ctl", PID: 10, Class: "rt", Prio: 49, LatenessNS: 50_000_000}, result.Cause{Kind: "same_prio", Comm: "rr", PID: 11, Prio: 49, NS: 50_000_000},
			[]string{"task=ctl policy=fifo prio=51", "task=rr policy=fifo prio=49", "set sched_rr_timeslice_ms=10"}},
		{"a deadline task out of runtime", rt61, result.Late{Comm: "dl", PID: 18, Class: "dl", Prio: -1, LatenessNS: 1000}, of("dl_throttled", "", -1, 0),
			[]string{"task=dl policy=deadline runtime=2500 deadline=8000 period=10000", "task=dl policy=deadline runtime=3000 deadline=8000 period=10000", "task=dl policy=deadline runtime=4000 deadline=8000 period=10000"}},
		{"a raised holder", rt61, ctl, of("pi_boosted", "hog", 12, 29), []string{"mutex=hog held=outside", "mutex=hog held=×0.5"}},
		{"an interrupt", voluntary, ctl, of("irq", "ahci", -1, 0), []string{"irq=14-ahci cpus=1-3", "set threadirqs=on", "task=ctl cpus=3"}},
		{"a softirq", voluntary, ctl, of("softirq", "", -1, 0), []string{"task=ctl cpus=3"}},
		{"no preemption", voluntary, ctl, of("preempt_off", "hog", 12, 120), []string{"set preempt=full", "task=ctl cpus=3"}},
		{"no preemption on PREEMPT_RT", rt61, ctl, of("preempt_off", "hog", 12, 120), []string{"task=ctl cpus=3"}},
		{"a late timer", rt61, ctl, of("late_wakeup", "hog", 12, 39), []string{"task=ktimers/0 policy=fifo prio=61", "task=hog policy=other"}},
		{"leaving an idle state", voluntary, ctl, of("idle_exit", "", -1, 0), nil},
		{"a switch", voluntary, ctl, of("switch", "hog", 12, 39), nil},
		{"nobody knows", voluntary, ctl, of("unknown", "", -1, 0), nil},
		{"less than 5 %", rt61, result.Late{Comm: "ctl", PID: 10, Class: "rt", Prio: 49, LatenessNS: 20_001}, of("higher_prio", "hog", 12, 39), nil},
	} {
		c.late.Causes = []result.Cause{c.cause}
		var got []string
		for _, s := range Candidates(&c.late, c.known) {
			got = append(got, s.Change)
			parsed, err := scenario.ParseChange(s.Change)
			if err != nil || parsed.String() != s.Change || s.Kind != c.cause.Kind || s.Text == "" {
				t.Errorf("%s: %+v: %v", c.name, s, err)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestCausesAreAskedByTheirSums: a culprit who came twice goes before one who came once for
// longer, and nothing is suggested twice.
func TestCausesAreAskedByTheirSums(t *testing.T) {
	l := &result.Late{Comm: "ctl", PID: 10, Class: "rt", Prio: 49, LatenessNS: 1000, Causes: []result.Cause{
		{Kind: "higher_prio", Comm: "hog", PID: 12, Prio: 39, NS: 300}, {Kind: "exit_teardown", Comm: "two", PID: 13, Prio: 39, NS: 400}, {Kind: "higher_prio", Comm: "hog", PID: 12, Prio: 39, NS: 300}}}
	var got []string
	for _, s := range Candidates(l, machineOf("6.1.0-rt", "6.1-rt", 1)) {
		got = append(got, s.Change)
	}
	want := []string{"task=ctl policy=fifo prio=61", "task=hog policy=fifo prio=49", "task=two/13 exit_normalize=rt", "set exit_normalize=rt"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("suggested (-want +got):\n%s", diff)
	}
}

// TestCommands: what a user types for each change.
func TestCommands(t *testing.T) {
	k := machineOf("6.1.0", "6.1", 4)
	for change, want := range map[string]string{
		"task=ctl policy=fifo prio=61":     "chrt -f -p 61 10",
		"task=rr prio=61":                  "chrt -r -p 61 11",
		"task=hog policy=other":            "chrt -o -p 0 12",
		"task=hog policy=other nice=5":     "chrt -o -p 0 12 && renice -n 5 -p 12",
		"task=hog policy=idle":             "chrt -i -p 0 12",
		"task=hog policy=batch cpus=0,2-3": "chrt -b -p 0 12; taskset -cp 0,2-3 12",
		"task=two cpus=1":                  "for p in 13 14; do taskset -cp 1 $p; done",
		"task=two/14 cpus=1":               "taskset -cp 1 14",
		"task=hog exit_normalize=rt":       "chrt -o -p 0 12   # before it exits",
		"task=hog work=×0.5":               "",
		"task=dl policy=deadline runtime=3000 deadline=8000 period=10000": "chrt -d -T 3000000 -D 8000000 -P 10000000 -p 0 18",
		"task=nobody nice=3":       "",
		"irq=14-ahci policy=other": "chrt -o -p 0 15",
		"irq=ahci cpus=1-3":        "echo 1-3 >/proc/irq/14/smp_affinity_list",
		"set sched_rt_runtime_us=95000 sched_rt_period_us=100000":      "sysctl -w kernel.sched_rt_runtime_us=95000 kernel.sched_rt_period_us=100000",
		"set fair_server_period_ns=100000000 fair_server_runtime_ns=5": "for d in /sys/kernel/debug/sched/fair_server/cpu*; do echo 100000000 >$d/period; echo 5 >$d/runtime; done",
		"set preempt=full":                 "echo full >/sys/kernel/debug/sched/preempt",
		"set RT_PUSH_IPI=off":              "echo NO_RT_PUSH_IPI >/sys/kernel/debug/sched/features",
		"set exit_normalize=rt":            "",
		"remove task=hog":                  "kill 12",
		"kernel=6.12":                      "",
		"mutex=0 pi=on":                    "",
		`cgroup="/a b'c" cpu.weight=5`:     `echo 5 >'/sys/fs/cgroup/a b'\''c/cpu.weight'`,
		`cgroup=/web cpu.max="max 100000"`: "echo 'max 100000' >/sys/fs/cgroup/web/cpu.max",
	} {
		c, err := scenario.ParseChange(change)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.Command(&c); got != want {
			t.Errorf("%s: %q, want %q", change, got, want)
		}
	}
}

// TestMechanisms: by what a change acts on its predictions are judged.
func TestMechanisms(t *testing.T) {
	for change, want := range map[string]string{
		"task=a policy=fifo prio=3": "priority", "task=a prio=3": "priority", "task=a policy=other": "policy", "task=a policy=deadline runtime=1": "deadline", "task=a runtime=3": "deadline",
		"task=a cpus=1": "affinity", "task=a work=×2": "work", "task=a exit_normalize=rt": "exit", "exit_teardown ×2": "exit", "set exit_normalize=all": "exit",
		"irq=a policy=other": "interrupt thread", "irq=a cpus=2": "affinity", "set sched_rt_runtime_us=-1": "throttling", "set fair_server_runtime_ns=0": "fair server",
		"mutex=0 pi=off": "priority inheritance", "remove task=a": "removal", "kernel=6.1": "", "set HZ=100": "",
	} {
		c, err := scenario.ParseChange(change)
		if err != nil {
			t.Fatal(err)
		}
		if got := mechanismOf(&c); got != want {
			t.Errorf("%s acts on %q, want %q", change, got, want)
		}
	}
}

// TestKnownSettingsAsTheyAre: a runtime that looks like less than another one is what it is.
func TestKnownSettingsAsTheyAre(t *testing.T) {
	l := dying(t)
	l.Values = append(l.Values, scenario.Value{Name: "sched_rt_runtime_us", To: "949999"}, scenario.Value{Name: "sched_rt_period_us", To: "1999999"})
	if k := KnownOf(l); k.RTRuntime != 949_999 || k.RTPeriod != 1_999_999 {
		t.Errorf("runtime %d of %d µs", k.RTRuntime, k.RTPeriod)
	}
}
