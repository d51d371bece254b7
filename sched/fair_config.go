package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// FairConfig is what the fair class of a kernel goes by. Times are ns, as the files in debugfs
// show them: already scaled by the number of CPUs.
type FairConfig struct {
	// EEVDF: eligible tasks go by virtual deadline (from 6.6 on); else by virtual run time, CFS.
	EEVDF bool

	// CFS
	Latency            event.Time // sched_latency: each task runs once in it
	MinGranularity     event.Time // sched_min_granularity: but not shorter
	IdleMinGranularity event.Time // sched_idle_min_granularity: what idle tasks get beside others; 0: as others (before 5.15)
	WakeupGranularity  event.Time // sched_wakeup_granularity: how far a woken task has to be behind
	// ChildRunsFirst is sched_child_runs_first: a new task takes the place of its parent, which
	// begins a slice behind in its stead.
	ChildRunsFirst bool
	// IdleEntities: SCHED_IDLE tasks and idle groups have slices, places and preemption of their
	// own (from 5.15 on).
	IdleEntities bool
	// LongSleepers: who slept for more than 104 days has no virtual run time any more (stable
	// kernels since 2023).
	LongSleepers bool
	// MinVruntimeOnSave: min_vruntime moves on when an entity leaves only if it will be back at
	// once, not if it sleeps (4.9 to 4.19: the condition is the wrong way round).
	MinVruntimeOnSave bool
	// PickClearsBuddies: who is picked is no buddy any more even where it goes on (before 5.4).
	PickClearsBuddies bool
	// ExitMoves: a task that exits goes out of its queue and back (4.9 to 6.3).
	ExitMoves bool
	// WeightsToZero: weights below 1, of 1024 for nice 0, count as none where they are scaled
	// down (before 5.7).
	WeightsToZero bool

	// EEVDF
	BaseSlice event.Time // base_slice_ns
	// CustomSlices: a task can have a slice of its own, and a group has the shortest slice of
	// what is in it (from 6.12 on).
	CustomSlices bool
	// Reweight is what becomes of lag and deadline when a weight changes.
	Reweight Reweight
	// ProtectShortest: a turn is protected only for the shortest slice of those that are there
	// (from 6.17 on), else until its own is used up.
	ProtectShortest bool
	// IdleByQueue: at a wake only what both are in the queue where they meet counts, SCHED_IDLE or not (from 6.12
	// on); else the policy of the tasks comes first.
	IdleByQueue bool
	// IdleUnprotected: a SCHED_IDLE turn that another task ends is not protected any more (late 6.12, from 6.15 on);
	// else it goes on while it is eligible.
	IdleUnprotected bool
	// YieldPays: who yields and is eligible pays for the rest of its slice as if it had run
	// (late 6.12, from 6.18 on); else only its deadline moves.
	YieldPays bool
	// InitialAtFork: the half slice of a new task is given at the fork and lost at its first wake (6.6).
	InitialAtFork bool
	// PickFirst: the next task is chosen before the current one is put back (from 6.12 on).
	PickFirst bool

	// BandwidthSlice is sched_cfs_bandwidth_slice: what a CPU takes at a time from a group's quota.
	BandwidthSlice event.Time
	// QuotaBurst: what a group leaves of its quota can be saved up, cpu.max.burst (from 5.14 on).
	QuotaBurst bool
	// QuotaSlicesExpire: what a CPU has taken expires with the period (up to 3.15, and from 4.18
	// to 5.3; in between kernels meant to do so and did not).
	QuotaSlicesExpire bool
	// QuotaTimersInterleave: the periods of groups begin at random (from 6.3 on), else at
	// multiples of their length. QuotaTimerSeed is what the random places come from.
	QuotaTimersInterleave bool
	QuotaTimerSeed        uint64
	// QuotaEmptyThrottled: throttled_time goes on while no task waits for it (before 6.6).
	QuotaEmptyThrottled bool
	// QuotaKeepsTick: who has a quota keeps the tick of NO_HZ_FULL going, so that it is used up at a tick and
	// not much later (from 6.6 on).
	QuotaKeepsTick bool
	// TaskThrottle: not a queue but each of its tasks is throttled, on its way to user mode
	// (from 6.18 on).
	TaskThrottle bool

	// PELT411: load is tracked by the rules of 4.11.
	PELT411 bool
	// TGLoadEvery is how often the load of a group may follow that of one of its queues; 0: at any
	// time (before 6.7).
	TGLoadEvery event.Time
	// GroupKeepsWeight: the weight of a group's entity is left alone while the group is empty
	// there, and if it would stay what it is (from 6.12 on).
	GroupKeepsWeight bool
	// UtilEstMerged: util_est has one value, which a sample does not lower where the task did not
	// get what it wanted (from 6.8 on).
	UtilEstMerged bool
	// InitialUtilUnscaled: the guess of what a new task uses has its weight with more digits than that of the
	// others, so that it mostly is half of what is left (before 6.10).
	InitialUtilUnscaled bool
	// BusyFactor is how many times less often a busy CPU balances; sd->busy_factor, 16 from 5.10 on,
	// 32 before.
	BusyFactor int64
	// ImbalancePct is how much busier, in percent, a source has to be where no cache is shared;
	// sd->imbalance_pct, 117 from 5.10 on, 125 before.
	ImbalancePct int64
	// PreferSiblingInLLC: tasks are spread over the cores of a cache, too, by the flag (from 4.14 on).
	PreferSiblingInLLC bool
	// GroupFlagsFollow: groups of a domain know that they are cores where the level between was
	// removed (from 6.6 on).
	GroupFlagsFollow bool
	// DomainDIE: the level of a node is called DIE, not PKG (before 6.7).
	DomainDIE bool

	// PropagateGroupLoad and PropagateRunnableLoad are the two changes to 4.11 that were
	// proposed in 2017; features propagate_group_load and propagate_runnable_load.
	PropagateGroupLoad, PropagateRunnableLoad bool
	// LoadBalance411: CPUs and groups are compared by the rules of 4.11 (up to 5.4), else by group
	// types and migration types.
	LoadBalance411 bool
	// WakeAffine411: the CPU of the waker and that where the task was are compared by what the
	// task's groups would load them with, up to 4.13; else by what idles, then by load.
	WakeAffine411 bool
	// SelectIdle411: an idle CPU is looked for among all cores and then all CPUs that share the cache, up to
	// 4.12; later only among as many as it is likely to pay for, and before at the CPU where the task was
	// before its last one (4.16), and for threads of the kernel where they did their work (5.6).
	SelectIdle411 bool
	// IdleTasksYield: a CPU with nothing but SCHED_IDLE tasks is as good as an idle one for a task that
	// wakes, from 5.4 on.
	IdleTasksYield bool
	// SMTGain is what the threads of a core are worth together, of 1024 for a CPU; 0: each is worth
	// 1024 (from 5.0 on); sd->smt_gain.
	SMTGain int64
	// SiblingsByCores: groups that should be filled alike are compared by tasks for each core (from
	// 6.6 on), else by tasks.
	SiblingsByCores bool
	// SMTBalance: a core with two busy threads gives one away (from 6.6 on).
	SMTBalance bool
	// PreferSiblingBusiest: whether groups should be filled alike is what the domain below the
	// busiest group says (from 6.5 on), else the one below the CPU that balances.
	PreferSiblingBusiest bool
	// BusiestByRunnable: of CPUs that should give away utilisation the busiest is the one that
	// wants to use most (from 6.5 on), else the one that uses most.
	BusiestByRunnable bool
	// LaterMisfit: of two groups with the same load on squeezed CPUs the later is chosen (before 6.10).
	LaterMisfit bool
	// BalanceWithoutDelayed: tasks that sleep and are still queued do not count as running ones
	// (from 6.14 on).
	BalanceWithoutDelayed bool
	// MigrationCost is sysctl_sched_migration_cost: who ran less than that ago has warm caches, and a CPU
	// that mostly idles for less looks for no work. Negative: caches are always warm.
	MigrationCost event.Time
	// NrMigrate is sysctl_sched_nr_migrate: how many tasks of a CPU one pass looks at.
	NrMigrate int
	// BalanceIdleCores: of the idle CPUs of a group one whose core is idle balances for it (from 6.6
	// on), else the first.
	BalanceIdleCores bool
	// MisfitKeepsInterval: a pass that found no misfit task to move is no failure (from 6.10 on).
	MisfitKeepsInterval bool
	// DelayedStay: tasks that sleep and are still queued move only where load is to move (from 6.14 on).
	DelayedStay bool
	// PerCPUKthreadsStay: kernel threads that belong to a CPU do not count as pinned tasks (from 5.12 on).
	PerCPUKthreadsStay bool
	// NewidleSeed is what the dice of NI_RANDOM come from.
	NewidleSeed uint64
	// DeferPutPrev is feature defer_put_prev: what happens to a fair task that a real-time one
	// preempts. No kernel has it.
	DeferPutPrev DeferPutPrev
	// NoAutogroup: sessions have no groups of their own; sched_autogroup_enabled=0.
	NoAutogroup bool

	Features Features
}

