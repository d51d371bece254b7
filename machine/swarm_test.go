package machine_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// swarm is a machine with tasks that do whatever comes to their minds.
type swarm struct {
	m       *machine.Machine
	r       *rand.Rand
	mon     *monitor
	tasks   []*sched.Task // all that ever were
	free    bool
	pinning bool // affinities and migrate_disable are used

	// kept are CPUs whose current task entered or left the deadline class, became a real-time
	// one while the fair server had chosen it, or got a new affinity after its deadline and is
	// throttled or has a new deadline for that: the kernel lets it keep the CPU
	// until the next __schedule(), whoever waits (6.12: switched_to_rt(), switched_to_dl()
	// and set_cpus_allowed() do nothing for the current task).
	kept map[event.CPU]bool

	groups []*sched.Group
	donor  map[*sched.Task]*sched.Task // who inherits from whom
}

// plan is what makes one swarm differ from another.
type plan struct {
	cpus, tasks int
	cfg         machine.Config
	pinning     bool
	lines       int
}

func randomPlan(r *rand.Rand) plan {
	p := plan{cpus: 1 + r.IntN(8), tasks: 2 + r.IntN(20), pinning: r.IntN(3) > 0}
	cfg := sched.DefaultConfig(p.cpus)
	cfg.Preempt = sched.PreemptModel(r.IntN(5))
	cfg.Tick = []event.Time{1_000_000, 4_000_000, 10_000_000}[r.IntN(3)]
	cfg.RRTimeslice = 1 + r.IntN(5)
	cfg.Lazy = r.IntN(3) == 0
	cfg.Topology = sched.CacheTopology(p.cpus, r.IntN(3)*2)
	cfg.HRTick, cfg.HRTickDL = r.IntN(2) == 0, r.IntN(2) == 0
	cfg.RTPushIPI, cfg.TTWUQueue = r.IntN(2) == 0, r.IntN(2) == 0
	cfg.GRUBBeforeMax = r.IntN(2) == 0
	cfg.StatRuntimeRT = r.IntN(2) == 0
	if r.IntN(4) == 0 {
		cfg.DLBandwidth = -1
	}
	p.cfg = machine.Config{Sched: cfg, NoTick: r.IntN(6) == 0, NoHZ: machine.NoHZ(r.IntN(3)), LowRes: r.IntN(4) == 0, DLTimerEvents: true}
	if r.IntN(3) == 0 {
		p.cfg.Costs = machine.TypicalCosts()
	}
	// Short periods, so that a run of some 30 ms sees many.
	k := &p.cfg.Sched
	if r.IntN(2) == 0 {
		k.RTPeriod = event.Time(1+r.IntN(10)) * 1_000_000
		k.RTRuntime = k.RTPeriod * event.Time(r.IntN(11)) / 10
		k.RTRuntimeShare, k.RTTimerKeepsGrid = r.IntN(2) == 0, r.IntN(2) == 0
	}
	if r.IntN(2) == 0 {
		k.FairServerPeriod = event.Time(1+r.IntN(10)) * 1_000_000
		k.FairServerRuntime = k.FairServerPeriod * event.Time(r.IntN(5)) / 10
	}
	// Of interrupts there is a stream of its own: half of the machines have none.
	if r = rand.New(rand.NewPCG(r.Uint64(), 98)); r.IntN(2) == 0 {
		return p
	}
	p.lines = r.IntN(4)
	p.cfg.Seed, p.cfg.ThreadIRQs, p.cfg.TickEvents = r.Uint64(), r.IntN(3) == 0, true
	p.cfg.Interrupts = machine.Interrupts{KTimers: r.IntN(2) == 0, SleepersInSoftirq: r.IntN(2) == 0,
		DaemonPriority: r.IntN(2), DaemonFirst: r.IntN(2) == 0, HandlersBHOff: r.IntN(2) == 0}
	if r.IntN(3) == 0 {
		p.cfg.IdleStates = []machine.IdleState{{Name: "POLL", Poll: r.IntN(2) == 0}, {Latency: 2000, Residency: 2000}, {Latency: 100_000, Residency: 300_000}}
	}
	if r.IntN(4) == 0 {
		p.cfg.Steals = []machine.Steal{{Every: machine.Span{Min: 1, Max: 9_000_000}, Length: machine.Span{Max: 1_000_000}}}
	}
	return p
}

