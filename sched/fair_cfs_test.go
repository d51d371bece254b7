package sched

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/whylate/whylate/event"
	"pgregory.net/rapid"
)

// TestInversesOfWeights: the kernel divides by weights with inverses of 1 << 32 that it has in a table,
// sched_prio_to_wmult in kernel/sched/core.c, and does not compute. These are its values.
func TestInversesOfWeights(t *testing.T) {
	table := [40]uint32{
		48388, 59856, 76040, 92818, 118348, 147320, 184698, 229616, 287308, 360437,
		449829, 563644, 704093, 875809, 1099582, 1376151, 1717300, 2157191, 2708050, 3363326,
		4194304, 5237765, 6557202, 8165337, 10153587, 12820798, 15790321, 19976592, 24970740, 31350126,
		39045157, 49367440, 61356676, 76695844, 95443717, 119304647, 148102320, 186737708, 238609294, 286331153,
	}
	for i, want := range table {
		if got := weightOf(&Attr{Nice: i - 20}); got.inverse != want {
			t.Errorf("nice %d: weight %d has the inverse %d, the kernel %d", i-20, got.weight>>weightShift, got.inverse, want)
		}
	}
	const idle = 1431655765 // WMULT_IDLEPRIO
	if got := weightOf(&Attr{Policy: Idle}); got.inverse != idle {
		t.Errorf("SCHED_IDLE: %d", got.inverse)
	}
}

// virtualError is how far a charge of delta ns can be from the exact one: an inverse is off by at most one
// of 1 << 32, which the least weights feel least, 32 bits of it are kept, and ns are cut off.
func virtualError(delta event.Time) int64 { return int64(delta)>>22 + 3 }

// TestChargesAreExactButForRounding: __calc_delta() against fractions.
func TestChargesAreExactButForRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delta := rapid.Int64Range(0, 10_000_000_000).Draw(t, "delta")
		a := Attr{Nice: rapid.IntRange(-20, 19).Draw(t, "nice")}
		if rapid.Bool().Draw(t, "idle") {
			a.Policy = Idle
		}
		w := weightOf(&a).weight
		exact := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(delta), big.NewInt(nice0Load)), big.NewInt(w))
		got := VirtualRun(event.Time(delta), a)
		off := new(big.Rat).Sub(new(big.Rat).SetInt64(got), exact)
		// Of idle tasks a ns is 341 virtual ones; the inverse is off by at most 1/2 of 3 × 2^32.
		if limit := new(big.Rat).SetInt64(virtualError(event.Time(delta))); off.Abs(off).Cmp(limit) > 0 {
			t.Fatalf("%d ns of nice %d (%s): %d, exactly %s", delta, a.Nice, a.Policy, got, exact.FloatString(3))
		}
	})
}

// load is a random load on CPUs that a test drives by itself.
type load struct {
	t     testing.TB
	r     *rand.Rand
	host  *quietHost
	s     *Sched
	tasks []*Task
	tick  event.Time
	least map[*cfsRQ]int64
	group []*Group
}

func newLoad(t testing.TB, seed uint64, cfg Config) *load {
	l := &load{t: t, r: rand.New(rand.NewPCG(seed, 61)), host: &quietHost{now: 1_000_000_000}, least: map[*cfsRQ]int64{}}
	cfg.Quiet = true
	l.s = New(cfg, l.host, event.NewNames())
	l.tick = cfg.Tick
	return l
}

