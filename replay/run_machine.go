package replay

import (
	"fmt"
	"strconv"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// runner is a load on a machine.
type runner struct {
	load  *Load
	setup *scenario.Setup
	m     *machine.Machine
	zero  event.Time // the trace's time at the machine's 0
	sink  func(*event.Event)
	muted bool // nothing that happens is seen

	threads  []thread // by index of Load.Tasks
	mutexes  []mutex
	lines    lines
	groups   []*sched.Group    // by index of Load.Groups
	living   map[event.PID]int // looked up only
	arrivals uint64            // counts entries into queues of waiters, for their order
	later    []Later
	diags    []event.Diagnostic
}

// preemptWords are the kernel's preemption models as the setting preempt spells them.
var preemptWords = map[kernel.Preempt]string{kernel.PreemptNone: "none", kernel.PreemptVoluntary: "voluntary", kernel.PreemptFull: "full", kernel.PreemptRT: "rt"}

// plan is the machine of the load as a scenario without tasks, so that settings and kernels
// mean what they mean there. Nothing costs but the hand-over: all other costs are inside the
// times that were recorded.
func (l *Load) plan() (*scenario.Plan, error) {
	k, err := scenario.KernelNamed(l.Kernel)
	if err != nil {
		return nil, err
	}
	p := &scenario.Plan{Name: "replay", Kernel: l.Kernel, CPUs: l.CPUs, Topology: l.Hardware.Topology, Partitions: l.Hardware.Partitions, Isolated: l.Hardware.Isolated}
	p.Load.Groups = l.cpusets()
	if l.Tick > 0 {
		p.Values = append(p.Values, scenario.Value{Name: "HZ", To: strconv.FormatInt(int64(1_000_000_000/l.Tick), 10)})
	}
	if l.Preempt != k.Profile.Traits().Preempt {
		p.Values = append(p.Values, scenario.Value{Name: "preempt", To: preemptWords[l.Preempt]})
	}
	p.Values = append(p.Values, l.Values...)
	return p, nil
}

// Setup is the machine of the load, without its tasks. An error is settings that its kernel refuses.
func (l *Load) Setup() (*scenario.Setup, error) {
	p, err := l.plan()
	if err != nil {
		return nil, err
	}
	return p.Setup()
}

// newRunner puts the load on its machine, up to the moment before its first event.
func newRunner(l *Load, sink func(*event.Event)) (*runner, error) {
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	p, err := l.plan()
	if err != nil {
		return nil, fmt.Errorf("making the machine of the trace: %w", err)
	}
	setup, err := p.Setup()
	if err != nil {
		return nil, fmt.Errorf("making the machine of the trace: %w", err)
	}
	r := &runner{load: l, setup: setup, sink: sink, living: make(map[event.PID]int), diags: setup.Limits,
		threads: make([]thread, len(l.Tasks)), mutexes: make([]mutex, len(l.Mutexes))}
	if err := r.configure(); err != nil {
		return nil, err
	}
	r.muted = true // a machine with HZ_PERIODIC ticks from its first moment on
	r.m = machine.New(setup.Machine, l.Names, r.take)
	if err := r.begin(); err != nil {
		return nil, fmt.Errorf("putting the load on its machine: %w", err)
	}
	return r, nil
}

// configure completes the machine. The threads of the kernel that a machine would make for
// itself are tasks of the load as all others.
func (r *runner) configure() error {
	l, cfg := r.load, &r.setup.Machine
	cfg.Interrupts.KTimers, cfg.Interrupts.SleepersInSoftirq = false, false
	cfg.HandOver, cfg.IdleHandOver = max(l.HandOver, 0), max(l.IdleHandOver, 0)
	cfg.Interrupts.BalanceInIRQ = true
	if cfg.Sched.FairPlaced = !l.FairClass; cfg.Sched.FairPlaced && cfg.Sched.CPUs > 1 {
		r.diags = event.Diagnose(r.diags, "not_modelled", 1, "placement and load balancing of fair tasks, as their loads are not known: a stand-in leaves no CPU idle while a fair task waits that could run there")
	}
	cfg.Sched.RTSwitchCharge = max(l.RTSwitchCharge, 0)
	if short := max(l.RTShort, 0); cfg.Sched.RTRuntime > short {
		cfg.Sched.RTRuntime -= short
	}
	// The tasks are put there a little before From, so that one of them has the CPU then.
	lead, tick := 1+2*max(cfg.HandOver, cfg.IdleHandOver), max(cfg.Sched.Tick, 1)
	r.zero = l.Zero
	if short := r.zero + lead - l.From; short > 0 {
		r.zero -= (short + tick - 1) / tick * tick
	}
	if l.RTPeriod != event.NoTime && cfg.Sched.RTPeriod > 0 {
		cfg.Sched.RTTimerExpires = nextOf(r.model(l.RTPeriod), cfg.Sched.RTPeriod, r.model(l.From))
	}
	return nil
}

// nextOf is the first of at, at ± every, … that is not before from.
func nextOf(at, every, from event.Time) event.Time {
	late := (from - at) % every
	if late < 0 {
		late += every
	}
	if late == 0 {
		return from
	}
	return from + every - late
}

// model is a time of the trace on the machine's clock, trace the reverse.
func (r *runner) model(t event.Time) event.Time { return t - r.zero }
func (r *runner) trace(t event.Time) event.Time { return t + r.zero }

func (r *runner) now() event.Time { return r.trace(r.m.Now()) }
func (r *runner) over() bool      { return r.m.Now() >= r.model(r.load.To) }

// goOn lets the machine run for ns, at most to the end of the load.
func (r *runner) goOn(ns event.Time) error {
	if err := r.m.RunUntil(min(r.m.Now()+ns, r.model(r.load.To))); err != nil {
		return fmt.Errorf("running the model: %w", err)
	}
	return nil
}

// take is the machine's sink: it moves events to the trace's clock.
func (r *runner) take(ev *event.Event) {
	if r.muted {
		return
	}
	ev.Time += r.zero
	switch ev.Kind {
	case event.HrtimerStart:
		ev.Arg2, ev.Arg3 = ev.Arg2+int64(r.zero), ev.Arg3+int64(r.zero)
	case event.HrtimerExpireEntry:
		ev.Arg2 += int64(r.zero)
	}
	r.sink(ev)
}

// taskOf is the task of the load that has pid now, −1: none.
func (r *runner) taskOf(pid event.PID) int {
	if i, ok := r.living[pid]; ok {
		return i
	}
	return -1
}

// post posts a task, on CPU c: if it waits for that it wakes.
func (r *runner) post(c event.CPU, task int) {
	t := &r.threads[task]
	t.posts++
	if t.waiting() {
		r.m.Wake(c, t.th)
	}
}

// refused notes what the model's kernel did not let a task do, which the recorded did.
func (r *runner) refused(p *thread, err error) {
	r.diags = event.Diagnose(r.diags, "verdict", 1, fmt.Sprintf("%s/%d: %v", r.load.Names.String(p.task.Comm), p.task.PID, err))
}

// left lists who has not done all of its script.
func (r *runner) left() []Left {
	var list []Left
	for i := range r.threads {
		p := &r.threads[i]
		if p.pc >= len(p.task.Ops) || p.task.Stopper || p.task.Removed {
			continue
		}
		stuck := p.waiting() && p.posts == 0
		list = append(list, Left{Task: i, Op: p.pc, Ops: len(p.task.Ops), Stuck: stuck})
	}
	return list
}
