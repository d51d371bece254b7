package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// This file follows the quotas of groups: when their periods end, and who is throttled.

// quotaTimers are the period timers of groups.
type quotaTimers struct {
	groupOf map[int64]int      // of an address, where it is known
	expires map[int]event.Time // of a group: when its timer was recorded to expire next
	expired int64              // the address of the one that expired last, until it starts anew; 0
}

// quotaStarted is the start of a period timer: but for the timer itself, that starts anew, the kernel starts that of
// a group from which the current task, or one that is woken, takes for the first time in a while. Ticks
// and wakes in interrupts charge, too.
func (f *forcer) quotaStarted(ev *event.Event) {
	if f.offset == 0 {
		return
	}
	q := &f.quotas
	if q.groupOf == nil {
		q.groupOf, q.expires = map[int64]int{}, map[int]event.Time{}
	}
	g, known := q.groupOf[ev.Arg]
	restarts := q.expired == ev.Arg
	q.expired = 0
	if !known && !restarts && len(q.groupOf) < mostOwners {
		if g = f.quotaTaker(ev); g > 0 {
			q.groupOf[ev.Arg], known = g, true
			f.sched.ForceQuotaTaken(g, ev.CPU) // what the CPU had kept is used up now
		}
	}
	if !known {
		return
	}
	at := event.Time(ev.Arg3 - f.offset)
	q.expires[g] = at
	for i := range f.timers {
		if t := &f.timers[i]; t.Kind == sched.TimerCFSPeriod && t.Group == g {
			t.at = at
			f.sched.ForceQuotaPeriod(g, at)
		}
	}
}

// quotaTaker returns the group that takes from its quota, whose timer is not known; 0: there is none. In an
// interrupt that is the group of the current task if it was just charged, else that of who is woken: its
// queue takes before the current task of another queue is charged.
func (f *forcer) quotaTaker(ev *event.Event) int {
	t := f.sched.Curr(ev.CPU)
	if w := f.cpus[ev.CPU].wakes; ev.Flags.InInterrupt() && f.rqNow == event.NoTime {
		if w == nil || !w.waking {
			return 0
		}
		t = w.task
	}
	g := t.QuotaGroup()
	if _, known := f.quotas.expires[g]; known {
		return 0
	}
	return g
}

// quotaTimer returns when the period timer of a group expires that the model would have expire at at:
// as it was recorded, if it was.
func (f *forcer) quotaTimer(group int, at event.Time) event.Time {
	if told, ok := f.quotas.expires[group]; ok && told > f.now {
		f.sched.ForceQuotaPeriod(group, told)
		return told
	}
	return at
}

// quotaExpired is the expiry of a timer of a group's quota: of the group that it is known to belong
// to, else of the one whose timer the model has nearest.
func (f *forcer) quotaExpired(ev *event.Event, kind sched.TimerKind) {
	group, known := f.quotas.groupOf[ev.Arg]
	if kind == sched.TimerCFSPeriod {
		f.quotas.expired = ev.Arg
	}
	best := -1
	for i := range f.timers {
		t := &f.timers[i]
		_, others := f.quotas.expires[t.Group] // it has a timer that is known, another one
		if t.Kind != kind || known && t.Group != group || !known && others && kind == sched.TimerCFSPeriod {
			continue
		}
		if best < 0 || farFrom(t.at, f.now) < farFrom(f.timers[best].at, f.now) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	t := f.timers[best].Timer
	f.timers = append(f.timers[:best], f.timers[best+1:]...)
	f.cpus[ev.CPU].refill = refill{Timer: t, at: f.now, due: true}
}

// refill is a timer of a quota that has expired. Who goes on comes into a queue whose current task the kernel
// charges first: the next event tells whether it did.
type refill struct {
	sched.Timer
	at  event.Time
	due bool
}

// refillDue lets the timer of a quota come to pass that waits on c.
func (f *forcer) refillDue(c event.CPU) {
	r := &f.cpus[c].refill
	if !r.due {
		return
	}
	r.due = false
	now := f.rqNow
	if f.rqNow == event.NoTime {
		f.rqNow = r.at
	}
	if r.Kind == sched.TimerCFSPeriod {
		f.sched.ForceQuotaPeriod(r.Group, min(r.at, f.Now()))
	}
	f.sched.TimerExpired(c, r.Timer)
	f.rqNow = now
}

// followQuota lets the model throttle whom the kernel does, as far as its choice shows: who comes to the
// CPU is not throttled, and where nobody comes who waits there is.
func (f *forcer) followQuota(c event.CPU, prev, model *sched.Task) *sched.Task {
	if len(f.groups) == 0 || model == f.want {
		return model
	}
	if f.want.Rank() == sched.RankFair && f.sched.ForceQuota(f.want, true) {
		return f.sched.First(c, prev)
	}
	for n := 0; f.want.Rank() == sched.RankIdle && model.Rank() == sched.RankFair && n < mostThrottled; n++ {
		if !f.sched.ForceQuota(model, false) {
			break
		}
		model = f.sched.First(c, prev)
	}
	return model
}

// mostThrottled bounds the groups that one choice shows to be throttled.
const mostThrottled = 16

// nearlyOut is how much of a quota may be left in the model where the kernel has none, ns: a tick of the
// longest kind and what a CPU takes at a time.
const nearlyOut event.Time = 10_000_000

// ranOut throttles the group of whom the model would have picked, if that is nearly out of quota and
// would explain the choice of the kernel, and reports that.
func (f *forcer) ranOut(c event.CPU, model *sched.Task) bool {
	left, limited := f.sched.QuotaLeft(model)
	if !limited || left > nearlyOut || model.QuotaGroup() == f.want.QuotaGroup() || !f.sched.ForceQuota(model, false) {
		return false
	}
	if f.sched.First(c, f.sched.Curr(c)) == f.want {
		return true
	}
	f.sched.ForceQuota(model, true)
	return false
}
