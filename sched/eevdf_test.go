package sched

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
)

// bench is a scheduler on one CPU whose clock the test moves on.
type bench struct {
	*Sched
	quietHost
	tasks []*Task
}

func (b *bench) cfs() *cfsRQ          { return &b.rqs[0].cfs }
func (b *bench) check() error         { return b.Check(b.tasks) }
func (b *bench) weight(p *Task) int64 { return p.se.scaledWeight() }
func (b *bench) add(t rapid.TB, a Attr) *Task {
	p, err := b.NewTask(event.PID(len(b.tasks)+1), 0, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.tasks = append(b.tasks, p)
	return p
}

func newBench(fair FairConfig) *bench {
	b := &bench{}
	cfg := DefaultConfig(1)
	cfg.Fair = fair
	b.Sched = New(cfg, &b.quietHost, event.NewNames())
	return b
}

// The rules of EEVDF by kernel, with what is of no interest here left out.
func rules66() FairConfig {
	return FairConfig{EEVDF: true, BaseSlice: 750_000, BandwidthSlice: 5_000_000, Reweight: ReweightDeadline, InitialAtFork: true,
		Features: FeaturesOf(PlaceLag, PlaceDeadlineInitial, RunToParity, WakeupPreemption, AttachAgeLoad)}
}

func rules612() FairConfig {
	return FairConfig{EEVDF: true, BaseSlice: 700_000, BandwidthSlice: 5_000_000, CustomSlices: true, IdleByQueue: true, IdleUnprotected: true,
		YieldPays: true, PickFirst: true, Features: FeaturesOf(PlaceLag, PlaceDeadlineInitial, PlaceRelDeadline, RunToParity, PreemptShort,
			PickBuddy, DelayDequeue, DelayZero, WakeupPreemption, AttachAgeLoad)}
}

func rules618() FairConfig {
	f := rules612()
	f.Reweight, f.ProtectShortest, f.TaskThrottle = ReweightPlaces, true, true
	return f
}

var allRules = []struct {
	name  string
	rules func() FairConfig
}{{"6.6", rules66}, {"6.12", rules612}, {"6.18", rules618}}

// queued are the tasks that compete in the queue of the CPU.
func (b *bench) queued() []*Task {
	var list []*Task
	for _, p := range b.tasks {
		if p.se.onRQ {
			list = append(list, p)
		}
	}
	return list
}

// zeroLag is the mean of the virtual run times by weight, exactly.
func (b *bench) zeroLag() *big.Rat {
	sum, load := new(big.Int), new(big.Int)
	for _, p := range b.queued() {
		w := big.NewInt(b.weight(p))
		sum.Add(sum, new(big.Int).Mul(big.NewInt(p.se.vruntime), w))
		load.Add(load, w)
	}
	return new(big.Rat).SetFrac(sum, load)
}

// owed reports whether p has run no more than its share.
func (b *bench) owed(p *Task) bool {
	return new(big.Rat).SetInt64(p.se.vruntime).Cmp(b.zeroLag()) <= 0
}

// earliest is the definition of the choice: of all that are owed time the earliest deadline. The
// current one goes on where its deadline is as early, and where its turn is protected.
func (b *bench) earliest(curr *Task) (deadline int64, keep bool) {
	first := true
	for _, p := range b.queued() {
		if b.owed(p) && (first || p.se.deadline < deadline) {
			deadline, first = p.se.deadline, false
		}
	}
	return deadline, curr != nil && curr.se.onRQ && b.owed(curr)
}

// act does something to somebody.
func (b *bench) act(t *rapid.T) {
	p := b.tasks[rapid.IntRange(0, len(b.tasks)-1).Draw(t, "task")]
	curr := b.Curr(0)
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0, 1, 2:
		b.TryToWakeUp(0, p)
	case 3, 4:
		if curr.PID != 0 {
			b.Block(0, event.StateSleeping)
			b.Schedule(0, false)
		}
	case 5:
		b.SchedulerTick(0)
	case 6:
		if b.NeedResched(0) {
			b.Schedule(0, true)
		}
	case 7:
		if _, err := b.SetUserNice(0, p, rapid.IntRange(-20, 19).Draw(t, "nice")); err != nil {
			t.Fatal(err)
		}
	case 8:
		a := p.Attr
		a.Policy = rapid.SampledFrom([]Policy{Normal, Batch, Idle}).Draw(t, "policy")
		a.Slice = event.Time(rapid.Int64Range(0, 5_000_000).Draw(t, "slice"))
		if _, err := b.SetAttr(0, p, a); err != nil {
			t.Fatal(err)
		}
	case 9:
		if curr.PID != 0 {
			b.Yield(0)
			b.Schedule(0, false)
		}
	}
}

