package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// TestDelayedInThrottledQueue: where tasks are throttled one by one, a throttled queue stays in the
// one above, and so do those of it that sleep and owe time: all queues above count them.
func TestDelayedInThrottledQueue(t *testing.T) {
	b := newBench(rules618())
	g := b.NewGroup(nil)
	if _, err := b.SetQuota(0, g, 1_000_000, 100_000_000, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p := b.add(t, Attr{})
		b.SetGroup(p, g)
		b.WakeUpNewTask(0, p)
	}
	b.Schedule(0, true)
	for range 4 {
		b.now += 1_000_000
		b.SchedulerTick(0)
	}
	b.Schedule(0, true) // who is chosen is still in the kernel
	cfs := &g.cpus[0].cfs
	b.now += 10_000_000
	curr := b.Curr(0)
	b.Block(0, event.StateSleeping)
	b.Schedule(0, false)
	if !cfs.throttled || !curr.Delayed() {
		t.Fatalf("throttled %v, delayed %v", cfs.throttled, curr.Delayed())
	}
	if n, above := cfs.hNrDelayed, b.cfs().hNrDelayed; n != 1 || above != 1 {
		t.Errorf("delayed in the group %d, in the queue above %d", n, above)
	}
	b.TimerExpired(0, Timer{Kind: TimerCFSPeriod, Group: g.id})
	b.TryToWakeUp(0, curr)
	if n, above := cfs.hNrDelayed, b.cfs().hNrDelayed; n != 0 || above != 0 {
		t.Errorf("after the wake %d, in the queue above %d", n, above)
	}
	if err := b.check(); err != nil {
		t.Error(err)
	}
}
