package sysinfo

import (
	"slices"
	"strconv"
	"strings"
)

// Schema names the form of the JSON. Fields are added, never changed: else the number rises.
const Schema = "whylate.sysinfo/1"

// Snapshot is a machine at one moment of a recording. Its lists are in the order of Sort, and
// have no name or number twice but for interrupts, where each handler of a line is one entry.
// An empty list means that this part is not known.
type Snapshot struct {
	// TimeNS is when it was taken, on the clock of the trace; nil: not known. It holds for the
	// time before and after as far as no event says otherwise.
	TimeNS *int64
	Kernel Kernel
	// Settings have the names that `whylate list settings` knows, and others of the machine's.
	Settings []Setting
	Features []Feature
	CPUs     []CPU
	Tasks    []Task
	CGroups  []CGroup
	CFSRQs   []CFSRQ
	IRQs     []IRQ
}

// Kernel is what uname tells; "" where not known.
type Kernel struct {
	Release string `json:"release,omitempty"`
	Version string `json:"version,omitempty"`
	Machine string `json:"machine,omitempty"`
}

// Setting is a sysctl, a boot parameter or an option of the configuration with its value as
// text: "950000", "off", "voluntary".
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Feature is one of /sys/kernel/debug/sched/features.
type Feature struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
}

// CPU is a logical CPU and what it shares with others.
type CPU struct {
	CPU    int32 `json:"cpu"`
	Online bool  `json:"online"`
	// Core, LLC and Node tell what is shared apart: equal numbers, the same core, last-level
	// cache or NUMA node. −1: not known.
	Core int32 `json:"core"`
	LLC  int32 `json:"llc"`
	Node int32 `json:"node"`
	// Capacity is that of the scheduler, 1..1024, 0: not known.
	Capacity int32 `json:"capacity,omitempty"`
	// Siblings are the CPUs of the same core, itself among them; nil: it has the core for itself.
	Siblings CPUList `json:"siblings,omitempty"`
	Isolated bool    `json:"isolated,omitempty"`
	NoHZFull bool    `json:"nohz_full,omitempty"`
	// FairServer is that of this CPU; nil: the kernel has none, or it is not known.
	FairServer *FairServer `json:"fair_server,omitempty"`
}

// FairServer are the files of /sys/kernel/debug/sched/fair_server/cpuN; ns.
type FairServer struct {
	RuntimeNS int64 `json:"runtime_ns"` // 0: switched off
	PeriodNS  int64 `json:"period_ns"`
}

// The scheduling policies by their names in sched(7), as Task.Policy has them. Others are kept
// as they are.
const (
	Other    = "SCHED_OTHER"
	FIFO     = "SCHED_FIFO"
	RR       = "SCHED_RR"
	Batch    = "SCHED_BATCH"
	Idle     = "SCHED_IDLE"
	Deadline = "SCHED_DEADLINE"
)

// Task is a thread.
type Task struct {
	PID    int32  `json:"pid"` // of the thread, as the trace has it
	TGID   int32  `json:"tgid"`
	Comm   string `json:"comm"`
	Policy string `json:"policy"`
	// Priority is 1..99 for SCHED_FIFO and SCHED_RR, else 0; without what a lock lends.
	Priority int `json:"priority,omitempty"`
	Nice     int `json:"nice,omitempty"` // −20..19
	// RuntimeNS, DeadlineNS and PeriodNS are those of SCHED_DEADLINE, 0: not known; else 0.
	RuntimeNS  int64 `json:"runtime_ns,omitempty"`
	DeadlineNS int64 `json:"deadline_ns,omitempty"`
	PeriodNS   int64 `json:"period_ns,omitempty"`
	// ResetOnFork: its children begin as SCHED_OTHER (SCHED_FLAG_RESET_ON_FORK).
	ResetOnFork bool `json:"reset_on_fork,omitempty"`
	// CPUs that it may use, what its cpuset leaves of its affinity; nil: all.
	CPUs   CPUList `json:"cpus,omitempty"`
	CGroup string  `json:"cgroup,omitempty"` // path from the root of the hierarchy, "/": the root; "": not known
	Kernel bool    `json:"kernel,omitempty"` // a kernel thread
	// TimerSlackNS is what its timers may be late; nil: not known.
	TimerSlackNS *int64 `json:"timer_slack_ns,omitempty"`
	// VRuntimeNS and VirtualDeadlineNS (from 6.6) are its se.vruntime and se.deadline; nil: not
	// known. Of a task that sleeps they are those of when it went to sleep.
	VRuntimeNS        *int64 `json:"vruntime_ns,omitempty"`
	VirtualDeadlineNS *int64 `json:"virtual_deadline_ns,omitempty"`
	SliceNS           int64  `json:"slice_ns,omitempty"` // that it asked for (from 6.12); 0: none
	// Autogroup is the number of its session's group, 0: none, or not known. AutogroupNice is
	// the nice value of that group.
	Autogroup     int64 `json:"autogroup,omitempty"`
	AutogroupNice int   `json:"autogroup_nice,omitempty"`
}

// Allows reports whether t may use cpu, as far as its own affinity goes.
func (t *Task) Allows(cpu int32) bool { return len(t.CPUs) == 0 || slices.Contains(t.CPUs, cpu) }

// maxComm is how much of a name a trace has.
const maxComm = 15

