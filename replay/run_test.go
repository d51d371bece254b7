package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

const (
	us event.Time = 1_000
	ms event.Time = 1_000_000
)

// handMade is a load of a 6.1-rt with one CPU whose trace begins at second 100, and of which
// the ticks come 1 ms after each full 4 ms of the trace's clock.
func handMade(tasks ...Task) *Load {
	l := &Load{Names: event.NewNames(), Kernel: "6.1-rt", Preempt: kernel.PreemptRT, CPUs: 1, Tick: 4 * ms,
		Zero: 99_997 * ms, From: 100_000 * ms, To: 100_100 * ms, RTPeriod: event.NoTime, Tasks: tasks}
	for i := range l.Tasks {
		t := &l.Tasks[i]
		t.PID = event.PID(100 + i)
		t.TGID = t.PID
	}
	return l
}

func fifo(prio int) sched.Attr { return sched.Attr{Policy: sched.FIFO, Priority: prio} }

func fair() sched.Attr { return sched.Attr{Policy: sched.Normal} }

// at is a time of the hand-made trace, in ns after its beginning.
func at(ns event.Time) event.Time { return 100_000*ms + ns }

func run(t ns) Op { return Op{Kind: OpRun, NS: t} }

type ns = event.Time

// told is what a test expects of a wait: its key, and when it began and ended after the
// beginning of the trace.
type told struct {
	Task, Cycle int
	Kind        latency.Kind
	N           int
	Woken, On   event.Time
	Due         event.Time
}

func waitsOf(t *testing.T, l *Load) []told {
	t.Helper()
	r, err := l.Run(RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Diagnostics {
		if d.Kind != "not_modelled" {
			t.Errorf("diagnostic %s: %s", d.Kind, d.Text)
		}
	}
	var list []told
	for _, w := range r.Waits {
		due, on := event.Time(-1), event.Time(-1)
		if w.Due != event.NoTime {
			due = w.Due - l.From
		}
		if w.OnCPU != event.NoTime {
			on = w.OnCPU - l.From
		}
		list = append(list, told{w.Key.Task, w.Key.Cycle, w.Key.Kind, w.Key.N, w.Woken - l.From, on, due})
	}
	return list
}

func TestSleepersAndWhoeverRunsBeforeThem(t *testing.T) {
	// 0 sleeps until 10 ms and 20 ms, works 1 ms each; 1 has the CPU from the beginning and is
	// preempted twice.
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{
			{Kind: OpSleep, At: at(10 * ms)}, run(1 * ms), {Kind: OpSleep, At: at(20 * ms)}, run(1 * ms)}},
		Task{Attr: fair(), Begin: BeginRunning, Ops: []Op{run(30 * ms)}})
	want := []told{
		{0, 0, latency.Wakeup, 0, 10 * ms, 10 * ms, 10 * ms},
		{0, 1, latency.Wakeup, 0, 20 * ms, 20 * ms, 20 * ms},
		{1, 0, latency.Preempted, 0, 10 * ms, 11 * ms, -1},
		{1, 0, latency.Preempted, 1, 20 * ms, 21 * ms, -1},
	}
	if diff := cmp.Diff(want, waitsOf(t, l)); diff != "" {
		t.Error(diff)
	}
}

func TestALateSleeperKeepsItsGrid(t *testing.T) {
	// 0 wants the CPU at 10, 12, 14 and 30 ms for 1 ms; 1 keeps it from 9 to 13.
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{
			{Kind: OpSleep, At: at(10 * ms), Every: 2 * ms}, run(1 * ms), {Kind: OpSleep, At: at(12 * ms), Every: 2 * ms}, run(1 * ms),
			{Kind: OpSleep, At: at(14 * ms), Every: 2 * ms}, run(1 * ms), {Kind: OpSleep, At: at(30 * ms)}, run(1 * ms)}},
		Task{Attr: fifo(60), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(9 * ms)}, run(4 * ms)}})
	want := []told{
		{0, 0, latency.Wakeup, 0, 10 * ms, 13 * ms, 10 * ms},
		// The sleeps until 12 and 14 ms are over before they begin: it works until 16.
		{0, 3, latency.Wakeup, 0, 30 * ms, 30 * ms, 30 * ms},
		{1, 0, latency.Wakeup, 0, 9 * ms, 9 * ms, 9 * ms},
	}
	if diff := cmp.Diff(want, waitsOf(t, l)); diff != "" {
		t.Error(diff)
	}
}

