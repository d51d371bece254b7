package kernel

// Fair is what the fair class of a kernel goes by, where no setting says otherwise. Times are
// ns on one CPU; a kernel multiplies those that are marked scaled by 1 + log2 of its CPUs, of
// which eight count at most.
type Fair struct {
	// EEVDF: from 6.6 on; before, CFS.
	EEVDF bool
	// CFS: sched_latency, sched_min_granularity and sched_wakeup_granularity are scaled,
	// sched_idle_min_granularity (from 5.15 on, else 0) is not.
	Latency, MinGranularity, WakeupGranularity, IdleMinGranularity int64
	// BaseSlice of EEVDF, scaled.
	BaseSlice int64
	// CustomSlices: sched_setattr() takes a slice for tasks of the fair class, from 6.12 on.
	CustomSlices bool
	// EEVDF's rules by kernel; sched.FairConfig says what they are.
	ReweightDeadline bool // a weight changes only the deadline: 6.6
	ReweightPlaces   bool // who gets a weight is placed anew, from 6.13 on; else lag and deadline are kept, 6.7 to 6.12
	ProtectShortest  bool // from 6.17 on
	IdleByQueue      bool // from 6.12 on
	IdleUnprotected  bool // from 6.15 on and in late 6.12
	YieldPays        bool // from 6.18 on and in late 6.12
	InitialAtFork    bool // 6.6
	PickFirst        bool // from 6.12 on
	// QuotaSlicesExpire: what a CPU took of a quota is void after the period, up to 3.15 and from 4.18
	// to 5.3: between these a mistake kept that from happening.
	QuotaSlicesExpire bool
	// QuotaEmptyThrottled: throttled_time goes on while no task waits for it, before 6.6.
	QuotaEmptyThrottled bool
	// QuotaTimersInterleave: the periods of groups begin at random, from 6.3 on.
	QuotaTimersInterleave bool
	// QuotaBurst: there is cpu.max.burst, from 5.14 on.
	QuotaBurst bool
	// TaskThrottle: a quota stops task by task on the way to user mode, from 6.18 on.
	TaskThrottle bool
	// QuotaKeepsTick: a CPU of NO_HZ_FULL ticks for a task with a quota, from 6.6 on.
	QuotaKeepsTick bool
	// IdleGroups: there is cpu.idle, from 5.15 on.
	IdleGroups bool
	// LongSleepers: who slept for 104 days has no virtual run time any more; stable kernels of 2023.
	LongSleepers bool
	// MinVruntimeOnSave: the condition for min_vruntime when an entity leaves is the wrong way
	// round, from 4.9 to 4.19.
	MinVruntimeOnSave bool
	// PickClearsBuddies: who is picked is no buddy any more even where it goes on, before 5.4.
	PickClearsBuddies bool
	// ExitMoves: a task that exits goes out of its queue and back, with SCHED_AUTOGROUP, from 4.9 to 6.3.
	ExitMoves bool
	// WeightsToZero: a weight may be scaled down to nothing, before 5.7.
	WeightsToZero bool
	// PELT411: load is tracked by the rules of 4.11 and not by those from 5.7 on.
	PELT411 bool
	// TGLoadEvery is how often the load of a group may follow that of one of its queues, 1 ms from
	// 6.7 on, else 0.
	TGLoadEvery int64
	// GroupKeepsWeight: the weight of a group on a CPU is left alone while the group is empty
	// there, and if it would stay what it is, from 6.12 on.
	GroupKeepsWeight bool
	// UtilEstMerged: util_est has one value, from 6.8 on.
	UtilEstMerged bool
	// InitialUtilUnscaled: what a new task will use is guessed with a weight that was not scaled
	// down, before 6.10.
	InitialUtilUnscaled bool
	// LoadBalance411: load is balanced by the rules of 4.11, up to 5.4.
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
	// SMTGain is what the threads of a core are worth together, 1178 of 1024 for a CPU up to 4.20; 0:
	// each is worth a CPU.
	SMTGain int64
	// How groups of CPUs are compared from 5.5 on; sched.FairConfig says what these are.
	SiblingsByCores       bool // from 6.6 on
	SMTBalance            bool // from 6.6 on
	PreferSiblingBusiest  bool // from 6.5 on
	BusiestByRunnable     bool // from 6.5 on
	LaterMisfit           bool // before 6.10
	BalanceWithoutDelayed bool // from 6.14 on
	// BusyFactor and ImbalancePct are of scheduling domains: 16 and 117 from 5.10 on, before 32 and
	// 125, the latter only where no cache is shared.
	BusyFactor, ImbalancePct int64
	// PreferSiblingInLLC: SD_PREFER_SIBLING is set for a shared cache, too, from 4.14 on.
	PreferSiblingInLLC bool
	// GroupFlagsFollow: what a removed level leaves to the groups above is passed on, from 6.6 on.
	GroupFlagsFollow bool
	// DomainDIE: the level PKG is called DIE, before 6.7.
	DomainDIE bool
	// How a pass of the balancer goes, likewise.
	BalanceIdleCores    bool // from 6.6 on
	MisfitKeepsInterval bool // from 6.10 on
	DelayedStay         bool // from 6.14 on
	PerCPUKthreadsStay  bool // from 5.12 on
	// On are the features that are on, Off those that the kernel has and that are off; only
	// those of the fair class, by their names in sched/features.
	On, Off []string
}