// addLines gives the machine interrupts of devices.
func (s *swarm) addLines(n int) {
	r := rand.New(rand.NewPCG(s.r.Uint64(), 97))
	for range n {
		any := func(n int) machine.Span { return machine.Span{Max: event.Time(r.IntN(n))} }
		_, err := s.m.AddIRQ(machine.IRQ{Name: "dev", Hard: any(50_000), Work: any(200_000), Threading: machine.Threading(r.IntN(3)),
			Softirq: r.IntN(2) == 0, SoftirqVec: int64(r.IntN(10)), SoftirqWork: any(300_000), Every: event.Time(50_000 + r.IntN(2_000_000)), Random: r.IntN(2) == 0,
			Done: func(c event.CPU) { s.m.Wake(c, s.any()) }})
		if err != nil {
			panic(err)
		}
	}
}

// eevdfFeatures are those of 6.12.
var eevdfFeatures = sched.FeaturesOf(sched.PlaceLag, sched.PlaceDeadlineInitial, sched.PlaceRelDeadline, sched.RunToParity, sched.PreemptShort,
	sched.PickBuddy, sched.DelayDequeue, sched.DelayZero, sched.WakeupPreemption)

func newSwarm(seed uint64, sink func(*event.Event)) (*swarm, plan) {
	r := rand.New(rand.NewPCG(seed, 99))
	p := randomPlan(r)
	if seed%5 == 2 {
		k := &p.cfg.Sched
		k.RTGroupSched, k.RTRuntime, k.RTPeriod = true, 950*ms, 1000*ms
	}
	if seed%5 == 3 {
		k := &p.cfg.Sched.Fair
		k.QuotaBurst, k.QuotaSlicesExpire, k.QuotaTimersInterleave, k.TaskThrottle = true, r.IntN(3) == 0, r.IntN(2) == 0, r.IntN(3) == 0
		k.BandwidthSlice = event.Time(1+r.IntN(5000)) * us
		if r.IntN(2) == 0 {
			// As in kernels, a choice that uses up the runtime of the fair server stands until the
			// next tick.
			p.cfg.Sched.FairServerPeriod, p.cfg.Sched.FairServerRuntime = 0, 0
			k.EEVDF, k.CustomSlices, k.PickFirst, k.IdleByQueue = true, true, r.IntN(2) == 0, r.IntN(2) == 0
			k.Features = eevdfFeatures
		}
	}
	if seed%5 == 4 {
		p.cfg.Sched.Fair = eevdf(int(seed / 5 % 3))
		if p.cfg.Sched.Fair.PickFirst {
			p.cfg.Sched.FairServerPeriod, p.cfg.Sched.FairServerRuntime = 0, 0 // see above
		}
	}
	p.cfg.Sched.Fair.DeferPutPrev = sched.DeferPutPrev(seed / 5 % 3)
	p.cfg.CoKernel = seed%8 == 7
	s := &swarm{r: r, free: p.cfg.Costs == machine.Costs{}, pinning: p.pinning, kept: map[event.CPU]bool{}, donor: map[*sched.Task]*sched.Task{}}
	s.mon = newMonitor(s.free)
	s.m = machine.New(p.cfg, event.NewNames(), func(ev *event.Event) {
		s.mon.event(ev)
		if sink != nil {
			sink(ev)
		}
	})
	s.mon.attach(s.m, func(c event.CPU) { delete(s.kept, c) })
	if p.cfg.Sched.RTGroupSched {
		for range 4 {
			var above *sched.Group
			if n := len(s.groups); n > 0 && r.IntN(2) == 0 {
				above = s.groups[r.IntN(n)]
			}
			g := s.m.Sched.NewGroup(above)
			period := event.Time(1+r.IntN(10)) * ms
			_ = s.m.Sched.SetGroupBandwidth(g, period*event.Time(r.IntN(4))/10, period) // or a verdict
			s.groups = append(s.groups, g)
		}
	}
	if seed%5 == 3 {
		for range 1 + r.IntN(5) {
			var above *sched.Group
			if n := len(s.groups); n > 0 && r.IntN(2) == 0 {
				above = s.groups[r.IntN(n)]
			}
			s.groups = append(s.groups, s.m.Sched.NewGroup(above))
			s.quota()
		}
	}
	for i := 0; i < p.tasks || len(s.tasks) == 0; i++ {
		s.spawn(0)
	}
	s.addLines(p.lines)
	return s, p
}

