package sched

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
)

// groupBox is a scheduler with one domain, whose groups have as many CPUs as sizes says. What
// runs where is written into the queues, as far as the balancer looks at it.
type groupBox struct {
	*Sched
	env    lbEnv
	groups []*schedGroup
}

// groupsOf is where the groups of a groupBox lie.
type groupsOf struct {
	pct   int64
	flags domainFlags
	below domainFlags // of the domains that are the groups
}

var (
	cores   = groupsOf{pct: 117, flags: sdShareLLC, below: sdShareCPUCapacity | sdShareLLC | sdPreferSibling}
	caches  = groupsOf{pct: 117}
	spread  = groupsOf{pct: 117, below: sdPreferSibling}
	sockets = groupsOf{pct: 117, flags: sdNUMA, below: sdPreferSibling}
)

func newGroupBox(how groupsOf, fair func(*FairConfig), sizes ...int) *groupBox {
	n := 0
	for _, size := range sizes {
		n += size
	}
	cfg := DefaultConfig(n)
	if fair != nil {
		fair(&cfg.Fair)
	}
	b := &groupBox{Sched: New(cfg, &quietHost{now: 1_000_000_000}, event.NewNames())}
	sd := &schedDomain{span: allCPUs(n), weight: n, flags: how.flags, imbalancePct: how.pct, balanceInterval: int64(n)}
	c := event.CPU(0)
	for _, size := range sizes {
		g := &schedGroup{cpus: newMask(n), weight: size, cores: size, capacity: &groupCapacity{}, flags: how.below,
			smt: how.below&sdShareCPUCapacity != 0}
		if g.smt {
			g.cores = 1
		}
		for range size {
			g.cpus.set(c)
			c++
		}
		g.balanceMask = g.cpus
		b.groups = append(b.groups, g)
	}
	for i, g := range b.groups {
		g.next = b.groups[(i+1)%len(b.groups)]
		g.capacity.capacity = int64(g.weight) * capacityScale
	}
	sd.groups = b.groups[0]
	sd.child = &schedDomain{flags: how.below, span: b.groups[0].cpus, weight: sizes[0], groups: &schedGroup{capacity: &groupCapacity{capacity: int64(sizes[0]) * capacityScale}}}
	sd.child.groups.next = sd.child.groups
	b.env = lbEnv{sd: sd, dst: b.rqs[0], idle: cpuIdle, cpus: allCPUs(n), pass: &BalancePass{}}
	return b
}

// put lets tasks of the given load each run on c. What one alone uses is util; more want to run all the
// time.
func (b *groupBox) put(c event.CPU, tasks int, load, util uint64) {
	rq := b.rqs[c]
	rq.nrRunning, rq.cfs.hNrRunning = tasks, tasks
	rq.cfs.avg = schedAvg{loadAvg: uint64(tasks) * load, utilAvg: util, runnableAvg: util}
	if tasks > 1 {
		rq.cfs.avg.runnableAvg = uint64(tasks) * capacityScale
	}
}

// fill puts a class of group on all CPUs of the i-th group, which has four.
func (b *groupBox) fill(i int, kind groupType, load uint64, idle int) {
	g := b.groups[i]
	g.capacity.imbalance = 0
	for c := g.cpus.first(); c != event.NoCPU; c = g.cpus.next(c + 1) {
		switch {
		case kind == groupOverloaded:
			b.put(c, 2, load/2, capacityScale)
		case idle > 0:
			b.put(c, 0, 0, 0)
			idle--
		default:
			b.put(c, 1, load, capacityScale)
		}
	}
	if kind == groupImbalanced {
		g.capacity.imbalance = 1
	}
}

