package sched

// Feature is a scheduler feature, by its place in the list of the kernel's names.
type Feature uint8

// The features of the fair class that kernels have; kernel/sched/features.h.
const (
	GentleFairSleepers   Feature = iota // a sleeper gets half a latency in advance, not all
	StartDebit                          // a new task begins a slice behind
	NextBuddy                           // who was woken last goes first
	LastBuddy                           // who was preempted goes first when that is over
	CacheHotBuddy                       // buddies count as cache hot
	WakeupPreemption                    // a woken task may preempt
	AltPeriod                           // the period counts all tasks of the hierarchy
	BaseSlice                           // no slice is below min_granularity
	PlaceLag                            // lag is kept over sleep
	PlaceDeadlineInitial                // a new task has half a slice
	PlaceRelDeadline                    // a deadline is kept over a migration
	RunToParity                         // who runs goes on to its 0-lag point or the end of its slice
	PreemptShort                        // a shorter slice preempts
	PickBuddy                           // buddies may be picked
	DelayDequeue                        // who sleeps with negative lag stays until it is paid
	DelayZero                           // what it gains by that is taken from it
	AttachAgeLoad                       // load that comes is aged
	UtilEst                             // utilisation is estimated from what tasks used before
	UtilEstFastup                       // and follows at once when it rises
	WAIdle                              // wakes go where it is idle
	WAWeight                            // or where load is less
	WABias                              // with what the waker is about to leave
	SISAvgCPU                           // scan for idle CPUs no longer than the average idle time
	SISProp                             // as many as that allows
	SISUtil                             // as many as utilisation allows
	NonTaskCapacity                     // interrupts and other classes take capacity
	LBBias                              // cpu_load[] biases balancing
	LBMin                               // small loads are not balanced
	DoubleTick                          // ticks end slices too where HRTICK does it
	NIRandom                            // newidle balancing is skipped at random where it seldom helps
	nFeatures
)

var featureNames = [nFeatures]string{"GENTLE_FAIR_SLEEPERS", "START_DEBIT", "NEXT_BUDDY", "LAST_BUDDY", "CACHE_HOT_BUDDY",
	"WAKEUP_PREEMPTION", "ALT_PERIOD", "BASE_SLICE", "PLACE_LAG", "PLACE_DEADLINE_INITIAL", "PLACE_REL_DEADLINE", "RUN_TO_PARITY",
	"PREEMPT_SHORT", "PICK_BUDDY", "DELAY_DEQUEUE", "DELAY_ZERO", "ATTACH_AGE_LOAD", "UTIL_EST", "UTIL_EST_FASTUP", "WA_IDLE",
	"WA_WEIGHT", "WA_BIAS", "SIS_AVG_CPU", "SIS_PROP", "SIS_UTIL", "NONTASK_CAPACITY", "LB_BIAS", "LB_MIN", "DOUBLE_TICK", "NI_RANDOM"}

// String is the kernel's name.
func (f Feature) String() string { return featureNames[f] }

// FeatureNamed returns the feature with the kernel's name, false if the fair class has none.
func FeatureNamed(name string) (Feature, bool) {
	for f, n := range featureNames {
		if n == name {
			return Feature(f), true
		}
	}
	return 0, false
}

// Features is a set of them.
type Features uint64

// FeaturesOf returns the set of some.
func FeaturesOf(list ...Feature) Features {
	var fs Features
	for _, f := range list {
		fs |= 1 << f
	}
	return fs
}

// Has reports whether f is on.
func (fs Features) Has(f Feature) bool { return fs>>f&1 != 0 }

// With returns the set with f on or off.
func (fs Features) With(f Feature, on bool) Features {
	if on {
		return fs | 1<<f
	}
	return fs &^ (1 << f)
}

// has reports whether a feature of the fair class is on; sched_feat().
func (s *Sched) has(f Feature) bool { return s.cfg.Fair.Features.Has(f) }
