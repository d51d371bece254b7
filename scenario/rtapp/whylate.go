package rtapp

import "github.com/whylate/whylate/event"

// Whylate is the object "whylate": what rt-app cannot say. Everything in it is optional.
// whylate.schema.json describes it for editors. Times are in ns.
type Whylate struct {
	Pos Pos
	// Description is for people.
	Description string
	// Kernel is a profile or a release that belongs to one; "" where not said.
	Kernel string
	// Seed is of all random numbers; HasSeed says that it is given.
	Seed    uint64
	HasSeed bool
	// CPUs is the number of CPUs, 0 where not said. Where Topology or CPUs is given, no
	// task may name a CPU beyond them.
	CPUs       int
	Topology   *Topology
	IdleStates []IdleState // from the lightest to the deepest
	Steals     []Steal
	// CostTable names a table of costs; "" where not said. Costs change single ones of it.
	CostTable string
	// Settings and Features are in the order of the file; costs too.
	Settings []Setting
	Features []Setting
	Costs    []Cost
	CGroups  []CGroup
	// Autogroups are groups of sessions with a nice value of their own.
	Autogroups []Autogroup
	IRQs       []IRQ
	Devices    []Device
	Locks      []LockExtra
	Tasks      []TaskExtra
	Programs   []Program
	// Changes are always made, before those of a variant; in the grammar of --change.
	Changes  []string
	Variants []Variant
}

// Topology is how CPUs share things. CPU numbers count threads of a core first, then
// cores, caches and nodes: CPUs 0 and 1 are one core where ThreadsPerCore is 2.
type Topology struct {
	Pos                                             Pos
	ThreadsPerCore, CoresPerLLC, LLCsPerNode, Nodes int
	// Distances are those of each node from each, 10 from itself; nil: 20 from all others.
	Distances [][]int
	// Capacity is that of each CPU, 1..1024; nil: all 1024.
	Capacity []int
}

// IdleState is a state that an idle CPU may enter; the words are those of cpuidle in sysfs.
type IdleState struct {
	Name               string
	Latency, Residency event.Time // to leave it; from which length of idleness it pays
}

// Steal are times in which a hypervisor runs something else on a CPU.
type Steal struct {
	Name string // for people
	Pos  Pos
	CPUs []int // nil: all, each at times of its own
	// Every is from the end of one to the beginning of the next, Length how long one is.
	Every, Length Span
}

// Setting is a name with a value as text: "950000", "true", "full". Lists of settings keep
// the order of the file; a later value for the same thing counts.
type Setting struct {
	Name, Value string
	Pos         Pos
}

// Span is a length in ns between Min and Max, each as likely; both are equal where the
// file gives one number.
type Span struct{ Min, Max event.Time }

// Cost is what one kind of the machine's own work takes.
type Cost struct {
	Name string
	Span Span
	Pos  Pos
}

// CGroup is a control group with the files of the cpu controller, as cgroup v2 spells them
// (cpu.shares is of v1).
type CGroup struct {
	Path string // "/web/db"; the groups above it are made with it
	Pos  Pos
	// Weight is cpu.weight, 1..10000; 0 where not given. Shares is cpu.shares, 2..262144;
	// 0 where not given. A group has at most one of the three.
	Weight, Shares int
	// WeightNice is cpu.weight.nice, the weight of a task of that nice value; nil where not given.
	WeightNice *int
	// Idle is cpu.idle: everybody in it runs as SCHED_IDLE does.
	Idle bool
	// Quota is cpu.max: so many ns in each Period; event.NoTime: no limit. Burst is
	// cpu.max.burst.
	Quota, Period, Burst event.Time
	// CPUs is cpuset.cpus; nil where not given. Partition is cpuset.cpus.partition: member, root,
	// isolated; "": not given.
	CPUs      []int
	Partition string
	// RTPeriod and RTRuntime are cpu.rt_period_us and cpu.rt_runtime_us of cgroup v1, in ns,
	// −1: no limit. RealTime: the file gives one of them; the period is then 1 s, the runtime
	// 0 where it does not.
	RealTime            bool
	RTRuntime, RTPeriod event.Time
}

// Autogroup is the group of a session, SCHED_AUTOGROUP.
type Autogroup struct {
	Name string // as tasks name it
	Pos  Pos
	Nice int // as in /proc/PID/autogroup
}

