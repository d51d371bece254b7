package replay

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
)

// interrupts lists what interrupts and softirqs leave in a run, in µs after its beginning.
func interrupts(t *testing.T, l *Load) []string {
	t.Helper()
	var list []string
	_, err := l.Run(RunOptions{Sink: func(ev *event.Event) {
		switch ev.Kind {
		case event.IRQHandlerEntry, event.IRQHandlerExit, event.SoftirqEntry, event.SoftirqExit:
			list = append(list, fmt.Sprintf("%d %s %d", (ev.Time-l.From)/us, ev.Kind, ev.Arg))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestInterruptsTakeTheirTime from whoever has the CPU, the wake comes when as much is done as
// before it, and the softirq behind it is over before the woken task runs. The thread of a
// handler is woken behind the exit.
func TestInterruptsTakeTheirTime(t *testing.T) {
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{{Kind: OpWait}, run(100 * us), {Kind: OpWait}, run(100 * us)}},
		Task{Attr: fifo(40), Begin: BeginRunning, Ops: []Op{run(20 * ms)}})
	l.Kernel, l.Preempt = "6.1", kernel.PreemptVoluntary
	l.Lines = []Line{
		{Number: 5, Thread: -1, Arrivals: []Arrival{{At: at(3 * ms), NS: 200 * us, Wakes: []int{0}, WakeAt: []event.Time{50 * us}}}},
		{Number: 9, Thread: 0, Arrivals: []Arrival{{At: at(7 * ms), NS: 20 * us, Wakes: []int{0}, WakeAt: []event.Time{20*us + 1}}}},
		{Number: event.SoftirqNetRx, Softirq: true, Thread: -1, Arrivals: []Arrival{{At: at(3*ms + 201*us), NS: 300 * us, Follows: true}}},
	}
	want := []told{
		{0, 0, latency.Wakeup, 0, 3*ms + 50*us, 3*ms + 500*us, -1},
		{0, 1, latency.Wakeup, 0, 7*ms + 20*us, 7*ms + 20*us, -1},
		{1, 0, latency.Preempted, 0, 3*ms + 500*us, 3*ms + 600*us, -1},
		{1, 0, latency.Preempted, 1, 7*ms + 20*us, 7*ms + 120*us, -1},
	}
	if diff := cmp.Diff(want, waitsOf(t, l)); diff != "" {
		t.Error(diff)
	}
	events := []string{"3000 irq_handler_entry 5", "3200 irq_handler_exit 5", "3200 softirq_entry 3", "3500 softirq_exit 3",
		"7000 irq_handler_entry 9", "7020 irq_handler_exit 9"}
	if diff := cmp.Diff(events, interrupts(t, l)); diff != "" {
		t.Error(diff)
	}
}

// TestALoopWaitsForItsService: 1 asks for a transfer of two interrupts and sleeps until its end;
// the device takes 30 µs for each, from that sleep and from the end of each service, and 2
// keeps the thread of the handler off the CPU for 5 ms. The interrupt at 18 ms is no part of it.
func TestALoopWaitsForItsService(t *testing.T) {
	served := []Op{{Kind: OpWait, Slept: at(0)}, run(100 * us), {Kind: OpWait, Slept: at(2150 * us)}, run(100 * us), {Kind: OpWake, Ref: 1},
		{Kind: OpWait, Slept: at(2300 * us)}, run(10 * us)}
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginBlocked, Ops: served},
		Task{Attr: fair(), Begin: BeginRunning, Ops: []Op{run(2 * ms), {Kind: OpWait, Slept: at(2 * ms)}, run(1 * ms)}},
		Task{Attr: fifo(60), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(2*ms + 100*us)}, run(5 * ms)}})
	wakes := func(after *After, at event.Time) Arrival {
		return Arrival{At: at, NS: 10 * us, Wakes: []int{0}, WakeAt: []event.Time{10*us + 1}, Loop: after != nil && after.Task == 0, After: after}
	}
	l.Lines = []Line{{Number: 14, Thread: 0, Loop: true, Gap: 30 * us, Arrivals: []Arrival{
		wakes(&After{Task: 1, Slept: at(2 * ms), Gap: 30 * us}, at(2030*us)),
		wakes(&After{Task: 0, Slept: at(2150 * us), Gap: 30 * us}, at(2180*us)),
		wakes(nil, at(18*ms))}}}
	// The first service is from 2.040 to 2.100 ms, and to 7.140 when 2 is done; the second
	// interrupt comes then, not at 2.180.
	want := []string{"2030 irq_handler_entry 14", "2040 irq_handler_exit 14", "7170 irq_handler_entry 14", "7180 irq_handler_exit 14",
		"18000 irq_handler_entry 14", "18010 irq_handler_exit 14"}
	if diff := cmp.Diff(want, interrupts(t, l)); diff != "" {
		t.Error(diff)
	}
	r, err := l.Run(RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Left) > 0 {
		t.Errorf("left: %+v", r.Left)
	}
	// A device waits for a handler without a thread in the same way.
	l = handMade(Task{Attr: fifo(50), Begin: BeginRunning, Ops: []Op{run(1 * ms)}})
	l.Lines = []Line{{Number: 14, Thread: -1, Loop: true, Arrivals: []Arrival{{At: at(2 * ms), NS: 500 * us},
		{At: at(2100 * us), NS: 10 * us, Loop: true, After: &After{Task: -1, Gap: 30 * us}}}}}
	want = []string{"2000 irq_handler_entry 14", "2500 irq_handler_exit 14", "2530 irq_handler_entry 14", "2540 irq_handler_exit 14"}
	if diff := cmp.Diff(want, interrupts(t, l)); diff != "" {
		t.Error(diff)
	}
}

