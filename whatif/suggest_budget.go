package whatif

import (
	"fmt"
	"math"

	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/sched"
)

// windows is by how much the periods of budgets are made shorter: a tenth keeps the shares
// and makes the longest wait a tenth.
const windows = 10

// suggestRTThrottled: all real-time tasks of the CPU pay for the one that used the budget up.
// That one is to use less, or the budget is to be larger, or handed out in smaller pieces.
// The priority of who waits does not matter: throttling takes them all.
func suggestRTThrottled(a *asked) []Candidate {
	var list []Candidate
	if a.cause.PID >= 0 && a.cause.PID != a.late.PID && !kernel.IsKernelThread(a.cause.Comm) {
		for _, c := range a.ordinary() {
			c.Text = a.cause.Comm + ", which used the budget up, as SCHED_OTHER"
			list = append(list, c)
		}
	}
	runtime, period := a.known.RTRuntime, a.known.RTPeriod
	if runtime > 0 && period > runtime {
		if short := period / windows; short >= 1000 {
			list = append(list, Candidate{Text: fmt.Sprintf("the same budget in periods of %d ms", short/1000),
				Change: fmt.Sprintf("set sched_rt_runtime_us=%d sched_rt_period_us=%d", runtime/windows, short)})
		}
		more := (runtime + period) / 2
		list = append(list, Candidate{Text: fmt.Sprintf("a budget of %d of %d µs", more, period),
			Change: fmt.Sprintf("set sched_rt_runtime_us=%d", more)})
	}
	if a.known.CPUs > 1 && !a.known.Traits.RTRuntimeShare {
		list = append(list, Candidate{Text: "CPUs lend each other their budgets", Change: "set RT_RUNTIME_SHARE=on"})
	}
	list = append(list, Candidate{Text: "no real-time throttling; nothing stops a runaway task then",
		Change: "set sched_rt_runtime_us=-1"})
	if a.cause.PID != a.late.PID {
		list = append(list, a.apart()...)
	}
	return list
}

// leastServerPeriod is what the kernel takes for a server's period, ns.
const leastServerPeriod = 100_000

// suggestFairServer: the server has files of its own; sched_rt_runtime_us is none of them. Its
// share in shorter periods makes for shorter waits; the period is written first, for most
// kernels that have the server refuse what would make its share smaller, be it for a moment.
func suggestFairServer(a *asked) []Candidate {
	var list []Candidate
	k := a.known
	if period := k.FairPeriod / windows; period >= leastServerPeriod && k.FairRuntime >= windows {
		list = append(list, Candidate{Text: fmt.Sprintf("the server's share in periods of %d ms", period/1_000_000),
			Change: fmt.Sprintf("set fair_server_period_ns=%d fair_server_runtime_ns=%d", period, k.FairRuntime/windows)})
	}
	if a.cause.PID >= 0 && !kernel.IsKernelThread(a.cause.Comm) {
		if cpus := k.otherCPUs(a.late.CPU); cpus != "" {
			list = append(list, Candidate{Text: fmt.Sprintf("%s kept off CPU %d", a.cause.Comm, a.late.CPU),
				Change: a.culprit() + " cpus=" + cpus})
		}
	}
	list = append(list, Candidate{Text: "no fair server", Change: "set fair_server_runtime_ns=0"})
	return append(list, a.elsewhere()...)
}

// suggestDLThrottled: the task ran for longer than it had asked for, so it is to ask for more,
// or for the same share in shorter periods.
func suggestDLThrottled(a *asked) []Candidate {
	t := a.known.task(a.late.Comm, a.late.PID)
	if t == nil || t.Attr.Policy != sched.Deadline || t.Attr.Runtime <= 0 {
		return nil
	}
	runtime, deadline, period := int64(t.Attr.Runtime), int64(t.Attr.Deadline), int64(t.Attr.Period)
	if deadline == 0 {
		deadline = period
	}
	if period == 0 {
		period = deadline
	}
	var list []Candidate
	for _, percent := range []int64{125, 150, 200} {
		more := min(runtime/100*percent, deadline)
		if deadline <= 0 || more <= runtime || runtime > math.MaxInt64/200 {
			continue
		}
		list = append(list, Candidate{Text: fmt.Sprintf("%s with a runtime of %d µs", a.late.Comm, more/1000),
			Change: fmt.Sprintf("%s policy=deadline runtime=%d deadline=%d period=%d", a.victim(), more/1000, deadline/1000, period/1000)})
	}
	return list
}