func (l *load) fork(c event.CPU, a Attr, g *Group) *Task {
	p, err := l.s.NewTask(event.PID(len(l.tasks)+1), 0, a, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	if g != nil {
		if _, err := l.s.Attach(c, p, g); err != nil {
			l.t.Fatal(err)
		}
	}
	l.s.ForceFork(c, p)
	l.tasks = append(l.tasks, p)
	l.s.WakeUpNewTask(c, p)
	return p
}

// verify looks at the rules that always hold.
func (l *load) verify(what string) {
	if err := l.s.Check(l.tasks); err != nil {
		l.t.Fatalf("after %s: %v", what, err)
	}
	look := func(cfs *cfsRQ) {
		if before, ok := l.least[cfs]; ok && cfs.minVruntime < before {
			l.t.Fatalf("after %s: min_vruntime went back from %d to %d", what, before, cfs.minVruntime)
		}
		l.least[cfs] = cfs.minVruntime
	}
	for c, rq := range l.s.rqs {
		look(&rq.cfs)
		for _, g := range l.group {
			look(&g.cpus[c].cfs)
		}
	}
}

var fairPolicies = []Policy{Normal, Normal, Normal, Batch, Idle}

func (l *load) attr() Attr {
	return Attr{Policy: fairPolicies[l.r.IntN(len(fairPolicies))], Nice: l.r.IntN(40) - 20}
}

// step does something at random on CPU c.
func (l *load) step(c event.CPU) string {
	cur := l.s.Curr(c)
	running := cur != l.s.Idle(c)
	switch n := l.r.IntN(20); {
	case n < 5:
		l.s.SchedulerTick(c)
		return "a tick"
	case n < 10:
		if len(l.tasks) == 0 {
			return "nothing"
		}
		if p := l.tasks[l.r.IntN(len(l.tasks))]; !p.onRQ && p.State == event.StateSleeping {
			l.s.TryToWakeUp(c, p)
		}
		return "a wake"
	case n < 12 && running:
		l.s.Block(c, event.StateSleeping)
		l.s.Schedule(c, false)
		return "a sleep"
	case n == 12 && running:
		l.s.Yield(c)
		l.s.Schedule(c, false)
		return "a yield"
	case n == 13 && len(l.tasks) < 40:
		var g *Group
		if i := l.r.IntN(len(l.group) + 1); i < len(l.group) {
			g = l.group[i]
		}
		l.fork(c, l.attr(), g)
		return "a fork"
	case n == 14 && len(l.tasks) > 0:
		l.change(c, l.tasks[l.r.IntN(len(l.tasks))])
		return "a change"
	}
	l.s.Schedule(c, l.r.IntN(2) == 0)
	return "a schedule"
}

// change gives p another nice value, policy, group or CPU.
func (l *load) change(c event.CPU, p *Task) {
	var err error
	switch n := l.r.IntN(6); {
	case n == 0:
		_, err = l.s.SetUserNice(c, p, l.r.IntN(40)-20)
	case n == 1:
		_, err = l.s.SetAttr(c, p, l.attr())
	case n == 2:
		_, err = l.s.SetAttr(c, p, Attr{Policy: FIFO, Priority: 10})
	case n == 3 && len(l.group) > 0 && p.class == fairClass:
		_, err = l.s.Attach(c, p, l.group[l.r.IntN(len(l.group))])
	case n == 4 && len(l.group) > 0:
		err = l.s.SetIdle(l.group[l.r.IntN(len(l.group))], l.r.IntN(2) == 0)
	default:
		l.s.ForceMove(c, p, event.CPU(l.r.IntN(len(l.s.rqs))))
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// TestCFSKeepsItsRules over random operations on one and two CPUs, with and without groups, by the rules of 6.1
// and of 4.11.
func TestCFSKeepsItsRules(t *testing.T) {
	steps := 1200
	if testing.Short() {
		steps = 300
	}
	for seed := range uint64(24) {
		cfg := DefaultConfig(1 + int(seed%2))
		if seed%4 > 1 {
			cfg.Fair = older(cfg.Fair)
		}
		cfg.HRTick = seed%5 == 0
		cfg.Fair.ChildRunsFirst = seed%3 == 0
		cfg.Fair.Features = cfg.Fair.Features.With(NextBuddy, seed%7 == 0)
		l := newLoad(t, seed, cfg)
		if seed > 7 {
			a := l.s.NewGroup(nil)
			l.group = []*Group{a, l.s.NewGroup(nil), l.s.NewGroup(a)}
		}
		for range steps {
			c := event.CPU(l.r.IntN(len(l.s.rqs)))
			l.host.now += event.Time(l.r.IntN(3_000_000))
			what := l.step(c)
			l.verify(what)
			if l.s.NeedResched(c) && l.r.IntN(3) > 0 {
				l.s.Schedule(c, true)
				l.verify("a preemption")
			}
		}
	}
}

// older is the fair class of 4.11.
func older(f FairConfig) FairConfig {
	f.IdleEntities, f.LongSleepers, f.IdleMinGranularity = false, false, 0
	f.MinVruntimeOnSave, f.PickClearsBuddies, f.WeightsToZero, f.PELT411 = true, true, true, true
	f.Features = f.Features.With(AltPeriod, false).With(BaseSlice, false)
	return f
}
