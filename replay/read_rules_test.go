package replay

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/trace/ftracetext"
)

// readLoad reads a load from lines of text: flags (four columns), time in µs, event.
func readLoad(t *testing.T, release string, lines ...string) *Load {
	t.Helper()
	var b strings.Builder
	b.WriteString("# tracer: nop\n#\n")
	for _, l := range lines {
		f := strings.SplitN(l, " ", 4) // task-pid flags µs event
		us := strings.Repeat("0", max(0, 7-len(f[2]))) + f[2]
		b.WriteString(f[0] + " [000] " + f[1] + " " + us[:len(us)-6] + "." + us[len(us)-6:] + ": " + f[3] + "\n")
	}
	f, err := ftracetext.Open(strings.NewReader(b.String()), int64(b.Len()), event.NewNames())
	if err != nil {
		t.Fatal(err)
	}
	l, err := Read(f, Options{Kernel: release})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// did is what tests look at.
type did struct {
	Kind OpKind
	NS   event.Time // µs of work, or of a nap
	At   event.Time // µs: a sleep's
	Ref  int
	Prio int // of an OpAttr
}

func (l *Load) task(name string) int {
	for i := range l.Tasks {
		if l.Names.String(l.Tasks[i].Comm) == name {
			return i
		}
	}
	return -1
}

// script is what the task called name does, in µs.
func (l *Load) script(name string) (out []did) {
	for _, op := range l.Tasks[l.task(name)].Ops {
		d := did{Kind: op.Kind, Ref: op.Ref}
		switch op.Kind {
		case OpRun, OpNap:
			d.NS = op.NS / 1000
		case OpSleep:
			d.At = op.At / 1000
		case OpAttr:
			d.Prio = op.Attr.Priority
		}
		out = append(out, d)
	}
	return out
}

func holds(t *testing.T, l *Load, name string, want ...did) {
	t.Helper()
	if diff := cmp.Diff(want, l.script(name)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func assumed(l *Load, kind string) int64 {
	for _, a := range l.Assumed {
		if a.Kind == kind {
			return a.Count
		}
	}
	return 0
}

// TestWakeAfterAsMuchWork: a waker wakes when it has done as much as before; an interrupt wakes
// when it did. The wake of a task that has not left is none unless it ends a sleep.
func TestWakeAfterAsMuchWork(t *testing.T) {
	l := readLoad(t, "6.1.0-rt",
		"a-10 d... 1000 sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120",
		"<idle>-0 d.h. 2000 sched_waking: comm=a pid=10 prio=120 target_cpu=000",
		"<idle>-0 d.h. 2001 sched_wakeup: comm=a pid=10 prio=120 target_cpu=000",
		"<idle>-0 d... 2004 sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120",
		"a-10 d... 2304 sched_waking: comm=b pid=11 prio=89 target_cpu=000",
		"a-10 d... 2305 sched_wakeup: comm=b pid=11 prio=89 target_cpu=000",
		"a-10 dn.. 2306 sched_stat_runtime: comm=a pid=10 runtime=301000 [ns] vruntime=5000 [ns]",
		"a-10 d... 2308 sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=b next_pid=11 next_prio=89",
		"b-11 d... 2500 sched_switch: prev_comm=b prev_pid=11 prev_prio=89 prev_state=S ==> next_comm=a next_pid=10 next_prio=120",
		"a-10 d.h. 2600 sched_waking: comm=a pid=10 prio=120 target_cpu=000",
		"a-10 d.h. 2601 sched_wakeup: comm=a pid=10 prio=120 target_cpu=000",
		"a-10 d... 3000 sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120",
		"<idle>-0 d... 9000 sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=b next_pid=11 next_prio=89")
	if l.HandOver != 4000 {
		t.Fatalf("a hand-over of %d ns", l.HandOver)
	}
	if l.Tasks[l.task("a")].Begin != BeginRunning || l.Tasks[l.task("b")].Begin != BeginBlocked {
		t.Errorf("a begins as %d, b as %d", l.Tasks[l.task("a")].Begin, l.Tasks[l.task("b")].Begin)
	}
	b := l.task("b")
	holds(t, l, "a", did{Kind: OpSleep, At: 2000}, did{Kind: OpRun, NS: 300}, did{Kind: OpWake, Ref: b}, did{Kind: OpRun, NS: 500}, did{Kind: OpWait})
	// b was seen to run again, and nobody to wake it.
	holds(t, l, "b", did{Kind: OpWait}, did{Kind: OpRun, NS: 192}, did{Kind: OpWait})
	if assumed(l, "wake_unseen") != 1 {
		t.Errorf("assumed: %+v", l.Assumed)
	}
}

// TestKeyOfAWait: a wake belongs to the sleep that it ends, what comes later to the next cycle.
func TestKeyOfAWait(t *testing.T) {
	l := readLoad(t, "6.1.0-rt",
		"a-10 d... 1000 sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120",
		"<idle>-0 d.h. 2000 sched_waking: comm=a pid=10 prio=120 target_cpu=000",
		"<idle>-0 d... 2004 sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120",
		"a-10 d.h. 2304 sched_waking: comm=b pid=11 prio=89 target_cpu=000",
		"a-10 d... 2308 sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=b next_pid=11 next_prio=89",
		"b-11 d... 2500 sched_switch: prev_comm=b prev_pid=11 prev_prio=89 prev_state=S ==> next_comm=a next_pid=10 next_prio=120")
	type key struct {
		Cycle  int
		Kind   string
		Length event.Time
	}
	got := map[string][]key{}
	for _, w := range l.Recorded {
		name := l.Names.String(l.Tasks[w.Key.Task].Comm)
		got[name] = append(got[name], key{w.Key.Cycle, w.Key.Kind.String(), w.Length() / 1000})
	}
	want := map[string][]key{"a": {{0, "wakeup", 4}, {1, "preempted", 192}}, "b": {{0, "wakeup", 4}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFairTurns: the order in which fair tasks had the CPU is kept, however long they work.
func TestFairTurns(t *testing.T) {
	l := readLoad(t, "6.1.0-rt",
		"a-10 d... 1000 sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=c next_pid=12 next_prio=120",
		"c-12 d... 9000 sched_switch: prev_comm=c prev_pid=12 prev_prio=120 prev_state=R ==> next_comm=b next_pid=11 next_prio=120",
		"b-11 d... 9500 sched_switch: prev_comm=b prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=a next_pid=10 next_prio=120",
		"a-10 d... 9700 sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=c next_pid=12 next_prio=120",
		"c-12 d... 9800 sched_switch: prev_comm=c prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120")
	holds(t, l, "a", did{Kind: OpRun, NS: 200}, did{Kind: OpWait})
	holds(t, l, "c", did{Kind: OpRun, NS: 8000}, did{Kind: OpRun, NS: 100}, did{Kind: OpWait})
	var order []string
	if _, err := l.Run(RunOptions{Sink: func(ev *event.Event) {
		if ev.Kind == event.SchedSwitch && ev.Next != 0 {
			order = append(order, l.Names.String(ev.NextComm))
		}
	}}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ""); got != "cbac" {
		t.Errorf("in the run they had the CPU in the order %s", got)
	}
}

// TestClassChangesWhereItIsCharged: a task that calls the scheduler is charged then.
func TestClassChangesWhereItIsCharged(t *testing.T) {
	const charge = "sched_stat_runtime: comm=a pid=10 runtime=100 [ns] vruntime="
	l := readLoad(t, "6.1.0-rt",
		"<idle>-0 d... 1000 sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120",
		"a-10 d.h. 1100 "+charge+"5000 [ns]",
		"a-10 d... 1300 "+charge+"5100 [ns]",
		"a-10 d.h. 1400 "+charge+"0 [ns]",
		"a-10 d... 1599 "+charge+"0 [ns]",
		"a-10 d... 1600 sched_switch: prev_comm=a prev_pid=10 prev_prio=49 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120")
	holds(t, l, "a", did{Kind: OpRun, NS: 300}, did{Kind: OpAttr, Prio: 50}, did{Kind: OpRun, NS: 300}, did{Kind: OpWait})
	if a := l.Tasks[l.task("a")].Attr; a.Policy != sched.Normal {
		t.Errorf("a begins as %v", a)
	}
}

// TestARealTimeTaskIsNotPinned: a task that ran on one CPU as a fair one, and on two as a real-time
// one, may use all of them from its change on.
func TestARealTimeTaskIsNotPinned(t *testing.T) {
	m := &memory{names: event.NewNames(), info: event.Info{Kernel: "6.1.0", CPUs: 2}}
	at := event.Time(1_000_000_000)
	sw := func(c event.CPU, prev event.PID, out event.Prio, state event.State, next event.PID, in event.Prio) {
		var e event.Event
		e.Reset()
		at += 1_000_000
		e.Time, e.CPU, e.Kind, e.PID, e.Flags = at, c, event.SchedSwitch, prev, event.FlagsKnown
		e.Task, e.TaskPrio, e.State, e.Next, e.NextPrio = prev, out, state, next, in
		m.events = append(m.events, e)
	}
	wake := func(c event.CPU) {
		var e event.Event
		e.Reset()
		at += 1_000_000
		e.Time, e.CPU, e.Kind, e.PID, e.Flags = at, c, event.SchedWaking, 0, event.FlagsKnown|event.HardIRQ
		e.Task, e.TaskPrio, e.Target = 7, 49, c
		m.events = append(m.events, e)
	}
	sw(0, 0, 120, event.StateRunnable, 7, 120)
	sw(0, 7, 49, event.StateSleeping, 0, 120) // it became SCHED_FIFO 50
	wake(1)
	sw(1, 0, 120, event.StateRunnable, 7, 49)
	sw(1, 7, 49, event.StateSleeping, 0, 120)
	wake(0)
	sw(0, 0, 120, event.StateRunnable, 7, 49)
	sw(0, 7, 49, event.StateSleeping, 0, 120)
	l, err := Read(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Tasks) != 1 || !slices.Equal(l.Tasks[0].CPUs, []event.CPU{0}) {
		t.Fatalf("tasks: %+v", l.Tasks)
	}
	for i, op := range l.Tasks[0].Ops {
		if op.Kind != OpAttr {
			continue
		}
		if before := l.Tasks[0].Ops[i-1]; before.Kind != OpCPUs || before.CPUs != nil {
			t.Errorf("before it becomes real-time: %+v", before)
		}
		return
	}
	t.Error("it becomes nothing")
}

const (
	idleTo = "sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm="
	toIdle = " ==> next_comm=swapper/0 next_pid=0 next_prio=120"
)

// sleeps are lines of a task a that sleeps until expires (ns on the timer's clock, which is that of
// the trace) from armed (µs) on, and then works for 100 µs.
func sleeps(armed string, expires string, wakes ...string) []string {
	return []string{
		"a-10 d... " + armed + " hrtimer_start: hrtimer=0xff function=hrtimer_wakeup expires=" + expires + " softexpires=" + expires,
		"a-10 d... " + wakes[0] + " sched_switch: prev_comm=a prev_pid=10 prev_prio=49 prev_state=S" + toIdle,
		"<idle>-0 d.h. " + wakes[1] + " hrtimer_expire_entry: hrtimer=0xff function=hrtimer_wakeup now=" + expires,
		"<idle>-0 d.h. " + wakes[1] + " sched_waking: comm=a pid=10 prio=49 target_cpu=000",
		"<idle>-0 d... " + wakes[2] + " " + idleTo + "a next_pid=10 next_prio=49",
	}
}

// TestTimersOnAGridStand: three times at one distance are a grid, lengths that are round count from
// the sleep, and what is neither stays where it was.
func TestTimersOnAGridStand(t *testing.T) {
	var grid, round, neither []string
	grid = append(grid, sleeps("1000", "11000000", "1003", "11000", "11004")...)
	grid = append(grid, sleeps("11400", "21000000", "11403", "21000", "21004")...)
	grid = append(grid, sleeps("21300", "31000000", "21303", "31000", "31004")...)
	round = append(round, sleeps("1000", "5998000", "1003", "5998", "6002")...) // 5 ms less 2 µs
	neither = append(neither, sleeps("1000", "5321000", "1003", "5321", "5325")...)
	end := []string{"a-10 d... 40000 sched_switch: prev_comm=a prev_pid=10 prev_prio=49 prev_state=S" + toIdle}

	l := readLoad(t, "6.1.0-rt", append(grid, end...)...)
	for i, at := range []event.Time{11_000_000, 21_000_000, 31_000_000} {
		if op := l.Tasks[l.task("a")].Ops[2*i]; i > 0 && (op.Kind != OpSleep || op.At != at || op.Every != 10_000_000 || op.By != FromEvents) && l.Tasks[l.task("a")].Ops[2*i+1].Kind != OpSleep {
			t.Errorf("sleep %d: %+v", i, op)
		}
	}
	if n := assumed(l, "timer_absolute"); n != 3 {
		t.Errorf("%d sleeps on a grid: %+v", n, l.Assumed)
	}
	l = readLoad(t, "6.1.0-rt", append(round, end...)...)
	holds(t, l, "a", did{Kind: OpRun, NS: 3}, did{Kind: OpNap, NS: 4995}, did{Kind: OpRun, NS: 33998}, did{Kind: OpWait})
	if assumed(l, "timer_relative") != 1 {
		t.Errorf("assumed: %+v", l.Assumed)
	}
	l = readLoad(t, "6.1.0-rt", append(neither, end...)...)
	holds(t, l, "a", did{Kind: OpRun, NS: 3}, did{Kind: OpSleep, At: 5321}, did{Kind: OpRun, NS: 34675}, did{Kind: OpWait})
	if assumed(l, "timer_assumed") != 1 {
		t.Errorf("assumed: %+v", l.Assumed)
	}
}

// TestABoostBeforeASleepIsALock: the waiter waits for a lock that the holder had taken when it last
// woke, and gives where it wakes the waiter. A boost that is followed by another wake is none.
func TestABoostBeforeASleepIsALock(t *testing.T) {
	lines := func(waker string) []string {
		by := map[string]string{"low": "low-11 d... ", "irq": "low-11 d.h. "}[waker]
		return []string{
			"<idle>-0 d.h. 1000 sched_waking: comm=low pid=11 prio=89 target_cpu=000",
			"<idle>-0 d... 1004 " + idleTo + "low next_pid=11 next_prio=89",
			"low-11 d.h. 1500 sched_waking: comm=high pid=12 prio=49 target_cpu=000",
			"low-11 d... 1504 sched_switch: prev_comm=low prev_pid=11 prev_prio=89 prev_state=R ==> next_comm=high next_pid=12 next_prio=49",
			"high-12 d... 1600 sched_pi_setprio: comm=low pid=11 oldprio=89 newprio=49",
			"high-12 d... 1603 sched_switch: prev_comm=high prev_pid=12 prev_prio=49 prev_state=S ==> next_comm=low next_pid=11 next_prio=49",
			"low-11 d... 2000 sched_pi_setprio: comm=low pid=11 oldprio=49 newprio=89",
			by + "2001 sched_waking: comm=high pid=12 prio=49 target_cpu=000",
			"low-11 d... 2005 sched_switch: prev_comm=low prev_pid=11 prev_prio=89 prev_state=R ==> next_comm=high next_pid=12 next_prio=49",
			"high-12 d... 2105 sched_switch: prev_comm=high prev_pid=12 prev_prio=49 prev_state=S ==> next_comm=low next_pid=11 next_prio=89",
			"low-11 d... 2205 sched_switch: prev_comm=low prev_pid=11 prev_prio=89 prev_state=S" + toIdle,
		}
	}
	l := readLoad(t, "6.1.0-rt", lines("low")...)
	var kinds []OpKind
	for _, op := range l.Tasks[l.task("low")].Ops {
		if op.Kind != OpRun {
			kinds = append(kinds, op.Kind)
		}
	}
	if diff := cmp.Diff([]OpKind{OpSleep, OpLock, OpUnlock, OpWait}, kinds); diff != "" {
		t.Errorf("low (-want +got):\n%s", diff)
	}
	kinds = nil
	for _, op := range l.Tasks[l.task("high")].Ops {
		if op.Kind != OpRun {
			kinds = append(kinds, op.Kind)
		}
	}
	if diff := cmp.Diff([]OpKind{OpSleep, OpLock, OpUnlock, OpWait}, kinds); diff != "" {
		t.Errorf("high (-want +got):\n%s", diff)
	}
	if len(l.Mutexes) != 1 || !l.Mutexes[0].PI || assumed(l, "lock_held") != 1 {
		t.Errorf("locks %+v, assumed %+v", l.Mutexes, l.Assumed)
	}
	l = readLoad(t, "6.1.0-rt", lines("irq")...)
	for i := range l.Tasks {
		for _, op := range l.Tasks[i].Ops {
			if op.Kind == OpLock || op.Kind == OpUnlock {
				t.Errorf("an interrupt gave a lock: %+v", op)
			}
		}
	}
	if assumed(l, "boost_unknown") != 1 {
		t.Errorf("assumed: %+v", l.Assumed)
	}
}

// TestForkAndExit: a child begins where its parent made it runnable; from sched_process_exit on its
// work is its exit.
func TestForkAndExit(t *testing.T) {
	l := readLoad(t, "6.1.0-rt",
		"a-10 d... 1000 sched_waking: comm=b pid=99 prio=120 target_cpu=000",
		"a-10 .... 1100 sched_process_fork: comm=a pid=10 child_comm=a child_pid=11",
		"a-10 d... 1200 sched_wakeup_new: comm=a pid=11 prio=120 target_cpu=000",
		"a-10 d... 1300 sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=child next_pid=11 next_prio=120",
		"child-11 .... 1800 sched_process_exit: comm=child pid=11 prio=120",
		"child-11 d... 1900 sched_switch: prev_comm=child prev_pid=11 prev_prio=120 prev_state=X"+toIdle)
	child := l.task("child")
	if l.Tasks[child].Begin != BeginNew {
		t.Errorf("the child begins as %d", l.Tasks[child].Begin)
	}
	holds(t, l, "a", did{Kind: OpWake, Ref: l.task("b")}, did{Kind: OpRun, NS: 200}, did{Kind: OpFork, Ref: child}, did{Kind: OpRun, NS: 100}, did{Kind: OpWait})
	ops := l.Tasks[child].Ops
	if len(ops) != 3 || ops[0].NS != 500_000 || ops[0].Dying || ops[1].NS != 100_000 || !ops[1].Dying || ops[2].Kind != OpExit {
		t.Errorf("the child does %+v", ops)
	}
}

// TestPreemptionOffIsPartOfTheWork: who kept the CPU from a task that goes first does just that work
// with preemption off, and what it did up to 50 µs before: a run may find it a little less far.
func TestPreemptionOffIsPartOfTheWork(t *testing.T) {
	l := readLoad(t, "6.1.0-rt",
		"a-10 d... 1000 sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120",
		"a-10 d.h. 2000 sched_waking: comm=b pid=11 prio=49 target_cpu=000",
		"a-10 d.h. 2001 sched_wakeup: comm=b pid=11 prio=49 target_cpu=000",
		"a-10 d... 2900 sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=b next_pid=11 next_prio=49",
		"b-11 d... 3000 sched_switch: prev_comm=b prev_pid=11 prev_prio=49 prev_state=S ==> next_comm=a next_pid=10 next_prio=120",
		"a-10 d... 3100 sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S"+toIdle)
	var off event.Time
	for _, op := range l.Tasks[l.task("a")].Ops {
		if op.Kind == OpRun && op.Mode == machine.PreemptOff {
			off += op.NS
		}
	}
	if off < 900_000 || off > 950_000 || assumed(l, "preempt_off") == 0 {
		t.Errorf("%d ns with preemption off, assumed %+v", off, l.Assumed)
	}
}
