package latency_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
)

type evs = []event.Event

// TestWakeupWait: from sched_waking to the switch-in, the plainest case.
func TestWakeupWait(t *testing.T) {
	want(t, 7, evs{sw(0, 10, 7, s, 8), waking(0, 100, 8, 7, 0), wakeup(0, 103, 8, 7, 0), sw(0, 150, 8, s, 7)},
		w{From: 100, To: 150})
}

// TestPreemptionWait: from a switch-out with R or R+ until it runs again; one with S is
// none.
func TestPreemptionWait(t *testing.T) {
	for _, state := range []event.State{event.StateRunnable, event.StatePreempted} {
		want(t, 7, evs{sw(0, 10, 7, state, 8), sw(0, 60, 8, s, 7)}, w{Kind: latency.Preempted, From: 10, To: 60})
	}
	want(t, 7, evs{sw(0, 10, 7, s, 8), sw(0, 60, 8, s, 7)})
}

// TestYieldedWait: marked where sched_yield is visible.
func TestYieldedWait(t *testing.T) {
	yield := ev(event.SysEnter, 0, 5, 7, event.NoPID)
	yield.Arg = 24
	want(t, 7, evs{sw(0, 1, 8, s, 7), yield, sw(0, 10, 7, r, 8), sw(0, 60, 8, s, 7), sw(0, 70, 7, r, 8), sw(0, 75, 8, s, 7)},
		w{Kind: latency.Yielded, From: 10, To: 60}, w{Kind: latency.Preempted, From: 70, To: 75})
}

// TestWaitWithoutWaking: where sched_waking is not recorded the wait starts at
// sched_wakeup; that of a new task at sched_wakeup_new.
func TestWaitWithoutWaking(t *testing.T) {
	want(t, 7, evs{sw(0, 10, 7, s, 8), wakeup(0, 103, 8, 7, 0), sw(0, 150, 8, s, 7)}, w{From: 103, To: 150})
	created := wakeup(0, 103, 8, 7, 0)
	created.Kind = event.SchedWakeupNew
	fork := ev(event.SchedProcessFork, 0, 100, 8, 8)
	fork.Next = 7
	want(t, 7, evs{sw(0, 10, 6, s, 8), fork, created, sw(0, 150, 8, s, 7)}, w{From: 103, To: 150})
}

// TestTwoWakingsAreOneWait: from the first.
func TestTwoWakingsAreOneWait(t *testing.T) {
	want(t, 7, evs{sw(0, 10, 7, s, 8), waking(0, 100, 8, 7, 0), waking(1, 120, 5, 7, 0), wakeup(0, 123, 8, 7, 0), sw(0, 150, 8, s, 7)},
		w{From: 100, To: 150})
	// Without sched_wakeup no event says that the first was through.
	want(t, 7, evs{sw(0, 10, 7, s, 8), waking(0, 100, 8, 7, 0), waking(1, 120, 5, 7, 0), sw(0, 150, 8, s, 7)},
		w{From: 100, To: 150})
}

// TestWakingAfterTheWakeup: the kernel wakes only a task that sleeps. One that was queued
// and is woken again ran and slept unseen: the first wait has no end, the second is exact.
func TestWakingAfterTheWakeup(t *testing.T) {
	events := evs{sw(0, 10, 7, s, 8), waking(0, 100, 8, 7, 0), wakeup(0, 103, 8, 7, 0),
		waking(0, 900, 8, 7, 0), wakeup(0, 903, 8, 7, 0), sw(0, 950, 8, s, 7)}
	want(t, 7, events, w{From: 900, To: 950})
	if _, tr := track(events); tr.Unseen != 1 {
		t.Errorf("%d waits without an end", tr.Unseen)
	}
}

// TestPidZeroNeverWaits: neither woken nor taken off the CPU.
func TestPidZeroNeverWaits(t *testing.T) {
	want(t, 0, evs{waking(0, 5, 8, 0, 0), sw(0, 10, 0, r, 8), sw(0, 60, 8, s, 0), sw(0, 70, 0, r, 8)})
}

// TestTrapWakingTargetCPU: target_cpu of sched_waking is the CPU before placement. The
// task is queued where sched_wakeup says, and later where sched_migrate_task says.
func TestTrapWakingTargetCPU(t *testing.T) {
	start := evs{sw(1, 10, 7, s, 8), waking(1, 100, 8, 7, 1)}
	then := func(more ...event.Event) evs { return append(start[:len(start):len(start)], more...) }
	want(t, 7, then(migrate(1, 101, 8, 7, 1, 2), wakeup(1, 102, 8, 7, 2), sw(2, 150, 9, s, 7)), w{From: 100, To: 150, CPU: 2})
	want(t, 7, then(wakeup(1, 102, 8, 7, 2), sw(2, 150, 9, s, 7)), w{From: 100, To: 150, CPU: 2})
	want(t, 7, then(wakeup(1, 102, 8, 7, 2), migrate(3, 130, 9, 7, 2, 3), sw(3, 150, 9, s, 7)),
		w{From: 100, To: 150, CPU: 2, Moves: []event.CPU{3}})
	want(t, 7, then(migrate(1, 101, 8, 7, 1, 2), sw(2, 150, 9, s, 7)), w{From: 100, To: 150, CPU: 1, Moves: []event.CPU{2}})
}

