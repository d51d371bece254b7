package whatif

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/scenario"
)

// suggestIRQ: the interrupt on another CPU, or its handler in a thread.
func suggestIRQ(a *asked) []Candidate {
	var list []Candidate
	for _, q := range a.known.IRQs {
		if q.Name != a.cause.Comm {
			continue
		}
		name := quoted(scenario.PatternOf(fmt.Sprintf("%d-%s", q.Number, q.Name)))
		if cpus := a.known.otherCPUs(a.late.CPU); cpus != "" {
			list = append(list, Candidate{Text: fmt.Sprintf("interrupt %d (%s) kept off CPU %d", q.Number, q.Name, a.late.CPU),
				Change: fmt.Sprintf("irq=%s cpus=%s", name, cpus)})
		}
	}
	if a.known.Traits.Preempt != kernel.PreemptRT {
		list = append(list, Candidate{Text: "kernel command line: threadirqs", Change: "set threadirqs=on"})
	}
	return append(list, a.elsewhere()...)
}

// suggestSoftirq: where the interrupt that raised it is served is not known of a softirq.
func suggestSoftirq(a *asked) []Candidate { return a.elsewhere() }

// suggestPreemptOff: a kernel that can change its preemption model may do so; against what
// keeps preemption off by itself nothing helps but another CPU.
func suggestPreemptOff(a *asked) []Candidate {
	var list []Candidate
	if p := a.known.Traits.Preempt; a.known.Traits.PreemptDynamic && (p == kernel.PreemptNone || p == kernel.PreemptVoluntary) {
		list = append(list, Candidate{Text: "kernel code can be preempted", Change: "set preempt=full"})
	}
	return append(list, a.elsewhere()...)
}

// suggestLateWakeup: who kept the thread that serves timers from acting, as if that thread had
// waited.
func suggestLateWakeup(a *asked) []Candidate {
	if a.cause.PID < 0 || !strings.HasPrefix(a.cause.Detail, "kept ") {
		return nil
	}
	name := fmt.Sprintf("ktimers/%d", a.cause.CPU)
	if !a.known.Traits.KTimers {
		name = fmt.Sprintf("ksoftirqd/%d", a.cause.CPU)
	}
	var thread *Task
	for i := range a.known.Tasks {
		if a.known.Tasks[i].Comm == name {
			thread = &a.known.Tasks[i]
		}
	}
	if thread == nil {
		return nil
	}
	var list []Candidate
	if t := a.known.task(a.cause.Comm, a.cause.PID); t != nil && t.Dies {
		list = append(list, suggestExit(a)[:1]...)
	}
	if n := realTime(a.cause.Prio); n > 0 && n < mostPrio {
		list = append(list, Candidate{Text: fmt.Sprintf("%s at RT %d", name, n+1),
			Change: fmt.Sprintf("task=%s policy=fifo prio=%d", name, n+1)})
	}
	if !kernel.IsKernelThread(a.cause.Comm) {
		list = append(list, a.ordinary()...)
	}
	return list
}
