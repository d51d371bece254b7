package scenario_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// randomPlan is a load of real-time, deadline and fair tasks with locks: on one CPU, or
// without deadline tasks on two, each task bound to one of them.
func randomPlan(seed uint64) *scenario.Plan {
	r := rand.New(rand.NewPCG(seed, 77))
	p := &scenario.Plan{Kernel: []string{"6.1", "6.1-rt", "6.12", "6.12-rt"}[r.IntN(4)], CPUs: 1 + r.IntN(2)}
	p.Load.Comm, p.Load.Duration, p.Load.Seed = "random", 200*ms, seed
	p.Load.Mutexes = []workload.Mutex{{PI: true}, {PI: true}, {PI: false}}
	random := func(low, high int) event.Time { return event.Time(low+r.IntN(high-low+1)) * us }
	for i := range 3 + r.IntN(6) {
		t := workload.Task{Name: fmt.Sprintf("t%d", i), Instances: 1, Loop: -1, Timers: 1}
		period := random(2000, 20_000)
		work := period / event.Time(3+r.IntN(8))
		ops := []workload.Op{{Kind: workload.OpRun, NS: work}}
		if p.CPUs > 1 {
			t.CPUs = []event.CPU{event.CPU(r.IntN(p.CPUs))}
		}
		switch kind := r.IntN(10); {
		case kind < 2 && p.CPUs == 1:
			t.Attr = &sched.Attr{Policy: sched.Deadline, Runtime: max(work-random(0, 300), 20*us), Deadline: period, Period: period}
		case kind < 8:
			t.Attr = &sched.Attr{Policy: []sched.Policy{sched.FIFO, sched.RR}[r.IntN(2)], Priority: 1 + r.IntN(12)}
			if r.IntN(2) == 0 {
				n := r.IntN(3)
				ops = []workload.Op{{Kind: workload.OpLock, Ref: n}, ops[0], {Kind: workload.OpUnlock, Ref: n}}
				if r.IntN(2) == 0 {
					inner := (n + 1) % 3
					ops = append([]workload.Op{{Kind: workload.OpLock, Ref: min(n, inner)}, {Kind: workload.OpLock, Ref: max(n, inner)}, ops[1]},
						workload.Op{Kind: workload.OpUnlock, Ref: max(n, inner)}, workload.Op{Kind: workload.OpRun, NS: random(10, 300)}, workload.Op{Kind: workload.OpUnlock, Ref: min(n, inner)})
				}
			}
		default:
			t.Attr = &sched.Attr{Nice: r.IntN(10) - 5}
		}
		t.Phases = []workload.Phase{{Loop: 1, Ops: append(ops, workload.Op{Kind: workload.OpUnique, NS: period})}}
		p.Load.Tasks = append(p.Load.Tasks, t)
	}
	return p
}

// mixedPlan is a random load of everything that makes tasks wait: classes, locks of each
// kind, exits of each kind, real-time throttling and fair servers, interrupts, softirqs,
// devices, sections of the kernel, on 1–4 CPUs of several kernels, with and without costs.
func mixedPlan(seed uint64) *scenario.Plan {
	g := generator{r: rand.New(rand.NewPCG(seed, 4711)), p: &scenario.Plan{}}
	g.machine(seed)
	for i := range 3 + g.r.IntN(6) {
		g.task(i)
	}
	return g.p
}

type generator struct {
	r *rand.Rand
	p *scenario.Plan
}

func (g *generator) one(of int) bool { return g.r.IntN(of) == 0 }

// us is a random time in µs from low to high.
func (g *generator) us(low, high int) event.Time { return event.Time(low+g.r.IntN(high-low+1)) * us }

func (g *generator) pick(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *generator) set(name, value string) {
	g.p.Values = append(g.p.Values, scenario.Value{Name: name, To: value})
}

func (g *generator) machine(seed uint64) {
	p := g.p
	p.Kernel, p.CPUs = g.pick("6.1", "6.1-rt", "6.12", "6.12-rt"), 1+g.r.IntN(4)
	if g.r.IntN(2) == 0 {
		p.Costs = scenario.DefaultCosts()
	}
	g.set("HZ", g.pick("100", "250", "1000"))
	rt := p.Kernel == "6.1-rt" || p.Kernel == "6.12-rt"
	if !rt {
		g.set("preempt", g.pick("none", "voluntary", "full"))
		g.set("threadirqs", g.pick("on", "off", "off"))
	}
	if g.one(2) {
		period := []int{10_000, 50_000, 100_000, 200_000}[g.r.IntN(4)]
		g.set("sched_rt_period_us", fmt.Sprint(period))
		g.set("sched_rt_runtime_us", fmt.Sprint(period*(30+g.r.IntN(66))/100))
	}
	g.set("RT_RUNTIME_SHARE", g.pick("on", "off"))
	g.set("HRTICK_DL", g.pick("on", "off"))
	g.set("exit_normalize", g.pick("off", "off", "rt", "all"))
	if (p.Kernel == "6.12" || p.Kernel == "6.12-rt") && g.one(2) {
		g.set("fair_server_period_ns", g.pick("200000000", "400000000")) // it cannot get less than its share
	}
	p.Load.Comm, p.Load.Duration, p.Load.Seed = "random", 200*ms, seed
	p.Load.Mutexes = []workload.Mutex{{PI: true}, {PI: true, Robust: g.one(2)}, {}, {Ceiling: 10 + g.r.IntN(5)}, {Robust: true}, {Spin: true}}
	for i := range g.r.IntN(3) {
		g.irq(i)
	}
}

