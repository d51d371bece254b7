package kernel

// Preempt is where a kernel lets a task lose its CPU, by its configuration.
type Preempt uint8

// The preemption models.
const (
	PreemptNone Preempt = iota
	PreemptVoluntary
	PreemptFull
	PreemptRT
)

// Traits are what a model of a kernel has to know and a trace does not tell: what it is
// built with, and which of the scheduler's features are on.
type Traits struct {
	Preempt Preempt
	// PreemptDynamic: a running kernel can change that between none, voluntary and full, in
	// debugfs (from 5.12 on, on x86; not with PREEMPT_RT).
	PreemptDynamic bool
	// Lazy: fair tasks ask each other lazily to leave (Debian's RT patch).
	Lazy bool
	// StatRuntimeRT: real-time tasks emit sched_stat_runtime (from 5.16 on), from 6.8 on
	// without vruntime in it (StatNoVruntime).
	StatRuntimeRT, StatNoVruntime bool
	// GRUBBeforeMax: reclaimed bandwidth is counted as up to 6.4.
	GRUBBeforeMax bool
	// RTPushIPI and TTWUQueue are features by those names.
	RTPushIPI, TTWUQueue bool
	// RTRuntimeShare: the feature RT_RUNTIME_SHARE is on; off from 5.10 on, and in later
	// point releases of older series.
	RTRuntimeShare bool
	// RTTimerKeepsGrid: sched_rt_period_timer expires at multiples of its period (up to
	// 4.5); later a period begins when the first real-time task comes.
	RTTimerKeepsGrid bool
	// ServersCounted: the bandwidth of deadline servers counts where deadline tasks are
	// admitted. 6.12 forgets it when it rebuilds its root domains at boot: inferred from
	// Debian's 6.12.107, which refuses every write that makes a server smaller, and its source.
	ServersCounted bool
	// KTimers: the softirqs of timers run in threads of their own, ktimers/N (the RT patch
	// from 6.0 on).
	KTimers bool
	// SleepersInSoftirq: on PREEMPT_RT the sleep timers of fair tasks expire in the softirq
	// HRTIMER (from the RT patch of 4.16 on; before, all of them expired in the interrupt).
	SleepersInSoftirq bool
	// KsoftirqdPriority is that of ksoftirqd/N where it is SCHED_FIFO, as in early RT
	// patches; 0: SCHED_OTHER.
	KsoftirqdPriority int
	// KsoftirqdFirst: softirqs wait for ksoftirqd while that is runnable (4.9 to 6.4).
	KsoftirqdFirst bool
	// HandlersIRQsOff: handlers that are forced into threads (threadirqs) keep interrupts
	// off there, but on PREEMPT_RT (from 5.12 on).
	HandlersIRQsOff bool
	// TickTimer is the function of the tick's timer: tick_sched_timer, from 6.9 on
	// tick_nohz_handler.
	TickTimer string
}

// traits by profile, as the kernels of a distribution are built: Debian's where it has one.
// Confirmed by recordings: 6.1, 6.1-rt, 6.12 and 6.12-rt.
var traits = map[string]Traits{
	"3.4-rt":  {TickTimer: "tick_sched_timer", Preempt: PreemptRT, GRUBBeforeMax: true, RTRuntimeShare: true, KsoftirqdPriority: 1, RTTimerKeepsGrid: true},
	"4.11":    {TickTimer: "tick_sched_timer", Preempt: PreemptVoluntary, KsoftirqdFirst: true, GRUBBeforeMax: true, TTWUQueue: true, RTRuntimeShare: true},
	"6.1":     {TickTimer: "tick_sched_timer", Preempt: PreemptVoluntary, PreemptDynamic: true, KsoftirqdFirst: true, HandlersIRQsOff: true, StatRuntimeRT: true, GRUBBeforeMax: true, RTPushIPI: true, TTWUQueue: true},
	"6.1-rt":  {TickTimer: "tick_sched_timer", Preempt: PreemptRT, SleepersInSoftirq: true, Lazy: true, StatRuntimeRT: true, GRUBBeforeMax: true, RTPushIPI: true, KTimers: true},
	"6.6":     {TickTimer: "tick_sched_timer", Preempt: PreemptVoluntary, PreemptDynamic: true, HandlersIRQsOff: true, StatRuntimeRT: true, TTWUQueue: true},
	"6.12":    {TickTimer: "tick_nohz_handler", Preempt: PreemptVoluntary, PreemptDynamic: true, HandlersIRQsOff: true, StatRuntimeRT: true, StatNoVruntime: true, TTWUQueue: true},
	"6.12-rt": {TickTimer: "tick_nohz_handler", Preempt: PreemptRT, SleepersInSoftirq: true, Lazy: true, StatRuntimeRT: true, StatNoVruntime: true, RTPushIPI: true, KTimers: true},
	"6.18":    {TickTimer: "tick_nohz_handler", Preempt: PreemptVoluntary, PreemptDynamic: true, HandlersIRQsOff: true, StatRuntimeRT: true, StatNoVruntime: true, TTWUQueue: true, ServersCounted: true},
}

// Traits returns what a model of the profile has to know; the zero Traits for a profile
// that is not one of Profiles.
func (p *Profile) Traits() Traits { return traits[p.Name] }
