package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// TestDelayedTask goes through the life of a task that sleeps with negative lag.
func TestDelayedTask(t *testing.T) {
	b := newBench(rules612())
	x, y := b.add(t, Attr{}), b.add(t, Attr{})
	b.WakeUpNewTask(0, x)
	b.WakeUpNewTask(0, y)
	b.Schedule(0, false)
	first := b.Curr(0)
	other := x
	if first == x {
		other = y
	}
	step := func(what string, delayed, onRQ bool, n int) {
		t.Helper()
		switch {
		case first.Delayed() != delayed || first.OnRQ() != onRQ || b.NrRunning(0) != n:
			t.Fatalf("%s: delayed %v, runnable %v, nr_running %d; want %v, %v, %d", what, first.Delayed(), first.OnRQ(), b.NrRunning(0), delayed, onRQ, n)
		case b.cfs().hNrDelayed != map[bool]int{true: 1}[delayed]:
			t.Fatalf("%s: h_nr_delayed %d", what, b.cfs().hNrDelayed)
		}
		if err := b.check(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	sleep := func() {
		b.now += 300_000
		b.Block(0, event.StateSleeping)
		b.Schedule(0, false)
		if b.Curr(0) != other {
			t.Fatal("the other one does not run")
		}
	}
	sleep() // it has run 300 µs, the other nothing: it owes 150
	step("asleep and owing", true, false, 2)
	b.now += 100_000
	if woken, _ := b.TryToWakeUp(0, first); !woken {
		t.Fatal("a delayed task cannot be woken")
	}
	step("woken while it owes", false, true, 2)
	if got := b.lag(first); got != -100_000 {
		t.Errorf("its lag is %.0f, want −100000: it has run 300 µs, the other 100", got)
	}
	b.now += 300_000
	b.Schedule(0, true) // 300 against 400 µs: it is owed time and has the earlier deadline
	for b.Curr(0) != first {
		b.now += 400_000
		b.SchedulerTick(0)
		b.Schedule(0, true)
	}
	b.now += 900_000
	sleep()
	step("owing again", true, false, 2)
	if _, err := b.SetUserNice(0, first, 5); err != nil {
		t.Fatal(err)
	}
	step("with another nice value", true, false, 2)
	if _, err := b.SetAttr(0, first, Attr{Policy: FIFO, Priority: 1}); err != nil {
		t.Fatal(err)
	}
	step("of another class", false, false, 1)
	if _, err := b.SetAttr(0, first, Attr{}); err != nil {
		t.Fatal(err)
	}
	b.TryToWakeUp(0, first)
	step("woken", false, true, 2)
}

// TestDelayedTaskLeavesWhenItIsChosen, with what it owed paid and nothing gained.
func TestDelayedTaskLeavesWhenItIsChosen(t *testing.T) {
	b := newBench(rules612())
	x, y := b.add(t, Attr{}), b.add(t, Attr{})
	b.WakeUpNewTask(0, x)
	b.WakeUpNewTask(0, y)
	b.Schedule(0, false)
	first := b.Curr(0)
	b.now += 300_000
	b.Block(0, event.StateSleeping)
	b.Schedule(0, false)
	for i := 0; first.Delayed(); i++ {
		if i > 10 {
			t.Fatal("it stays for ever")
		}
		b.now += 200_000
		b.SchedulerTick(0)
		b.Schedule(0, true)
		if b.Curr(0) == first {
			t.Fatal("a sleeping task runs")
		}
	}
	if first.se.vlag != 0 || b.NrRunning(0) != 1 || first.se.onRQ {
		t.Errorf("lag %d, nr_running %d, on_rq %v", first.se.vlag, b.NrRunning(0), first.se.onRQ)
	}
	if err := b.check(); err != nil {
		t.Error(err)
	}
}

// TestStoppedTasksAreNotDelayed: nor are those that die.
func TestStoppedTasksAreNotDelayed(t *testing.T) {
	for _, state := range []event.State{event.StateStopped, event.StateTraced, event.StateParked} {
		b := newBench(rules612())
		for range 2 {
			b.WakeUpNewTask(0, b.add(t, Attr{}))
		}
		b.Schedule(0, false)
		p := b.Curr(0)
		b.now += 300_000
		b.Block(0, state)
		b.Schedule(0, false)
		if p.se.onRQ || b.NrRunning(0) != 1 {
			t.Errorf("%s: on_rq %v, nr_running %d", state, p.se.onRQ, b.NrRunning(0))
		}
	}
}
