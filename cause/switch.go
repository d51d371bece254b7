package cause

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
)

// switchKind: the current task should make way and is about to: the way from the wake,
// from the end of a boost, or from the end of a move, to the switch itself.
//
// Shown by: a task that goes after the waiter is current for at most 50 µs from that
// moment on. It is proven by the switch.
//
// Not this: a task that goes after the waiter and keeps the CPU for longer
// (preempt_off); one that came to the CPU only after the waiter was queued.
var switchKind = Kind{
	Name:  "switch",
	Title: "switch",
	Needs: []event.Kind{event.SchedSwitch},
	Best:  Proven,
}

func matchSwitch(p *piece) (Interval, bool) {
	if !p.lower() || p.run.End-p.lowerSince() > atOnce || p.cameAfter() {
		return Interval{}, false
	}
	return p.blame(&switchKind, Proven), true
}

// lower reports whether the current task is one that goes after the waiter.
func (p *piece) lower() bool {
	return p.run != nil && !p.cur.task.Idle() && p.cur.class != ClassUnknown && p.cur.rank > p.waiter.rank
}

// lowerSince is when the current task should have begun to make way: when the waiter came
// to this CPU, or when the last boost of the current task ended.
func (p *piece) lowerSince() event.Time {
	since := max(p.since, p.run.Start)
	changes := p.a.x.Tasks[p.run.Task].PrioChanges
	for i := len(changes) - 1; i >= 0; i-- {
		if at := changes[i].At; at <= p.from {
			return max(since, at)
		}
	}
	return since
}

// cameAfter reports whether the current task was switched in when the waiter was already
// queued, and at that moment went after it: then it did not merely linger, the scheduler
// chose it; so it did with the one that it put in the place of a preempted waiter. One
// that was boosted when it came, and no longer is, did not.
func (p *piece) cameAfter() bool {
	queued := p.since
	if p.w.Queued != event.NoTime {
		queued = max(queued, p.w.Queued)
	}
	took := p.w.Kind != latency.Wakeup && p.run.Start == p.w.Woken
	if p.run.Start <= queued && !took {
		return false
	}
	then := p.a.waiterAt(p.w, p.run.Start)
	return p.a.runningAt(p.run, p.run.Start, then.rank).rank > then.rank
}