// attr is one of all policies.
func (s *swarm) attr() sched.Attr {
	r := s.r
	switch r.IntN(6) {
	case 0:
		a := sched.Attr{Policy: sched.Deadline, Period: event.Time(1+r.IntN(20)) * 500_000}
		a.Deadline = a.Period / event.Time(1+r.IntN(2))
		a.Runtime = max(a.Deadline/event.Time(2+r.IntN(8)), 2000)
		a.Reclaim, a.Overrun = r.IntN(3) == 0, r.IntN(3) == 0
		return a
	case 1, 2:
		return sched.Attr{Policy: sched.FIFO, Priority: 1 + r.IntN(6)}
	case 3:
		return sched.Attr{Policy: sched.RR, Priority: 1 + r.IntN(6)}
	}
	return sched.Attr{Policy: []sched.Policy{sched.Normal, sched.Batch, sched.Idle}[r.IntN(3)], Nice: r.IntN(40) - 20,
		Slice: max(0, event.Time(r.Int64N(6_000_000)-3_000_000))}
}

func (s *swarm) affinity() []event.CPU {
	if !s.pinning || s.r.IntN(2) == 0 {
		return nil
	}
	var list []event.CPU
	for c := range s.m.CPUs() {
		if s.r.IntN(2) == 0 {
			list = append(list, event.CPU(c))
		}
	}
	return list
}

func (s *swarm) spawn(from event.CPU) {
	a := s.attr()
	th, err := s.m.Spawn(0, "t", a, s.affinity(), machine.ProgramFunc(s.next))
	if err != nil {
		return // a verdict
	}
	s.tasks = append(s.tasks, th.Task)
	s.m.Start(from, th)
}

// threads are those that are not the machine's own.
func (s *swarm) threads() []*machine.Thread {
	return slices.DeleteFunc(s.m.Threads(), func(th *machine.Thread) bool { return th.Task.PID > 1<<21 })
}

func (s *swarm) any() *machine.Thread {
	list := s.threads()
	return list[s.r.IntN(len(list))]
}

// next does something to somebody and says what the task itself does next.
func (s *swarm) next(m *machine.Machine, th *machine.Thread) machine.Step {
	r, c := s.r, th.Task.CPU()
	for range r.IntN(3) {
		s.act(c, th)
	}
	short := func() event.Time { return event.Time(r.IntN(3_000_000)) }
	switch r.IntN(10) {
	case 0, 1:
		return machine.Step{Kind: machine.StepSleep, NS: m.Now() + short()}
	case 2:
		return machine.Step{Kind: machine.StepBlock, State: event.StateDisk}
	case 3:
		return machine.Step{Kind: machine.StepYield}
	case 4:
		if len(s.threads()) > 4 && r.IntN(10) == 0 && th.Task.MigrateDisabled() == 0 {
			return machine.Step{Kind: machine.StepExit}
		}
	case 5:
		return machine.Step{Kind: machine.StepRun, NS: short(), Mode: machine.Kernel, CondResched: short() / 4}
	case 6:
		mode := machine.Mode(r.IntN(5))
		if mode == machine.BHOff && s.pinning && m.Preempt() == sched.PreemptRT {
			mode = machine.Kernel // its end is a migrate_enable(), which can leave kept CPUs unseen
		}
		return machine.Step{Kind: machine.StepRun, NS: short(), Mode: mode}
	}
	return machine.Step{Kind: machine.StepRun, NS: short()}
}

// act changes a task, wakes it or makes a new one.
func (s *swarm) act(c event.CPU, self *machine.Thread) {
	m, other := s.m, s.any()
	what := s.r.IntN(12)
	if len(s.groups) > 0 && s.r.IntN(8) == 0 {
		what = 12
		if !s.m.RTGroups() && s.r.IntN(8) == 0 {
			what = 13
		}
	}
	for _, p := range []*sched.Task{other.Task, self.Task} { // migrate_enable() can give self another affinity
		if !p.Running() {
			continue
		}
		dl, throttled := p.Prio().Deadline(), p.Throttled()
		deadline, _ := p.Deadline()
		served := m.Sched.FairServed(p.CPU())
		defer func() {
			if at, _ := p.Deadline(); at != deadline || dl != p.Prio().Deadline() || throttled != p.Throttled() || served && !p.Prio().Fair() {
				s.kept[p.CPU()] = true
			}
		}()
	}
	switch what {
	case 0, 1, 2, 3, 4:
		m.Wake(c, other)
	case 5, 6:
		_, _ = m.Sched.SetAttr(c, other.Task, s.attr()) // or a verdict
	case 7:
		if s.pinning {
			_, _, _ = m.Sched.SetAffinity(c, other.Task, s.affinity()) // or a verdict
		}
	case 8:
		if s.pinning && self.Task.MigrateDisabled() < 3 {
			m.Sched.MigrateDisable(c)
		}
	case 9:
		m.Sched.MigrateEnable(c)
	case 10:
		s.boost(c, other.Task, s.any().Task)
	case 13:
		s.quota()
	case 12:
		_, _ = m.Sched.Attach(c, other.Task, s.groups[s.r.IntN(len(s.groups))]) // or a verdict
	case 11:
		if len(m.Threads()) < 30 {
			s.spawn(c)
		}
	}
}