func TestWakesCountAsPosts(t *testing.T) {
	// 1 posts 0 twice at 5 ms, while it works: both of its waits find that, and the third
	// waits for the post at 20 ms.
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{
			{Kind: OpSleep, At: at(8 * ms)}, run(1 * ms), {Kind: OpWait}, run(1 * ms), {Kind: OpWait}, run(1 * ms), {Kind: OpWait}, run(1 * ms)}},
		Task{Attr: fifo(40), Begin: BeginRunning, Ops: []Op{
			run(5 * ms), {Kind: OpWake, Ref: 0}, {Kind: OpWake, Ref: 0}, {Kind: OpSleep, At: at(20 * ms)}, {Kind: OpWake, Ref: 0}, run(1 * ms)}})
	want := []told{
		{0, 0, latency.Wakeup, 0, 8 * ms, 8 * ms, 8 * ms},
		{0, 3, latency.Wakeup, 0, 20 * ms, 20 * ms, -1},
		{1, 0, latency.Wakeup, 0, 20 * ms, 20 * ms, 20 * ms},
		{1, 1, latency.Preempted, 0, 20 * ms, 21 * ms, -1},
	}
	if diff := cmp.Diff(want, waitsOf(t, l)); diff != "" {
		t.Error(diff)
	}
}

func TestForkExitAndNap(t *testing.T) {
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginRunning, Ops: []Op{
			run(2 * ms), {Kind: OpFork, Ref: 1}, run(3 * ms), {Kind: OpNap, NS: 10 * ms}, run(1 * ms), {Kind: OpExit}}},
		Task{Attr: fifo(50), Begin: BeginNew, Ops: []Op{run(1 * ms), {Kind: OpExit}}},
		Task{Attr: fair(), Begin: BeginNew, Ops: []Op{{Kind: OpRun, NS: 1 * ms, At: at(15500 * us)}}})
	want := []told{
		{0, 0, latency.Wakeup, 0, 15 * ms, 15 * ms, 15 * ms},
		{1, 0, latency.Wakeup, 0, 2 * ms, 5 * ms, -1},
		{2, 0, latency.Wakeup, 0, 15500 * us, 16 * ms, -1},
	}
	if diff := cmp.Diff(want, waitsOf(t, l)); diff != "" {
		t.Error(diff)
	}
}

func TestAHolderInheritsFromWhoWaits(t *testing.T) {
	// 2 (low) takes the lock at 1 ms for 4 ms of work. 0 (high) wants it at 2 ms; 1 (middle)
	// would keep the CPU from 2 (low) from 3 ms on, for 10 ms.
	load := func(pi bool) *Load {
		l := handMade(
			Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(2 * ms)}, {Kind: OpLock}, run(1 * ms), {Kind: OpUnlock}}},
			Task{Attr: fifo(40), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(3 * ms)}, run(10 * ms)}},
			Task{Attr: fifo(30), Begin: BeginRunning, Ops: []Op{run(1 * ms), {Kind: OpLock}, run(4 * ms), {Kind: OpUnlock}, run(1 * ms)}})
		l.Mutexes = []Mutex{{PI: pi, Held: -1}}
		return l
	}
	// The lock of 2 was open: that sleep is over at 1 ms.
	with := []told{
		{0, 0, latency.Wakeup, 0, 2 * ms, 2 * ms, 2 * ms},
		{0, 1, latency.Wakeup, 0, 5 * ms, 5 * ms, -1},
		{1, 0, latency.Wakeup, 0, 3 * ms, 6 * ms, 3 * ms},
		{2, 1, latency.Preempted, 0, 2 * ms, 2 * ms, -1},
		{2, 1, latency.Preempted, 1, 5 * ms, 16 * ms, -1},
	}
	if diff := cmp.Diff(with, waitsOf(t, load(true))); diff != "" {
		t.Errorf("with priority inheritance: %s", diff)
	}
	without := []told{
		{0, 0, latency.Wakeup, 0, 2 * ms, 2 * ms, 2 * ms},
		{0, 1, latency.Wakeup, 0, 15 * ms, 15 * ms, -1},
		{1, 0, latency.Wakeup, 0, 3 * ms, 3 * ms, 3 * ms},
		{2, 1, latency.Preempted, 0, 2 * ms, 2 * ms, -1},
		{2, 1, latency.Preempted, 1, 3 * ms, 13 * ms, -1},
		{2, 1, latency.Preempted, 2, 15 * ms, 16 * ms, -1},
	}
	if diff := cmp.Diff(without, waitsOf(t, load(false))); diff != "" {
		t.Errorf("without: %s", diff)
	}
}

