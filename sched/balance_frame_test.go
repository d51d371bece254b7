package sched

import (
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
)

const msec event.Time = 1_000_000

// TestIdleCPUsTakeWhatWaits: one CPU has four tasks, three others are idle and do not tick. The busy one's
// tick asks the first idle one, which balances for all of them; the longest interval of an idle CPU is twice the weight
// of the domain, 8 ms, and one tick more for the question.
func TestIdleCPUsTakeWhatWaits(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 4, 1, 1), nil)
	for range 4 {
		b.hog(0)
	}
	if n := b.where()[0]; n != 4 {
		t.Fatalf("%d tasks on CPU 0 to begin with", n)
	}
	b.ticks(4)
	if got := b.where(); !slices.Equal(got, []int{1, 1, 1, 1}) {
		t.Errorf("after 16 ms the CPUs have %v", got)
	}
}

// TestPinnedTasksStay, and the interval grows up to 512 ms as it does for no other reason.
func TestPinnedTasksStay(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 2, 1, 1), nil)
	b.hog(0, 0)
	b.hog(0, 0)
	sd := b.domain(1, levelMC)
	seen := []int64{sd.balanceInterval}
	for range 1000 {
		b.tick()
		if now := sd.balanceInterval; now != seen[len(seen)-1] {
			seen = append(seen, now)
		}
	}
	if want := []int64{2, 4, 8, 16, 32, 64, 128, 256, 512}; !slices.Equal(seen, want) {
		t.Errorf("the interval was %v ms, want %v", seen, want)
	}
	if p := b.lastOf(1, BalanceNohz); p.Why != "all pinned" || p.Source != 0 {
		t.Errorf("the last pass: %+v", p)
	}
	if got := b.where(); got[0] != 2 {
		t.Errorf("%v", got)
	}
}

// TestBalancedIntervalDoublesOnce: where there is nothing to do the interval grows to twice the weight.
func TestBalancedIntervalDoublesOnce(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 4, 1, 1), nil)
	sd := b.domain(0, levelMC)
	for range 3 {
		b.pass(0, sd, cpuIdle)
	}
	if sd.balanceInterval != 8 {
		t.Errorf("%d ms", sd.balanceInterval)
	}
	b.hog(0)
	b.hog(0)
	sd = b.domain(1, levelMC)
	sd.balanceInterval = 8
	b.host.now += 10 * msec
	if moved, _ := b.pass(1, sd, cpuIdle); moved != 1 || sd.balanceInterval != 4 {
		t.Errorf("%d moved, then %d ms", moved, sd.balanceInterval)
	}
}

// TestAnotherOfTheGroupTakesWhatThisOneMayNot (LBF_DST_PINNED): core 0 has tasks that may also use CPU 3,
// and CPU 2, of the same core as 3, balances.
func TestAnotherOfTheGroupTakesWhatThisOneMayNot(t *testing.T) {
	b := newLBBox(t, UniformTopology(2, 2, 1, 1), nil)
	for range 3 {
		b.hog(0, 0, 3)
	}
	b.host.now += 10 * msec
	moved, _ := b.pass(2, b.domain(2, levelMC), cpuIdle)
	if got := b.where(); moved == 0 || got[2] != 0 || got[3] != moved {
		t.Errorf("%d moved, the CPUs have %v", moved, got)
	}
}

// TestPinnedGroupIsMarked: a domain that cannot be balanced because of affinity says so to the one above,
// and takes it back once there is nothing left to do.
func TestPinnedGroupIsMarked(t *testing.T) {
	b := newLBBox(t, UniformTopology(2, 2, 1, 1), nil)
	p, q := b.hog(0, 0), b.hog(0, 0)
	b.host.now += 10 * msec
	sd := b.domain(1, levelSMT)
	mark := &b.domain(1, levelMC).groups.capacity.imbalance
	b.pass(1, sd, cpuIdle)
	if *mark != 1 {
		t.Error("affinity kept it from being balanced, and the group is not marked")
	}
	for _, p := range []*Task{p, q} {
		b.ForceAsleep(p, event.StateSleeping)
	}
	b.Block(0, event.StateSleeping)
	b.Schedule(0, false)
	b.pass(1, sd, cpuIdle)
	if *mark != 0 {
		t.Error("it is balanced, and the group is still marked")
	}
}