// TestTrapWakingWhileRunning: a wake of a task that is still current.
func TestTrapWakingWhileRunning(t *testing.T) {
	start := evs{sw(0, 10, 9, s, 7), waking(1, 100, 5, 7, 0)}
	then := func(more ...event.Event) evs { return append(start[:len(start):len(start)], more...) }
	t.Run("used up before it left", func(t *testing.T) {
		want(t, 7, then(wakeup(1, 102, 5, 7, 0), sw(0, 150, 7, s, 8),
			waking(0, 900, 8, 7, 0), wakeup(0, 902, 8, 7, 0), sw(0, 950, 8, s, 7)), w{From: 900, To: 950})
	})
	t.Run("used up, then preempted", func(t *testing.T) {
		want(t, 7, then(wakeup(1, 102, 5, 7, 0), sw(0, 150, 7, r, 8), sw(0, 180, 8, s, 7)),
			w{Kind: latency.Preempted, From: 150, To: 180})
	})
	t.Run("wakeup after it left", func(t *testing.T) {
		want(t, 7, then(sw(0, 150, 7, s, 8), wakeup(0, 152, 8, 7, 0), sw(0, 180, 8, s, 7)), w{From: 150, To: 180})
	})
	t.Run("no wakeup recorded, a second waking", func(t *testing.T) {
		want(t, 7, then(sw(0, 150, 7, s, 8), waking(0, 900, 8, 7, 0), sw(0, 950, 8, s, 7)), w{From: 900, To: 950})
	})
	t.Run("no wakeup recorded, it runs again", func(t *testing.T) {
		want(t, 7, then(sw(0, 150, 7, s, 8), sw(0, 180, 8, s, 7)), w{From: 150, To: 180})
	})
	t.Run("its wakeup was lost", func(t *testing.T) { // the trace has others
		want(t, 7, then(wakeup(1, 120, 5, 6, 1), sw(0, 150, 7, s, 8), sw(0, 180, 8, s, 7)), w{From: 150, To: 180, Gap: true})
	})
}

// TestTrapWakeupAbsent: a waking without a wakeup is a wait; a wakeup that failed
// (success=0, old kernels) is none; who is current in an interrupt is not the waker.
func TestTrapWakeupAbsent(t *testing.T) {
	want(t, 7, evs{sw(0, 10, 7, s, 8), waking(0, 100, 8, 7, 0), sw(0, 150, 8, s, 7)}, w{From: 100, To: 150})
	failed := wakeup(0, 100, 8, 7, 0)
	failed.Arg = 0
	want(t, 7, evs{sw(0, 10, 7, s, 8), failed, sw(0, 150, 8, s, 7)})
	for _, c := range []struct {
		flags event.Flags
		want  latency.Context
	}{
		{0, latency.ContextUnknown},
		{event.FlagsKnown, latency.ContextTask},
		{event.FlagsKnown | event.HardIRQ, latency.ContextIRQ},
		{event.FlagsKnown | event.NMI, latency.ContextIRQ},
		{event.FlagsKnown | event.SoftIRQ, latency.ContextSoftIRQ},
		{event.FlagsKnown | event.SoftIRQ | event.HardIRQ, latency.ContextIRQ},
	} {
		wake := waking(0, 100, 8, 7, 0)
		wake.Flags = c.flags
		if got := wakerOf(evs{sw(0, 10, 7, s, 8), wake, sw(0, 150, 8, s, 7)}); got.Context != c.want || got.PID != 8 {
			t.Errorf("flags %b: woken by %d in %q, want %q", c.flags, got.PID, got.Context, c.want)
		}
	}
}

// TestTrapUnwoken: a task that comes to a CPU from a sleep without any wake gives no wait.
func TestTrapUnwoken(t *testing.T) {
	events := evs{sw(0, 10, 7, s, 8), sw(0, 150, 8, s, 7)}
	want(t, 7, events)
	if _, tr := track(events); tr.Unwoken != 1 {
		t.Errorf("%d tasks came unwoken", tr.Unwoken)
	}
}

// TestTrapBrokenChain: a wait that spans a place where the chain of switches is broken is
// marked from the last moment that fits; one beside it is not.
func TestTrapBrokenChain(t *testing.T) {
	broken := evs{sw(0, 10, 7, s, 8), waking(0, 100, 8, 7, 0), wakeup(0, 103, 8, 7, 0),
		sw(0, 500, 9, s, 7), // 8 was current, not 9
		sw(0, 510, 7, s, 8), waking(0, 600, 8, 7, 0), wakeup(0, 603, 8, 7, 0), sw(0, 650, 8, s, 7)}
	want(t, 7, broken, w{From: 100, To: 500, Gap: true}, w{From: 600, To: 650})
}

