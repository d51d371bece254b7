package sched

import (
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
)

// sleeps lets the current task of c sleep.
func (b *lbBox) sleeps(c event.CPU) {
	b.Block(c, event.StateSleeping)
	b.Schedule(c, false)
}

// TestWhoGoesIdleLooksForWork if it mostly idles for longer than that takes, and only if some CPU has
// more than one task.
func TestWhoGoesIdleLooksForWork(t *testing.T) {
	for _, c := range []struct {
		name       string
		idle, cost event.Time
		overload   bool
		finds      bool
	}{
		{"long enough", 400_000, 300_000, true, true},
		{"too short", 300_000, 400_000, true, false},
		{"nobody has two tasks", 400_000, 300_000, false, false},
	} {
		b := newLBBox(t, UniformTopology(1, 2, 1, 1), nil)
		b.hog(1, 1)
		b.hog(0)
		b.hog(0)
		b.host.now += 20 * msec
		rq := b.rqs[1]
		rq.avgIdle, rq.sd.maxNewidleLBCost, rq.rd.overload = c.idle, c.cost, c.overload
		rq.nextBalance = 1 << 40
		b.sleeps(1)
		if found := rq.curr != rq.idle; found != c.finds {
			t.Errorf("%s: it found work: %v, %+v", c.name, found, b.last())
		}
		// An idle CPU balances more often than a busy one: whatever it found, its next pass comes as for one.
		if want := rq.sd.lastBalance + b.msToJiffies(rq.sd.balanceInterval); rq.nextBalance != want {
			t.Errorf("%s: next_balance is %d, want %d", c.name, rq.nextBalance, want)
		}
	}
}

// TestIdleTimeIsAveraged: an eighth of the difference each time, at most twice what balancing costs.
func TestIdleTimeIsAveraged(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 2, 1, 1), nil)
	p := b.hog(0, 0)
	rq := b.rqs[0]
	if rq.avgIdle != 1_000_000 { // twice sysctl_sched_migration_cost
		t.Fatalf("avg_idle begins with %d", rq.avgIdle)
	}
	for _, c := range []struct{ before, idle, want event.Time }{
		{800_000, 400_000, 750_000}, {100_000, 20_000_000, 1_000_000}, {400_000, 400_008, 400_001},
	} {
		rq.avgIdle = c.before
		b.sleeps(0)
		b.host.now += c.idle
		b.TryToWakeUp(0, p)
		b.settle()
		if rq.avgIdle != c.want {
			t.Errorf("%d, then it idles for %d: %d, want %d", c.before, c.idle, rq.avgIdle, c.want)
		}
	}
}

// TestTheCostOfLookingIsKept as the most it was, and fades by 253/256 in a second.
func TestTheCostOfLookingIsKept(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 4, 1, 1), nil)
	b.host.perCPU = 1000
	b.hog(0, 0)
	b.hog(0, 0)
	b.hog(1, 1)
	b.host.now += 20 * msec
	sd := b.rqs[1].sd
	b.sleeps(1)
	cost := sd.maxNewidleLBCost
	if cost < 4000 || cost > 20_000 {
		t.Errorf("looking at four CPUs and two tasks costs %d", cost)
	}
	b.updateNewidleCost(sd, cost-1, 0)
	if sd.maxNewidleLBCost != cost {
		t.Error("a cheaper pass lowers it")
	}
	b.host.now += 1_100 * msec
	if b.updateNewidleCost(sd, 0, 0); sd.maxNewidleLBCost != cost*253/256 {
		t.Errorf("after a second it is %d of %d", sd.maxNewidleLBCost, cost)
	}
}

// TestTheDiceSayWhetherToLook (NI_RANDOM): of 1024 tries 1 + newidle_ratio and one more are made, and one that helps
// counts for those that were not.
func TestTheDiceSayWhetherToLook(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 2, 1, 1), func(c *Config) { c.Fair.Features = c.Fair.Features.With(NIRandom, true) })
	b.hog(0, 0)
	b.hog(0, 0)
	rq := b.rqs[1]
	looked := 0
	const tries = 10_000
	for range tries {
		rq.avgIdle, rq.sd.maxNewidleLBCost = msec, 0
		rq.sd.newidleRatio, rq.sd.newidleCall = 255, 0
		b.told = b.told[:0]
		b.newidleBalance(rq)
		if len(b.told) > 0 && b.last().Source == 0 {
			looked++
		}
	}
	// 257 of 1024 by the rule; the deviation of so many tries is 44.
	if want := tries * 257 / 1024; looked < want-200 || looked > want+200 {
		t.Errorf("it looked %d times of %d, want about %d", looked, tries, want)
	}
	sd := &schedDomain{newidleCall: 1023, newidleSuccess: 300, newidleRatio: 7}
	sd.updateNewidleStats(4)
	if sd.newidleRatio != 304 || sd.newidleCall != 512 || sd.newidleSuccess != 152 {
		t.Errorf("%+v", sd)
	}
}

