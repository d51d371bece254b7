package cause

import "github.com/whylate/whylate/event"

// matchGap is asked first: nothing is said about time in which events were lost.
func matchGap(p *piece) (Interval, bool) {
	lost := p.w.GapFrom != event.NoTime && p.from >= p.w.GapFrom
	if !p.gap && !lost {
		return Interval{}, false
	}
	i := p.interval(&unknown, Unknown)
	i.Detail = "events were lost"
	i.Needs = biggerBuffer
	return i, true
}

// unknown: no event explains this part. It is always said, together with the events
// that would settle it.
//
// It also is what remains of a wait from the first moment at which events were lost, or
// the chain of switches is broken, on the CPU concerned.
var unknown = Kind{
	Name:  "unknown",
	Title: "unknown",
	Best:  Unknown,
}

func matchUnknown(p *piece) (Interval, bool) {
	i := p.interval(&unknown, Unknown)
	switch {
	case p.w.MovedUnseen():
		i.Detail = "it was moved to another CPU at a moment that no event tells"
		i.Needs = []string{"sched:sched_migrate_task"}
	case p.run == nil:
		i.Detail = "the trace does not show who ran on this CPU"
		i.Needs = []string{"sched:sched_switch"}
	case p.cur.task.Idle():
		i.Detail = "the CPU was idle with the task in its queue"
		if p.w.Queued != event.NoTime && p.from < p.w.Queued {
			i.Detail = "the wake was on its way to an idle CPU"
		}
		i.Needs = append(idleNeeds[:len(idleNeeds):len(idleNeeds)], "timer:hrtimer_expire_entry")
	case p.cur.class == ClassUnknown || p.waiter.class == ClassUnknown:
		i.Detail = "the priority of a task is not known"
		i.blameTask(p.cur.task, p.run.Comm, p.cur.prio)
	default:
		i.Detail = "the scheduler chose a task that goes after it, and no event says why"
		i.blameTask(p.cur.task, p.run.Comm, p.cur.prio)
	}
	return i, true
}
