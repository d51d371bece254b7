package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// placeBox is a scheduler on which CPUs are made busy by hand.
type placeBox struct {
	*Sched
	t    testing.TB
	h    *quietHost
	name event.Name
	pid  event.PID
}

// newPlaceBox has 6.1's rules unless f says otherwise.
func newPlaceBox(t testing.TB, topo Topology, f func(*Config)) *placeBox {
	t.Helper()
	cfg := DefaultConfig(len(topo.Core))
	cfg.Topology = topo
	if f != nil {
		f(&cfg)
	}
	names := event.NewNames()
	h := &quietHost{}
	return &placeBox{Sched: New(cfg, h, names), t: t, h: h, name: names.Intern("t")}
}

// rules411 are those of 4.11, as far as placement goes by them.
func rules411(c *Config) {
	f := &c.Fair
	f.ImbalancePct, f.BusyFactor, f.SMTGain = 125, 32, 1178
	f.PELT411, f.LoadBalance411, f.WakeAffine411, f.SelectIdle411, f.IdleTasksYield = true, true, true, true, false
	f.Features = f.Features.With(SISUtil, false).With(WAIdle, false).With(WAWeight, false)
}

func (b *placeBox) task(attr Attr, cpus ...event.CPU) *Task {
	b.t.Helper()
	b.pid++
	p, err := b.NewTask(b.pid, b.name, attr, cpus)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// hog runs a task on each of cpus that stays there.
func (b *placeBox) hog(cpus ...event.CPU) {
	b.t.Helper()
	for _, c := range cpus {
		b.runs(b.task(Attr{}, c), c)
	}
}

// runs starts p, which may run on c only.
func (b *placeBox) runs(p *Task, c event.CPU) {
	b.t.Helper()
	b.WakeUpNewTask(c, p)
	b.Schedule(c, false)
	if b.Curr(c) != p {
		b.t.Fatalf("CPU %d does not run the new task", c)
	}
}

// slept returns a task that ran on prev, sleeps and may run anywhere.
func (b *placeBox) slept(prev event.CPU, attr Attr) *Task {
	b.t.Helper()
	p := b.task(attr, prev)
	b.runs(p, prev)
	b.Block(prev, event.StateSleeping)
	b.Schedule(prev, false)
	b.allow(p)
	return p
}

func (b *placeBox) allow(p *Task, cpus ...event.CPU) {
	b.t.Helper()
	if _, _, err := b.SetAffinity(0, p, cpus); err != nil {
		b.t.Fatal(err)
	}
}

// want checks where a wake of p by from goes, asked before and done.
func (b *placeBox) want(why string, from event.CPU, p *Task, f WakeFlags, want event.CPU) {
	b.t.Helper()
	asked, _ := b.AskPlace(from, p, f)
	b.WakeUp(from, p, f)
	if p.CPU() != want || asked != want {
		b.t.Errorf("%s: woken on CPU %d, asked before on CPU %d, want %d", why, p.CPU(), asked, want)
	}
}

// TestWherePrevIdles: a task goes back to where it was if that idles, whoever wakes it in the same cache.
func TestWherePrevIdles(t *testing.T) {
	for _, rules := range []func(*Config){nil, rules411} {
		b := newPlaceBox(t, UniformTopology(1, 4, 1, 1), rules)
		p := b.slept(2, Attr{})
		b.hog(0)
		b.want("prev idles, the waker runs", 0, p, 0, 2)
		b = newPlaceBox(t, UniformTopology(1, 4, 1, 1), rules)
		p = b.slept(2, Attr{})
		b.hog(2)
		b.want("an interrupt of an idle CPU takes it where prev is busy", 1, p, WakeIRQ, 1)
	}
}

// TestInterruptsOfAnotherCacheDoNotPull: an idle CPU that an interrupt woke only takes a task whose cache
// it shares (WA_IDLE), unless load says so (WA_WEIGHT).
func TestInterruptsOfAnotherCacheDoNotPull(t *testing.T) {
	for _, byLoad := range []bool{false, true} {
		b := newPlaceBox(t, UniformTopology(1, 2, 2, 1), func(c *Config) { c.Fair.Features = c.Fair.Features.With(WAWeight, byLoad) })
		p := b.slept(2, Attr{})
		b.hog(2)
		if byLoad {
			b.want("the previous CPU has all the load", 0, p, WakeIRQ, 0)
		} else {
			b.want("by what idles alone", 0, p, WakeIRQ, 3)
		}
	}
}

// TestSyncWakes: who is about to sleep is alone on its CPU: the wakee takes its place if its own is busy, and
// its whole cache is.
func TestSyncWakes(t *testing.T) {
	for _, c := range []struct {
		name string
		f    WakeFlags
		want event.CPU
	}{{"futex", 0, 3}, {"pipe", WakeSync, 0}} {
		b := newPlaceBox(t, UniformTopology(1, 2, 2, 1), func(c *Config) { c.Fair.Features = c.Fair.Features.With(WAWeight, false) })
		p := b.slept(2, Attr{})
		b.hog(0, 1, 2)
		b.want(c.name, 0, p, c.f, c.want)
	}
}

// TestWakeWide: the documented condition, on a cache of four: both sides wake four tasks in turn at least, one
// of them four times as many as the other.
func TestWakeWide(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(1, 4, 2, 1), nil)
	waker, p := b.task(Attr{}), b.task(Attr{})
	for _, c := range []struct {
		waker, wakee uint64
		want         bool
	}{{16, 4, true}, {15, 4, false}, {100, 3, false}, {4, 16, true}, {3, 100, false}, {0, 0, false}, {400, 100, true}, {399, 100, false}} {
		waker.wakeeFlips, p.wakeeFlips = c.waker, c.wakee
		if got := b.wakeWide(0, waker, p); got != c.want {
			t.Errorf("waker %d, wakee %d turns: wide %v", c.waker, c.wakee, got)
		}
	}
}

