package machine

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

func TestTimersAreHeldBackAndNothingElse(t *testing.T) {
	m := New(Config{Sched: sched.DefaultConfig(1), NoTick: true}, event.NewNames(), nil)
	var woke, posted event.Time
	steps := 0
	sleeper, err := m.Spawn(10, "sleeper", sched.Attr{Policy: sched.FIFO, Priority: 50}, nil, ProgramFunc(func(m *Machine, _ *Thread) Step {
		if steps++; steps == 1 {
			return Step{Kind: StepSleep, NS: 2000}
		}
		woke = m.Now()
		return Step{Kind: StepExit}
	}))
	if err != nil {
		t.Fatal(err)
	}
	waits := 0
	waiter, err := m.Spawn(11, "waiter", sched.Attr{Policy: sched.FIFO, Priority: 40}, nil, ProgramFunc(func(m *Machine, _ *Thread) Step {
		if waits++; waits == 1 {
			return Step{Kind: StepBlock}
		}
		posted = m.Now()
		return Step{Kind: StepExit}
	}))
	if err != nil {
		t.Fatal(err)
	}
	m.HoldTimers(0, 1500, 5000)
	m.HoldTimers(0, 6000, 6000)
	m.Start(0, sleeper)
	m.Start(0, waiter)
	m.Interrupt(3000, 0, func() { m.Wake(0, waiter) })
	if err := m.RunUntil(10_000); err != nil {
		t.Fatal(err)
	}
	if woke != 5000 {
		t.Errorf("the sleeper woke at %d", woke)
	}
	if posted != 3000 {
		t.Errorf("the waiter woke at %d", posted)
	}
}