// IRQ is an interrupt with its handler.
type IRQ struct {
	Name string // "14-pata": the thread of its handler is irq/14-pata
	Pos  Pos
	// CPUs it may arrive at; nil: all.
	CPUs []int
	// Threaded says where the handler's main work is done: nil as the kernel does it
	// (in a thread on PREEMPT_RT).
	Threaded *bool
	// Policy and Priority are of the thread; Keep: the kernel's own, SCHED_FIFO 50.
	Policy   Policy
	Priority int
	// Hard is the work in interrupt context that is always done there, Work what a thread
	// may do, SoftirqWork that of the softirq Softirq ("NET_RX"; "" none).
	Hard, Work  Span
	Softirq     string
	SoftirqWork Span
	// Every is the distance of two arrivals, from Offset on; 0: only devices raise it.
	// Jitter is added to each, evenly between 0 and itself. Random makes the distances
	// exponential with the mean Every. Count ends it after so many; 0: never.
	Every, Offset, Jitter event.Time
	Random                bool
	Count                 int64
	// Post names the semaphore that is raised when the handler is done: tasks wait for it
	// with sem_wait.
	Post string
}

// Device does requests by raising an interrupt again and again: the next one Gap after the
// handler of the last is done.
type Device struct {
	Name string
	Pos  Pos
	IRQ  string // name of an IRQ
	// BytesPerIRQ is how far a request gets with each interrupt.
	BytesPerIRQ int64
	Gap         Span
	// Path makes iorun events of a file whose io_device it is requests to this device.
	Path string
	// Bytes is the size of requests that come by themselves at Start and then every Every
	// (0: once), Count times (0: for ever); 0: none come by themselves.
	Bytes        int64
	Start, Every event.Time
	Count        int64
	// Post names the semaphore that is raised when a request is done.
	Post string
}

// LockExtra is what rt-app cannot say of one of its mutexes.
type LockExtra struct {
	Name string // that of the mutex in the events
	Pos  Pos
	// Kind is mutex, or spinlock: one of the kernel's. "": mutex.
	Kind string
	// Protocol is none, inherit or protect, as of pthread_mutexattr_setprotocol(3); "": as
	// pi_enabled says. Ceiling is the priority of protect, 1..99.
	Protocol string
	Ceiling  int
	Robust   bool
}

// TaskExtra is what rt-app cannot say of one of its tasks; each instance has it.
type TaskExtra struct {
	Name string // that of the task
	Pos  Pos
	// CGroup is a path of CGroups, for tasks of any policy; "" where not given.
	CGroup string
	// Autogroup is the session of the task, by any name; "": none of its own. A task in a group of
	// CGroups has none.
	Autogroup string
	// MMBytes or MMPages (at most one is given) is the memory that its exit gives back, in
	// VMAs pieces. MLockAll says whether it is locked; nil: as lock_pages says.
	MMBytes, MMPages, VMAs int64
	MLockAll               *bool
	KernelSections         []KernelSection
	Exit                   *Exit
}

// Program is a program that the model has a load for, beside the tasks of rt-app: what it does is
// no list of events.
type Program struct {
	Name string // that of its tasks begins so
	Pos  Pos
	Run  string // its name and options, as on a command line
	// CGroup is the group of all its tasks; "": the root.
	CGroup string
}

// KernelSection is time in the kernel that a task spends while it runs.
type KernelSection struct {
	Pos Pos
	// Kind is kernel (a system call), preempt_off, irqs_off or bh_off.
	Kind string
	// Length is how long it takes, Every how much the task runs between two of them.
	Length, Every Span
}

// Exit is how a task ends, beside the end of its loops.
type Exit struct {
	Pos Pos
	// After is when, from the common start, of a forked task from its own; event.NoTime:
	// with its loops.
	After event.Time
	// Signal ends it, by name; "": it returns by itself.
	Signal string
	// CoreBytes is the size of the core dump, written while it handles Signal, before its
	// exit begins; 0: none.
	CoreBytes int64
	// Post names the semaphore that is raised when its parent learns of its death.
	Post string
}

// Variant is a named list of changes, in the grammar of --change.
type Variant struct {
	Name    string
	Changes []string
	Pos     Pos
}