// TestDispatcherSpreads: one that wakes many tasks, which wake many themselves, does not gather them around
// itself: a wakee whose cache has an idle CPU stays there, though the waker's load would draw it.
func TestDispatcherSpreads(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(1, 2, 2, 1), nil)
	p, other := b.slept(2, Attr{}), b.slept(3, Attr{})
	b.hog(2)
	boss := b.task(Attr{}, 0)
	b.runs(boss, 0)
	asked, _ := b.AskPlace(0, p, WakeSync)
	if asked > 1 {
		t.Fatalf("a sync wake of one partner goes to CPU %d, not to the waker's cache", asked)
	}
	for range 4 { // 2 turns of each and 2·2 of the boss are enough with a cache of two
		b.recordWakee(boss, p)
		b.recordWakee(boss, other)
		b.recordWakee(p, boss)
		b.recordWakee(p, other)
	}
	for range 20 {
		b.recordWakee(boss, p)
		b.recordWakee(boss, other)
	}
	b.want("many partners", 0, p, WakeSync, 3)
}

// TestWakeesAreForgotten: only turns count, and they are halved once in a second.
func TestWakeesAreForgotten(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(1, 2, 1, 1), nil)
	w, p, q := b.task(Attr{}), b.task(Attr{}), b.task(Attr{})
	for range 10 {
		b.recordWakee(w, p)
	}
	for range 4 {
		b.recordWakee(w, q)
		b.recordWakee(w, p)
	}
	if w.wakeeFlips != 9 {
		t.Errorf("%d turns, want 9", w.wakeeFlips)
	}
	b.h.now = 1_000_000_000
	b.recordWakee(w, p)
	if w.wakeeFlips != 9 {
		t.Errorf("a second later %d turns, want 9", w.wakeeFlips)
	}
	b.h.now += b.cfg.Tick
	b.recordWakee(w, p)
	b.recordWakee(w, p)
	if w.wakeeFlips != 4 {
		t.Errorf("a tick later %d turns, want 4", w.wakeeFlips)
	}
}

// TestIdleCoreFirst: with two threads for each core a task goes to a core that is all idle, though the other
// thread of its own idles too; where there is none, to that thread.
func TestIdleCoreFirst(t *testing.T) {
	for _, rules := range []func(*Config){nil, rules411} {
		b := newPlaceBox(t, UniformTopology(2, 4, 1, 1), rules)
		p := b.slept(0, Attr{})
		b.hog(0, 2) // cores 0 and 1 have an idle thread each
		b.want("cores 2 and 3 idle", 0, p, 0, 4)

		b = newPlaceBox(t, UniformTopology(2, 4, 1, 1), rules)
		p = b.slept(2, Attr{})
		b.hog(0, 2, 4, 6)
		q := b.slept(1, Attr{})
		b.want("no core idles: it takes what it finds", 0, q, 0, 1)
		b.want("no core idles: the next thread of its own", 2, p, 0, 3)
	}
}