func TestWhatHappensBeforeTheTraceIsNotSeen(t *testing.T) {
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginRunning, Ops: []Op{run(1 * ms)}},
		Task{Attr: fifo(40), Begin: BeginReady, Ops: []Op{run(1 * ms)}},
		Task{Attr: fair(), Begin: BeginBlocked, Ops: []Op{{Kind: OpWait}}})
	l.Names.Intern("x")
	var first []event.Event
	if _, err := l.Run(RunOptions{Sink: func(ev *event.Event) {
		if ev.Kind == event.SchedSwitch {
			first = append(first, *ev)
		}
	}}); err != nil {
		t.Fatal(err)
	}
	if len(first) != 2 || first[0].Task != 100 || first[0].Next != 101 || first[0].Time != at(1*ms) || first[1].Next != 0 || first[1].Time != at(2*ms) {
		t.Errorf("switches %+v", first)
	}
}

func TestATimerOfTheSchedulerHandsOverAsAWakeDoes(t *testing.T) {
	rr := sched.Attr{Policy: sched.RR, Priority: 50}
	l := handMade(Task{Attr: rr, Begin: BeginRunning, Ops: []Op{run(3 * ms)}}, Task{Attr: rr, Begin: BeginReady, Ops: []Op{run(1 * ms)}})
	l.HandOver = 5 * us
	if err := l.Change("set sched_rr_timeslice_ms=4"); err != nil {
		t.Fatal(err)
	}
	// The tick at 1 ms ends the turn of 0, the work of 1 its own. 0 has 5 µs less than it would.
	want := []told{{0, 0, latency.Preempted, 0, 1005 * us, 2005 * us, -1}}
	if diff := cmp.Diff(want, waitsOf(t, l)); diff != "" {
		t.Error(diff)
	}
}

func TestAFairTaskIsMovedInItsSleep(t *testing.T) {
	l := handMade(Task{Attr: fair(), Begin: BeginRunning, CPUs: []event.CPU{0}, Ops: []Op{
		run(1 * ms), {Kind: OpCPUs, CPUs: []event.CPU{1}, By: Assumed}, run(1 * ms), {Kind: OpSleep, At: at(5 * ms)}, run(1 * ms)}})
	l.CPUs = 2
	var on []event.CPU
	if _, err := l.Run(RunOptions{Sink: func(ev *event.Event) {
		if ev.Kind == event.SchedSwitch && ev.Task == 100 {
			on = append(on, ev.CPU)
		}
		if ev.Kind == event.SchedWaking && ev.Task != 100 {
			t.Errorf("task %d is woken", ev.Task)
		}
	}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]event.CPU{0, 1}, on); diff != "" {
		t.Error(diff)
	}
}

func TestInterruptsPost(t *testing.T) {
	l := handMade(Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{{Kind: OpWait}, run(1 * ms), {Kind: OpWait}, run(1 * ms)}})
	l.Lines = []Line{{Number: 5, Thread: -1, Arrivals: []Arrival{{At: at(3 * ms), Wakes: []int{0}}, {At: at(7 * ms), Wakes: []int{0}}}}}
	want := []told{{0, 0, latency.Wakeup, 0, 3 * ms, 3 * ms, -1}, {0, 1, latency.Wakeup, 0, 7 * ms, 7 * ms, -1}}
	if diff := cmp.Diff(want, waitsOf(t, l)); diff != "" {
		t.Error(diff)
	}
}

func TestDyingWorkIsNormalizedWhereTheKernelDoes(t *testing.T) {
	load := func(values ...string) *Load {
		l := handMade(
			Task{Attr: fifo(10), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(5 * ms)}, run(1 * ms)}},
			Task{Attr: fifo(11), Begin: BeginRunning, Ops: []Op{run(2 * ms), {Kind: OpRun, NS: 20 * ms, Mode: machine.Kernel, Dying: true}, {Kind: OpExit}}})
		for _, v := range values {
			if err := l.Change(v); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	if got := waitsOf(t, load())[0].On; got != 22*ms {
		t.Errorf("as recorded it comes at %d", got)
	}
	if got := waitsOf(t, load("set exit_normalize=rt"))[0].On; got != 5*ms {
		t.Errorf("with exit_normalize=rt it comes at %d", got)
	}
	if got := waitsOf(t, load("exit_teardown ×0.25"))[0].On; got != 7*ms {
		t.Errorf("with a quarter of the teardown it comes at %d", got)
	}
}
