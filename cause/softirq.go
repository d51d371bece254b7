package cause

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// softirq: softirqs ran on the CPU in interrupt context, in front of every task.
//
// Shown and proven by: softirq_entry and softirq_exit while a task is current that is no
// softirq thread.
//
// Not this: softirqs in ksoftirqd or ktimers, which are tasks with a priority of their
// own; anything on PREEMPT_RT, where all softirqs run in tasks. The softirq flag of other
// events does not count: softirq threads carry it as well.
var softirq = Kind{
	Name:  "softirq",
	Title: "softirq",
	Needs: []event.Kind{event.SoftirqEntry},
	Best:  Proven,
}

func matchSoftirq(p *piece) (Interval, bool) {
	if p.softirq == nil || !p.ofInterrupt(p.softirq) {
		return Interval{}, false
	}
	i := p.interval(&softirq, Proven)
	i.Detail = fmt.Sprintf("vector %d", p.softirq.Vec)
	if p.softirq.Vec >= 0 && p.softirq.Vec < int64(len(softirqNames)) {
		i.Detail = softirqNames[p.softirq.Vec]
	}
	i.Evidence = []Ref{{p.softirq.From, p.cpu}, {p.softirq.To, p.cpu}}
	return i, true
}

// ofInterrupt reports whether the softirq s runs in interrupt context over the current
// task. One that is open across a switch belongs to a thread that was preempted in it.
func (p *piece) ofInterrupt(s *timeline.Span) bool {
	if p.a.x.Facts.PreemptRT == kernel.Yes {
		return false
	}
	return p.run == nil || s.Task == p.run.Task && !kernel.IsSoftirqThread(p.a.comm(p.run.Comm))
}

// softirqNames are the vectors as the kernel prints them.
var softirqNames = [...]string{"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"}
