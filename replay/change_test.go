package replay

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// contended is a load in which ctl, woken at 10 ms, waits for hog, and worker for hog's post.
func contended() *Load {
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(10 * ms)}, run(1 * ms)}},
		Task{Attr: fifo(60), Begin: BeginBlocked, Ops: []Op{
			{Kind: OpSleep, At: at(9 * ms)}, run(2 * ms), {Kind: OpAttr, Attr: fifo(60)}, {Kind: OpWake, Ref: 2, At: at(11 * ms)}, run(2 * ms)}},
		Task{Attr: fair(), CPUs: []event.CPU{0}, CPUsBy: Assumed, Begin: BeginBlocked, Ops: []Op{{Kind: OpWait}, run(1 * ms)}})
	for i, name := range []string{"ctl", "hog", "worker"} {
		l.Tasks[i].Comm = l.Names.Intern(name)
	}
	return l
}

// came is when ctl of a load came to its CPU, in µs after the beginning of the trace; −1:
// never.
func came(t *testing.T, l *Load) event.Time {
	t.Helper()
	if on := waitsOf(t, l)[0].On; on >= 0 {
		return on / us
	}
	return -1
}

// TestAnotherKernelHasItsOwnSettings: what a snapshot tells of the recorded kernel and the other one does
// not have is left out; what is asked for is refused.
func TestAnotherKernelHasItsOwnSettings(t *testing.T) {
	for _, c := range []struct{ recording, kernel, refused string }{
		{"v612-nice", "6.1", "set RUN_TO_PARITY=off"},
		{"v61-nice", "6.12", "set wakeup_granularity_ns=1000000"},
	} {
		l := recorded(t, "testdata/fair/"+c.recording+".dat.xz")
		for i, text := range []string{"kernel=" + c.kernel, c.refused} {
			change, err := scenario.ParseChange(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Apply(&change); (err != nil) != (i == 1) {
				t.Errorf("%s: %s: %v", c.recording, text, err)
			}
		}
		if len(l.Values) < 5 {
			t.Errorf("%s: what both kernels have is gone, too: %v", c.recording, l.Values)
		}
	}
}

func TestChangesOfTasks(t *testing.T) {
	for _, c := range []struct {
		changes []string
		want    event.Time
	}{
		{nil, 13_000},
		{[]string{"task=ctl prio=61"}, 10_000},
		{[]string{"task=100 prio=61"}, 10_000},
		{[]string{"task=ctl/100 prio=61"}, 10_000},
		{[]string{"task=hog policy=other"}, 10_000}, // also what it becomes at 11 ms
		{[]string{"task=hog prio=49"}, 10_000},
		{[]string{"task=h* prio=51"}, 13_000},
		{[]string{"task=hog work=×0.5"}, 11_000},
		{[]string{"remove task=hog"}, 10_000},
		{[]string{"task=worker policy=fifo prio=70"}, 14_000},
		{[]string{"cpus=2"}, 10_000},
		{[]string{"cpus=2", "task=hog cpus=0", "task=ctl cpus=0"}, 13_000},
		{[]string{"cpus=2", "task=ctl policy=deadline runtime=2000 deadline=5000 period=5000", "task=hog cpus=0"}, 10_000},
		{[]string{"kernel=6.12-rt"}, 13_000},
		{[]string{"set sched_rt_runtime_us=1000", "set sched_rt_period_us=1000000"}, -1},
	} {
		l := contended().Clone()
		for _, text := range c.changes {
			if err := l.Change(text); err != nil {
				t.Fatal(err)
			}
		}
		if got := came(t, l); got != c.want {
			t.Errorf("%q: it came at %d µs, want %d", c.changes, got, c.want)
		}
	}
}

func TestWhoBecomesAFairTaskSharesWithThoseWhomItKeptAway(t *testing.T) {
	// hog had the CPU from 0 to 40 ms, and again from 50; spin came between and behind.
	piece := func(from, to event.Time) Op { return Op{Kind: OpRun, At: at(from), Slept: at(to), NS: to - from} }
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginRunning, Ops: []Op{piece(0, 40*ms), {Kind: OpSleep, At: at(50 * ms)}, piece(50*ms, 80*ms)}},
		Task{Attr: fair(), Begin: BeginReady, Ops: []Op{piece(40*ms, 50*ms), piece(80*ms, 100*ms)}})
	l.Tasks[0].Comm = l.Names.Intern("hog")
	had := func(l *Load) (ns event.Time) { // that spin had the CPU in the first 40 ms
		var since event.Time = -1
		if _, err := l.Run(RunOptions{Sink: func(ev *event.Event) {
			now := min(ev.Time, at(40*ms))
			switch {
			case ev.Kind != event.SchedSwitch:
			case ev.Next == 101:
				since = now
			case ev.Task == 101 && since >= 0:
				ns += now - since
				since = -1
			}
		}}); err != nil {
			t.Fatal(err)
		}
		return ns
	}
	if ns := had(l); ns != 0 {
		t.Errorf("as recorded it has %d ns", ns)
	}
	c := l.Clone()
	if err := c.Change("task=hog policy=other"); err != nil {
		t.Fatal(err)
	}
	if ns := had(c); ns < 14*ms || ns > 26*ms {
		t.Errorf("of the first 40 ms it has %d ns where both are fair tasks", ns)
	}
}