// Named reports whether t may be the task that a trace calls comm: names are cut at 15 bytes
// there, and those of kworkers lack what /proc tells of their work ("kworker/0:1-events").
func (t *Task) Named(comm string) bool {
	rest, ok := strings.CutPrefix(t.Comm, comm)
	switch {
	case !ok:
		return false
	case rest == "" || len(comm) == maxComm:
		return true
	}
	return strings.HasPrefix(comm, "kworker/") && (rest[0] == '-' || rest[0] == '+')
}

// CGroup is a control group with the files of its controllers.
type CGroup struct {
	Path string `json:"path"`
	// Weight is cpu.weight, 1..10000; 0: not known, or none. Idle is cpu.idle.
	Weight int  `json:"weight,omitempty"`
	Idle   bool `json:"idle,omitempty"`
	// QuotaNS of every PeriodNS is cpu.max, 0: no limit. BurstNS is cpu.max.burst.
	QuotaNS  int64 `json:"quota_ns,omitempty"`
	PeriodNS int64 `json:"period_ns,omitempty"`
	BurstNS  int64 `json:"burst_ns,omitempty"`
	// RealTime are cpu.rt_runtime_us and cpu.rt_period_us; nil: the kernel has none
	// (RT_GROUP_SCHED), or they are not known.
	RealTime *RTBandwidth `json:"real_time,omitempty"`
	// CPUs is cpuset.cpus.effective, nil: all. Partition is cpuset.cpus.partition: member, root
	// or isolated; "": not known.
	CPUs      CPUList `json:"cpus,omitempty"`
	Partition string  `json:"partition,omitempty"`
}

// RTBandwidth is what real-time tasks of a group may use; ns.
type RTBandwidth struct {
	RuntimeNS int64 `json:"runtime_ns"` // −1: no limit
	PeriodNS  int64 `json:"period_ns"`
}

// IRQ is an interrupt line with one of its handlers.
type IRQ struct {
	Number int64  `json:"number"`
	Name   string `json:"name"`
	// CPUs it may be sent to, nil: all; Effective those that it is sent to, nil: not known.
	CPUs      CPUList `json:"cpus,omitempty"`
	Effective CPUList `json:"effective,omitempty"`
	// Thread is the pid of the handler's thread irq/N-NAME; 0: it has none, or it is not known.
	Thread int32 `json:"thread,omitempty"`
}

// Task returns the task pid, nil for one that the snapshot does not know. Tasks must be in the
// order of Sort.
func (s *Snapshot) Task(pid int32) *Task {
	i, ok := slices.BinarySearchFunc(s.Tasks, pid, func(t Task, pid int32) int { return int(t.PID) - int(pid) })
	if !ok {
		return nil
	}
	return &s.Tasks[i]
}

// Setting returns the value of the setting called name; false: it is not known.
func (s *Snapshot) Setting(name string) (string, bool) {
	i, ok := slices.BinarySearchFunc(s.Settings, name, func(x Setting, name string) int { return strings.Compare(x.Name, name) })
	if !ok {
		return "", false
	}
	return s.Settings[i].Value, true
}

// Number returns a setting that is a whole number; false: it is not known, or is none.
func (s *Snapshot) Number(name string) (int64, bool) {
	text, ok := s.Setting(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// Feature reports whether a feature of the scheduler is on; known is false for one that the
// snapshot does not name.
func (s *Snapshot) Feature(name string) (on, known bool) {
	i, ok := slices.BinarySearchFunc(s.Features, name, func(f Feature, name string) int { return strings.Compare(f.Name, name) })
	return ok && s.Features[i].On, ok
}

// CGroup returns the group at path, nil for one that the snapshot does not know.
func (s *Snapshot) CGroup(path string) *CGroup {
	i, ok := slices.BinarySearchFunc(s.CGroups, path, func(g CGroup, path string) int { return strings.Compare(g.Path, path) })
	if !ok {
		return nil
	}
	return &s.CGroups[i]
}

// CPU returns the CPU with the number n, nil for one that the snapshot does not know.
func (s *Snapshot) CPU(n int32) *CPU {
	i, ok := slices.BinarySearchFunc(s.CPUs, n, func(c CPU, n int32) int { return int(c.CPU) - int(n) })
	if !ok {
		return nil
	}
	return &s.CPUs[i]
}

// Sort puts all lists into their order: by number or name. Interrupts of one number stay as
// they are.
func (s *Snapshot) Sort() {
	slices.SortStableFunc(s.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(s.Features, func(a, b Feature) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(s.CPUs, func(a, b CPU) int { return int(a.CPU) - int(b.CPU) })
	slices.SortStableFunc(s.Tasks, func(a, b Task) int { return int(a.PID) - int(b.PID) })
	slices.SortStableFunc(s.CGroups, func(a, b CGroup) int { return strings.Compare(a.Path, b.Path) })
	slices.SortStableFunc(s.CFSRQs, func(a, b CFSRQ) int { return a.compare(&b) })
	slices.SortStableFunc(s.IRQs, func(a, b IRQ) int { return int(max(min(a.Number-b.Number, 1), -1)) })
}

// Of returns the snapshot that belongs to src, a source of events; nil where it has none.
// Whatever wraps a source should have the method Snapshot and answer with Of.
func Of(src any) *Snapshot {
	h, ok := src.(interface{ Snapshot() *Snapshot })
	if !ok {
		return nil
	}
	return h.Snapshot()
}
