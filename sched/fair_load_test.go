package sched

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
)

// loadBox drives a scheduler by hand and looks at what it tracks after everything it did.
type loadBox struct {
	*Sched
	t      *rapid.T
	host   *quietHost
	tasks  []*Task
	groups []*Group
}

func newLoadBox(t *rapid.T, cpus, tasks, nice int, cfg func(*Config)) *loadBox {
	c := DefaultConfig(cpus)
	c.Quiet = true
	if cfg != nil {
		cfg(&c)
	}
	host := &quietHost{now: event.Time(rapid.Int64Range(0, 1<<32).Draw(t, "boot"))}
	b := &loadBox{Sched: New(c, host, event.NewNames()), t: t, host: host}
	for _, rq := range b.rqs {
		b.NewStopper(rq.cpu, 1<<20+event.PID(rq.cpu), 0)
	}
	b.groups = []*Group{nil}
	for i := range rapid.IntRange(0, 4).Draw(t, "groups") {
		b.groups = append(b.groups, b.NewGroup(b.groups[rapid.IntRange(0, i).Draw(t, "parent")]))
	}
	for i := range tasks {
		p, err := b.NewTask(event.PID(i+1), 0, Attr{Nice: rapid.IntRange(-nice, max(0, nice-1)).Draw(t, "nice")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Attach(0, p, b.group("of")); err != nil {
			t.Fatal(err)
		}
		b.WakeUpNewTask(event.CPU(i%cpus), p)
		b.tasks = append(b.tasks, p)
		b.settle()
	}
	return b
}

func (b *loadBox) group(why string) *Group { return rapid.SampledFrom(b.groups).Draw(b.t, why) }

// settle schedules where somebody asked for it.
func (b *loadBox) settle() {
	for _, rq := range b.rqs {
		if rq.needResched || rq.curr == rq.idle && rq.nrRunning > 0 {
			b.Schedule(rq.cpu, true)
		}
		if rq.curr == rq.stop {
			for more := true; more; {
				more, _ = b.RunStopWork(rq.cpu)
			}
			b.Block(rq.cpu, event.StateSleeping)
			b.Schedule(rq.cpu, false)
		}
	}
}

// step lets time pass and does one thing that happens on every machine.
func (b *loadBox) step() {
	b.host.now += event.Time(rapid.SampledFrom([]int64{0, 700, 90_000, 1_300_000, 4_000_000, 40_000_000}).Draw(b.t, "dt"))
	rq := rapid.SampledFrom(b.rqs).Draw(b.t, "cpu")
	switch rapid.SampledFrom([]string{"wake", "wake", "sleep", "tick", "tick"}).Draw(b.t, "what") {
	case "wake":
		b.TryToWakeUp(rq.cpu, rapid.SampledFrom(b.tasks).Draw(b.t, "who"))
	case "sleep":
		if rq.curr != rq.idle {
			b.Block(rq.cpu, event.StateSleeping)
			b.Schedule(rq.cpu, false)
		}
	case "tick":
		b.SchedulerTick(rq.cpu)
	}
	b.settle()
}

// seen is what somebody outside knows of an entity: since when it is in which state, and what
// its sums should be.
type seen struct {
	at                   event.Time
	place                int64
	on, running          bool
	runnable             uint64
	load, runs, runsWell *big.Int
}

func (r *peltRef) look(sa *schedAvg, on, running bool, runnable uint64) *seen {
	return &seen{at: sa.lastUpdateTime, place: int64(sa.periodContrib), on: on, running: running, runnable: runnable,
		load: new(big.Int).SetUint64(sa.loadSum), runs: big.NewInt(int64(sa.utilSum)), runsWell: new(big.Int).SetUint64(sa.runnableSum)}
}

// age brings v to the time of sa by the recurrence, in the state that was seen last.
func (r *peltRef) age(v *seen, sa *schedAvg, load uint64) {
	units := int64((sa.lastUpdateTime - v.at) / 1024)
	first, ended, rest := split(v.place, units)
	c := r.contribution(first, ended, rest)
	grow := func(sum *big.Int, by uint64) *big.Int {
		return new(big.Int).Add(r.decay(sum, ended), mul(c, by))
	}
	run, runnable := uint64(0), v.runnable<<10
	if v.running {
		run = 1 << 10
	}
	if !v.on {
		load, run, runnable = 0, 0, 0
	}
	v.load, v.runs, v.runsWell = grow(v.load, load), grow(v.runs, run), grow(v.runsWell, runnable)
	v.at, v.place = sa.lastUpdateTime, (v.place+units)%1024
}

// TestLoadOfTasksAndGroups on one CPU, where nothing moves: the sums of every task, every group and
// every queue are those of the recurrence over what is seen from outside, that is, who is in a
// queue and who is current. That holds only if every change of state is preceded by an update.
func TestLoadOfTasksAndGroups(t *testing.T) {
	r := newPeltRef()
	rapid.Check(t, func(t *rapid.T) {
		b := newLoadBox(t, 1, 6, 20, nil)
		rq := b.rqs[0]
		inside := func(g *Group, p *Task) bool {
			for at := p.group; at != nil; at = at.parent {
				if at == g {
					return true
				}
			}
			return g == nil
		}
		below := func(g *Group) (n uint64, running bool) {
			for _, p := range b.tasks {
				if p.OnRQ() && inside(g, p) {
					n++
					running = running || rq.curr == p
				}
			}
			return n, running
		}
		type entity struct {
			name     string
			sa       *schedAvg
			weighted bool // a queue: weights change its load beside
			state    func() (on, running bool, runnable uint64)
		}
		var all []entity
		for _, p := range b.tasks {
			all = append(all, entity{fmt.Sprint("task ", p.PID), &p.se.avg, false, func() (bool, bool, uint64) { return p.OnRQ(), rq.curr == p, 1 }})
		}
		for i, g := range b.groups {
			state := func() (bool, bool, uint64) { n, running := below(g); return n > 0, running, n }
			if g == nil {
				all = append(all, entity{"root queue", &rq.cfs.avg, true, state})
				continue
			}
			all = append(all, entity{fmt.Sprint("group ", i), &g.cpus[0].se.avg, false, state}, entity{fmt.Sprint("queue ", i), &g.cpus[0].cfs.avg, true, state})
		}
		// What came with the new tasks is handed on with the next updates.
		for range 3 {
			b.host.now += 4_000_000
			b.updateRQClock(rq)
			b.updateBlockedAverages(rq)
		}
		was := make([]*seen, len(all))
		look := func() {
			for i, e := range all {
				on, running, runnable := e.state()
				v := r.look(e.sa, on, running, runnable)
				if was[i] != nil {
					v.load, v.runs, v.runsWell, v.at, v.place = was[i].load, was[i].runs, was[i].runsWell, was[i].at, was[i].place
				}
				was[i] = v
			}
		}
		look()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			b.step()
			for i, e := range all {
				v := was[i]
				r.age(v, e.sa, 1)
				if v.runs.Uint64() != uint64(e.sa.utilSum) || v.runsWell.Uint64() != e.sa.runnableSum || !e.weighted && v.load.Uint64() != e.sa.loadSum {
					t.Fatalf("%s: sums %d %d %d, the recurrence has %d %d %d", e.name, e.sa.loadSum, e.sa.runnableSum, e.sa.utilSum, v.load, v.runsWell, v.runs)
				}
			}
			look()
		}
	})
}

// TestLoadsAddUp on several CPUs, where tasks move, change groups, weights and classes: the load of a
// group is the sum of what its queues told, what a queue uses is what its tasks use, and
// nothing is left when all have slept for long.
func TestLoadsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newLoadBox(t, 3, 8, 20, func(c *Config) {
			c.Fair.EEVDF = rapid.Bool().Draw(t, "eevdf")
			if c.Fair.EEVDF {
				c.Fair.Features = FeaturesOf(PlaceLag, PlaceDeadlineInitial, RunToParity, WakeupPreemption, AttachAgeLoad, UtilEst)
				c.Fair.GroupKeepsWeight = rapid.Bool().Draw(t, "keeps")
			}
		})
		// slack is what may be wrong in a queue: removing is by averages, which are rounded, and a
		// group hands on averages, which do not have the last period in them yet.
		slack := make([]float64, len(b.rqs))
		came := func(p *Task, c event.CPU) {
			slack[c] += 2
			for g := p.group; g != nil; g = g.parent {
				slack[c] += 1024. * 1024 / peltMinDivider
			}
		}
		for _, p := range b.tasks {
			came(p, p.cpu)
		}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			then := b.host.now
			cpu := make([]event.CPU, len(b.tasks))
			for i, p := range b.tasks {
				cpu[i] = p.cpu
			}
			p := rapid.SampledFrom(b.tasks).Draw(t, "p")
			switch rapid.SampledFrom([]string{"step", "step", "step", "group", "nice", "class", "shares", "idle"}).Draw(t, "kind") {
			case "step":
				b.step()
			case "group":
				came(p, p.cpu)
				_, _ = b.Attach(0, p, b.group("to"))
				came(p, p.cpu)
			case "nice":
				_, _ = b.SetAttr(0, p, Attr{Nice: rapid.IntRange(-20, 19).Draw(t, "nice")})
			case "class":
				_, _ = b.SetAttr(0, p, Attr{Policy: FIFO, Priority: 5})
				came(p, p.cpu)
				b.host.now += 1_000_000
				_, _ = b.SetAttr(0, p, Attr{})
				came(p, p.cpu)
			case "shares":
				if g := b.group("g"); g != nil {
					_ = b.SetShares(g, rapid.Int64Range(2, 100_000).Draw(t, "shares"))
				}
			case "idle":
				if g := b.group("g"); g != nil {
					_ = b.SetIdle(g, !g.idle)
				}
			}
			b.settle()
			for i, p := range b.tasks {
				if p.cpu != cpu[i] {
					came(p, cpu[i])
					came(p, p.cpu)
				}
			}
			for i := range slack {
				slack[i] *= math.Pow(0.5, float64(b.host.now-then)/(32*1024*1024))
			}
			b.checkLoads(t, slack)
		}
		for _, rq := range b.rqs {
			for rq.curr != rq.idle {
				b.Block(rq.cpu, event.StateSleeping)
				b.Schedule(rq.cpu, false)
			}
		}
		b.host.now += 3_000_000_000
		for range 2 { // the second takes what the first has handed on
			for _, rq := range b.rqs {
				b.updateRQClock(rq)
				b.updateBlockedAverages(rq)
			}
		}
		for _, rq := range b.rqs {
			if !rq.cfs.avg.decayed() || rq.cfs.avg.loadAvg+rq.cfs.avg.utilAvg+rq.cfs.avg.runnableAvg > 0 {
				t.Fatalf("after 3 s of sleep CPU %d has %+v", rq.cpu, rq.cfs.avg)
			}
		}
		for i, g := range b.groups {
			if g != nil && g.loadAvg != 0 {
				t.Fatalf("after 3 s of sleep group %d has a load of %d", i, g.loadAvg)
			}
		}
	})
}

