package cause

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// lateWakeup: the wake itself came late: the timer was due, and whoever should have acted
// on it could not.
//
// Shown by: the moment at which the wake was due lies before the sched_waking. Where a
// thread expires the timer (ktimers on PREEMPT_RT, ksoftirqd), the culprits are the tasks
// that ran on its CPU meanwhile, the thread itself included, as in a wait of that thread.
// Without a thread the timer interrupt itself was late: interrupts were off, or the
// hypervisor had taken the CPU.
//
// Proven: due is known from timer events. Likely: from the regularity of the sleeper.
//
// Not this: a wake in time after which the task waits; a timer that another task armed.
var lateWakeup = Kind{
	Name:  "late_wakeup",
	Title: "woken late",
	Needs: []event.Kind{event.HrtimerStart, event.HrtimerExpireEntry, event.SoftirqRaise},
}

// interruptEntry is how long a timer interrupt that nothing holds back may take from the
// expiry to the wake; also a slow machine does it in this time.
const interruptEntry event.Time = 10_000

// late explains [due, woken) of w.
func (a *Analysis) late(w *latency.Wait, due event.Time, v Verdict, add func(Interval)) {
	thread := w.Waker.Task
	if thread == nil || !kernel.IsSoftirqThread(a.comm(thread.Comm)) || w.Waker.Context == latency.ContextIRQ {
		p := piece{a: a, w: w, cpu: w.Waker.CPU, from: due, to: w.Woken}
		i := p.interval(&lateWakeup, v)
		i.Detail = "from the timer's expiry to its handler"
		if w.Woken-due > interruptEntry {
			i.Detail = "timer interrupt late: interrupts off or CPU stolen"
			i.Needs = []string{"irqsoff tracer", "steal time of the host"}
		}
		i.Evidence = []Ref{{w.Woken, w.Waker.CPU}}
		add(i)
		return
	}
	waits := waiter{class: ClassRT, prio: thread.Prio, comm: a.comm(thread.Comm)}
	waits.class = ClassOf(thread.Prio, waits.comm, false)
	waits.rank = rank(waits.class, thread.Prio)
	a.cut(w, waits, w.Waker.CPU, due, due, w.Woken, w.Woken, func(p *piece) {
		if p.run == nil || p.gap {
			i, _ := matchUnknown(p)
			add(i)
			return
		}
		i := p.blame(&lateWakeup, v)
		switch {
		case p.run.Task == thread.ID:
			i.Detail = "served other timers first"
		case p.cur.task.Idle():
			i.PID, i.Culprit = event.NoPID, timeline.NoTask
			i.Detail = waits.comm + " had not come to run"
		default:
			i.Detail = "kept " + waits.comm + " from running"
		}
		add(i)
	})
}