// TestHotTasksStayUntilItFailsTooOften: who waits ran a moment ago. After one more failure than
// cache_nice_tries it goes all the same.
func TestHotTasksStayUntilItFailsTooOften(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 2, 1, 1), nil)
	b.hog(0)
	b.host.now += 5 * msec
	b.hog(0)
	b.hog(0)
	for _, p := range b.tasks {
		p.execStart = b.host.now
	}
	sd := b.domain(1, levelMC)
	for i := range sd.cacheNiceTries + 1 {
		if moved, _ := b.pass(1, sd, cpuIdle); moved != 0 || b.last().Why != "cache hot" {
			t.Fatalf("pass %d: %d moved, %s", i, moved, b.last().Why)
		}
		if sd.nrBalanceFailed != i+1 {
			t.Fatalf("nr_balance_failed %d", sd.nrBalanceFailed)
		}
	}
	if moved, _ := b.pass(1, sd, cpuIdle); moved == 0 || sd.nrBalanceFailed != 0 {
		t.Errorf("%d moved, nr_balance_failed %d", moved, sd.nrBalanceFailed)
	}
	// A CPU that goes idle does not count failures.
	b.pass(1, sd, cpuNewlyIdle)
	if sd.nrBalanceFailed != 0 {
		t.Errorf("nr_balance_failed %d", sd.nrBalanceFailed)
	}
}

// TestARunningTaskIsPushed: two tasks run on the threads of one core, the other core is idle. Nobody
// waits, so that nothing can be pulled; when that has failed for the fourth time, one more than two above
// cache_nice_tries, the stopper pushes one of them.
func TestARunningTaskIsPushed(t *testing.T) {
	b := newLBBox(t, UniformTopology(2, 2, 1, 1), nil)
	p := b.hog(0)
	b.hog(1)
	sd := b.domain(2, levelMC)
	passes := 0
	for p.cpu == 0 && b.tasks[1].cpu == 1 && passes < 10 {
		b.host.now += 4 * msec
		b.updateRQClock(b.rqs[0])
		b.pass(2, sd, cpuIdle)
		passes++
		b.settle()
	}
	if want := sd.cacheNiceTries + 3; passes != want {
		t.Errorf("pushed after %d passes, want %d", passes, want)
	}
	if got := b.where(); got[2] != 1 {
		t.Errorf("the CPUs have %v", got)
	}
	if l := b.lastOf(2, BalanceActive); len(l.Moved) != 1 || l.By != l.Source {
		t.Errorf("%+v", l)
	}
	if sd.nrBalanceFailed != 0 {
		t.Errorf("nr_balance_failed is %d afterwards", sd.nrBalanceFailed)
	}
}

// TestAPinnedRunningTaskIsNotPushed: its stopper is left alone.
func TestAPinnedRunningTaskIsNotPushed(t *testing.T) {
	b := newLBBox(t, UniformTopology(2, 2, 1, 1), nil)
	b.hog(0, 0, 1)
	b.hog(1, 0, 1)
	sd := b.domain(2, levelMC)
	sd.nrBalanceFailed = 10
	b.pass(2, sd, cpuIdle)
	for _, rq := range b.rqs {
		if rq.activeBalance || rq.stop != nil {
			t.Errorf("the stopper of CPU %d was asked", rq.cpu)
		}
	}
	if l := b.last(); l.Why != "the running task is pinned" {
		t.Errorf("%q", l.Why)
	}
}

// TestOnlyOneOfAGroupBalances: the first idle CPU of it, of an idle core where the kernel looks at that.
func TestOnlyOneOfAGroupBalances(t *testing.T) {
	top := UniformTopology(2, 2, 2, 1) // two caches with two cores each
	for _, cores := range []bool{false, true} {
		b := newLBBox(t, top, func(c *Config) { c.Fair.BalanceIdleCores = cores })
		b.hog(0, 0)
		want := event.CPU(1)
		if cores {
			want = 2 // CPU 1 shares a core that works
		}
		for c := event.CPU(1); c < 4; c++ {
			if _, goOn := b.pass(c, b.domain(c, levelPKG), cpuIdle); goOn != (c == want) {
				t.Errorf("idle cores first %v: CPU %d balances: %v", cores, c, goOn)
			}
		}
		b.hog(1, 1)
		b.hog(2, 2)
		b.hog(3, 3)
		for c := range event.CPU(4) {
			if _, goOn := b.pass(c, b.domain(c, levelPKG), cpuNotIdle); goOn != (c == 0) {
				t.Errorf("all are busy, and CPU %d balances: %v", c, goOn)
			}
		}
	}
}

// TestOneTaskIsTakenByWhoGoesIdle, where the kernel preempts itself: it should not take long.
func TestOneTaskIsTakenByWhoGoesIdle(t *testing.T) {
	for _, dynamic := range []bool{true, false} {
		b := newLBBox(t, UniformTopology(1, 2, 1, 1), func(c *Config) {
			c.Preempt, c.PreemptDynamic = PreemptVoluntary, dynamic
		})
		for range 9 {
			b.hog(0)
		}
		b.host.now += 10 * msec
		moved, _ := b.pass(1, b.domain(1, levelMC), cpuNewlyIdle)
		if dynamic && moved != 1 || !dynamic && moved < 3 {
			t.Errorf("CONFIG_PREEMPTION %v: %d of 9 moved", dynamic, moved)
		}
	}
}