// quota gives a group a quota, or none; or the kernel has a verdict on it.
func (s *swarm) quota() {
	period := event.Time(1+s.r.IntN(10)) * ms
	quota := ms + period*event.Time(s.r.IntN(30))/10
	if s.r.IntN(6) == 0 {
		quota = -1
	}
	_, _ = s.m.Sched.SetQuota(event.CPU(s.r.IntN(s.m.CPUs())), s.groups[s.r.IntN(len(s.groups))], quota, period, event.Time(s.r.IntN(2))*ms)
}

// boost lets p inherit from donor, or ends that. Who inherits lends to nobody, and the
// other way round: the model's callers see to it that chains have an end.
func (s *swarm) boost(c event.CPU, p, donor *sched.Task) {
	lends := func(t *sched.Task) bool {
		for _, d := range s.donor {
			if d == t {
				return true
			}
		}
		return false
	}
	_, inherits := s.donor[donor]
	if _, has := s.donor[p]; has || p == donor || inherits || lends(p) {
		delete(s.donor, p)
		s.m.Sched.Boost(c, p, nil)
		return
	}
	s.donor[p] = donor
	s.m.Sched.Boost(c, p, donor)
}

// wakeAll keeps blocked tasks from being forgotten: an interrupt every now and then.
func (s *swarm) wakeAll(at event.Time) {
	c := event.CPU(s.r.IntN(s.m.CPUs()))
	s.m.Interrupt(at, c, func() {
		s.m.Wake(c, s.any())
		s.wakeAll(s.m.Now() + event.Time(s.r.IntN(1_000_000)))
	})
}

// run lets the swarm live for a while, looking at the rules after everything that happens.
func (s *swarm) run(until event.Time) error {
	s.wakeAll(0)
	at, steps := event.Time(0), 0
	for s.m.Step(until) {
		if steps++; s.m.Now() > at {
			at, steps = s.m.Now(), 0
		} else if steps > 10_000 {
			return fmt.Errorf("at %d: time stands still", at)
		}
		if err := s.m.Sched.Check(s.tasks); err != nil {
			return fmt.Errorf("at %d: %w", s.m.Now(), err)
		}
		if err := s.highest(); err != nil {
			return fmt.Errorf("at %d: %w", s.m.Now(), err)
		}
		if s.mon.first != "" {
			return fmt.Errorf("%s", s.mon.first)
		}
	}
	return s.m.Err()
}

// TestRulesHoldAfterEveryEvent runs machines of all kinds with tasks that do everything to
// each other.
func TestRulesHoldAfterEveryEvent(t *testing.T) {
	events := 0
	for seed := range uint64(2500) {
		s, p := newSwarm(seed, nil)
		if err := s.run(30_000_000); err != nil {
			t.Fatalf("seed %d, %d CPUs, %+v: %v", seed, p.cpus, p.cfg, err)
		}
		events += s.mon.n
	}
	if events < 1_000_000 {
		t.Errorf("only %d events", events)
	}
}

// TestSameBytesOnOneProcessorAndTwo: a run depends on nothing but its seed.
func TestSameBytesOnOneProcessorAndTwo(t *testing.T) {
	hash := func(seed uint64) uint64 {
		h := fnv.New64a()
		s, _ := newSwarm(seed, func(ev *event.Event) { fmt.Fprintf(h, "%+v\n", *ev) })
		if err := s.run(10_000_000); err != nil {
			t.Fatal(err)
		}
		return h.Sum64()
	}
	for seed := range uint64(20) {
		before := runtime.GOMAXPROCS(1)
		one := hash(seed)
		runtime.GOMAXPROCS(2)
		two := hash(seed)
		runtime.GOMAXPROCS(before)
		if one != two {
			t.Fatalf("seed %d: the events differ", seed)
		}
	}
}
