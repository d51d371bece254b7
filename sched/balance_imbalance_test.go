package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// chosen is what a pass found.
type chosen struct {
	group     int // −1: none
	migration migrationType
	imbalance int64
}

func (b *groupBox) look() chosen {
	g := b.findBusiestGroup(&b.env)
	for i := range b.groups {
		if b.groups[i] == g {
			return chosen{i, b.env.migration, b.env.imbalance}
		}
	}
	return chosen{group: -1}
}

// Where tasks are spread over groups that have room, half of the difference in tasks moves; where that
// is not asked for, half of that in idle CPUs.
func TestTasksAreSpreadOverGroupsThatHaveRoom(t *testing.T) {
	for _, c := range []struct {
		how         groupsOf
		here, there int
		want        chosen
	}{
		{spread, 0, 4, chosen{1, migrateTask, 2}},
		{spread, 1, 4, chosen{1, migrateTask, 1}},
		{spread, 2, 4, chosen{1, migrateTask, 1}},
		{spread, 3, 4, chosen{group: -1}},
		{spread, 0, 1, chosen{group: -1}},
		{spread, 0, 2, chosen{1, migrateTask, 1}},
		{caches, 0, 4, chosen{1, migrateTask, 2}},
		{caches, 2, 3, chosen{group: -1}},
		{caches, 1, 3, chosen{1, migrateTask, 1}},
	} {
		b := newGroupBox(c.how, nil, 4, 4)
		for i := range c.here {
			b.put(event.CPU(i), 1, 1024, 1024)
		}
		for i := range c.there {
			b.put(event.CPU(4+i), 1, 1024, 1024)
		}
		if got := b.look(); got != c.want {
			t.Errorf("%+v: %d tasks here, %d there: %+v, want %+v", c.how, c.here, c.there, got, c.want)
		}
	}
}

