package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/sched"
)

// fairOf is the fair class of a kernel with cpus CPUs, before any setting.
func fairOf(f kernel.Fair, cpus int) sched.FairConfig {
	by := sched.FairScale(cpus)
	scaled := func(ns int64) event.Time { return event.Time(ns) * by }
	out := sched.FairConfig{EEVDF: f.EEVDF, Latency: scaled(f.Latency), MinGranularity: scaled(f.MinGranularity),
		IdleMinGranularity: event.Time(f.IdleMinGranularity), WakeupGranularity: scaled(f.WakeupGranularity),
		BaseSlice: scaled(f.BaseSlice), CustomSlices: f.CustomSlices, BandwidthSlice: 5_000_000,
		QuotaSlicesExpire: f.QuotaSlicesExpire, QuotaBurst: f.QuotaBurst, QuotaEmptyThrottled: f.QuotaEmptyThrottled,
		QuotaTimersInterleave: f.QuotaTimersInterleave, QuotaKeepsTick: f.QuotaKeepsTick, TaskThrottle: f.TaskThrottle, PELT411: f.PELT411,
		IdleEntities: f.IdleGroups, LongSleepers: f.LongSleepers, MinVruntimeOnSave: f.MinVruntimeOnSave,
		TGLoadEvery: event.Time(f.TGLoadEvery), GroupKeepsWeight: f.GroupKeepsWeight, UtilEstMerged: f.UtilEstMerged,
		InitialUtilUnscaled: f.InitialUtilUnscaled, BusyFactor: f.BusyFactor, ImbalancePct: f.ImbalancePct,
		PreferSiblingInLLC: f.PreferSiblingInLLC, GroupFlagsFollow: f.GroupFlagsFollow, DomainDIE: f.DomainDIE,
		PickClearsBuddies: f.PickClearsBuddies, ExitMoves: f.ExitMoves, WeightsToZero: f.WeightsToZero,
		ProtectShortest: f.ProtectShortest, IdleByQueue: f.IdleByQueue, IdleUnprotected: f.IdleUnprotected,
		YieldPays: f.YieldPays, InitialAtFork: f.InitialAtFork, PickFirst: f.PickFirst,
		LoadBalance411: f.LoadBalance411, SMTGain: f.SMTGain, WakeAffine411: f.WakeAffine411, SelectIdle411: f.SelectIdle411, IdleTasksYield: f.IdleTasksYield, SiblingsByCores: f.SiblingsByCores, SMTBalance: f.SMTBalance,
		PreferSiblingBusiest: f.PreferSiblingBusiest, BusiestByRunnable: f.BusiestByRunnable, LaterMisfit: f.LaterMisfit,
		BalanceWithoutDelayed: f.BalanceWithoutDelayed,
		BalanceIdleCores:      f.BalanceIdleCores, MisfitKeepsInterval: f.MisfitKeepsInterval, DelayedStay: f.DelayedStay,
		PerCPUKthreadsStay: f.PerCPUKthreadsStay, MigrationCost: 500_000, NrMigrate: 32}
	switch {
	case f.ReweightDeadline:
		out.Reweight = sched.ReweightDeadline
	case f.ReweightPlaces:
		out.Reweight = sched.ReweightPlaces
	}
	for _, name := range f.On {
		if x, ok := sched.FeatureNamed(name); ok {
			out.Features = out.Features.With(x, true)
		}
	}
	return out
}

// fairTime is a setting of a time of the fair class, in ns, that only kernels have where
// has says so.
func fairTime(name, meaning string, has func(*sched.FairConfig) bool, of func(*sched.FairConfig) *event.Time) Setting {
	return Setting{Name: name, Values: "ns", Default: "by kernel and CPUs", Meaning: meaning,
		set: func(t *tuning, v string) error {
			if !has(&t.config.Fair) {
				return fmt.Errorf("this kernel has no %s: latency_ns, min_granularity_ns and wakeup_granularity_ns are of CFS, base_slice_ns is of EEVDF (from 6.6 on)", name)
			}
			var ns int64
			// The kernel's bounds: min_sched_granularity_ns and max_sched_granularity_ns.
			if err := number(v, 100_000, 1_000_000_000, &ns); err != nil {
				return err
			}
			*of(&t.config.Fair) = event.Time(ns)
			return nil
		},
		get: func(t *tuning) string {
			if !has(&t.config.Fair) {
				return ""
			}
			return decimal(int64(*of(&t.config.Fair)))
		}}
}

