package machine_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// This file shows, one by one, why a CPU idles on a kernel although work waits; the list is in
// docs/model.md.

// box is a machine with fair tasks, of which every pass is noted by how it ended.
type box struct {
	t     *testing.T
	m     *machine.Machine
	tasks []*machine.Thread
	why   map[string]int
	moved map[sched.BalanceKind]int
	first event.Time // when a task was first moved by the balancer
}

func newBox(t *testing.T, cfg sched.Config, costs machine.Costs) *box {
	b := &box{t: t, m: machine.New(machine.Config{Sched: cfg, Costs: costs}, event.NewNames(), nil), why: map[string]int{}, moved: map[sched.BalanceKind]int{}, first: event.NoTime}
	b.m.Sched.OnBalance(func(p *sched.BalancePass) {
		if p.Kind == sched.BalanceWake {
			return
		}
		if b.why[p.Why]++; len(p.Moved) > 0 {
			if b.moved[p.Kind] += len(p.Moved); b.first == event.NoTime {
				b.first = p.At
			}
		}
	})
	return b
}

// put starts a task that runs and sleeps in turns and may use the given CPUs, none: all, from the first.
func (b *box) put(on event.CPU, w *worker, cpus ...event.CPU) *machine.Thread {
	b.t.Helper()
	if cpus == nil {
		b.tasks = append(b.tasks, loose(b.t, b.m, on, w))
		return b.tasks[len(b.tasks)-1]
	}
	th, err := b.m.Spawn(0, "task", sched.Attr{}, []event.CPU{on}, w)
	if err != nil {
		b.t.Fatal(err)
	}
	b.m.Start(on, th)
	b.m.At(100*us, func() {
		if _, _, err := b.m.Sched.SetAffinity(on, th.Task, cpus); err != nil {
			b.t.Error(err)
		}
	})
	b.tasks = append(b.tasks, th)
	return th
}

// watched runs the machine and says for how long at most a CPU idled beside one with too much, without a
// move in between.
func (b *box) watched(until event.Time) event.Time {
	b.t.Helper()
	w := watchConservation(b.m, b.tasks)
	if err := w.run(until); err != nil {
		b.t.Fatal(err)
	}
	return w.worst
}

// free lets a task use all CPUs from now on.
func (b *box) free(th *machine.Thread) {
	b.t.Helper()
	var all []event.CPU
	for c := range b.m.CPUs() {
		all = append(all, event.CPU(c))
	}
	if _, _, err := b.m.Sched.SetAffinity(th.Task.CPU(), th.Task, all); err != nil {
		b.t.Fatal(err)
	}
}

// on says how many of the tasks are on each CPU.
func (b *box) on() []int {
	n := make([]int, b.m.CPUs())
	for _, th := range b.tasks {
		n[th.Task.CPU()]++
	}
	return n
}

// Idle CPUs that do not tick are only asked to balance at the tick of a busy one.
func TestAnIdleCPULooksNotBeforeABusyOneTicks(t *testing.T) {
	for _, era := range eras {
		b := newBox(t, shape{1, 4, 1, 1}.config(era), machine.Costs{})
		b.put(0, &worker{run: s})
		b.put(0, &worker{run: s})
		b.watched(200 * ms)
		if tick := 4 * ms; b.first < tick || b.moved[sched.BalanceNohz] == 0 {
			t.Errorf("%s: the first move is at %d, the tick at %d; %v", era, b.first, tick, b.moved)
		}
	}
}

// A CPU that mostly idles for less than a look costs does not look when it goes idle. The other waits for
// the next pass of its tick.
func TestACPUThatSeldomIdlesLongDoesNotLook(t *testing.T) {
	const why = "it seldom idles for longer than that takes"
	for _, era := range eras {
		for _, dear := range []bool{false, true} {
			if era == "4.11" && !dear {
				continue // it compares with sched_migration_cost, whatever a look costs
			}
			costs := machine.Costs{}
			if dear {
				costs.Search = 20 * us
			}
			b := newBox(t, shape{1, 2, 1, 1}.config(era), costs)
			b.put(1, &worker{run: 300 * us, sleep: 60 * us}, 1)
			one, two := b.put(0, &worker{run: s}, 0), b.put(0, &worker{run: s}, 0)
			b.put(0, &worker{run: 100 * us, sleep: 900 * us}, 0) // so that there is always something to look for
			b.watched(21 * ms)
			b.free(one)
			b.free(two)
			clear(b.why)
			b.watched(23 * ms) // before the next tick
			if b.why[why] > 3 != dear || b.on()[0] == 3 != dear {
				t.Errorf("%s, dear %v: %v, tasks on CPUs %v", era, dear, b.why, b.on())
			}
		}
	}
}

