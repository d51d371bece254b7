package sched

import "github.com/whylate/whylate/event"

// PreemptModel says where a task can lose its CPU.
type PreemptModel uint8

// The preemption models, by their names in the kernel's configuration.
const (
	PreemptFull      PreemptModel = iota // anywhere that preemption is on
	PreemptNone                          // on the way to user mode
	PreemptVoluntary                     // there, and at might_sleep()
	PreemptLazy                          // full for real-time, at the tick for fair
	PreemptRT                            // full, with sleeping spinlocks and threaded interrupts
)

// Config is what a kernel is built and booted with, as far as the model knows it. Times
// are ns.
type Config struct {
	CPUs    int
	Tick    event.Time // distance of two ticks, 1 s / HZ
	Preempt PreemptModel
	// Lazy: fair tasks ask each other lazily to leave under full preemption or PREEMPT_RT
	// too, as Debian's RT patch does; PreemptLazy implies it.
	Lazy bool
	// PreemptDynamic: the kernel is built to preempt itself, and Preempt is what it was booted with.
	PreemptDynamic bool
	// Topology is how the CPUs share things.
	Topology Topology
	// Isolated are CPUs without balancing: those of isolcpus= on the command line and of cpusets that
	// are partitions of the kind isolated.
	Isolated []event.CPU
	// NoHZFull are the CPUs of nohz_full=, which are not asked to balance for others.
	NoHZFull []event.CPU
	// Partitions are sets of CPUs that balance among themselves only: cpusets that are partitions of
	// the kind root. Those in no set are one more.
	Partitions [][]event.CPU

	// RRTimeslice is what a SCHED_RR task gets, in ticks; RR_TIMESLICE.
	RRTimeslice int
	// DLBandwidth is the share of all CPUs that deadline tasks may have, of 1 << 20:
	// sched_rt_runtime_us / sched_rt_period_us. Negative: no limit.
	DLBandwidth int64

	// RTRuntime of every RTPeriod is what real-time and deadline tasks may use of a CPU
	// before the real-time ones are throttled; sched_rt_runtime_us, sched_rt_period_us.
	// A negative RTRuntime: no limit. RTPeriod 0: the kernel has no throttling, as from
	// 6.12 on without RT_GROUP_SCHED.
	RTRuntime, RTPeriod event.Time
	// RTTimerKeepsGrid: the period timer expires at multiples of the period, as up to 4.5,
	// and not from when it is first needed.
	RTTimerKeepsGrid bool
	// RTTimerExpires is when the period timer would expire first after time 0. A machine
	// that runs for a while mostly has it at a tick, where the first real-time task of its
	// boot put it.
	RTTimerExpires event.Time
	// RTSwitchCharge is what each turn of a real-time task on a CPU uses of the budget beside its
	// time, in ns: a kernel reads its clock before the switch, and again when the task leaves.
	RTSwitchCharge event.Time
	// FairServerRuntime of every FairServerPeriod is what fair tasks get of a CPU that
	// real-time tasks would not give them; the files runtime and period of the server in
	// debugfs. FairServerPeriod 0: the kernel has no deadline servers (before 6.12); runtime
	// 0: they are switched off.
	FairServerRuntime, FairServerPeriod event.Time
	// ServersBW is how much of the bandwidth of deadline tasks the servers take; SetFairServer
	// changes it.
	ServersBW int64
	// RTGroupSched is CONFIG_RT_GROUP_SCHED: groups have runtimes of their own (NewGroup).
	// That of the root is what RTRuntime is at boot, 950 ms of 1 s, whatever it is now.
	RTGroupSched bool
	// CGroup1: control groups are of version 1, where a group may not have a quota that is a
	// greater share of a CPU than that of a group above.
	CGroup1 bool
	// TimerResolution is hrtimer_resolution: 1 (or 0) with high-resolution timers, a tick
	// without.
	TimerResolution event.Time

	// Fair is what the fair class goes by.
	Fair FairConfig
	// FairPlaced: fair tasks go in the order of the places that SetFairPlace gives them,
	// whatever their nice values. It is for loads of which the order is known, since they were
	// recorded.
	FairPlaced bool

	// Features, by the kernel's names.
	HRTick    bool // HRTICK
	HRTickDL  bool // HRTICK_DL: deadline runtime is enforced to the ns, not at ticks
	RTPushIPI bool // RT_PUSH_IPI: pulling asks the overloaded CPU to push
	TTWUQueue bool // TTWU_QUEUE: a remote wake is finished by the target CPU
	// RTRuntimeShare is RT_RUNTIME_SHARE: a CPU whose real-time tasks have used up their
	// runtime borrows from others before it throttles them.
	RTRuntimeShare bool

	// GRUBBeforeMax: reclaimed bandwidth is counted as up to 6.4, where a task that
	// reclaims may use a whole CPU instead of the share that all deadline tasks may have.
	GRUBBeforeMax bool

	// StatRuntimeRT: real-time and deadline tasks emit sched_stat_runtime (from 5.16 on).
	StatRuntimeRT bool
	// StatNoVruntime: sched_stat_runtime has no vruntime (from 6.8 on).
	StatNoVruntime bool

	// CoKernel: real-time tasks belong to another kernel. A fair task that they interrupt stays the
	// current one for Linux, and is it again without any choice.
	CoKernel bool

	// Quiet: nobody listens, so events are not even made.
	Quiet bool
}

// DefaultConfig is a kernel as distributions build it: HZ=250, full preemption, RR slice
// 100 ms, 95 % for deadline tasks.
func DefaultConfig(cpus int) Config {
	return Config{CPUs: cpus, Tick: 4_000_000, RRTimeslice: 25, DLBandwidth: 950_000 * bwUnit / 1_000_000, Fair: DefaultFair(cpus)}
}

// preemption is CONFIG_PREEMPTION: the kernel can preempt itself, or could if it was told to.
func (c *Config) preemption() bool {
	return c.PreemptDynamic || c.Preempt != PreemptNone && c.Preempt != PreemptVoluntary
}

// nrMigrateBreak is after how many tasks the balancer gives up the lock of the source for a moment;
// SCHED_NR_MIGRATE_BREAK.
func (c *Config) nrMigrateBreak() int {
	if c.Preempt == PreemptRT {
		return 8
	}
	return 32
}

// bwUnit is a bandwidth of one CPU; BW_UNIT, 1 << BW_SHIFT.
const bwUnit int64 = 1 << 20

// lazy reports whether fair tasks set TIF_NEED_RESCHED_LAZY.
func (c *Config) lazy() bool { return c.Lazy || c.Preempt == PreemptLazy }