// TestTrapLostEvents: what a gap makes of the waits around it.
func TestTrapLostEvents(t *testing.T) {
	start := evs{sw(0, 10, 7, s, 8), sw(1, 11, 0, r, 5), sw(2, 12, 0, r, 4)}
	woken := append(start, waking(0, 100, 8, 7, 0), wakeup(0, 103, 8, 7, 0))
	then := func(more ...event.Event) evs { return append(woken[:len(woken):len(woken)], more...) }
	t.Run("inside the wait", func(t *testing.T) {
		want(t, 7, then(gap(0, 200, 300), sw(0, 350, 8, s, 7)), w{From: 100, To: 350, Gap: true})
	})
	t.Run("on another CPU", func(t *testing.T) {
		want(t, 7, then(gap(1, 200, 300), sw(0, 350, 8, s, 7)), w{From: 100, To: 350})
	})
	t.Run("before the wait", func(t *testing.T) {
		want(t, 7, append(evs{sw(0, 10, 7, s, 8), gap(0, 20, 30)}, woken[3], woken[4], sw(0, 350, 8, s, 7)), w{From: 100, To: 350})
	})
	t.Run("after the wait", func(t *testing.T) {
		want(t, 7, then(sw(0, 350, 8, s, 7), gap(0, 360, 370)), w{From: 100, To: 350})
	})
	t.Run("it ran in the gap and was woken again", func(t *testing.T) {
		want(t, 7, then(gap(0, 200, 300), waking(0, 600, 8, 7, 0), wakeup(0, 603, 8, 7, 0), sw(0, 650, 8, s, 7)), w{From: 600, To: 650})
	})
	t.Run("the waking was lost on the waker's CPU", func(t *testing.T) {
		want(t, 7, append(start[:3:3], waking(1, 20, 5, 6, 1), gap(1, 90, 120), wakeup(0, 121, 8, 7, 0), sw(0, 350, 8, s, 7)),
			w{From: 121, To: 350, Gap: true})
	})
	t.Run("it went elsewhere unseen", func(t *testing.T) { // pulled back from CPU 1
		want(t, 7, then(gap(1, 200, 300), migrate(2, 310, 4, 7, 1, 2), sw(2, 350, 4, s, 7)),
			w{From: 100, To: 350, Moves: []event.CPU{2}, Gap: true})
	})
	t.Run("it came unseen to where the gap was", func(t *testing.T) {
		want(t, 7, then(gap(1, 200, 300), sw(1, 350, 5, s, 7)), w{From: 100, To: 350, Moves: []event.CPU{1}, Gap: true})
	})
	t.Run("preempted, woken after a gap elsewhere", func(t *testing.T) {
		want(t, 7, evs{sw(0, 10, 8, s, 7), sw(0, 50, 7, r, 8), gap(1, 200, 300), waking(2, 400, 4, 7, 0), sw(0, 450, 8, s, 7)},
			w{Kind: latency.Preempted, From: 50, To: 450, Gap: true})
	})
	t.Run("preempted in the kernel on its way to sleep, woken", func(t *testing.T) { // no gap: one wait
		want(t, 7, evs{sw(0, 10, 8, s, 7), sw(0, 50, 7, event.StatePreempted, 8), waking(2, 400, 4, 7, 0), sw(0, 450, 8, s, 7)},
			w{Kind: latency.Preempted, From: 50, To: 450})
	})
	t.Run("it died in the gap", func(t *testing.T) {
		want(t, 7, then(gap(0, 200, 300), ev(event.SchedProcessFree, 1, 400, 5, 7), sw(0, 450, 8, s, 0)))
	})
}

// TestOpenWaits: a wait that the end of the trace cuts off is handed out, as long as the
// trace shows, also by events that are of no other use.
func TestOpenWaits(t *testing.T) {
	want(t, 7, evs{sw(0, 10, 7, s, 8), waking(0, 100, 8, 7, 0), ev(event.SchedStatRuntime, 0, 400, 8, 8)},
		w{From: 100, To: 400, Open: true})
	want(t, 7, evs{sw(0, 10, 7, r, 8), sw(0, 500, 8, s, 9)}, w{Kind: latency.Preempted, From: 10, To: 500, Open: true})
}

// TestWaitIDs: the pid and the start of the wait, truncated to µs.
func TestWaitIDs(t *testing.T) {
	for _, c := range []struct {
		at   event.Time
		want string
	}{
		{290_333_201_999, "311@290.333201"},
		{0, "311@0.000000"},
		{7, "311@0.000000"},
		{1_000_001_000, "311@1.000001"},
		{-1_500_000_000, "311@-1.500000"},
		{1<<63 - 1, "311@9223372036.854775"},
		{-1 << 63, "311@-9223372036.854775"},
	} {
		if got := latency.ID(311, c.at); got != c.want {
			t.Errorf("ID at %d is %q, want %q", c.at, got, c.want)
		}
	}
}