// Features of generations; those of a kernel are put together from them.
var (
	cfsOn = []string{"GENTLE_FAIR_SLEEPERS", "START_DEBIT", "LAST_BUDDY", "CACHE_HOT_BUDDY", "WAKEUP_PREEMPTION",
		"NONTASK_CAPACITY", "ATTACH_AGE_LOAD"}
	eevdfOn = []string{"PLACE_LAG", "PLACE_DEADLINE_INITIAL", "RUN_TO_PARITY", "CACHE_HOT_BUDDY", "WAKEUP_PREEMPTION",
		"NONTASK_CAPACITY", "ATTACH_AGE_LOAD", "SIS_UTIL"}
	eevdf612On = []string{"PLACE_REL_DEADLINE", "PREEMPT_SHORT", "PICK_BUDDY", "DELAY_DEQUEUE", "DELAY_ZERO"}
	affineOn   = []string{"WA_IDLE", "WA_WEIGHT", "WA_BIAS", "UTIL_EST"}
	alwaysOff  = []string{"NEXT_BUDDY", "LB_MIN"}
)

func all(lists ...[]string) []string {
	var out []string
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// cfs are the constants of CFS, the same since 2.6.32 but for what came later.
func cfs(f Fair) Fair {
	f.Latency, f.MinGranularity, f.WakeupGranularity = 6_000_000, 750_000, 1_000_000
	return f
}

// The kernels' own, checked with the features and files of recorded ones: 6.1, 6.1-rt, 6.12,
// 6.12-rt. NI_RANDOM came with late point releases, which distributions have.
var (
	fair34 = cfs(Fair{WakeAffine411: true, SelectIdle411: true, BusyFactor: 32, ImbalancePct: 125, DomainDIE: true, InitialUtilUnscaled: true, PickClearsBuddies: true, WeightsToZero: true, QuotaSlicesExpire: true, QuotaEmptyThrottled: true, PELT411: true, LoadBalance411: true, SMTGain: 1178, On: []string{"GENTLE_FAIR_SLEEPERS", "START_DEBIT", "LAST_BUDDY", "CACHE_HOT_BUDDY",
		"WAKEUP_PREEMPTION", "LB_BIAS"}, Off: alwaysOff})
	fair411 = cfs(Fair{WakeAffine411: true, SelectIdle411: true, BusyFactor: 32, ImbalancePct: 125, DomainDIE: true, InitialUtilUnscaled: true, MinVruntimeOnSave: true, ExitMoves: true, PickClearsBuddies: true, WeightsToZero: true, QuotaEmptyThrottled: true, PELT411: true, LoadBalance411: true, SMTGain: 1178, On: all(cfsOn, []string{"LB_BIAS"}), Off: all(alwaysOff, []string{"SIS_AVG_CPU"})})
	fair61  = cfs(Fair{IdleTasksYield: true, PerCPUKthreadsStay: true, BusyFactor: 16, ImbalancePct: 117, PreferSiblingInLLC: true, DomainDIE: true, LaterMisfit: true, QuotaEmptyThrottled: true, InitialUtilUnscaled: true, LongSleepers: true, ExitMoves: true, IdleMinGranularity: 750_000, QuotaBurst: true, IdleGroups: true,
		On: all(cfsOn, affineOn, []string{"UTIL_EST_FASTUP", "SIS_UTIL", "NI_RANDOM", "ALT_PERIOD", "BASE_SLICE"}), Off: all(alwaysOff, []string{"SIS_PROP"})})
	fair66  = Fair{IdleTasksYield: true, PerCPUKthreadsStay: true, BalanceIdleCores: true, BusyFactor: 16, ImbalancePct: 117, PreferSiblingInLLC: true, GroupFlagsFollow: true, DomainDIE: true, EEVDF: true, LaterMisfit: true, SiblingsByCores: true, SMTBalance: true, PreferSiblingBusiest: true, BusiestByRunnable: true, QuotaKeepsTick: true, InitialUtilUnscaled: true, BaseSlice: 750_000, ReweightDeadline: true, InitialAtFork: true, QuotaTimersInterleave: true, QuotaBurst: true, IdleGroups: true, On: all(eevdfOn, affineOn, []string{"UTIL_EST_FASTUP"}), Off: all(alwaysOff, []string{"SIS_PROP"})}
	fair612 = Fair{IdleTasksYield: true, PerCPUKthreadsStay: true, BalanceIdleCores: true, MisfitKeepsInterval: true, BusyFactor: 16, ImbalancePct: 117, PreferSiblingInLLC: true, GroupFlagsFollow: true, EEVDF: true, SiblingsByCores: true, SMTBalance: true, PreferSiblingBusiest: true, BusiestByRunnable: true, QuotaKeepsTick: true, TGLoadEvery: 1_000_000, GroupKeepsWeight: true, UtilEstMerged: true, BaseSlice: 700_000, CustomSlices: true, IdleByQueue: true, IdleUnprotected: true, YieldPays: true, PickFirst: true, QuotaTimersInterleave: true, QuotaBurst: true, IdleGroups: true,
		On: all(eevdfOn, eevdf612On, affineOn, []string{"NI_RANDOM"}), Off: alwaysOff}
	fair618 = Fair{IdleTasksYield: true, PerCPUKthreadsStay: true, BalanceIdleCores: true, MisfitKeepsInterval: true, DelayedStay: true, BusyFactor: 16, ImbalancePct: 117, PreferSiblingInLLC: true, GroupFlagsFollow: true, EEVDF: true, BalanceWithoutDelayed: true, SiblingsByCores: true, SMTBalance: true, PreferSiblingBusiest: true, BusiestByRunnable: true, QuotaKeepsTick: true, TGLoadEvery: 1_000_000, GroupKeepsWeight: true, UtilEstMerged: true, BaseSlice: 700_000, CustomSlices: true, ReweightPlaces: true, ProtectShortest: true, IdleByQueue: true,
		IdleUnprotected: true, YieldPays: true, PickFirst: true, QuotaTimersInterleave: true, QuotaBurst: true, IdleGroups: true, TaskThrottle: true,
		On: all(eevdfOn, eevdf612On, affineOn), Off: alwaysOff}
)

var fairs = map[string]*Fair{"3.4-rt": &fair34, "4.11": &fair411, "6.1": &fair61, "6.1-rt": &fair61, "6.6": &fair66,
	"6.12": &fair612, "6.12-rt": &fair612, "6.18": &fair618}

// Fair returns the facts of the profile's fair class; the zero Fair for one that is not one of
// Profiles.
func (p *Profile) Fair() Fair {
	if f := fairs[p.Name]; f != nil {
		return *f
	}
	return Fair{}
}
