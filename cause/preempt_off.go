package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// preemptOff: a task that goes after the waiter kept the CPU, because preemption or
// interrupts were off, or because its kernel does not preempt code in kernel mode.
//
// Shown by: a task that goes after the waiter is current for more than 50 µs from the
// moment at which it should have made way, interrupts in front of it not counted.
//
// Proven: irq_disable or preempt_disable and the event that ends it lie around the
// stretch; or an interrupt, mostly the tick, found the reschedule flag set and the task went
// on after it for more than 50 µs: on the way back to user mode it would have been made to
// leave, so it was in the kernel, with preemption off (a depth above 0) or on a kernel that
// does not preempt kernel mode; that proves it only in a trace with the events of interrupts
// and, but for PREEMPT_RT, of softirqs, whose time could be all of it. Likely: by elimination,
// since nothing else explains it. A hypervisor that took the CPU away looks the same, where its
// steal is no event.
//
// Not this: a task that was switched in when the waiter was already queued, which is a
// choice of the scheduler; the first 50 µs after a wake (switch).
var preemptOff = Kind{
	Name:  "preempt_off",
	Title: "preemption off",
	Needs: []event.Kind{event.PreemptDisable, event.IRQDisable},
	Best:  Proven,
}

func matchPreemptOff(p *piece) (Interval, bool) {
	if !p.lower() || p.cameAfter() {
		return Interval{}, false
	}
	i := p.blame(&preemptOff, Likely)
	for _, s := range timeline.Overlapping(p.ci.OffSpans, p.from, p.to) {
		if s.From <= p.from && s.To >= p.to-atOnce {
			i.Verdict = Proven
			i.Evidence = append(i.Evidence, Ref{s.From, p.cpu}, Ref{s.To, p.cpu})
			i.Detail = "preemption or interrupts off: " + p.a.comm(s.Name)
			return p.ifInferred(i), true
		}
	}
	// Without the events of interrupts, and there were some, their time may be all of it.
	seen := (p.a.x.Occurs(event.IRQHandlerEntry) || p.a.x.Occurs(event.VectorEntry)) &&
		(p.a.x.Occurs(event.SoftirqEntry) || p.a.x.Facts.PreemptRT == kernel.Yes)
	if e := p.refused(); e != nil && seen {
		i.Verdict = Proven
		i.Evidence = append(i.Evidence, Ref{e.At, p.cpu})
		i.Detail = "in kernel mode, on a kernel that does not preempt it there"
		if e.Depth > 0 {
			i.Detail = "preemption was off when the interrupt found that it should leave"
		}
		return p.ifInferred(i), true
	}
	i.Detail = "it should have made way: preemption or interrupts off, a kernel that does not preempt kernel mode, or a stolen CPU"
	if p.waiter.class == ClassRT && p.cur.class == ClassFair && p.a.x.Facts.FairServer == kernel.Yes {
		// It can have begun to serve while only fair tasks ran: no switch shows that.
		i.Detail += ", or the fair server serves it"
	}
	if !p.a.x.Occurs(event.PreemptDisable) {
		i.Needs = []string{"preemptirq:preempt_disable", "preemptirq:irq_disable"}
	}
	return i, true
}

// refused returns an interrupt after which the current task went on although it was asked
// to leave, nil if none was seen. The rest of the stretch until the task leaves counts,
// without the softirqs and further interrupts that come before the way back to it.
func (p *piece) refused() *timeline.Expiry {
	since := p.lowerSince()
	if p.refusal.run == p.run && p.refusal.since == since {
		return p.refusal.by
	}
	p.refusal = refusal{run: p.run, since: since}
	list := p.ci.Expiries
	n := sort.Search(len(list), func(i int) bool { return list[i].At >= since })
	end := min(p.run.End, p.end)
	for ; n < len(list) && list[n].At < end-atOnce; n++ {
		e := &list[n]
		if !e.Hard || !e.Flags.Has(event.NeedResched|event.HardIRQ) {
			continue
		}
		if end-e.At-p.interrupted(e.At, end) > atOnce {
			p.refusal.by = e
		}
		break // the later ones leave it less time
	}
	return p.refusal.by
}

// refusal keeps what refused found out: interrupts cut a run into many pieces.
type refusal struct {
	run   *timeline.Run
	since event.Time
	by    *timeline.Expiry
}