// DeferPutPrev says when a fair task that is preempted by a real-time one is put back.
type DeferPutPrev uint8

// The ways to do so.
const (
	DeferOff    DeferPutPrev = iota // at once, as kernels do
	DeferOn                         // at the next choice of a fair task; it is charged for the real-time task's time
	DeferSettle                     // likewise, but the time is put aside
)

// String is the value as `set defer_put_prev=` spells it.
func (d DeferPutPrev) String() string { return [...]string{"off", "on", "settle"}[d] }

// FairScale is the factor by which a kernel scales the times of the fair class: 1 + log2 of
// the CPUs, of which eight count at most; get_update_sysctl_factor() with
// SCHED_TUNABLESCALING_LOG.
func FairScale(cpus int) event.Time {
	return event.Time(bits.Len(uint(min(max(cpus, 1), 8))))
}

// DefaultFair is CFS as 6.1 has it.
func DefaultFair(cpus int) FairConfig {
	f := FairScale(cpus)
	return FairConfig{IdleTasksYield: true, LaterMisfit: true, MigrationCost: 500_000, NrMigrate: 32, PerCPUKthreadsStay: true, IdleEntities: true, LongSleepers: true, ExitMoves: true, Latency: 6_000_000 * f, MinGranularity: 750_000 * f, IdleMinGranularity: 750_000, WakeupGranularity: 1_000_000 * f,
		BaseSlice: 750_000 * f, BandwidthSlice: 5_000_000, InitialUtilUnscaled: true,
		BusyFactor: 16, ImbalancePct: 117, PreferSiblingInLLC: true, DomainDIE: true,
		Features: FeaturesOf(GentleFairSleepers, StartDebit, LastBuddy, CacheHotBuddy, WakeupPreemption, AltPeriod, BaseSlice,
			AttachAgeLoad, UtilEst, UtilEstFastup, WAIdle, WAWeight, WABias, SISUtil, NonTaskCapacity)}
}