// TestPickIsTheEarliestEligibleDeadline compares the choice with its definition, in exact
// fractions and by a walk over all tasks, after each of many random operations.
func TestPickIsTheEarliestEligibleDeadline(t *testing.T) {
	for _, k := range allRules {
		t.Run(k.name, func(t *testing.T) {
			compared, kept := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				b := newBench(k.rules())
				for range rapid.IntRange(2, 8).Draw(t, "n") {
					b.WakeUpNewTask(0, b.add(t, Attr{Nice: rapid.IntRange(-20, 19).Draw(t, "nice")}))
				}
				for range rapid.IntRange(1, 60).Draw(t, "steps") {
					b.now += event.Time(rapid.Int64Range(0, 3_000_000).Draw(t, "ns"))
					b.act(t)
					if err := b.check(); err != nil {
						t.Fatal(err)
					}
					if len(b.queued()) == 0 {
						continue
					}
					curr := b.Curr(0)
					got := b.pickEEVDF(b.cfs(), true).task
					deadline, keep := b.earliest(curr)
					switch {
					case !b.owed(got):
						t.Fatalf("task %d is chosen and not eligible", got.PID)
					case keep && b.runsToParity(&curr.se):
						if kept++; got != curr {
							t.Fatalf("task %d is chosen in the protected turn of %d", got.PID, curr.PID)
						}
					case got.se.deadline != deadline:
						t.Fatalf("task %d has deadline %d, the earliest is %d", got.PID, got.se.deadline, deadline)
					}
					compared++
				}
			})
			if compared < 500 || kept < 50 {
				t.Errorf("%d choices compared, %d of them protected", compared, kept)
			}
		})
	}
}

// TestFarApartVirtualTimes: virtual times that no kernel has, as a damaged recording can force them, end no choice.
func TestFarApartVirtualTimes(t *testing.T) {
	for _, v := range []int64{1 << 40, 1 << 55, 1 << 62, -1 << 62} {
		b := newBench(rules612())
		for i := range 3 {
			p := b.add(t, Attr{Nice: -20 + 13*i})
			b.WakeUpNewTask(0, p)
			b.ForceVirtual(p, VirtualTime{VRuntime: v * int64(i)})
		}
		for range 20 {
			b.Schedule(0, true)
			if b.Curr(0).PID == 0 {
				t.Fatalf("%d: the CPU idles while tasks wait", v)
			}
			b.now += 1_000_000
			b.SchedulerTick(0)
		}
	}
}

// lag is how much p lags behind in virtual time: its share of what was done, less what it has done.
func (b *bench) lag(p *Task) float64 {
	d := new(big.Rat).Sub(b.zeroLag(), new(big.Rat).SetInt64(p.se.vruntime))
	f, _ := d.Float64()
	return f
}

// TestLagIsKept: who leaves with a lag and comes back to the same tasks has that lag again, and
// the others have theirs: V moves with who comes, and the place makes up for it.
func TestLagIsKept(t *testing.T) {
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		f := rules612()
		f.Features = f.Features.With(DelayDequeue, false)
		b := newBench(f)
		for range rapid.IntRange(2, 6).Draw(t, "n") {
			b.WakeUpNewTask(0, b.add(t, Attr{Nice: rapid.IntRange(-20, 19).Draw(t, "nice")}))
		}
		b.Schedule(0, false)
		for range rapid.IntRange(1, 10).Draw(t, "turns") {
			b.now += event.Time(rapid.Int64Range(1, 1_500_000).Draw(t, "ns"))
			b.SchedulerTick(0)
			b.Schedule(0, true)
		}
		b.now += event.Time(rapid.Int64Range(1, 1_000_000).Draw(t, "ns"))
		b.ChargeCurrent(0)
		p := b.Curr(0)
		before := b.lag(p)
		b.Block(0, event.StateSleeping)
		b.Schedule(0, false)
		most := float64(calcDeltaFair(max(2*p.se.slice, b.cfg.Tick), &p.se))
		b.TryToWakeUp(0, p)
		after := b.lag(p)
		before = min(max(before, -most), most)
		// Each of the three divisions loses less than 1 ns of V, and the last is enlarged.
		others := float64(0)
		for _, o := range b.queued() {
			if o != p {
				others += float64(b.weight(o))
			}
		}
		if lost := 2 + float64(b.weight(p))/others; before-after > lost || after-before > lost {
			t.Fatalf("lag %.1f before the sleep, %.1f after it", before, after)
		}
		if before != 0 {
			n++
		}
	})
	if n < 50 {
		t.Errorf("only %d lags were compared", n)
	}
}

