package whatif

import (
	"fmt"

	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/sched"
)

// mostPrio is the highest real-time priority that is suggested: 99 is that of the kernel's own
// threads, which must come before everybody.
const mostPrio = 98

// realTime is the priority of chrt, 1 to 99, of a kernel's number; 0: it is none.
func realTime(p result.Prio) int {
	if p < 0 || p > 98 {
		return 0
	}
	return 99 - int(p)
}

// suggestHigherPrio: the waiter above who kept it out, that one below the waiter, or the two
// on different CPUs.
func suggestHigherPrio(a *asked) []Candidate {
	if kernel.IsStopper(a.cause.Comm) && a.cause.Prio == 0 || a.cause.PID < 0 {
		return nil
	}
	var list []Candidate
	if n := realTime(a.cause.Prio); n > 0 {
		list = append(list, a.raised(n+1)...)
	}
	list = append(list, a.lowered()...)
	return append(list, a.apart()...)
}

// suggestSamePrio: first come, first served, unless one of them is moved by a step, or the
// other gives way at the end of its turn.
func suggestSamePrio(a *asked) []Candidate {
	n := realTime(a.cause.Prio)
	if n == 0 || a.cause.PID < 0 {
		return nil
	}
	list := append(a.raised(n+1), a.lowered()...)
	t := a.known.task(a.cause.Comm, a.cause.PID)
	if t != nil && t.Attr.Policy == sched.RR && a.cause.NS > shortTurn*1_000_000 {
		list = append(list, Candidate{Text: fmt.Sprintf("turns of SCHED_RR of %d ms", shortTurn), Change: fmt.Sprintf("set sched_rr_timeslice_ms=%d", shortTurn)})
	}
	if t != nil && t.Attr.Policy == sched.FIFO {
		list = append(list, Candidate{Text: a.cause.Comm + " as SCHED_RR, which gives way after its turn",
			Change: fmt.Sprintf("%s policy=rr prio=%d", a.culprit(), n)})
	}
	return append(list, a.apart()...)
}

// shortTurn is what a turn of SCHED_RR may be made, in ms: the kernel's own is 100.
const shortTurn = 10

// raised is the waiter with real-time priority n; nothing for deadline tasks, which no
// priority makes faster.
func (a *asked) raised(n int) []Candidate {
	if n > mostPrio || a.late.Class == "dl" {
		return nil
	}
	word := "fifo"
	if t := a.known.task(a.late.Comm, a.late.PID); t != nil && t.Attr.Policy == sched.RR {
		word = "rr"
	}
	return []Candidate{{Text: fmt.Sprintf("%s at RT %d", a.late.Comm, n),
		Change: fmt.Sprintf("%s policy=%s prio=%d", a.victim(), word, n)}}
}

// lowered is the culprit below the waiter. Threads of the kernel are left as they are: who
// waits for them is not to be seen.
func (a *asked) lowered() []Candidate {
	if kernel.IsKernelThread(a.cause.Comm) {
		return nil
	}
	n := realTime(a.late.Prio) - 1
	if n <= 0 {
		return a.ordinary()
	}
	list := []Candidate{{Text: fmt.Sprintf("%s at RT %d", a.cause.Comm, n), Change: fmt.Sprintf("%s policy=fifo prio=%d", a.culprit(), n)}}
	if kernel.IsIRQThread(a.cause.Comm) {
		list = append(list, a.ordinary()...) // nobody promised its device a priority
	}
	return list
}

// ordinary is the culprit as SCHED_OTHER.
func (a *asked) ordinary() []Candidate {
	return []Candidate{{Text: a.cause.Comm + " as SCHED_OTHER",
		Change: a.culprit() + " policy=other"}}
}

// apart puts the culprit on other CPUs than the one where the waiter was queued, or the waiter
// on one that stood idle meanwhile. Deadline tasks may use all CPUs or none.
func (a *asked) apart() []Candidate {
	var list []Candidate
	if !kernel.IsKernelThread(a.cause.Comm) && a.cause.Prio >= 0 && a.cause.PID >= 0 {
		if cpus := a.known.otherCPUs(a.late.CPU); cpus != "" {
			list = append(list, Candidate{Text: fmt.Sprintf("%s kept off CPU %d", a.cause.Comm, a.late.CPU),
				Change: a.culprit() + " cpus=" + cpus})
		}
	}
	return append(list, a.elsewhere()...)
}

// elsewhere puts the waiter on the CPU that stood idle for most of its wait.
func (a *asked) elsewhere() []Candidate {
	if a.late.Class == "dl" || kernel.IsKernelThread(a.late.Comm) {
		return nil
	}
	best := -1
	for i, e := range a.late.IdleElsewhere {
		if e.NS*2 > a.late.WaitNS && (best < 0 || e.NS > a.late.IdleElsewhere[best].NS) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	c := a.late.IdleElsewhere[best].CPU
	return []Candidate{{Text: fmt.Sprintf("%s on CPU %d, which was idle", a.late.Comm, c),
		Change: fmt.Sprintf("%s cpus=%d", a.victim(), c)}}
}

// culprit and victim are the beginnings of changes of the two.
func (a *asked) culprit() string { return a.known.change(a.cause.Comm, a.cause.PID) }
func (a *asked) victim() string  { return a.known.change(a.late.Comm, a.late.PID) }

// holder is the culprit as it names a lock, or who dies.
func (a *asked) holder() string { return quoted(a.known.pattern(a.cause.Comm, a.cause.PID)) }
