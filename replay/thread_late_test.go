package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
)

// lateJob is a task whose job of 1 ms, due at 10 ms, began at 35 ms in the recording: it was late for the
// times 20 and 30 ms. work is what it did before it slept again.
func lateJob(work event.Time) []Op {
	every := 10 * ms
	return []Op{{Kind: OpSleep, At: at(0), Every: every}, run(1 * ms),
		{Kind: OpSleep, Slept: at(1 * ms), At: at(10 * ms), Every: every}, run(work),
		{Kind: OpSleep, Slept: at(35*ms + work), At: at(40 * ms), Every: every}, run(1 * ms),
		{Kind: OpSleep, Slept: at(41 * ms), At: at(50 * ms), Every: every}, run(1 * ms),
		{Kind: OpSleep, Slept: at(51 * ms), At: at(60 * ms), Every: every}, run(1 * ms)}
}

func TestWhetherALateTaskMakesUpForWhatItMissed(t *testing.T) {
	for _, c := range []struct {
		ops  []Op
		want event.Time
	}{
		{lateJob(1 * ms), 1 * ms}, // it left out two jobs
		{lateJob(3 * ms), 0},      // it made up for them
		{lateJob(1 * ms)[:4], 0},  // it was never seen to be late
		{lateJob(1 * ms)[2:6], 0}, // nor what it usually does
		{[]Op{run(1 * ms)}, 0},    // it has no timer
		{nil, 0},
	} {
		if got := habitOf(c.ops); got.usual != c.want || got.anew {
			t.Errorf("habitOf(%v) = %v, want %v", c.ops, got, c.want)
		}
	}
}

// TestWhoIsLaterThanRecordedLeavesOutMore: a hog works until 55 ms instead of 35 ms. A task that left out
// what it missed does so with 40 and 50 ms; one that made up for it does all that it did.
func TestWhoIsLaterThanRecordedLeavesOutMore(t *testing.T) {
	ran := func(work event.Time) (total event.Time) {
		l := handMade(Task{Attr: fifo(50), Begin: BeginBlocked, Ops: lateJob(work)},
			Task{Attr: fifo(60), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(9 * ms)}, run(26 * ms)}})
		l.Tasks[1].Comm = l.Names.Intern("hog")
		if err := l.Change("task=hog work=×1.769231"); err != nil { // 46 ms
			t.Fatal(err)
		}
		var since event.Time
		if _, err := l.Run(RunOptions{Sink: func(ev *event.Event) {
			if ev.Kind != event.SchedSwitch {
				return
			}
			if ev.Task == l.Tasks[0].PID {
				total += ev.Time - since
			}
			since = ev.Time
		}}); err != nil {
			t.Fatal(err)
		}
		return total
	}
	// Jobs at 0, 10 and 60 ms; at 0, 10 (three in one), 40, 50 and 60.
	if diff := cmp.Diff([]event.Time{3 * ms, 7 * ms}, []event.Time{ran(1 * ms), ran(3 * ms)}); diff != "" {
		t.Errorf("work of the late task (-want +got):\n%s", diff)
	}
}

// TestWhoBeginsAnewWhenItIsLate: in the recording a task that was late until 35 ms began a new grid at 36. With
// a hog that works until 25 ms it does so at 26, with a job at once, and the ones after that come at 36 and 46 ms.
func TestWhoBeginsAnewWhenItIsLate(t *testing.T) {
	every := 10 * ms
	ops := []Op{{Kind: OpSleep, At: at(0), Every: every}, run(1 * ms),
		{Kind: OpSleep, Slept: at(1 * ms), At: at(10 * ms), Every: every}, run(1 * ms),
		{Kind: OpSleep, Slept: at(36 * ms), At: at(46 * ms), Every: every}, run(1 * ms),
		{Kind: OpSleep, Slept: at(47 * ms), At: at(56 * ms), Every: every}, run(1 * ms),
		{Kind: OpSleep, Slept: at(57 * ms), At: at(66 * ms), Every: every}, run(1 * ms)}
	if h := habitOf(ops); !h.anew || h.usual != 1*ms {
		t.Fatalf("habitOf = %v, want a task that begins anew", h)
	}
	l := handMade(Task{Attr: fifo(50), Begin: BeginBlocked, Ops: ops},
		Task{Attr: fifo(60), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(9 * ms)}, run(26 * ms)}})
	l.Tasks[1].Comm = l.Names.Intern("hog")
	if err := l.Change("task=hog work=×0.615385"); err != nil { // 16 ms
		t.Fatal(err)
	}
	var begins []event.Time
	if _, err := l.Run(RunOptions{Sink: func(ev *event.Event) {
		if ev.Kind == event.SchedSwitch && ev.Next == l.Tasks[0].PID {
			begins = append(begins, (ev.Time-l.From)/ms)
		}
	}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]event.Time{0, 25, 36, 46}, begins); diff != "" {
		t.Errorf("jobs begin at, in ms (-want +got):\n%s", diff)
	}
}