// Who ran less than sched_migration_cost ago stays, until cache_nice_tries passes have failed.
func TestATaskWhoseCachesAreWarmStays(t *testing.T) {
	for _, era := range eras {
		first := map[event.Time]event.Time{}
		for _, cost := range []event.Time{0, 20 * ms} {
			cfg := shape{1, 1, 2, 1}.config(era)
			cfg.Fair.MigrationCost = cost
			b := newBox(t, cfg, machine.Costs{})
			one, two := b.put(0, &worker{run: s}, 0), b.put(0, &worker{run: s}, 0)
			b.watched(29 * ms) // they take turns
			b.free(one)
			b.free(two)
			b.watched(300 * ms)
			if hot := b.why["cache hot"] > 0; hot != (cost > 0) || b.on()[1] != 1 {
				t.Errorf("%s, cost %d: %v", era, cost, b.why)
			}
			first[cost] = b.first
		}
		if first[20*ms] <= first[0] {
			t.Errorf("%s: it moved at %v", era, first)
		}
	}
}

// The example above sg_imbalanced() in kernel/sched/fair.c: tasks that may use one CPU of a group and three
// of the other. Two on each side would be even, and leave a CPU idle; the kernel notices that affinity
// was in its way and gives each a CPU. In 4.11 it forgets that in the same pass, as it looks again without the CPU
// whose tasks are all pinned (65a4433aebe3, 4.13).
func TestAffinityThatCrossesGroupsIsNoticed(t *testing.T) {
	for _, era := range eras {
		b := newBox(t, shape{1, 4, 2, 1}.config(era), machine.Costs{})
		for range 4 {
			b.put(3, &worker{run: s}, 3, 4, 5, 6)
		}
		b.watched(s)
		n := b.on()
		if alone := n[3] == 1 && n[4] == 1 && n[5] == 1 && n[6] == 1; alone != (era != "4.11") {
			t.Errorf("%s: tasks on each CPU: %v; %v", era, n, b.why)
		}
	}
}

// While all tasks of a CPU are pinned, the interval between passes doubles, up to 512 ms and above; one
// that is let loose then waits for the next.
func TestPinnedTasksMakePassesRare(t *testing.T) {
	for _, era := range eras {
		sh := shape{1, 4, 1, 1}
		b := newBox(t, sh.config(era), machine.Costs{})
		b.put(0, &worker{run: s}, 0)
		b.put(0, &worker{run: s}, 0)
		pinned := b.put(0, &worker{run: s}, 0)
		if err := b.m.RunUntil(3 * s); err != nil {
			t.Fatal(err)
		}
		b.free(pinned)
		if b.watched(5 * s); b.first < 3*s+sh.patience(era) || b.first > 3*s+500*ms || b.why["all pinned"] == 0 {
			t.Errorf("%s: it moved at %d; %v", era, b.first, b.why)
		}
	}
}

// Isolated CPUs take nothing by themselves.
func TestIsolatedCPUsIdle(t *testing.T) {
	hogsOfCPU0(t, func(c *sched.Config) { c.Isolated = []event.CPU{2, 3} })
}

// Partitions do not help each other.
func TestPartitionsKeepTheirTasks(t *testing.T) {
	hogsOfCPU0(t, func(c *sched.Config) { c.Partitions = [][]event.CPU{{0, 1}} })
}

// hogsOfCPU0 begins four hogs on CPU 0 of four, of which CPUs 2 and 3 take none.
func hogsOfCPU0(t *testing.T, apart func(*sched.Config)) {
	t.Helper()
	cfg := shape{1, 4, 1, 1}.config("6.12")
	apart(&cfg)
	b := newBox(t, cfg, machine.Costs{})
	for range 4 {
		b.put(0, &worker{run: s})
	}
	b.watched(2 * s)
	if n := b.on(); n[0] != 2 || n[1] != 2 {
		t.Errorf("tasks on each CPU: %v", n)
	}
}

