package kernel

// Answer is yes, no, or not known.
type Answer uint8

// The answers. Maybe is what an unknown kernel gives.
const (
	Maybe Answer = iota
	No
	Yes
)

func answer(b bool) Answer {
	if b {
		return Yes
	}
	return No
}

// Facts is what is known of the kernel that recorded a trace. Times are ns.
type Facts struct {
	Release string
	Version Version
	Known   bool // the release string was understood

	// PreemptRT: built with PREEMPT_RT, so that softirqs and most interrupt handlers
	// run in threads.
	PreemptRT Answer
	// FairServer: deadline servers serve fair tasks that real-time tasks starve
	// (fair_server, 6.12 and later).
	FairServer Answer
	// RTThrottling: real-time runqueues are throttled by sched_rt_runtime_us by
	// default. From 6.12 only with CONFIG_RT_GROUP_SCHED.
	RTThrottling Answer
	// ExitToldFirst: sched_process_exit comes before the task gives its memory back; up to
	// 6.15 it comes after that.
	ExitToldFirst Answer
	// ExitDrains: pages that a dying task gives back gather in lists of its CPU, which at the
	// end are emptied at once with interrupts off. Recorded on 6.1, not on 6.12 and not with
	// PREEMPT_RT; from 5.14, which made those lists long, to 6.6, after which they are emptied in
	// small batches.
	ExitDrains Answer
	// Flags is what the bits of common_flags and common_preempt_count mean.
	Flags FlagFacts
	// ReportedStates: prev_state of sched_switch has a form made for being shown (4.14 and
	// later). Before, it is the state flags of the task as they are.
	ReportedStates Answer
	// FairServerRuntime and FairServerPeriod are the defaults of the deadline server.
	FairServerRuntime, FairServerPeriod int64
	// RTRuntime and RTPeriod are the defaults of sched_rt_runtime_us and
	// sched_rt_period_us.
	RTRuntime, RTPeriod int64
	// Tick is the distance of two ticks of the usual configuration (HZ=250); what a
	// trace shows is better.
	Tick int64
}

// Defaults that no version changed; Documentation/scheduler/sched-rt-group.rst,
// sched-deadline.rst and the fair server's debugfs files.
const (
	defaultRTRuntime         = 950_000_000
	defaultRTPeriod          = 1_000_000_000
	defaultFairServerRuntime = 50_000_000
	defaultFairServerPeriod  = 1_000_000_000
	defaultTick              = 4_000_000
)

// Of returns the facts of the kernel with the given uname release, "" for an unknown one.
func Of(release string) Facts {
	f := Facts{
		Release:           release,
		FairServerRuntime: defaultFairServerRuntime,
		FairServerPeriod:  defaultFairServerPeriod,
		RTRuntime:         defaultRTRuntime,
		RTPeriod:          defaultRTPeriod,
		Tick:              defaultTick,
	}
	f.Version, f.Known = parseVersion(release)
	if !f.Known {
		f.Flags = unknownFlags
		return f
	}
	v := f.Version
	rt := hasRT(release)
	f.PreemptRT = Maybe // a kernel from 6.12 can be PREEMPT_RT without saying so
	if rt {
		f.PreemptRT = Yes
	} else if !v.AtLeast(6, 12) {
		f.PreemptRT = No
	}
	f.FairServer = answer(v.AtLeast(6, 12))
	f.RTThrottling = answer(!v.AtLeast(6, 12))
	f.ExitToldFirst = answer(v.AtLeast(6, 16))
	f.ExitDrains = answer(v.AtLeast(5, 14) && !v.AtLeast(6, 7) && !rt)
	f.Flags = flagFacts(v, rt)
	f.ReportedStates = answer(v.AtLeast(4, 14))
	return f
}