// The table in kernel/sched/fair.c above find_busiest_group(), by the class of the busiest group and
// that of the local one; misfit and asym do not occur on equal CPUs without other classes.
func TestClassesOfGroupsDecideAsTheDocumentedTable(t *testing.T) {
	table := map[groupType]map[groupType]string{
		groupHasSpare:   {groupHasSpare: "nr_idle", groupFullyBusy: "balanced", groupImbalanced: "balanced", groupOverloaded: "balanced"},
		groupFullyBusy:  {groupHasSpare: "nr_idle", groupFullyBusy: "nr_idle", groupImbalanced: "balanced", groupOverloaded: "balanced"},
		groupImbalanced: {groupHasSpare: "force", groupFullyBusy: "force", groupImbalanced: "force", groupOverloaded: "force"},
		groupOverloaded: {groupHasSpare: "force", groupFullyBusy: "force", groupImbalanced: "force", groupOverloaded: "avg_load"},
	}
	moves := func(busiest, local groupType, load uint64, idle cpuIdleType, idleThere, idleHere int) bool {
		b := newGroupBox(caches, nil, 4, 4)
		b.fill(0, local, 1000, idleHere)
		b.fill(1, busiest, load, idleThere)
		b.env.idle = idle
		return b.findBusiestGroup(&b.env) != nil
	}
	for busiest, row := range table {
		for local, want := range row {
			idleHere, idleThere := 0, 0
			if local == groupHasSpare || local == groupImbalanced {
				idleHere = 3
			}
			if busiest == groupHasSpare {
				idleThere = 1
			}
			what := groupTypeNames[busiest] + " with " + groupTypeNames[local] + ": "
			for _, idle := range []cpuIdleType{cpuNotIdle, cpuIdle, cpuNewlyIdle} {
				got := moves(busiest, local, 4000, idle, idleThere, idleHere)
				switch want {
				case "force", "avg_load":
					if !got {
						t.Error(what + "nothing moves")
					}
				case "balanced":
					if got {
						t.Error(what + "it is balanced")
					}
				case "nr_idle":
					// "dst_cpu is not busy and the number of idle CPUs is quite different in groups".
					if is := idle != cpuNotIdle && idleHere > idleThere+1; got != is {
						t.Errorf("%snr_idle with idle type %d: moves %v", what, idle, got)
					}
					if idleHere > 0 && moves(busiest, local, 4000, idle, idleThere, idleThere+1) {
						t.Error(what + "one idle CPU more is a difference")
					}
				}
			}
			if want == "avg_load" {
				// "Only if imbalance is significant enough": by imbalance_pct.
				for load, is := range map[uint64]bool{900: false, 1000: false, 1160: false, 1190: true} {
					if moves(busiest, local, load, cpuIdle, 0, 0) != is {
						t.Errorf("%sa load of %d to 1000 per CPU: moves %v", what, load, !is)
					}
				}
			}
		}
	}
}

// group_classify() in other words, with fractions: a group of more tasks than CPUs is overloaded
// if they use more than 1/pct of it or want pct of it; one that has no CPU too many is not busy
// if they use less and do not want more.
func TestGroupsAreClassedByWhatTheyUseAndWant(t *testing.T) {
	ratio := func(a, b int64) *big.Rat { return big.NewRat(a, b) }
	seen := map[groupType]bool{}
	check := func(t *rapid.T, pct int64, sgs sgStats, imbalance int) {
		g := &schedGroup{capacity: &groupCapacity{imbalance: imbalance}}
		used, wanted := ratio(sgs.util, sgs.capacity), ratio(sgs.runnable, sgs.capacity)
		nearlyAll, more := ratio(100, pct), ratio(pct, 100)
		usesAll, wantsMore := used.Cmp(nearlyAll) > 0, wanted.Cmp(more) > 0
		roomLeft := used.Cmp(nearlyAll) < 0 && !wantsMore
		want := groupFullyBusy
		switch {
		case sgs.nrRunning > sgs.weight && (usesAll || wantsMore):
			want = groupOverloaded
		case imbalance > 0:
			want = groupImbalanced
		case sgs.smtBalance:
			want = groupSMTBalance
		case sgs.misfitLoad > 0:
			want = groupMisfitTask
		case sgs.nrRunning < sgs.weight || roomLeft:
			want = groupHasSpare
		}
		if got := groupClassify(pct, g, &sgs); got != want {
			t.Fatalf("%+v imbalance %d: %s, want %s", sgs, imbalance, groupTypeNames[got], groupTypeNames[want])
		}
		seen[want] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 16).Draw(t, "weight")
		sgs := sgStats{weight: n, capacity: rapid.Int64Range(1, int64(n)*1024).Draw(t, "capacity"), nrRunning: rapid.IntRange(0, 3*n).Draw(t, "tasks"),
			smtBalance: rapid.IntRange(0, 9).Draw(t, "smt") == 0, misfitLoad: max(0, rapid.Int64Range(-900, 100).Draw(t, "misfit"))}
		sgs.util = rapid.Int64Range(0, int64(n)*1024).Draw(t, "util")
		sgs.runnable = rapid.Int64Range(0, int64(n)*2048).Draw(t, "runnable")
		check(t, rapid.SampledFrom([]int64{110, 117, 125}).Draw(t, "pct"), sgs, rapid.IntRange(0, 9).Draw(t, "imbalance")/9)
	})
	rapid.Check(t, func(t *rapid.T) { // on the edges
		check(t, 125, sgStats{weight: 1, capacity: 1000, nrRunning: rapid.IntRange(0, 2).Draw(t, "tasks"),
			util: rapid.Int64Range(799, 801).Draw(t, "util"), runnable: rapid.Int64Range(1249, 1251).Draw(t, "runnable")}, 0)
	})
	fixed := &rapid.T{}
	for _, sgs := range []sgStats{{weight: 1, capacity: 1024, nrRunning: 2, util: 1024}, {weight: 1, capacity: 1024, smtBalance: true},
		{weight: 1, capacity: 1024, misfitLoad: 1}, {weight: 1, capacity: 1024, nrRunning: 1, util: 1024}, {weight: 2, capacity: 2048, nrRunning: 1}} {
		check(fixed, 117, sgs, 0)
	}
	check(fixed, 117, sgStats{weight: 1, capacity: 1024}, 1)
	if len(seen) != len(groupTypeNames) {
		t.Errorf("only %v were met", seen)
	}
}