func (b *loadBox) checkLoads(t *rapid.T, slack []float64) {
	for i, g := range b.groups {
		if g == nil {
			continue
		}
		sum := int64(0)
		for c := range g.cpus {
			q := &g.cpus[c]
			sum += q.cfs.tgLoadAvgContrib
			if w := q.se.load.weight; w < leastShares || w > g.shares && q.cfs.nrRunning > 0 && q.se.onRQ {
				t.Fatalf("group %d weighs %d on CPU %d, of %d", i, w, c, g.shares)
			}
		}
		if g.loadAvg != sum {
			t.Fatalf("group %d has a load of %d, its queues told %d", i, g.loadAvg, sum)
		}
	}
	for _, rq := range b.rqs {
		b.updateRQClock(rq)
		b.updateBlockedAverages(rq) // the queues are up to date, and so is what was removed
		util := 0.0
		for _, p := range b.tasks {
			if p.cpu != rq.cpu || p.class != fairClass || p.se.avg.lastUpdateTime == 0 {
				continue
			}
			sa := p.se.avg
			on := uint64(0)
			if p.OnRQ() {
				on = 1
			}
			sa.updateLoadSum(rq.clockPelt(), on, on, rq.curr == p)
			util += float64(sa.utilSum) / float64(sa.peltDivider())
		}
		if got := float64(rq.cfs.avg.utilSum) / float64(rq.cfs.avg.peltDivider()); math.Abs(got-util) > 2+slack[rq.cpu] {
			t.Fatalf("CPU %d uses %.2f, its tasks %.2f, rounding may make %.2f", rq.cpu, got, util, 2+slack[rq.cpu])
		}
	}
}
