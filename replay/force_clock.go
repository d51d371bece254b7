package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// This file finds the clock of the runqueue, by which the kernel charges: it is read once in an operation, some
// hundred ns before the events of that are stamped. A choice that a wake has asked for does not even read it
// anew (RQCF_ACT_SKIP).

// mostLag is how much later than the kernel's charge its event may be stamped.
const mostLag event.Time = 100_000

// operation are the kinds that are recorded within the operation of the kernel that a charge belongs
// to: it reads its clock once.
var operation = event.Kinds(event.SchedStatRuntime, event.SchedWakeup, event.SchedWakeupNew, event.SchedSwitch,
	event.SchedMigrateTask, event.HrtimerStart, event.HrtimerCancel, event.HrtimerExpireExit)

// wakeClock is what is known of the clock of the last wake on a CPU.
type wakeClock struct {
	stamps
	waking event.Time // the stamp of its sched_waking, if that is of this CPU; NoTime: nothing is open
	at     event.Time // its clock, while nothing else has read it; NoTime
	asked  bool       // it has asked for a choice, whose charge will tell the clock
	fair   bool       // it was of a fair task
}

// clock sets the clock of the runqueue for the event at hand: that of the charge before it where the
// two belong together, else its stamp.
func (f *forcer) clock(ev *event.Event) {
	cp := &f.cpus[ev.CPU]
	if !operation.Has(ev.Kind) {
		cp.clockAt = event.NoTime
	}
	f.rqNow = cp.clockAt
	w := &cp.wake
	switch ev.Kind {
	case event.SoftirqEntry:
		w.softirq = 1 + int(uint64(ev.Arg)%softirqContexts)
	case event.SoftirqExit:
		w.softirq = 0
	case event.SchedWaking:
		w.waking, w.at, w.asked = ev.Time, event.NoTime, false
	case event.HrtimerExpireEntry:
		if f.funcOf(ev.Func) == funcTick {
			w.at, w.asked = event.NoTime, false
		}
	case event.SchedSwitch:
		if f.rqNow == event.NoTime && w.fair && f.sched.Curr(ev.CPU).Rank() == sched.RankIdle {
			f.rqNow = w.at
		}
		w.at, w.asked = event.NoTime, false
	}
}

// chargeClock finds the kernel's clock at the charge of ran ns of cur: it began where the charge
// before it ended. Where that would be after the stamp it began earlier, and so did the groups of cur.
func (f *forcer) chargeClock(ev *event.Event, cur *sched.Task, ran event.Time) {
	began := cur.ExecStart()
	at := began + ran
	if at > f.now || f.now-at > mostLag {
		at = f.now
		if late := began + ran - at; late > 0 && late <= mostLag {
			f.sched.ForceGroupsCharged(cur, -late)
		}
	}
	cp := &f.cpus[ev.CPU]
	cp.clockAt, f.rqNow = at, at
	if w := &cp.wake; w.waking != event.NoTime && at >= w.waking && !cp.ticking && (w.asked || cp.wakes != nil && cp.wakes.waking) {
		w.woke(w.waking, at)
		w.waking, w.asked = event.NoTime, false
	}
}

// wakesAt sets the clock of the wake of t on c, a fair task to which it matters, if no charge has told it.
func (f *forcer) wakesAt(ev *event.Event, t *forced, c event.CPU) {
	w := &f.cpus[c].wake
	w.fair = t.task.Rank() == sched.RankFair
	if ev.CPU != c || ev.Kind != event.SchedWakeup || w.waking == event.NoTime || !w.fair || f.sched.Curr(c).Rank() < sched.RankFair {
		return
	}
	if f.rqNow == event.NoTime {
		f.rqNow = min(max(w.clockOf(w.waking), w.waking), f.now)
		w.asked = ev.Flags&event.FlagsKnown != 0 && ev.Flags.Has(event.NeedResched)
	}
	w.at = f.rqNow
}