func (g *generator) span(low, high int) machine.Span {
	a := g.us(low, high)
	return machine.Span{Min: a, Max: a + g.us(0, high-low)}
}

func (g *generator) irq(i int) {
	line := machine.IRQ{Name: fmt.Sprintf("dev%d", i), CPUs: []event.CPU{event.CPU(g.r.IntN(g.p.CPUs))}, Hard: g.span(2, 60)}
	if g.one(2) {
		line.Work = g.span(10, 400)
	}
	if g.one(2) {
		line.Softirq, line.SoftirqVec, line.SoftirqWork = true, event.SoftirqNetRx, g.span(5, 300)
	}
	if g.one(4) {
		line.Threading = machine.ThreadNever
	}
	if i == 0 && g.one(3) { // a device that fires again as soon as it was served
		g.p.Load.Devices = append(g.p.Load.Devices, workload.Device{DeviceConfig: machine.DeviceConfig{Name: "disk", BytesPerIRQ: 4096, Gap: g.span(1, 20)},
			IRQ: 0, Post: -1, Bytes: 4096 * int64(20+g.r.IntN(400)), Start: g.us(0, 50_000), Every: g.us(60_000, 150_000)})
	} else {
		line.Every, line.Random = g.us(700, 20_000), g.one(2)
	}
	g.p.Load.IRQs = append(g.p.Load.IRQs, workload.IRQ{IRQ: line, Post: -1})
}

func (g *generator) task(i int) {
	p := g.p
	t := workload.Task{Name: fmt.Sprintf("t%d", i), Instances: 1, Loop: -1, Timers: 1}
	period := g.us(2000, 20_000)
	work := period / event.Time(3+g.r.IntN(8))
	ops := []workload.Op{{Kind: workload.OpRun, NS: work}}
	if g.one(8) {
		ops[0].Mode = machine.Kernel
	}
	if g.r.IntN(3) > 0 {
		t.CPUs = []event.CPU{event.CPU(g.r.IntN(p.CPUs))}
	}
	switch kind := g.r.IntN(10); {
	case kind < 2 && i < 2*p.CPUs:
		deadline := period
		if g.one(3) {
			deadline = period * 3 / 4
		}
		t.CPUs = nil
		t.Attr = &sched.Attr{Policy: sched.Deadline, Runtime: max(work-g.us(0, 300), 20*us), Deadline: deadline, Period: period}
	case kind < 8:
		t.Attr = &sched.Attr{Policy: []sched.Policy{sched.FIFO, sched.RR}[g.r.IntN(2)], Priority: 1 + g.r.IntN(12)}
	default:
		t.Attr = &sched.Attr{Nice: g.r.IntN(10) - 5}
	}
	if t.Attr.Policy != sched.Deadline && g.one(2) {
		ops = g.locked(ops[0])
	}
	if g.one(5) {
		mode := []machine.Mode{machine.PreemptOff, machine.IRQsOff, machine.Kernel}[g.r.IntN(3)]
		low := g.us(5, 200)
		every := g.us(3000, 20_000)
		t.Sections = []workload.Section{{Mode: mode, Length: workload.Span{Min: low, Max: low + g.us(0, 600)}, Every: workload.Span{Min: every, Max: 2 * every}}}
	}
	if g.one(4) {
		t.Memory = &workload.Memory{Pages: int64(g.r.IntN(20_000)), VMAs: int64(1 + g.r.IntN(60)), Locked: g.one(2)}
	}
	if g.one(4) {
		t.Exit = &workload.Exit{After: g.us(10_000, 180_000), Post: -1}
		switch g.r.IntN(3) {
		case 0:
			t.Exit.Signal = 9
		case 1:
			t.Exit.Signal, t.Exit.Core = 11, int64(g.r.IntN(64))<<20
		}
	}
	t.Phases = []workload.Phase{{Loop: 1, Ops: append(ops, workload.Op{Kind: workload.OpUnique, NS: period})}}
	if t.Attr.Policy != sched.Deadline && g.one(8) { // it changes its class after each sleep
		t.Phases[0].Attr = t.Attr
		t.Phases = append(t.Phases, workload.Phase{Loop: 1, Attr: &sched.Attr{Policy: sched.FIFO, Priority: 1 + g.r.IntN(12)}, Ops: t.Phases[0].Ops})
	}
	p.Load.Tasks = append(p.Load.Tasks, t)
}

// locked puts op under one lock or two.
func (g *generator) locked(op workload.Op) []workload.Op {
	n := g.r.IntN(len(g.p.Load.Mutexes))
	lock := func(n int) workload.Op { return workload.Op{Kind: workload.OpLock, Ref: n} }
	unlock := func(n int) workload.Op { return workload.Op{Kind: workload.OpUnlock, Ref: n} }
	inner := (n + 1) % len(g.p.Load.Mutexes)
	if spin := len(g.p.Load.Mutexes) - 1; g.one(2) || n == spin || inner == spin {
		return []workload.Op{lock(n), op, unlock(n)}
	}
	low, high := min(n, inner), max(n, inner)
	return []workload.Op{lock(low), lock(high), op, unlock(high), {Kind: workload.OpRun, NS: g.us(10, 300)}, unlock(low)}
}
