package scenario

import (
	"slices"
	"strconv"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/workload"
)

// Snapshot is the machine of the run as a recorder would find it when every thread that the
// program starts with has begun its first round; those that are forked later are not in it.
func (s *Source) Snapshot() *sysinfo.Snapshot {
	if s.snapshot == nil {
		s.snapshot = s.setup.snapshot()
	}
	return s.snapshot
}

func (s *Setup) snapshot() *sysinfo.Snapshot {
	start := int64(s.Start)
	out := &sysinfo.Snapshot{TimeNS: &start, Kernel: sysinfo.Kernel{Release: s.Kernel.Release, Machine: "x86_64"},
		Settings: slices.Clone(s.settings), Features: slices.Clone(s.features)}
	for c := range s.Machine.Sched.CPUs {
		out.CPUs = append(out.CPUs, s.cpu(c))
	}
	names := event.NewNames()
	m := machine.New(s.Machine, names, nil)
	if _, err := workload.Load(m, s.Load); err == nil { // else there is no run, and nobody asks
		for _, th := range m.OwnThreads() {
			out.Tasks = append(out.Tasks, ownTask(th.Task, names))
		}
		for _, l := range m.Lines() {
			out.IRQs = append(out.IRQs, irqOf(l))
		}
	}
	s.threads(out)
	for i := range s.Load.Groups {
		if g := &s.Load.Groups[i]; !g.Auto {
			out.CGroups = append(out.CGroups, s.cgroupOf(g))
			last := &out.CGroups[len(out.CGroups)-1]
			if last.CPUs = listOf(s.cpusets.Groups[i]); last.CPUs != nil {
				last.Partition = workload.PartitionNames[g.Partition]
			}
		}
	}
	out.Sort()
	return out
}

// known notes the settings and features as t has them.
func (s *Setup) known(t *tuning) {
	s.settings, s.features = nil, nil
	for i := range settings {
		x := &settings[i]
		value := x.get(t)
		switch {
		case value == "":
		case x.Feature && value == x.Default && proposed(x.Name): // as in every kernel
		case x.Feature && (value == "on" || value == "off") && !proposed(x.Name):
			s.features = append(s.features, sysinfo.Feature{Name: x.Name, On: value == "on"})
		default:
			s.settings = append(s.settings, sysinfo.Setting{Name: x.Name, Value: value})
		}
	}
}