// TestWhatNobodySleepsForComesAtItsTime: the sleep that an arrival waits for is over already, or
// its task was removed.
func TestWhatNobodySleepsForComesAtItsTime(t *testing.T) {
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{{Kind: OpWait, Slept: at(0)}, run(100 * us)}},
		Task{Attr: fifo(50), Begin: BeginBlocked, Removed: true, Ops: []Op{{Kind: OpWait, Slept: at(0)}, run(ms), {Kind: OpWait, Slept: at(ms)}}})
	l.Lines = []Line{{Number: 14, Thread: 0, Arrivals: []Arrival{
		{At: at(2 * ms), NS: 10 * us, After: &After{Task: 0, Slept: at(0), Gap: 2 * ms}},
		{At: at(3 * ms), NS: 10 * us, After: &After{Task: 1, Slept: at(ms), Gap: 2 * ms}}}}}
	want := []string{"2000 irq_handler_entry 14", "2010 irq_handler_exit 14", "3000 irq_handler_entry 14", "3010 irq_handler_exit 14"}
	if diff := cmp.Diff(want, interrupts(t, l)); diff != "" {
		t.Error(diff)
	}
}

// TestCPUsStandStill when they did, and what comes meanwhile waits.
func TestCPUsStandStill(t *testing.T) {
	l := handMade(
		Task{Attr: fifo(50), Begin: BeginBlocked, Ops: []Op{{Kind: OpSleep, At: at(10 * ms)}, run(1 * ms)}},
		Task{Attr: fair(), Begin: BeginRunning, Ops: []Op{run(30 * ms)}})
	l.Stolen = []Stolen{{CPU: 0, From: at(9 * ms), To: at(12 * ms)}, {CPU: 7, From: at(1 * ms), To: at(90 * ms)}}
	want := []told{
		{0, 0, latency.Wakeup, 0, 12 * ms, 12 * ms, 10 * ms},
		{1, 0, latency.Preempted, 0, 12 * ms, 13 * ms, -1},
	}
	if diff := cmp.Diff(want, waitsOf(t, l)); diff != "" {
		t.Error(diff)
	}
}

// TestAStopperDoesItsRecordedWork in front of everybody else.
func TestAStopperDoesItsRecordedWork(t *testing.T) {
	l := handMade(
		Task{Stopper: true, Begin: BeginBlocked, Ops: []Op{{Kind: OpWait}, run(2 * ms), {Kind: OpWait}, run(1 * ms)}},
		Task{Attr: fifo(99), Begin: BeginRunning, Ops: []Op{run(1 * ms), {Kind: OpWake, Ref: 0}, run(4 * ms)}})
	list := waitsOf(t, l)
	for _, w := range list {
		if w.Task == 1 && (w.Kind != latency.Preempted || w.Woken != 1*ms || w.On != 3*ms) {
			t.Errorf("the task at FIFO 99 waits: %+v", w)
		}
	}
	if len(list) != 2 {
		t.Errorf("waits: %+v", list)
	}
}

// TestTheRTPeriodOfTheRecordingGoesOn: real-time tasks had used 930 of their 950 ms when the trace
// began, and the period ended 40 ms later.
func TestTheRTPeriodOfTheRecordingGoesOn(t *testing.T) {
	l := handMade(Task{Attr: fifo(50), Begin: BeginRunning, Ops: []Op{run(90 * ms)}})
	l.RTPeriod, l.RTUsed = at(40*ms), []event.Time{930 * ms}
	// 20 ms are left, and ticks come 1 ms after each full 4 ms: that at 17 finds 947, that at 21
	// finds more than 950.
	want := []told{{0, 0, latency.Preempted, 0, 21 * ms, 40 * ms, -1}}
	if diff := cmp.Diff(want, waitsOf(t, l)); diff != "" {
		t.Error(diff)
	}
}