// TestIdleCoresAreLearnt: a search that finds no idle core is not made again until a core goes idle.
func TestIdleCoresAreLearnt(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(2, 2, 1, 1), nil)
	p := b.slept(0, Attr{})
	if !b.llcShared(0).hasIdleCores {
		t.Fatal("an idle machine has idle cores")
	}
	b.hog(0, 2)
	b.AskPlace(0, p, 0)
	if !b.llcShared(0).hasIdleCores {
		t.Error("a question has changed what is known")
	}
	b.WakeUp(0, p, 0)
	if b.llcShared(0).hasIdleCores {
		t.Error("no core idles and that is not known")
	}
	c := p.CPU()
	b.Schedule(c, false)
	for _, c := range []event.CPU{0, c} {
		b.Block(c, event.StateSleeping)
		b.Schedule(c, false)
	}
	if !b.llcShared(0).hasIdleCores {
		t.Error("the first core idles and that is not known")
	}
}

// TestFullCache: where nothing idles the task waits on the target.
func TestFullCache(t *testing.T) {
	for _, rules := range []func(*Config){nil, rules411} {
		b := newPlaceBox(t, UniformTopology(1, 2, 2, 1), rules)
		p := b.slept(2, Attr{})
		b.hog(2, 3, 0)
		got, _ := b.AskPlace(3, p, 0)
		if got != 2 && got != 3 {
			t.Errorf("all of the cache runs: CPU %d, want the waker's or its own", got)
		}
	}
}

// TestSISUtil is the curve of the documentation: all CPUs are worth a look when nothing runs, none from 85 %
// (100/117) of the capacity on.
func TestSISUtil(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(1, 16, 1, 1), nil)
	sd := b.sdLLC(0)
	for _, c := range []struct {
		util int64 // of 16 CPUs, thousandths
		want int
	}{{0, 16}, {250, 14}, {500, 10}, {700, 5}, {850, 0}, {860, 0}, {1000, 0}} {
		env := &lbEnv{sd: sd, dst: b.rqs[0], idle: cpuIdle}
		b.updateIdleCPUScan(env, c.util*16*1024/1000)
		if got := sd.shared.nrIdleScan; got != c.want {
			t.Errorf("at %d ‰: %d CPUs, want %d", c.util, got, c.want)
		}
	}
	p := b.slept(2, Attr{})
	for c := range event.CPU(15) {
		b.hog(c)
	}
	sd.shared.nrIdleScan = 12
	if c, _ := b.AskPlace(3, p, 0); c != 2 {
		t.Errorf("CPU 15 is the thirteenth of those after it: CPU %d, want 2", c)
	}
	b.allow(p, 2, 15)
	if c, _ := b.AskPlace(3, p, 0); c != 15 {
		t.Errorf("it is the first of those that the task may use: CPU %d, want 15", c)
	}
	sd.shared.nrIdleScan = 0
	b.want("none is looked at", 3, p, 0, 2)
}

// TestScanLimit: with SIS_UTIL exactly so many are looked at, from the one after the target; 4.11 has no
// limit.
func TestScanLimit(t *testing.T) {
	for limit := 1; limit < 8; limit++ {
		b := newPlaceBox(t, UniformTopology(1, 8, 1, 1), nil)
		p := b.slept(6, Attr{})
		b.hog(6, 7, 0, 1, 2, 4, 5) // CPU 3 is the fifth after 6
		b.sdLLC(0).shared.nrIdleScan = limit
		want := event.CPU(6)
		if limit >= 5 {
			want = 3
		}
		b.want("limit", 6, p, 0, want)
	}
	b := newPlaceBox(t, UniformTopology(1, 8, 1, 1), rules411)
	p := b.slept(6, Attr{})
	b.hog(6, 7, 0, 1, 2, 4, 5)
	b.sdLLC(0).shared.nrIdleScan = 0
	b.want("4.11", 6, p, 0, 3)
}