// A group that is out of quota has tasks that nobody may run.
func TestTasksWithoutQuotaStay(t *testing.T) {
	b := newBox(t, shape{1, 4, 1, 1}.config("6.12"), machine.Costs{})
	g := b.m.Sched.NewGroup(nil)
	for range 8 {
		th := b.put(0, &worker{run: s})
		if _, err := b.m.Sched.Attach(0, th.Task, g); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.m.Sched.SetQuota(0, g, 10*ms, 100*ms, 0); err != nil {
		t.Fatal(err)
	}
	idle := event.Time(0)
	for at := event.Time(0); at < s; at += ms {
		if err := b.m.RunUntil(at); err != nil {
			t.Fatal(err)
		}
		if b.m.Sched.IsIdle(0) && b.m.Sched.IsIdle(1) && b.m.Sched.IsIdle(2) && b.m.Sched.IsIdle(3) {
			idle += ms
		}
	}
	if idle < 900*ms {
		t.Errorf("with a tenth of a CPU for eight hogs all CPUs idled for %d of a second", idle)
	}
}

// With NI_RANDOM a CPU that goes idle throws dice where looks seldom helped.
func TestNewidleLooksAtRandomWhereTheySeldomHelp(t *testing.T) {
	const why = "the dice said that it seldom helps"
	skipped := func(random bool) int {
		cfg := shape{1, 4, 1, 1}.config("6.12")
		cfg.Fair.Features = cfg.Fair.Features.With(sched.NIRandom, random)
		b := newBox(t, cfg, machine.Costs{})
		for i := range event.CPU(7) {
			b.put(i%4, &worker{run: 300*us + 70*us*event.Time(i), sleep: 400*us + 50*us*event.Time(i)})
		}
		b.watched(5 * s)
		return b.why[why]
	}
	if n := skipped(true); n < 1000 {
		t.Errorf("only %d looks were left out", n)
	}
	if n := skipped(false); n > 0 {
		t.Errorf("%d looks were left out without NI_RANDOM", n)
	}
}

// The group imbalance bug of "The Linux scheduler: a decade of wasted cores" (EuroSys 2016): a node with
// one task that weighs much, since it is alone in its group, looks as loaded as one with many that weigh
// little. Idle CPUs beside the heavy task take nothing then. Since 5.5 a group with idle CPUs has spare
// capacity, whatever its load is. In 4.11 CPUs that stay idle have it still; 583ffd99d765 of 4.15 says so.
func TestTheGroupImbalanceBug(t *testing.T) {
	for _, era := range eras {
		sh := shape{1, 4, 1, 2}
		b := newBox(t, sh.config(era), machine.Costs{})
		heavy, other, many := b.m.Sched.NewGroup(nil), b.m.Sched.NewGroup(nil), b.m.Sched.NewGroup(nil)
		add := func(c event.CPU, g *sched.Group) {
			th := b.put(c, &worker{run: 10 * s})
			if _, err := b.m.Sched.Attach(c, th.Task, g); err != nil {
				t.Fatal(err)
			}
		}
		add(0, heavy)
		add(1, other)
		for i := range event.CPU(6) {
			add(4+i%4, many)
		}
		b.watched(2 * s)
		idle := 0
		for c := range event.CPU(8) {
			if b.m.Sched.IsIdle(c) {
				idle++
			}
		}
		t.Logf("%s: %v, %d idle", era, b.on(), idle)
		if is := era == "4.11"; (idle > 0) != is {
			t.Errorf("%s: %d CPUs idle, %v; %v", era, idle, b.on(), b.why)
		}
	}
}

// The overload-on-wakeup bug of the same paper: a wake looks for an idle CPU only where a cache is shared with the
// waker or the CPU that the task last ran on, even if all others are idle. The task waits for the
// balancer.
func TestAWakeStaysWhereTheCacheIsShared(t *testing.T) {
	for _, era := range eras {
		b := newBox(t, shape{1, 2, 1, 2}.config(era), machine.Costs{})
		b.put(0, &worker{run: s}, 0)
		b.put(1, &worker{run: s}, 1)
		b.put(0, &worker{run: 500 * us, sleep: 2 * ms}, 0, 1, 2, 3)
		if longest := b.watched(30 * ms); longest < 200*us {
			t.Errorf("%s: a woken task waited beside an idle node for %d; %v %v", era, longest, b.on(), b.why)
		}
	}
}