func isCFS(f *sched.FairConfig) bool   { return !f.EEVDF }
func isEEVDF(f *sched.FairConfig) bool { return f.EEVDF }

// fairSettings are those of the fair class that are no features.
var fairSettings = []Setting{
	fairTime("latency_ns", "CFS: each of up to eight tasks runs once in it", isCFS, func(f *sched.FairConfig) *event.Time { return &f.Latency }),
	fairTime("min_granularity_ns", "CFS: the shortest turn", isCFS, func(f *sched.FairConfig) *event.Time { return &f.MinGranularity }),
	fairTime("idle_min_granularity_ns", "CFS from 5.15 on: the shortest turn of a SCHED_IDLE task beside others", func(f *sched.FairConfig) bool { return !f.EEVDF && f.IdleMinGranularity > 0 },
		func(f *sched.FairConfig) *event.Time { return &f.IdleMinGranularity }),
	fairTime("wakeup_granularity_ns", "CFS: how far a woken task must be behind the current one to preempt it", isCFS, func(f *sched.FairConfig) *event.Time { return &f.WakeupGranularity }),
	fairTime("base_slice_ns", "EEVDF: the slice of a task that has none of its own", isEEVDF, func(f *sched.FairConfig) *event.Time { return &f.BaseSlice }),
	{Name: "migration_cost_ns", Values: "ns", Default: "500000", Meaning: "who ran less than that ago is not moved at once, and a CPU that mostly idles for less does not look for work",
		set: func(t *tuning, v string) error {
			var ns int64
			err := number(v, 0, 1_000_000_000, &ns)
			t.config.Fair.MigrationCost = event.Time(ns)
			return err
		},
		get: func(t *tuning) string { return decimal(int64(t.config.Fair.MigrationCost)) }},
	{Name: "nr_migrate", Values: "tasks", Default: "32, 8 on PREEMPT_RT", Meaning: "how many tasks of a CPU one pass of the balancer looks at",
		set: func(t *tuning, v string) error {
			var n int64
			err := number(v, 0, 1_000_000, &n)
			t.config.Fair.NrMigrate = int(n)
			return err
		},
		get: func(t *tuning) string { return decimal(int64(t.config.Fair.NrMigrate)) }},
	{Name: "sched_cfs_bandwidth_slice_us", Values: "µs", Default: "5000", Meaning: "what a CPU takes of a group's quota at a time",
		set: func(t *tuning, v string) error {
			var us int64
			err := number(v, 1, 1_000_000, &us)
			t.config.Fair.BandwidthSlice = event.Time(us) * 1000
			return err
		},
		get: func(t *tuning) string { return decimal(int64(t.config.Fair.BandwidthSlice) / 1000) }},
	{Name: "sched_autogroup_enabled", Values: "1, 0", Default: "1", Meaning: "sessions have groups of their own",
		set: func(t *tuning, v string) error {
			var on bool
			err := onOff(v, &on)
			t.config.Fair.NoAutogroup = !on
			return err
		},
		get: func(t *tuning) string {
			if t.config.Fair.NoAutogroup {
				return "0"
			}
			return "1"
		}},
}