// Commit b396f52326de ("sched/fair: Allow a small load imbalance between low utilisation SD_NUMA domains")
// and its successors: a pair of tasks stays together on a node while few run on the other.
func TestPairsOfTasksMayStayOnANode(t *testing.T) {
	for _, c := range []struct{ there, here, allowed, want int }{
		{2, 0, 1, -1}, // one would move to the node, which then has as many as allowed
		{2, 0, 0, 1},
		{2, 1, 1, -1},
		{4, 0, 1, 1}, // a difference of four is not small
		{3, 1, 1, 1},
		{3, 1, 2, -1},
	} {
		b := newGroupBox(sockets, nil, 8, 8)
		b.env.sd.imbNUMANr = c.allowed
		for i := range c.here {
			b.put(event.CPU(i), 1, 1024, 1024)
		}
		for i := range c.there {
			b.put(event.CPU(8+i), 1, 1024, 1024)
		}
		if got := b.look(); got.group != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// An overloaded group gives as much as the local one has room for where no cache is shared, counted
// in utilisation; one task if there is no room by the numbers although the CPU idles.
func TestSpareCapacityIsFilled(t *testing.T) {
	b := newGroupBox(caches, nil, 2, 2)
	b.put(1, 1, 1024, 600)
	b.put(2, 3, 1024, 1024)
	b.put(3, 3, 1024, 1024)
	if got, want := b.look(), (chosen{1, migrateUtil, 2048 - 600}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	b.groups[0].capacity.capacity = 500 // other classes took the rest
	b.env.sd.child.groups.capacity.capacity = 500
	if got, want := b.look(), (chosen{1, migrateTask, 1}); got != want {
		t.Errorf("no room: %+v, want %+v", got, want)
	}
	if b.env.idle = cpuNotIdle; b.look().group != -1 {
		t.Error("no room and no idle CPU: something moves")
	}
}

// Between overloaded groups so much load moves that neither crosses the average of all.
func TestLoadMovesUpToTheAverage(t *testing.T) {
	for _, c := range []struct{ here, there, third uint64 }{{1024, 2048, 1536}, {512, 4096, 600}, {900, 1400, 1000}, {1024, 1500, 4000}} {
		b := newGroupBox(caches, nil, 2, 2, 2)
		loads := []uint64{c.here, c.there, c.third}
		average := 0.0
		for i, load := range loads {
			b.fillPairs(i, load)
			average += float64(load) / 3
		}
		got := b.look()
		if got.group < 1 || loads[got.group] < loads[3-got.group] || got.migration != migrateLoad {
			t.Fatalf("%v: %+v", loads, got)
		}
		// Two CPUs each, whose loads are these.
		here, there := 2*float64(c.here), 2*float64(loads[got.group])
		move := float64(got.imbalance)
		if here+move > 2*average+1 || there-move < 2*average-1 || here+move < 2*average-4 && there-move > 2*average+4 {
			t.Errorf("%v: %d moves, the average is %.0f", loads, got.imbalance, average)
		}
	}
}

// Who has more than the average takes nothing, even from one that has more still.
func TestWhoHasMoreThanTheAverageTakesNothing(t *testing.T) {
	b := newGroupBox(caches, nil, 2, 2, 2)
	for i, load := range []uint64{2000, 3000, 100} {
		b.fillPairs(i, load)
	}
	if got := b.look(); got.group != -1 {
		t.Errorf("%+v", got)
	}
}

// fillPairs overloads the i-th group, of two CPUs, with two tasks and the given load on each.
func (b *groupBox) fillPairs(i int, load uint64) {
	for c := 2 * i; c < 2*i+2; c++ {
		b.put(event.CPU(c), 2, load/2, capacityScale)
	}
}

// The case of the commit message of 0b0695f2b34a ("sched/fair: Rework load_balance()"): a fair task that
// shares its CPU with a real-time task, which sleeps just now, moves to an idle CPU.
func TestATaskThatOtherClassesSqueezeMoves(t *testing.T) {
	for _, left := range []int64{1024, 900, 800, 300} {
		b := newGroupBox(cores, nil, 1, 1)
		b.put(1, 1, 700, uint64(left))
		b.rqs[1].cpuCapacity = left
		b.groups[1].capacity.capacity = left
		// Squeezed: what is left is less than 100/117 of a CPU.
		want := chosen{group: -1}
		if left*117 < 1024*100 {
			want = chosen{1, migrateLoad, 700}
		}
		b.rqs[1].cfs.avg.runnableAvg = 0 // not overloaded: wants no more than it gets
		b.rqs[1].cfs.avg.utilAvg = uint64(left) / 2
		if got := b.look(); got != want {
			t.Errorf("%d are left: %+v, want %+v", left, got, want)
		}
	}
}

// From 6.6 on groups with different numbers of cores are filled by tasks for each core: "we should
// balance between the two groups such that #tasks/#cores ratio is the same" (7ff1693236f5).
func TestGroupsAreFilledByTheirCores(t *testing.T) {
	for _, c := range []struct{ here, there, tasksHere, tasksThere int }{{4, 8, 0, 6}, {8, 4, 0, 3}, {2, 6, 0, 4}, {6, 2, 1, 2}} {
		b := newGroupBox(spread, era612, c.here, c.there)
		for i := range c.tasksHere {
			b.put(event.CPU(i), 1, 1024, 1024)
		}
		for i := range c.tasksThere {
			b.put(event.CPU(c.here+i), 1, 1024, 1024)
		}
		got, moved := b.look(), 0
		if got.group == 1 {
			moved = int(got.imbalance)
		}
		// No other number of tasks brings the ratios closer together, but by rounding.
		apart := func(n int) float64 {
			d := float64(c.tasksHere+n)/float64(c.here) - float64(c.tasksThere-n)/float64(c.there)
			return max(d, -d)
		}
		for n := range c.tasksThere + 1 {
			if n < moved && apart(n) < apart(moved) || n > moved+1 && apart(n) < apart(moved+1) {
				t.Errorf("%+v: %d move, %d would be better", c, moved, n)
			}
		}
		if moved == 0 {
			t.Errorf("%+v: nothing moves", c)
		}
	}
}

// From 6.6 on a core whose threads both work gives one away to an idle CPU; before, a cluster of two
// cores with a thread each would not ask for it.
func TestSharedCoresGiveTasksAway(t *testing.T) {
	build := func(fair func(*FairConfig)) *groupBox {
		b := newGroupBox(cores, fair, 2, 2)
		b.groups[0].smt, b.groups[0].flags = false, 0
		b.env.sd.child = &schedDomain{flags: 0, span: b.groups[0].cpus, groups: b.env.sd.child.groups}
		b.put(1, 1, 1024, 1024)
		b.put(2, 1, 1024, 1024)
		b.put(3, 1, 1024, 1024)
		return b
	}
	if got, want := build(era612).look(), (chosen{1, migrateTask, 1}); got != want {
		t.Errorf("6.6: %+v, want %+v", got, want)
	}
	if got := build(nil).look(); got.group != -1 {
		t.Errorf("6.1: %+v", got)
	}
}

// Which CPU of a group gives depends on what should move.
func TestTheBusiestCPUIsByWhatMoves(t *testing.T) {
	b := newGroupBox(caches, nil, 1, 5)
	b.put(1, 1, 5000, 1024) // the most load, in one task
	b.put(2, 3, 500, 700)   // the most tasks
	b.put(3, 2, 1200, 800)  // the most load of several
	b.put(4, 2, 600, 1000)  // the most used by several
	b.put(5, 2, 300, 500)
	b.rqs[5].cpuCapacity = 200 // the most load for what it can give
	for _, c := range []struct {
		what      migrationType
		imbalance int64
		want      event.CPU
	}{{migrateLoad, 1000, 5}, {migrateUtil, 500, 4}, {migrateTask, 1, 2}} {
		b.env.migration, b.env.imbalance = c.what, c.imbalance
		if got := b.findBusiestQueue(&b.env, b.groups[1]); got == nil || got.cpu != c.want {
			t.Errorf("%s: %+v, want CPU %d", migrationNames[c.what], got, c.want)
		}
	}
	b.rqs[5].cpuCapacity = 1024
	b.env.migration, b.env.imbalance = migrateLoad, 1000
	if got := b.findBusiestQueue(&b.env, b.groups[1]); got.cpu != 3 {
		t.Errorf("alike: CPU %d", got.cpu)
	}
	if b.env.imbalance = 6000; b.findBusiestQueue(&b.env, b.groups[1]).cpu != 1 {
		t.Error("a task that is not too much stays")
	}
	// From 6.5 on what tasks want counts where utilisation should move.
	b.cfg.Fair.BusiestByRunnable = true
	b.env.migration, b.rqs[5].cfs.avg.runnableAvg = migrateUtil, 3000
	b.rqs[2].cfs.avg.runnableAvg, b.rqs[3].cfs.avg.runnableAvg, b.rqs[4].cfs.avg.runnableAvg = 900, 900, 1020
	if got := b.findBusiestQueue(&b.env, b.groups[1]); got.cpu != 5 {
		t.Errorf("by what is wanted: CPU %d", got.cpu)
	}
}

// Commit 70fb5ccf2ebb ("sched/fair: Introduce SIS_UTIL to search idle CPU based on sum of util_avg") shows
// how many of 112 CPUs are looked at, by how much all of them use.
func TestHowManyCPUsAWakeMayLookAt(t *testing.T) {
	used := []int{0, 5, 15, 25, 35, 45, 55, 65, 75, 85, 86}
	want := []int{112, 111, 108, 102, 93, 81, 65, 47, 25, 1, 0}
	for i, percent := range used {
		b := newGroupBox(cores, nil, 112)
		b.env.sd.shared = &domainShared{nrIdleScan: -1}
		util := int64(percent) * 1024 * 112 / 100
		if b.updateIdleCPUScan(&b.env, util); b.env.sd.shared.nrIdleScan != want[i] {
			t.Errorf("%d %%: %d CPUs, want %d", percent, b.env.sd.shared.nrIdleScan, want[i])
		}
		b.env.idle = cpuNewlyIdle
		if b.updateIdleCPUScan(&b.env, 0); b.env.sd.shared.nrIdleScan != want[i] {
			t.Error("a newly idle CPU changes it")
		}
	}
}

// A CPU that looks over all CPUs knows whether any has a task that waits.
func TestLookingAtAllCPUsTellsWhetherAnyIsOverloaded(t *testing.T) {
	b := newGroupBox(caches, nil, 2, 2)
	b.put(3, 2, 10, 10)
	b.rqs[0].rd.overload = false
	if b.look(); !b.rqs[0].rd.overload {
		t.Error("a waiting task was missed")
	}
	b.put(3, 1, 10, 10)
	if b.look(); b.rqs[0].rd.overload {
		t.Error("it is remembered for ever")
	}
	b.env.sd.parent = &schedDomain{}
	b.put(3, 2, 10, 10)
	if b.look(); b.rqs[0].rd.overload {
		t.Error("who sees only a part says it of all")
	}
}