// proposed reports whether a feature was proposed and is in no kernel.
func proposed(name string) bool {
	return name == "exit_normalize" || name == "defer_put_prev" || name == "co_kernel"
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func switchWord(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func preemptName(is sched.PreemptModel) string {
	for _, m := range preemptNames {
		if m.is == is {
			return m.name
		}
	}
	return ""
}

// serverFile is what a file of the fair servers says.
func (t *tuning) serverFile(ns event.Time) string {
	if t.config.FairServerPeriod == 0 {
		return ""
	}
	return decimal(int64(ns))
}

func (s *Setup) cpu(n int) sysinfo.CPU {
	cfg := &s.Machine.Sched
	c := sysinfo.CPU{CPU: int32(n), Online: true, Core: int32(n), Capacity: 1024}
	s.CommandLine(&c)
	t := &cfg.Topology
	if n < len(t.Core) {
		c.Core = int32(t.Core[n])
	}
	if n < len(t.LLC) {
		c.LLC = int32(t.LLC[n])
	}
	if n < len(t.Node) {
		c.Node = int32(t.Node[n])
	}
	if cfg.FairServerPeriod > 0 {
		c.FairServer = &sysinfo.FairServer{RuntimeNS: int64(cfg.FairServerRuntime), PeriodNS: int64(cfg.FairServerPeriod)}
	}
	return c
}

// CommandLine makes c what isolcpus= and nohz_full= say of it.
func (s *Setup) CommandLine(c *sysinfo.CPU) {
	list := s.Machine.NoHZFullCPUs
	c.NoHZFull = s.Machine.NoHZ == machine.NoHZFull && (list == nil || slices.Contains(list, event.CPU(c.CPU)))
	c.Isolated = slices.Contains(s.isolcpus, event.CPU(c.CPU))
}

// ownTask is a thread of the machine itself, which stays on one CPU.
func ownTask(t *sched.Task, names *event.Names) sysinfo.Task {
	comm := names.String(t.Comm)
	out := sysinfo.Task{PID: int32(t.PID), TGID: int32(t.PID), Comm: comm, CPUs: sysinfo.CPUList{int32(t.CPU())}, CGroup: "/", Kernel: true}
	if kernel.IsStopper(comm) { // as the kernel shows its class
		out.Policy, out.Priority = sysinfo.FIFO, 99
		return out
	}
	setAttr(&out, &t.Attr)
	return out
}

func setAttr(t *sysinfo.Task, a *sched.Attr) {
	t.Policy, t.Priority, t.Nice = a.Policy.String(), a.Priority, a.Nice
	if a.Policy == sched.Deadline {
		t.RuntimeNS, t.DeadlineNS, t.PeriodNS = int64(a.Runtime), int64(a.Deadline), int64(a.Period)
		if a.Period == 0 {
			t.PeriodNS = t.DeadlineNS
		}
	}
}

// threads adds the main thread and those that it starts.
func (s *Setup) threads(out *sysinfo.Snapshot) {
	main := sysinfo.Task{PID: int32(s.Load.PID), TGID: int32(s.Load.PID), Comm: s.Load.Comm, Policy: sysinfo.Other, CGroup: "/", TimerSlackNS: s.slack(&sched.Attr{}),
		CPUs: listOf(s.cpusets.Allowed(0, nil, s.Load.CPUs))}
	out.Tasks = append(out.Tasks, main)
	n := 0
	for i := range s.Load.Tasks {
		t := &s.Load.Tasks[i]
		attr, cpus := beginning(t)
		for range t.Instances {
			x := main
			if comm := t.Called(n); len(comm) <= workload.MaxComm {
				x.Comm = comm
			}
			n++
			x.PID += int32(n)
			setAttr(&x, &attr)
			x.TimerSlackNS = s.slack(&attr)
			x.CPUs = listOf(s.cpusets.Allowed(s.placeIn(&x, t), cpus, s.Load.CPUs))
			out.Tasks = append(out.Tasks, x)
		}
	}
}

// beginning is what a thread of t has made itself when its first round begins.
func beginning(t *workload.Task) (sched.Attr, []event.CPU) {
	attr, cpus := sched.Attr{}, t.CPUs
	if t.Attr != nil {
		attr = *t.Attr
	}
	if len(t.Phases) == 0 {
		return attr, nil
	}
	first := &t.Phases[0]
	if first.CPUs != nil {
		cpus = first.CPUs
	}
	switch {
	case first.Attr == nil:
	case !first.Keep:
		attr = *first.Attr
	case attr.Policy == sched.FIFO || attr.Policy == sched.RR:
		attr.Priority = first.Attr.Priority
	case attr.Policy != sched.Deadline:
		attr.Nice = first.Attr.Nice
	}
	return attr, cpus
}

// slack is the timer slack of a task: none for real-time and deadline ones.
func (s *Setup) slack(a *sched.Attr) *int64 {
	ns := int64(s.Load.TimerSlack)
	if a.Policy == sched.FIFO || a.Policy == sched.RR || a.Policy == sched.Deadline {
		ns = 0
	}
	return &ns
}

func irqOf(l *machine.Line) sysinfo.IRQ {
	irq := l.IRQ()
	out := sysinfo.IRQ{Number: irq.Number, Name: irq.Name, CPUs: listOf(irq.CPUs), Effective: sysinfo.CPUList{int32(l.CPU())}}
	if th := l.Thread(); th != nil {
		out.Thread = int32(th.Task.PID)
	}
	return out
}

// listOf is a list of CPUs in order; nil: all.
func listOf(cpus []event.CPU) sysinfo.CPUList {
	var list sysinfo.CPUList
	for _, c := range cpus {
		list = append(list, int32(c))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
