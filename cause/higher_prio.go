package cause

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// higherPrio: a task ran that by its class and priority goes first.
//
// Proven: the switches around it are seen without a gap and its class is known. Likely:
// its class changed in this run without an event, and this is the class that explains
// why the waiter did not run; but proven where sched_stat_runtime shows real-time
// accounting, and before the first and after the last system call that may have changed it.
// Likely too where it came as a fair task while real-time ones were kept off the CPU, and
// between two deadline tasks: no event shows their deadlines.
//
// Not this: a task of the same priority; one that is boosted; one whose class no event
// tells.
var higherPrio = Kind{
	Name:  "higher_prio",
	Title: "higher priority",
	Needs: []event.Kind{event.SchedSwitch},
	Best:  Proven,
}

func matchHigherPrio(p *piece) (Interval, bool) {
	deadlines := p.run != nil && p.cur.class == ClassDeadline && p.waiter.class == ClassDeadline
	if p.run == nil || p.cur.class == ClassUnknown || !deadlines && p.cur.rank >= p.waiter.rank {
		return Interval{}, false
	}
	i := p.blame(&higherPrio, Proven)
	if deadlines {
		i.Verdict, i.Detail = Likely, "its deadline comes first"
	}
	return p.orItsExit(p.ifInferred(i)), true
}

// ifInferred weakens i where the class of the current task is a guess.
func (p *piece) ifInferred(i Interval) Interval {
	if p.waiter.class == ClassRT && p.run.Marks.Has(timeline.MarkPassedRT) && p.since <= p.run.Start && p.cur.class == ClassRT {
		i.Verdict = min(i.Verdict, Likely) // it came as one that goes after the waiter, who was kept off
		i.Detail = "real-time tasks were kept off the CPU when it came, and may still be"
	}
	if p.cur.inferred && !p.cur.charged {
		i.Verdict = min(i.Verdict, Likely)
		i.Detail = "its class changed in this run and left no event"
		i.Needs = append(i.Needs, "syscalls:sys_enter_sched_setscheduler", "syscalls:sys_enter_sched_setattr")
	}
	return i
}
