package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// switchKind: the current task should make way and is about to: the way from the wake,
// from the end of a boost, or from the end of a move, to the switch itself.
//
// Shown by: a task that goes after the waiter is current for at most 50 µs from that
// moment on, interrupts in front of it not counted. It is proven by the switch, to the waiter or
// another real-time task. Likely: one that goes after the waiter comes next, or the period timer
// expired meanwhile, so that real-time tasks may have been kept off the CPU without a sign.
//
// Not this: a task that goes after the waiter and keeps the CPU for longer
// (preempt_off); one that came to the CPU only after the waiter was queued.
var switchKind = Kind{
	Name:  "switch",
	Title: "context switch",
	Needs: []event.Kind{event.SchedSwitch},
	Best:  Proven,
}

func matchSwitch(p *piece) (Interval, bool) {
	if !p.lower() || p.lingers() > atOnce || p.cameAfter() {
		return Interval{}, false
	}
	i := p.ifInferred(p.blame(&switchKind, Proven))
	served := p.a.x.Facts.FairServer != kernel.No && p.waiter.class == ClassRT && p.demoted()
	if served || p.keptOffUnseen(p.run.End) {
		i.Verdict = Likely
		i.Detail = "or real-time tasks were kept off the CPU until then"
	}
	return i, true
}

// lingers returns how long the current task keeps the CPU from the moment on at which it
// should have begun to make way, without the interrupts that came in front of it.
func (p *piece) lingers() event.Time {
	since := p.lowerSince()
	whole := p.run.End - since
	if whole <= atOnce {
		return whole
	}
	if p.lingered.run != p.run || p.lingered.since != since {
		p.lingered = lingered{p.run, since, whole - p.interrupted(since, p.run.End)}
	}
	return p.lingered.ns
}

// lingered keeps what lingers found out: interrupts cut a run into many pieces.
type lingered struct {
	run       *timeline.Run
	since, ns event.Time
}

// interrupted sums the hard interrupts and the softirqs in interrupt context in
// [from, to) of the current run; a moment in both counts once.
func (p *piece) interrupted(from, to event.Time) event.Time {
	irqs := timeline.Overlapping(p.ci.IRQs, from, to)
	softirqs := timeline.Overlapping(p.ci.Softirqs, from, to)
	var sum event.Time
	for at := from; len(irqs)+len(softirqs) > 0; {
		list := &irqs
		if len(irqs) == 0 || len(softirqs) > 0 && softirqs[0].From < irqs[0].From {
			list = &softirqs
		}
		s := &(*list)[0]
		if list == &irqs || p.ofInterrupt(s) {
			sum += max(0, min(s.To, to)-max(s.From, at))
			at = max(at, s.To)
		}
		*list = (*list)[1:]
	}
	return sum
}

// lower reports whether the current task is one that goes after the waiter.
func (p *piece) lower() bool {
	return p.run != nil && !p.cur.task.Idle() && p.cur.class != ClassUnknown && p.cur.rank > p.waiter.rank
}

// lowerSince is when the current task should have begun to make way: when the waiter came
// to this CPU, when the last boost of the current task ended, or when the waiter itself was
// boosted.
func (p *piece) lowerSince() event.Time {
	since := max(p.since, p.run.Start)
	if own := p.a.x.PrioChanges(p.w.Task.ID); len(own) > 0 {
		if i := sort.Search(len(own), func(i int) bool { return own[i].At > p.from }); i > 0 {
			since = max(since, own[i-1].At)
		}
	}
	changes := p.a.x.Tasks[p.run.Task].PrioChanges
	if i := sort.Search(len(changes), func(i int) bool { return changes[i].At > p.from }); i > 0 {
		return max(since, changes[i-1].At)
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