// TestOneIdleCPUIsAsked: the first, once, whoever asks.
func TestOneIdleCPUIsAsked(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 6, 1, 1), nil)
	for c := range event.CPU(3) {
		b.hog(c, c)
		b.hog(c, c)
	}
	b.host.now = (b.host.now/b.cfg.Tick + 1) * b.cfg.Tick
	for c := range event.CPU(3) {
		b.SchedulerTick(c)
	}
	if !slices.Equal(b.host.kicked, []event.CPU{3}) {
		t.Errorf("asked %v", b.host.kicked)
	}
	if b.nohz.nr != 3 || b.nohz.idleCPUs.count() != 3 {
		t.Errorf("%d CPUs do not tick, in the mask %d", b.nohz.nr, b.nohz.idleCPUs.count())
	}
	b.host.kicked = nil
	b.KickedBalance(3)
	if !b.host.raised[3] {
		t.Error("the softirq was not raised")
	}
	b.told = nil
	b.Rebalance(3)
	var order []event.CPU
	for _, p := range b.told {
		if p.Kind != BalanceNohz || p.By != 3 {
			t.Errorf("%+v", p)
		}
		order = append(order, p.CPU)
	}
	if !slices.Equal(order, []event.CPU{4, 5, 3}) {
		t.Errorf("it balances for %v, itself last", order)
	}
}

// TestHousekeepersBalance: CPUs of nohz_full= are not asked, and are balanced for.
func TestHousekeepersBalance(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 4, 1, 1), func(c *Config) { c.NoHZFull = []event.CPU{1, 3} })
	b.hog(0)
	b.hog(0)
	b.hog(0)
	b.host.now += b.cfg.Tick
	b.SchedulerTick(0)
	if !slices.Equal(b.host.kicked, []event.CPU{2}) {
		t.Errorf("asked %v", b.host.kicked)
	}
	b.ticks(4)
	if got := b.where(); got[0] != 1 || got[1]+got[3] == 0 {
		t.Errorf("the CPUs have %v", got)
	}
}

// TestNobodyIsAskedWithoutAReason: one task on each busy CPU, and each alone with its cache.
func TestNobodyIsAskedWithoutAReason(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 2, 2, 1), nil)
	b.hog(0, 0)
	b.nohz.nextBlocked = 1 << 40 // for the load of those that sleep
	b.nohz.needsUpdate = false
	for range 20 {
		b.host.now += b.cfg.Tick
		b.SchedulerTick(0)
	}
	if b.host.kicks > 0 {
		t.Errorf("%d times", b.host.kicks)
	}
	b.hog(1, 1) // two CPUs of the cache work: another cache may be empty
	b.host.now += b.cfg.Tick
	b.SchedulerTick(0)
	b.SchedulerTick(1)
	if b.llcShared(0).nrBusyCPUs != 2 || b.host.kicks != 1 {
		t.Errorf("%d of the cache are busy, asked %d times", b.llcShared(0).nrBusyCPUs, b.host.kicks)
	}
}

// TestBlockedLoadFadesOnIdleCPUs: the load of who sleeps there halves every 32 ms as long as somebody
// ticks, by one of the idle CPUs or by the one that goes idle.
func TestBlockedLoadFadesOnIdleCPUs(t *testing.T) {
	b := newLBBox(t, UniformTopology(1, 4, 1, 1), nil)
	g := b.NewGroup(nil)
	p := b.hog(2, 2)
	if _, err := b.Attach(2, p, g); err != nil {
		t.Fatal(err)
	}
	b.settle()
	b.hog(0, 0)
	b.ticks(50)
	b.sleeps(2)
	q := &g.cpus[2].cfs
	before := q.avg.loadAvg
	if before < 900 || !q.onList {
		t.Fatalf("load %d", before)
	}
	b.ticks(200) // 800 ms
	if q.avg.loadAvg > 1 || b.rqs[2].cfs.avg.loadAvg > 1 || g.loadAvg > int64(before/50) {
		t.Errorf("after 0.8 s the queue has %d of %d, the CPU %d, the group %d", q.avg.loadAvg, before, b.rqs[2].cfs.avg.loadAvg, g.loadAvg)
	}
	b.host.now += 1000 * msec
	b.updateRQClock(b.rqs[2])
	b.updateBlockedAverages(b.rqs[2])
	if q.onList {
		t.Error("nothing is left of its load, and it is still looked at")
	}
}