func TestChangesLeaveTheOriginal(t *testing.T) {
	l := contended()
	l.Mutexes = []Mutex{{Held: -1}}
	l.Lines = []Line{{Number: 9, Name: l.Names.Intern("eth0"), Thread: -1, Arrivals: []Arrival{{At: at(1 * ms)}}}}
	before := waitsOf(t, l)
	c := l.Clone()
	for _, text := range []string{"task=* prio=3 policy=rr", "remove task=hog", "cpus=2", "irq=eth0 cpus=1", "mutex=all pi=on", "set HZ=1000", "kernel=6.12"} {
		if err := c.Change(text); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, waitsOf(t, l)); diff != "" {
		t.Error(diff)
	}
	if l.Lines[0].Arrivals[0].CPU != 0 || l.Mutexes[0].PI || len(l.Assumed) != 0 {
		t.Error("the clone's change is in the original")
	}
}

func TestARemovedTaskIsSaidToWakeAllTheSame(t *testing.T) {
	l := contended()
	if err := l.Change("remove task=hog"); err != nil {
		t.Fatal(err)
	}
	var worker event.Time
	for _, w := range waitsOf(t, l) {
		if w.Task == 2 {
			worker = w.Woken
		}
	}
	if worker != 11*ms {
		t.Errorf("worker is woken at %d", worker)
	}
	if len(l.Assumed) != 1 || l.Assumed[0].Kind != "removed_wakes" || l.Assumed[0].Count != 1 || !strings.Contains(l.Assumed[0].Text, "worker") {
		t.Errorf("assumed %+v", l.Assumed)
	}
	if err := l.Change("task=hog prio=1"); err == nil {
		t.Error("a task that is gone was changed")
	}
}

func TestChangesThatMakeNoSense(t *testing.T) {
	for text, part := range map[string]string{
		"task=nobody prio=4":             "nobody",
		"remove task=nobody":             "nobody",
		"task=ctl cpus=7":                "CPU 7",
		"irq=eth1 policy=other":          "eth1",
		"irq=eth0 policy=other":          "interrupt context",
		"mutex=all pi=on":                "lock",
		"exit_teardown ×0.5":             "memory",
		"cgroup=/web cpu.max=max":        "no control group of the snapshot",
		"set sched_rt_runtime_us=999999": "", // fits into the period
		"kernel=9.9":                     "9.9",
	} {
		l := contended()
		l.Lines = []Line{{Number: 9, Name: l.Names.Intern("eth0"), Thread: -1}}
		err := l.Change(text)
		if part == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v, want one with %q", text, err, part)
		}
		if part == "not modelled" && !errors.Is(err, scenario.ErrNotModelled) {
			t.Errorf("%s: %v is not ErrNotModelled", text, err)
		}
	}
}

func TestChangeOfAnInterruptsThread(t *testing.T) {
	load := func() *Load {
		l := handMade(
			Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{{Kind: OpWait}, run(1 * ms)}},
			Task{Attr: fifo(40), Begin: BeginRunning, Ops: []Op{run(10 * ms)}})
		l.Tasks[0].Comm, l.Tasks[1].Comm = l.Names.Intern("irq/9-eth0"), l.Names.Intern("hog")
		l.Lines = []Line{{Number: 9, Name: l.Names.Intern("eth0"), Thread: 0, Arrivals: []Arrival{{At: at(1 * ms), Wakes: []int{0}}}}}
		return l
	}
	if got := came(t, load()); got != 1000 {
		t.Fatalf("it comes at %d µs", got)
	}
	for _, name := range []string{"eth0", "9-eth0", "irq/9-eth0", "9"} {
		l := load()
		if err := l.Change("irq=" + name + " policy=other"); err != nil {
			t.Fatal(err)
		}
		if l.Tasks[0].Attr != (sched.Attr{}) {
			t.Errorf("%s: %+v", name, l.Tasks[0].Attr)
		}
		if got := came(t, l); got != 10_000 {
			t.Errorf("%s: as SCHED_OTHER it comes at %d µs", name, got)
		}
	}
}

// TestWhoMayUseAllCPUsMayUseAllThatAreLeft: on fewer CPUs, from the same operation on.
func TestWhoMayUseAllCPUsMayUseAllThatAreLeft(t *testing.T) {
	l := contended()
	l.CPUs = 4
	l.Tasks[0].Ops = append(l.Tasks[0].Ops, Op{Kind: OpCPUs, By: Inferred}, Op{Kind: OpCPUs, CPUs: []event.CPU{1, 3}}, Op{Kind: OpCPUs, CPUs: []event.CPU{3}})
	if err := l.Change("cpus=2"); err != nil {
		t.Fatal(err)
	}
	var got [][]event.CPU
	for _, op := range l.Tasks[0].Ops {
		if op.Kind == OpCPUs {
			got = append(got, op.CPUs)
		}
	}
	if diff := cmp.Diff([][]event.CPU{nil, {1}, {0}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
