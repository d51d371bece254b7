package scenario_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// TestChangesAreReadAndPrinted: what a change is, and that it prints as it is written where
// nothing can be left out.
func TestChangesAreReadAndPrinted(t *testing.T) {
	for _, c := range []struct {
		text   string
		want   scenario.Change
		prints string // "": text
	}{
		{"task=kworker/0:2 policy=fifo prio=91", scenario.Change{Pattern: "kworker/0:2", Values: []scenario.Value{{"policy", "fifo"}, {"prio", "91"}}}, ""},
		{`task="Web Content/12" cpus=0-3,5 work=×0.5`, scenario.Change{Pattern: "Web Content/12", Values: []scenario.Value{{"cpus", "0-3,5"}, {"work", "×0.5"}}}, ""},
		{`task="a\"b\\c d" nice=-5`, scenario.Change{Pattern: `a"b\c d`, Values: []scenario.Value{{"nice", "-5"}}}, ""},
		{`task=a\*b nice=1`, scenario.Change{Pattern: `a\*b`, Values: []scenario.Value{{"nice", "1"}}}, ""},
		{"irq=14-ahci policy=other", scenario.Change{Kind: scenario.ChangeIRQ, Pattern: "14-ahci", Values: []scenario.Value{{"policy", "other"}}}, ""},
		{"set sched_rt_runtime_us=980000", scenario.Change{Kind: scenario.ChangeSet, Values: []scenario.Value{{"sched_rt_runtime_us", "980000"}}}, ""},
		{"set fair_server_period_ns=100000000 fair_server_runtime_ns=5000000", scenario.Change{Kind: scenario.ChangeSet, Values: []scenario.Value{{"fair_server_period_ns", "100000000"}, {"fair_server_runtime_ns", "5000000"}}}, ""},
		{"task=logger exit_normalize=rt", scenario.Change{Pattern: "logger", Values: []scenario.Value{{"exit_normalize", "rt"}}}, ""},
		{"mutex=log held=outside", scenario.Change{Kind: scenario.ChangeMutex, Pattern: "log", Values: []scenario.Value{{"held", "outside"}}}, ""},
		{"kernel=6.12", scenario.Change{Kind: scenario.ChangeKernel, Kernel: "6.12"}, ""},
		{"cpus=4", scenario.Change{Kind: scenario.ChangeCPUs, CPUs: 4}, ""},
		{"  exit_teardown  x0.250 ", scenario.Change{Kind: scenario.ChangeTeardown, Factor: 250_000}, "exit_teardown ×0.25"},
		{"exit_teardown ×0", scenario.Change{Kind: scenario.ChangeTeardown}, ""},
		{"remove task=hog-*", scenario.Change{Kind: scenario.ChangeRemove, Pattern: "hog-*"}, ""},
		{`cgroup=/web cpu.max="max"`, scenario.Change{Kind: scenario.ChangeCGroup, Pattern: "/web", Values: []scenario.Value{{"cpu.max", "max"}}}, "cgroup=/web cpu.max=max"},
		{"cgroup=/web cpu.weight=300 cpu.max.burst=20000", scenario.Change{Kind: scenario.ChangeCGroup, Pattern: "/web", Values: []scenario.Value{{"cpu.weight", "300"}, {"cpu.max.burst", "20000"}}}, ""},
		{"cgroup=/web/* cpu.idle=1", scenario.Change{Kind: scenario.ChangeCGroup, Pattern: "/web/*", Values: []scenario.Value{{"cpu.idle", "1"}}}, ""},
		{"cgroup=/web cpu.weight.nice=-3", scenario.Change{Kind: scenario.ChangeCGroup, Pattern: "/web", Values: []scenario.Value{{"cpu.weight.nice", "-3"}}}, ""},
		{"task=a cgroup=/web/db", scenario.Change{Pattern: "a", Values: []scenario.Value{{"cgroup", "/web/db"}}}, ""},
		{"task=a slice_us=3000", scenario.Change{Pattern: "a", Values: []scenario.Value{{"slice_us", "3000"}}}, ""},
		{`cgroup=/web cpu.max="50000 100000"`, scenario.Change{Kind: scenario.ChangeCGroup, Pattern: "/web", Values: []scenario.Value{{"cpu.max", "50000 100000"}}}, ""},
		{"mutex=log pi=on held=×0.1", scenario.Change{Kind: scenario.ChangeMutex, Pattern: "log", Values: []scenario.Value{{"pi", "on"}, {"held", "×0.1"}}}, ""},
	} {
		got, err := scenario.ParseChange(c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
		if c.prints == "" {
			c.prints = c.text
		}
		if got.String() != c.prints {
			t.Errorf("%s is printed as %s, want %s", c.text, got.String(), c.prints)
		}
	}
	for _, bad := range []string{"", " ", `""`, "task=", "task=a", "task=[ nice=1", "task=a nice", "task=a =1", "task=a nice=20", "task=a prio=0", "task=a pi=on", "task=a policy=realtime",
		"task=a work=0.5", "task=a cgroup=web", "irq=a cgroup=/web", "task=a work=outside", "task=a exit_normalize=fair", "irq=a exit_normalize=rt", "task=a work=×-1", `task="a nice=1`, "irq=14", "irq=14 policy=deadline", "irq=14 policy=SCHED_Deadline", "irq=14 policy=sched_deadline", "irq=14 work=×2", "mutex=m", "mutex=m pi=yes", "mutex=m held=×",
		"cgroup=/web", "cgroup= cpu.max=max", "cgroup=/web cpu.max=1", `cgroup=/web cpu.max="50000 2000000"`, "cgroup=/web cpu.weight=0", "cgroup=/web cpu.weight=10001",
		"cgroup=/web cpu.weight.nice=20", "cgroup=/web cpu.idle=2", "cgroup=/web cpu.max.burst=-1", "cgroup=/web cpu.wait=1", "task=a slice_us=99", "task=a slice_us=100001", "set", "set HZ", "set NOTHING=1", "set HZ=100 250", "kernel=none", "kernel", "cpus=0", "cpus=4 5", "exit_teardown", "remove", "remove a",
		"remove task=", "remove task=a task=b", "remove irq=14", "remove task=[", "nothing=1"} {
		if c, err := scenario.ParseChange(bad); err == nil {
			t.Errorf("%q is taken for %+v", bad, c)
		}
	}
}

// TestWordsOfAChange mean what the kernel makes of them.
func TestWordsOfAChange(t *testing.T) {
	parse := func(text string) *scenario.Change {
		c, err := scenario.ParseChange(text)
		if err != nil {
			t.Fatal(err)
		}
		return &c
	}
	fifo := sched.Attr{Policy: sched.FIFO, Priority: 90}
	if got, want := parse("task=a policy=other nice=3").Alter(fifo), (sched.Attr{Nice: 3}); got != want {
		t.Errorf("a real-time task that becomes normal: %+v, want %+v", got, want)
	}
	if got, want := parse("task=a policy=rr prio=5").Alter(sched.Attr{Nice: 3}), (sched.Attr{Policy: sched.RR, Priority: 5}); got != want {
		t.Errorf("a normal task that becomes real-time: %+v, want %+v", got, want)
	}
	if c := parse("task=a cpus=1,3 work=×0.25"); c.AltersAttr() || !cmp.Equal(c.AllowedCPUs(), []event.CPU{1, 3}) {
		t.Errorf("cpus=1,3: %v, attributes %v", c.AllowedCPUs(), c.AltersAttr())
	} else if work, ok := c.Work(); !ok || work.Of(1000) != 250 {
		t.Errorf("work=×0.25 makes %d ns of 1000", work.Of(1000))
	}
	if on, ok := parse("mutex=m pi=off").PI(); on || !ok {
		t.Error("pi=off is not off")
	}
	for _, name := range []string{`a*b`, `[a]`, `a\b`, `a?`, `kworker/0:2`} {
		c := parse("remove task=" + scenario.PatternOf(name))
		if !c.Matches(name) || c.Matches("aXb") || c.Matches("a") {
			t.Errorf("the pattern %s does not mean %s alone", c.Pattern, name)
		}
	}
}

// TestRemovingTasksAndChangingMutexes in a plan: nobody starts or forks what is removed, and
// what is done under a mutex is scaled there only.
func TestRemovingTasksAndChangingMutexes(t *testing.T) {
	read := func(changes ...string) *scenario.Plan {
		p, err := scenario.Read("f.json", []byte(`{"global": {"duration": 1}, "tasks": {
			"a": {"run": 1, "lock": "m", "run1": 100, "unlock": "m", "run2": 7, "fork": "b"},
			"b": {"instance": 2, "run": 5}, "c": {"barrier": "x", "run": 5}, "d": {"barrier": "x", "run": 5}}}`), scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if err := p.Change(c); err != nil {
				t.Fatal(err)
			}
		}
		return p
	}
	p := read("remove task=b")
	for _, op := range p.Load.Tasks[0].Phases[0].Ops {
		if op.Kind == workload.OpFork {
			t.Error("b was removed and is still forked")
		}
	}
	if n := p.Threads(); n != 4 {
		t.Errorf("%d threads without b, want 4", n)
	}
	if err := read().Change("remove task=c"); err == nil {
		t.Error("a task that others meet at a barrier was removed")
	}
	as, is := read().Load, read("mutex=m held=×0.5 pi=on", "task=b work=×2").Load
	if as.Mutexes[0].PI || !is.Mutexes[0].PI {
		t.Errorf("pi=on: %v before, %v after", as.Mutexes[0].PI, is.Mutexes[0].PI)
	}
	var before, after []event.Time
	for i := range as.Tasks {
		for j, op := range as.Tasks[i].Phases[0].Ops {
			if op.Kind == workload.OpRun {
				before, after = append(before, op.NS), append(after, is.Tasks[i].Phases[0].Ops[j].NS)
			}
		}
	}
	var kinds []workload.OpKind
	for _, op := range read("mutex=m held=outside").Load.Tasks[0].Phases[0].Ops {
		kinds = append(kinds, op.Kind)
	}
	if diff := cmp.Diff([]workload.OpKind{workload.OpRun, workload.OpLock, workload.OpUnlock, workload.OpRun, workload.OpRun, workload.OpFork}, kinds); diff != "" {
		t.Errorf("work outside of the lock (-want +got):\n%s", diff)
	}
	want := []event.Time{before[0], before[1] / 2, before[2], before[3] * 2, before[4], before[5]}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("work (-want +got):\n%s", diff)
	}
}

// FuzzParseChange: whatever is read as a change is printed so that it reads the same.
func FuzzParseChange(f *testing.F) {
	for _, s := range []string{`task="a b" policy=fifo prio=3`, "task=\xff\"\" nice=1", `cgroup=/web cpu.max="max 100000"`, "exit_teardown ×0.25", "remove task=x", "mutex=m pi=on",
		"set HZ=\"1 0\"", "irq=14-ahci cpus=0-3", "kernel=", "cpus=12", `task="\\\"" work=x1.000001`,
		"arrivals=ctl delay=1.5ms later=3:20us,7:1.001us"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := scenario.ParseChange(text)
		if err != nil {
			return
		}
		again, err := scenario.ParseChange(c.String())
		if err != nil {
			t.Fatalf("%q is printed as %q: %v", text, c.String(), err)
		}
		if !cmp.Equal(c, again) {
			t.Fatalf("%q is %+v, printed as %q it is %+v", text, c, c.String(), again)
		}
	})
}