// TestRecentlyUsedCPU: where a task was before its last CPU it goes before others are looked for.
func TestRecentlyUsedCPU(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(1, 8, 1, 1), nil)
	p := b.slept(5, Attr{})
	b.hog(0)
	p.recentUsedCPU = 5
	b.ForceCPU(p, 1)
	b.hog(1)
	b.want("its last CPU is busy", 0, p, 0, 5)
	if p.recentUsedCPU != 1 {
		t.Errorf("then the one before is CPU %d, want 1", p.recentUsedCPU)
	}
}

// TestWorkDoneOnTheSameCPU: a thread of the kernel that belongs to a CPU and has done what the task waited
// for leaves it there, though others idle; not from an interrupt, and not if more run there.
func TestWorkDoneOnTheSameCPU(t *testing.T) {
	for _, c := range []struct {
		name string
		f    WakeFlags
		set  func(*Task)
		want event.CPU
	}{
		{"it does its work", 0, func(*Task) {}, 2},
		{"an interrupt over it", WakeIRQ, func(*Task) {}, 3},
		{"a thread of a program", 0, func(p *Task) { p.Kthread = false }, 3},
	} {
		b := newPlaceBox(t, UniformTopology(1, 4, 1, 1), nil)
		p := b.slept(2, Attr{})
		k := b.task(Attr{}, 2)
		k.Kthread = true
		b.runs(k, 2)
		c.set(k)
		b.want(c.name, 2, p, c.f, c.want)
	}
}

// TestIdleTasksYield: a CPU with SCHED_IDLE tasks is as good as an idle one, from 5.4 on.
func TestIdleTasksYield(t *testing.T) {
	for _, c := range []struct {
		rules func(*Config)
		want  event.CPU
	}{{nil, 1}, {rules411, 3}} {
		b := newPlaceBox(t, UniformTopology(1, 4, 1, 1), c.rules)
		p := b.slept(1, Attr{})
		b.hog(0, 2)
		b.runs(b.task(Attr{Policy: Idle}, 1), 1)
		b.want("SCHED_IDLE runs where it was", 0, p, 0, c.want)
	}
}

// TestScanByIdleTime: with SIS_PROP a waker whose CPU never idles looks at three CPUs, one whose idles for long at
// all; with SIS_AVG_CPU (4.11) one that idles for less than 512 times what looking costs looks at none.
func TestScanByIdleTime(t *testing.T) {
	prop := func(c *Config) { c.Fair.Features = c.Fair.Features.With(SISUtil, false).With(SISProp, true) }
	avg := func(c *Config) {
		rules411(c)
		c.Fair.Features = c.Fair.Features.With(SISAvgCPU, true)
	}
	for _, c := range []struct {
		name       string
		rules      func(*Config)
		idle, cost event.Time
		at         event.Time // what of it is left is halved with each jiffy
		want       event.CPU
	}{
		{"SIS_PROP, never idle", prop, 0, 1000, 0, 6},
		{"SIS_PROP, 8·500/1001 is less than 4", prop, 500, 1000, 0, 6},
		{"SIS_PROP, 8·1000/1001 = 7: six CPUs", prop, 1000, 1000, 0, 3},
		{"SIS_PROP, a jiffy later", prop, 1000, 1000, 4_000_000, 6},
		{"SIS_AVG_CPU, 511 times the cost", avg, 511_000, 1000, 0, 6},
		{"SIS_AVG_CPU, 512 times the cost", avg, 512_000, 1000, 0, 3},
	} {
		b := newPlaceBox(t, UniformTopology(1, 8, 1, 1), c.rules)
		p := b.slept(6, Attr{})
		b.hog(6, 7, 0, 1, 2, 4, 5) // CPU 3 is the fifth after 6
		rq := b.rqs[6]
		rq.wakeAvgIdle, rq.avgIdle, b.sdLLC(6).avgScanCost = c.idle, c.idle, c.cost
		b.h.now = c.at
		b.want(c.name, 6, p, 0, c.want)
	}
}

// TestFallback: a task that may not go where it was goes to the first CPU that it may use of that node.
func TestFallback(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(1, 2, 1, 2), nil)
	p := b.slept(3, Attr{})
	b.allow(p, 1, 2)
	b.want("node 1", 3, p, WakeIRQ, 2)
	p = b.slept(3, Attr{})
	b.allow(p, 0, 1)
	b.want("no CPU of its node", 3, p, WakeIRQ, 0)
}