// Of any loads: the chosen group is another one that has something to take, is busier than the local
// one, and something should move; looking again says the same; and nothing is allocated.
func TestTheChosenGroupIsBusierThanTheLocalOne(t *testing.T) {
	eras := []func(*FairConfig){nil, era612, era618}
	found := 0
	try := func(b *groupBox, idle cpuIdleType) (bad string) {
		b.env.idle = idle
		g := b.findBusiestGroup(&b.env)
		if g == nil {
			if b.env.imbalance != 0 || b.env.pass.Busiest != -1 {
				return "no group, but an imbalance"
			}
			return ""
		}
		found++
		p := b.env.pass
		there, here := p.Groups[p.Busiest], p.Groups[0]
		var queue *RQ
		switch queue = b.findBusiestQueue(&b.env, g); {
		case g == b.groups[0] || !here.Local || there.Local:
			return "the local group was chosen"
		case b.env.imbalance <= 0 || p.Imbalance != b.env.imbalance:
			return "nothing should move"
		case there.Running == 0:
			return "the chosen group has no task"
		case queue != nil && (!g.cpus.has(queue.cpu) || queue.cfs.hNrRunning == 0):
			return "the chosen CPU has nothing, or is in another group"
		case there.Type == "overloaded" || there.Type == "imbalanced" || there.Type == "misfit_task" || there.Type == "smt_balance":
		case there.Running <= here.Running && there.Idle >= here.Idle:
			return "the chosen group is not busier"
		}
		if again := b.findBusiestGroup(&b.env); again != g {
			return "the second look differs"
		}
		return ""
	}
	rapid.Check(t, func(t *rapid.T) {
		how := rapid.SampledFrom([]groupsOf{cores, caches, spread, sockets}).Draw(t, "how")
		size := rapid.IntRange(1, 4).Draw(t, "size")
		if how.below&sdShareCPUCapacity != 0 {
			size = 2
		}
		sizes := make([]int, rapid.IntRange(2, 5).Draw(t, "groups"))
		for i := range sizes {
			sizes[i] = size
		}
		b := newGroupBox(how, rapid.SampledFrom(eras).Draw(t, "era"), sizes...)
		b.env.sd.imbNUMANr = rapid.IntRange(0, 2).Draw(t, "allowed")
		for c := range b.rqs {
			b.put(event.CPU(c), rapid.IntRange(0, 3).Draw(t, "tasks"), rapid.Uint64Range(2, 3000).Draw(t, "load"), rapid.Uint64Range(0, 1024).Draw(t, "util"))
		}
		if bad := try(b, cpuIdleType(rapid.IntRange(0, 2).Draw(t, "idle"))); bad != "" {
			t.Fatalf("%s: %+v", bad, b.env.pass)
		}
	})
	b := newGroupBox(spread, nil, 2, 2)
	b.put(2, 3, 1024, 1024)
	if bad := try(b, cpuIdle); bad != "" || found == 0 {
		t.Errorf("%s; in %d cases a group was found", bad, found)
	}
	if n := testing.AllocsPerRun(100, func() { b.findBusiestQueue(&b.env, b.findBusiestGroup(&b.env)) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// era612 and era618 are the rules by which groups are compared on 6.6 to 6.12 and on 6.18.
func era612(f *FairConfig) {
	f.SiblingsByCores, f.SMTBalance, f.PreferSiblingBusiest, f.BusiestByRunnable, f.LaterMisfit = true, true, true, true, false
}

func era618(f *FairConfig) {
	era612(f)
	f.BalanceWithoutDelayed = true
}

// A machine on which all have the same is left alone, whatever the classes are.
func TestABalancedMachineIsLeftAlone(t *testing.T) {
	for _, how := range []groupsOf{cores, caches, spread, sockets} {
		for _, fair := range []func(*FairConfig){nil, era612} {
			for tasks := range 5 {
				for _, idle := range []cpuIdleType{cpuNotIdle, cpuIdle, cpuNewlyIdle} {
					b := newGroupBox(how, fair, 2, 2, 2)
					for c := range b.rqs {
						b.put(event.CPU(c), tasks, 1024, capacityScale)
					}
					b.env.idle = idle
					// A CPU that is idle, or about to be, has nothing; the others of its core neither.
					if idle != cpuNotIdle && tasks > 0 {
						continue
					}
					if g := b.findBusiestGroup(&b.env); g != nil {
						t.Errorf("%+v: %d tasks on each CPU, idle type %d: %d of %s should move", how, tasks, idle, b.env.imbalance, migrationNames[b.env.migration])
					}
				}
			}
		}
	}
}
