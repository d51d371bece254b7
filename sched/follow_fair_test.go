package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// TestForceFairFirst: who follows a recording can make any runnable task the next one, also where the
// turn of the current task is protected, and where weights are scaled down to almost nothing.
func TestForceFairFirst(t *testing.T) {
	for _, x := range allRules {
		b := newBench(x.rules())
		g := b.NewGroup(nil)
		for i := range 3 {
			p := b.add(t, Attr{Nice: 5 * i})
			if i == 0 {
				b.SetGroup(p, g)
			}
			b.WakeUpNewTask(0, p)
		}
		b.ForceGroupEntity(0, g, 0, 1) // is queued: nothing changes
		b.Schedule(0, true)
		b.now += 10_000
		for _, p := range b.tasks {
			if b.Curr(0) == p {
				continue
			}
			if !b.ForceFairFirst(0, p) {
				t.Errorf("%s: task %d is not the next one", x.name, p.PID)
			}
			if err := b.checkEEVDF(); err != nil {
				t.Errorf("%s: %v", x.name, err)
			}
		}
	}
}

// TestForceFairFirstOfLightGroup: a group whose weight is scaled down to 2 counts in the mean with that.
func TestForceFairFirstOfLightGroup(t *testing.T) {
	b := newBench(rules612())
	g := b.NewGroup(nil)
	b.ForceGroupEntity(0, g, 0, 2)
	light, other := b.add(t, Attr{}), b.add(t, Attr{Policy: Idle})
	b.SetGroup(light, g)
	b.WakeUpNewTask(0, light)
	b.WakeUpNewTask(0, other)
	b.Schedule(0, true)
	b.now += event.Time(3_000_000)
	b.SchedulerTick(0)
	for _, p := range b.tasks {
		if !b.ForceFairFirst(0, p) {
			t.Errorf("task %d is not the next one", p.PID)
		}
	}
}