// TestTwoJobsInOneAreTwo: what a task that begins anew did at once when it was late are two jobs in a changed
// load, and the second comes at its time where the first is in time.
func TestTwoJobsInOneAreTwo(t *testing.T) {
	every := 10 * ms
	l := handMade(Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(0), Every: every}, run(1 * ms),
		{Kind: OpSleep, Slept: at(1 * ms), At: at(10 * ms), Every: every}, run(2 * ms),
		{Kind: OpSleep, Slept: at(37 * ms), At: at(46 * ms), Every: every}, run(1 * ms)}},
		Task{Attr: fifo(60), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(9 * ms)}, run(26 * ms)}})
	l.Tasks[1].Comm = l.Names.Intern("hog")
	if err := l.Change("remove task=hog"); err != nil {
		t.Fatal(err)
	}
	r, err := l.Run(RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []WaitKey
	var woken []event.Time
	for _, w := range r.Waits {
		got, woken = append(got, w.Key), append(woken, (w.Woken-l.From)/ms)
	}
	// Sorted by key: the second job is one of cycle 2, of which the wait of the third is the recorded one.
	want := []WaitKey{{0, 0, latency.Wakeup, 0}, {0, 1, latency.Wakeup, 0}, {0, 2, latency.Wakeup, 0}, {0, 2, latency.Wakeup, extraWait}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]event.Time{0, 10, 30, 20}, woken); diff != "" {
		t.Errorf("woken at, in ms (-want +got):\n%s", diff)
	}
}

// TestWhoBeginsLaterHasLaterTimes: a new task came to its first sleep at 1 ms, before its timer's first time at
// 10 ms. With a hog that takes the CPU for 25 ms it begins only then, and its times are 25 ms later: a program reads
// the clock before it first sleeps. One that begins in time keeps them.
func TestWhoBeginsLaterHasLaterTimes(t *testing.T) {
	every := 10 * ms
	for _, c := range []struct {
		factor string
		want   []event.Time
	}{{"25", []event.Time{25, 35, 45, 55}}, {"5", []event.Time{5, 10, 20, 30}}} {
		l := handMade(Task{Attr: fifo(50), Begin: BeginNew, Ops: []Op{run(1 * ms),
			{Kind: OpSleep, Slept: at(1 * ms), At: at(10 * ms), Every: every}, run(1 * ms),
			{Kind: OpSleep, Slept: at(11 * ms), At: at(20 * ms), Every: every}, run(1 * ms),
			{Kind: OpSleep, Slept: at(21 * ms), At: at(30 * ms), Every: every}, run(1 * ms), {Kind: OpExit}}},
			Task{Attr: fifo(60), Begin: BeginRunning, Ops: []Op{run(1 * ms), {Kind: OpExit}}})
		l.Tasks[1].Comm = l.Names.Intern("hog")
		if err := l.Change("task=hog work=×" + c.factor); err != nil {
			t.Fatal(err)
		}
		var begins []event.Time
		r, err := l.Run(RunOptions{Sink: func(ev *event.Event) {
			if ev.Kind == event.SchedSwitch && ev.Next == l.Tasks[0].PID {
				begins = append(begins, (ev.Time-l.From)/ms)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, begins); diff != "" {
			t.Errorf("hog ×%s: jobs begin at, in ms (-want +got):\n%s", c.factor, diff)
		}
		if moved := len(r.Later) == 1; moved != (c.factor == "25") {
			t.Errorf("hog ×%s: later are %v", c.factor, r.Later)
		}
	}
}