// fairFeatures are the features of the fair class that the model follows, with their meaning.
var fairFeatures = []struct {
	is      sched.Feature
	meaning string
}{
	{sched.GentleFairSleepers, "CFS: a sleeper comes back half a latency ahead, and not a whole one"},
	{sched.StartDebit, "CFS: a new task begins a slice behind"},
	{sched.NextBuddy, "who was woken last is preferred"},
	{sched.LastBuddy, "CFS: who was preempted at a wake is preferred after it"},
	{sched.WakeupPreemption, "a woken task may preempt"},
	{sched.AltPeriod, "CFS: the period counts the tasks of all groups"},
	{sched.BaseSlice, "CFS: no turn is shorter than min_granularity_ns"},
	{sched.PlaceLag, "EEVDF: lag is kept while a task sleeps"},
	{sched.PlaceDeadlineInitial, "EEVDF: the first slice of a new task is half of one"},
	{sched.PlaceRelDeadline, "EEVDF: a task keeps its deadline when it moves to another CPU"},
	{sched.RunToParity, "EEVDF: who runs goes on until its lag or its slice is used up"},
	{sched.PreemptShort, "EEVDF: who has a shorter slice preempts"},
	{sched.PickBuddy, "EEVDF: buddies count in the choice"},
	{sched.DelayDequeue, "EEVDF: who sleeps with negative lag stays in the queue until it is paid"},
	{sched.DelayZero, "EEVDF: positive lag that is gained by it is taken away"},
	{sched.AttachAgeLoad, "load that comes along is aged"},
	{sched.WAIdle, "a wake takes the CPU of the waker and of the task where that idles"},
	{sched.WAWeight, "else where the load is less"},
	{sched.WABias, "with a preference for the waker's"},
	{sched.SISAvgCPU, "4.11: no idle CPU is looked for where the waker's idles too briefly for it"},
	{sched.SISProp, "4.13 to 6.6: as many CPUs are looked at as the idle time of the waker's allows"},
	{sched.SISUtil, "from 6.0 on: as many as the use of all that share the cache lets expect an idle one"},
	{sched.NIRandom, "a CPU that goes idle throws dice for whether it looks for work where that seldom helped"},
	{sched.UtilEst, "utilisation is estimated from what tasks used before they slept"},
	{sched.UtilEstFastup, "the estimate follows a rise at once"},
}

// featureSetting makes a setting of a feature that only some kernels have.
func featureSetting(is sched.Feature, meaning string) Setting {
	name := is.String()
	return Setting{Name: name, Values: "on, off", Default: "by kernel", Meaning: meaning, Feature: true,
		set: func(t *tuning, v string) error {
			if !t.hasFeature(name) {
				return fmt.Errorf("this kernel has no feature %s; of the fair class it has %s", name, strings.Join(t.featureNames(), ", "))
			}
			var on bool
			err := onOff(v, &on)
			t.config.Fair.Features = t.config.Fair.Features.With(is, on)
			return err
		},
		get: func(t *tuning) string {
			if !t.hasFeature(name) {
				return ""
			}
			return switchWord(t.config.Fair.Features.Has(is))
		}}
}

// hasFeature reports whether the kernel has the feature of the fair class called name.
func (t *tuning) hasFeature(name string) bool {
	return slices.Contains(t.fair.On, name) || slices.Contains(t.fair.Off, name)
}

// featureNames are the features of the fair class that the kernel has, of those that are settings.
func (t *tuning) featureNames() []string {
	var list []string
	for _, f := range fairFeatures {
		if name := f.is.String(); t.hasFeature(name) {
			list = append(list, name)
		}
	}
	return list
}

// propagation are the two changes that were proposed for 4.11.
var propagation = []Setting{
	propagateSetting("propagate_group_load", "4.11: the load of a group's queue is carried to its entity in the queue above as it should. A change that was proposed; later kernels differ altogether",
		func(f *sched.FairConfig) *bool { return &f.PropagateGroupLoad }),
	propagateSetting("propagate_runnable_load", "4.11: the runnable load of a queue is at once that of all tasks below it, at any depth. A change that was proposed; later kernels differ altogether",
		func(f *sched.FairConfig) *bool { return &f.PropagateRunnableLoad }),
}

func propagateSetting(name, meaning string, of func(*sched.FairConfig) *bool) Setting {
	return Setting{Name: name, Values: "on, off", Default: "off", Meaning: meaning, Feature: true,
		set: func(t *tuning, v string) error {
			if !t.config.Fair.PELT411 {
				return fmt.Errorf("%s is a change to kernels that track load as 4.11 does", name)
			}
			return onOff(v, of(&t.config.Fair))
		},
		get: func(t *tuning) string {
			if !t.config.Fair.PELT411 || !*of(&t.config.Fair) {
				return "" // no kernel has it
			}
			return "on"
		}}
}

// withFair puts the settings of the fair class among the others, sysctls before features.
func withFair(list []Setting) []Setting {
	first := slices.IndexFunc(list, func(s Setting) bool { return s.Feature })
	list = slices.Insert(slices.Clone(list), first, fairSettings...)
	for _, f := range fairFeatures {
		list = append(list, featureSetting(f.is, f.meaning))
	}
	return append(list, propagation...)
}
