package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// TestTasksHaveTheirShareOfTheLoad: at any depth of groups the shares of all tasks of a CPU are the load of its
// root queue, but for one part in a thousand that each division takes, and halves of a group are alike.
func TestTasksHaveTheirShareOfTheLoad(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 2, 1, 1), nil)
	a := b.NewGroup(nil)
	c := b.NewGroup(a)
	groups := []*Group{nil, a, c, c}
	for _, g := range groups {
		p := b.hog(0, 0)
		if _, err := b.Attach(0, p, g); err != nil {
			t.Fatal(err)
		}
		b.settle()
	}
	b.ticks(400) // loads are what they tend to
	b.host.now = (b.host.now/b.cfg.Tick + 1) * b.cfg.Tick
	sum := int64(0)
	for _, p := range b.tasks {
		sum += b.taskHLoad(p)
	}
	all := b.rqs[0].cpuLoadOf()
	if all < 1900 || sum > all || sum < all-all/100 {
		t.Errorf("the shares are %d of %d together", sum, all)
	}
	if x, y := b.taskHLoad(b.tasks[2]), b.taskHLoad(b.tasks[3]); x-y > all/100 || y-x > all/100 {
		t.Errorf("two alike have %d and %d", x, y)
	}
	// The root task weighs as much as group a, in which its task weighs as much as group c: 1024, 512, 256, 256.
	for i, want := range []int64{1024, 512, 256, 256} {
		if got := b.taskHLoad(b.tasks[i]); got < want*9/10 || got > want*11/10 {
			t.Errorf("task %d has %d, want about %d", i, got, want)
		}
	}
	// Once a tick: what comes in between does not count yet.
	before := b.taskHLoad(b.tasks[3])
	b.rqs[0].cfs.avg.loadAvg *= 2
	if got := b.taskHLoad(b.tasks[3]); got != before {
		t.Errorf("between two ticks it goes from %d to %d", before, got)
	}
}

// TestWhoIsTakenFirst: who ran longest ago, in 4.11 who came last.
func TestWhoIsTakenFirst(t *testing.T) {
	for _, old := range []bool{false, true} {
		b := newLBBox(t, UniformTopology(1, 2, 1, 1), func(c *Config) { c.Fair.LoadBalance411 = old })
		for range 4 {
			b.hog(0)
		}
		rq := b.rqs[0]
		b.host.now += 50 * msec
		b.updateRQClock(rq)
		sd := b.domain(1, levelMC)
		b.begin(1)
		env := b.newEnv(b.rqs[1], sd, cpuNewlyIdle, BalanceNewidle)
		env.src, env.imbalance, env.migration, env.loopMax = rq, 1024, migrateTask, 32
		b.detachTasks(env)
		if len(env.tasks) != 1 {
			t.Fatalf("%d were taken", len(env.tasks))
		}
		got := env.tasks[0].PID
		b.attachTasks(env)
		if want := map[bool]event.PID{false: 2, true: 4}[old]; got != want {
			t.Errorf("4.11 %v: task %d is taken, want %d", old, got, want)
		}
		b.settle()
	}
}

// TestNoMoreLoadMovesThanShould, unless it has failed often: a task counts half as much with each failure.
func TestNoMoreLoadMovesThanShould(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 2, 1, 1), nil)
	for range 3 {
		b.hog(0, 0)
	}
	b.ticks(200)
	b.host.now += 5 * msec
	b.updateRQClock(b.rqs[0])
	p := b.rqs[0].cfsLast
	load := b.taskHLoad(p)
	env := b.newEnv(b.rqs[1], b.domain(1, levelMC), cpuIdle, BalancePeriodic)
	env.src, env.migration = b.rqs[0], migrateLoad
	for _, c := range []struct {
		imbalance int64
		failed    int
		takes     bool
	}{{load, 0, true}, {load - 1, 0, false}, {load - 1, 1, true}, {load / 4, 1, false}, {load / 4, 2, true}} {
		env.imbalance, env.sd.nrBalanceFailed = c.imbalance, c.failed
		if got := b.takes(p, env); got != c.takes || got && env.imbalance != c.imbalance-load {
			t.Errorf("load %d of %d after %d failures: %v, then %d", load, c.imbalance, c.failed, got, env.imbalance)
		}
	}
}

// TestThrottledTasksStay: the group of a task is out of quota where it is, or where it would come.
func TestThrottledTasksStay(t *testing.T) {
	for _, where := range []event.CPU{event.NoCPU, 0, 1} {
		b := newLBBox(t, UniformTopology(1, 2, 1, 1), nil)
		g := b.NewGroup(nil)
		b.hog(0)
		p := b.hog(0)
		if _, err := b.Attach(0, p, g); err != nil {
			t.Fatal(err)
		}
		b.host.now += 10 * msec
		if where >= 0 {
			g.cpus[where].cfs.throttleCount++
		}
		env := b.newEnv(b.rqs[1], b.domain(1, levelMC), cpuIdle, BalancePeriodic)
		env.src = b.rqs[0]
		if got := b.canMigrateTask(p, env); got != (where < 0) {
			t.Errorf("throttled on %d, and it may move: %v", where, got)
		}
	}
}

// TestPerCPUThreadsAreNoPinnedTasks: what stays for ever is no reason to look at the group above.
func TestPerCPUThreadsAreNoPinnedTasks(t *testing.T) {
	for _, own := range []bool{true, false} {
		b := newLBBox(t, UniformTopology(1, 2, 1, 1), nil)
		p := b.hog(0, 0)
		if own {
			p.SetPerCPU()
		}
		env := b.newEnv(b.rqs[1], b.domain(1, levelMC), cpuIdle, BalancePeriodic)
		env.src = b.rqs[0]
		if b.canMigrateTask(p, env) || (env.flags&lbfSomePinned != 0) == own {
			t.Errorf("a thread of the CPU: %v, flags %b", own, env.flags)
		}
	}
}

// TestOneCPUAtATime (SD_SERIALIZE): a pass that costs something keeps others out of the domain that long.
func TestOneCPUAtATime(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 2, 1, 3), nil)
	b.host.perCPU = 1000
	sd := b.domain(0, levelNUMA)
	if sd.flags&sdSerialize == 0 {
		t.Fatal("a domain over nodes is not serialized")
	}
	b.begin(0)
	b.work.Searched = 50
	b.balancedAlone(sd)
	b.begin(2)
	if b.mayBalanceAlone(b.domain(2, levelNUMA)) {
		t.Error("two CPUs balance over nodes at a time")
	}
	if !b.mayBalanceAlone(b.domain(2, levelMC)) {
		t.Error("a domain below waits, too")
	}
	b.host.now += 50_000
	if !b.mayBalanceAlone(b.domain(2, levelNUMA)) {
		t.Error("it is over, and the other one still may not")
	}
}
