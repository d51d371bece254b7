package scenario

import (
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario/rtapp"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// Plan is a scenario before it is bound to a kernel: what a file or a template says, and
// what changes make of it.
type Plan struct {
	Name   string
	Kernel string // profile; "": DefaultKernel
	CPUs   int    // 0: as many as the tasks name, at least one
	// Topology is how the CPUs share things. Partitions are sets of them that balance by themselves,
	// Isolated those that do not balance, beside what settings and control groups say.
	Topology   sched.Topology
	Partitions [][]event.CPU
	Isolated   []event.CPU
	Costs      Costs // of the machine's own work, unless UseCosts names a table
	// IdleStates and Steals are those of the machine.
	IdleStates []machine.IdleState
	Steals     []machine.Steal
	// Values are settings in the order in which they are made; a later one wins.
	Values []Value
	Load   workload.Spec
	// Always are the changes that the file makes itself; the plan has them.
	Always []string
	// Variants are lists of changes that the file names.
	Variants []Variant
	// Notes are what the file says and the model reads otherwise.
	Notes []event.Diagnostic

	cgroup1     bool         // a file of control groups of version 1 is used
	mutexes     []string     // names of Load.Mutexes
	costTable   string       // "": Costs
	costChanges []rtapp.Cost // single costs, on top of either
}

// Value is a setting and what it is set to.
type Value struct{ Name, To string }

// Costs says what the machine's own work takes.
type Costs struct {
	Machine machine.Costs
	Op      event.Time // every operation of a task beside its work
	Slack   event.Time // timer slack of tasks that are neither real-time nor deadline
	Kernel  workload.Costs
}

// DefaultCosts are those of a machine of the usual size; the timer slack is the kernel's
// own default.
func DefaultCosts() Costs {
	return Costs{Machine: machine.TypicalCosts(), Op: 200, Slack: 50_000, Kernel: workload.TypicalCosts()}
}

const (
	// mostCPUs bounds the machine.
	mostCPUs = 4096
	// mostThreads bounds the threads that a scenario starts with.
	mostThreads = 100_000
	// firstPID is the pid of the main thread.
	firstPID event.PID = 1000
	// grace is how much longer than its duration a run may go on until all threads have
	// ended: work and locks that are in hand when the main thread cancels all.
	grace event.Time = 1_000_000_000
	// mostTime bounds runs of programs that end by themselves.
	mostTime event.Time = 3600 * 1_000_000_000
)

// Setup binds the plan to its kernel: the defaults of the kernel first, then the settings in
// their order, so that the same plan can be run on several. The plan stays as it is. Errors
// say what cannot be modelled, and what makes no sense.
func (p *Plan) Setup() (*Setup, error) {
	k, err := KernelNamed(p.Kernel)
	if err != nil {
		return nil, err
	}
	cpus, err := p.cpus()
	if err != nil {
		return nil, err
	}
	if n := p.Threads(); n > mostThreads {
		return nil, fmt.Errorf("%d threads are more than the %d that a scenario may start", n, mostThreads)
	}
	costs, err := p.costs(k.Profile.Name)
	if err != nil {
		return nil, err
	}
	load := p.Load
	load.OpCost, load.TimerSlack, load.Costs = costs.Op, costs.Slack, costs.Kernel
	if load.PID == 0 {
		load.PID = firstPID
	}
	s := &Setup{Kernel: k, Load: &load, Limits: slices.Clone(p.Notes)}
	s.Machine = machine.Config{Sched: k.config(cpus), Costs: costs.Machine, DLTimerEvents: true, Seed: load.Seed, Interrupts: k.interrupts(),
		IdleStates: p.IdleStates, Steals: p.Steals, TickEvents: true}
	s.Machine.Sched.Topology = p.Topology
	f := k.facts()
	load.ToldFirst, load.DrainsAtOnce = f.ExitToldFirst == kernel.Yes, f.ExitDrains == kernel.Yes
	t := tuning{config: &s.Machine.Sched, machine: &s.Machine, load: &load, fair: s.Kernel.Profile.Fair(), rtRuntime: f.RTRuntime / 1000, rtPeriod: f.RTPeriod / 1000, rrTimesliceMS: 100,
		throttling: f.RTThrottling == kernel.Yes}
	for _, v := range p.Values {
		setting, err := settingNamed(v.Name)
		if err != nil {
			return nil, err
		}
		if err := setting.set(&t, v.To); err != nil {
			return nil, fmt.Errorf("set %s: %w", v.Name, err)
		}
	}
	if err := t.apply(); err != nil {
		return nil, err
	}
	if err := s.partition(p, t.isolcpus); err != nil {
		return nil, err
	}
	s.known(&t)
	s.Machine.Sched.CGroup1 = p.cgroup1
	s.Machine.Sched.Fair.QuotaTimerSeed, s.Machine.Sched.Fair.NewidleSeed = load.Seed, load.Seed
	if err := s.checkGroups(); err != nil {
		return nil, err
	}
	if s.Until, err = p.until(); err != nil {
		return nil, err
	}
	s.limits()
	return s, nil
}

// cpus is the number of CPUs of the machine: as said, else just enough for every CPU that a
// task names. A task on a CPU that is not there would not run on a real machine either.
func (p *Plan) cpus() (int, error) {
	most := event.CPU(0)
	for i := range p.Load.Tasks {
		t := &p.Load.Tasks[i]
		for _, c := range t.CPUs {
			most = max(most, c)
		}
		for j := range t.Phases {
			for _, c := range t.Phases[j].CPUs {
				most = max(most, c)
			}
		}
	}
	for i := range p.Load.IRQs {
		for _, c := range p.Load.IRQs[i].CPUs {
			most = max(most, c)
		}
	}
	for i := range p.Steals {
		for _, c := range p.Steals[i].CPUs {
			most = max(most, c)
		}
	}
	n := p.CPUs
	if n == 0 {
		n = int(most) + 1
	}
	if n < 1 || n > mostCPUs {
		return 0, fmt.Errorf("%d CPUs: a machine has 1 to %d", n, mostCPUs)
	}
	if int(most) >= n {
		return 0, fmt.Errorf("a task, an interrupt or a steal is bound to CPU %d of a machine with %d CPUs", most, n)
	}
	return n, nil
}

// Threads is how many threads the program starts with, the main one included.
func (p *Plan) Threads() int64 {
	n := int64(1)
	for i := range p.Load.Tasks {
		n += int64(p.Load.Tasks[i].Instances)
	}
	return n
}

// until is when the run ends at the latest. Without a duration the program has to end by
// itself; a task that loops for ever is refused instead of running for an hour of model
// time. One that waits for ever is not noticed: nothing happens then, and nothing costs.
func (p *Plan) until() (event.Time, error) {
	if p.Load.Duration >= 0 {
		return p.Load.Duration + grace, nil
	}
	for i := range p.Load.Tasks {
		if t := &p.Load.Tasks[i]; t.Instances > 0 && t.Endless() {
			return 0, fmt.Errorf("task %s never ends and the file gives no duration; say how long to run", t.Name)
		}
	}
	return mostTime, nil
}

// limits notes what the kernel has and the model leaves out, where this load could meet it:
// an answer that depends on it should say so.
func (s *Setup) limits() {
	add := func(text string) { s.Limits = event.Diagnose(s.Limits, "not_modelled", 1, text) }
	if _, fair := s.Load.Classes(); fair && slices.ContainsFunc(s.Machine.Sched.Topology.Node, func(n int) bool { return n > 0 }) {
		add("NUMA balancing: fair tasks do not follow their memory to its node")
	}
}
