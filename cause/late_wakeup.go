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
	Title: "late wakeup",
	Needs: []event.Kind{event.HrtimerStart, event.HrtimerExpireEntry, event.SoftirqRaise},
	Best:  Proven,
}

// interruptEntry is how long a timer interrupt that nothing holds back may take from the
// expiry to the wake; also a slow machine does it in this time.
const interruptEntry event.Time = 10_000

// late explains [d.at, woken) of w.
func (a *Analysis) late(w *latency.Wait, d due, add func(Interval)) {
	thread := w.Waker.Task
	if thread == nil || !kernel.IsSoftirqThread(a.comm(thread.Comm)) || w.Waker.Context == latency.ContextIRQ {
		p := piece{a: a, w: w, cpu: w.Waker.CPU, from: d.at, to: w.Woken}
		i := p.interval(&lateWakeup, d.verdict)
		i.Detail = "from the timer's expiry to its handler"
		if w.Woken-d.at > interruptEntry {
			i.Detail = "timer interrupt late: interrupts off, CPU stolen, or no high-resolution timers"
			i.Needs = []string{"irqsoff tracer", "steal time of the host"}
		}
		i.Evidence = append(d.evidence, Ref{w.Woken, w.Waker.CPU})
		add(i)
		return
	}
	comm := a.comm(thread.Comm)
	a.cut(w, w.Waker.CPU, d.at, d.at, w.Woken, w.Woken, func(p *piece) {
		if p.run == nil || p.gap {
			i, _ := matchUnknown(p)
			add(i)
			return
		}
		i := p.blame(&lateWakeup, d.verdict)
		i.Evidence = append(i.Evidence, d.evidence...)
		switch {
		case p.run.Task == thread.ID:
			i.Detail = "served other timers first"
		case p.cur.task.Idle():
			i.PID, i.Culprit, i.Comm, i.Prio = event.NoPID, timeline.NoTask, 0, event.NoPrio
			i.Detail = comm + " had not come to run"
		default:
			i.Detail = "kept " + comm + " from running"
		}
		add(i)
	})
}