// TestReweightKeepsLag: the lag in real time and the rest of the slice stay when a weight changes, in
// the kernels that see to it.
func TestReweightKeepsLag(t *testing.T) {
	for _, k := range allRules[1:] {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				b := newBench(k.rules())
				for range rapid.IntRange(2, 6).Draw(t, "n") {
					b.WakeUpNewTask(0, b.add(t, Attr{Nice: rapid.IntRange(-20, 19).Draw(t, "nice")}))
				}
				b.Schedule(0, false)
				b.now += event.Time(rapid.Int64Range(1, 1_000_000).Draw(t, "ns"))
				b.ChargeCurrent(0)
				curr := b.Curr(0)
				var p *Task // who waits
				for _, o := range b.tasks {
					if o != curr {
						p = o
					}
				}
				real := func() (lag, left float64) {
					w := float64(b.weight(p)) / 1024
					return b.lag(p) * w, float64(p.se.deadline-p.se.vruntime) * w
				}
				lag, left := real()
				to := Attr{Nice: rapid.IntRange(-20, 19).Draw(t, "to")}
				b.reweightEntity(b.cfs(), &p.se, weightOf(&to))
				lagNow, leftNow := real()
				// A unit of virtual time is weight/1024 ns.
				unit := 3 * max(1, float64(b.weight(p))/1024, float64(weightOf(&p.Attr).weight>>weightShift)/1024)
				if d := lagNow - lag; d > unit || d < -unit {
					t.Fatalf("a lag of %.1f ns became %.1f", lag, lagNow)
				}
				if d := leftNow - left; d > unit || d < -unit {
					t.Fatalf("%.1f ns of the slice were left, now %.1f", left, leftNow)
				}
			})
		})
	}
}

// TestGroupSliceIsTheShortest: the entity of a group has the shortest slice of what is in it.
func TestGroupSliceIsTheShortest(t *testing.T) {
	b := newBench(rules612())
	g := b.NewGroup(nil)
	inner := b.NewGroup(g)
	slices := []event.Time{3_000_000, 300_000, 1_000_000}
	for i, s := range slices {
		p := b.add(t, Attr{Slice: s})
		if _, err := b.Attach(0, p, inner); err != nil {
			t.Fatal(err)
		}
		b.WakeUpNewTask(0, p)
		want := min(slices[0], slices[min(i, 1)])
		for _, at := range []*Group{inner, g} {
			if got := at.cpus[0].se.slice; got != want {
				t.Errorf("with %d tasks a group has a slice of %d, want %d", i+1, got, want)
			}
		}
	}
	if err := b.check(); err != nil {
		t.Fatal(err)
	}
	for b.Schedule(0, false); b.NrRunning(0) > 0; b.Schedule(0, false) {
		least := event.Time(0)
		for _, p := range b.tasks {
			if p.se.onRQ && (least == 0 || p.se.slice < least) {
				least = p.se.slice
			}
		}
		if got := inner.cpus[0].se.slice; got != least {
			t.Errorf("the group has a slice of %d, want %d", got, least)
		}
		b.now += 100_000
		b.Block(0, event.StateStopped)
	}
}

// TestYieldPays: who yields and is owed time goes behind its deadline; before 6.18 only the
// deadline moved, so that it could come back at once.
func TestYieldPays(t *testing.T) {
	for _, c := range []struct {
		rules    FairConfig
		vruntime bool
	}{{rules66(), false}, {rules612(), true}} {
		b := newBench(c.rules)
		for range 2 {
			b.WakeUpNewTask(0, b.add(t, Attr{}))
		}
		b.Schedule(0, false)
		p := b.Curr(0)
		v, d := p.se.vruntime, p.se.deadline
		b.Yield(0)
		if moved := p.se.vruntime != v; moved != c.vruntime || p.se.deadline <= d {
			t.Errorf("vruntime %d to %d, deadline %d to %d", v, p.se.vruntime, d, p.se.deadline)
		}
	}
}

// TestSlicesAreBounded: 0.1 to 100 ms, and only where the kernel takes them.
func TestSlicesAreBounded(t *testing.T) {
	for _, c := range []struct {
		rules FairConfig
		ask   event.Time
		want  event.Time
	}{{rules612(), 1, 100_000}, {rules612(), 1 << 40, 100_000_000}, {rules612(), 3_000_000, 3_000_000}, {rules612(), 0, 700_000}, {rules66(), 3_000_000, 750_000}} {
		b := newBench(c.rules)
		if p := b.add(t, Attr{Slice: c.ask}); p.se.slice != c.want {
			t.Errorf("who asks for %d gets %d, want %d", c.ask, p.se.slice, c.want)
		}
	}
}
