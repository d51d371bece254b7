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
}

// quotaStarted is the start of a period timer: outside of the timer itself the kernel starts that of
// a group from which the current task, or one that is woken, takes for the first time in a while.
func (f *forcer) quotaStarted(ev *event.Event) {
	if f.offset == 0 {
		return
	}
	q := &f.quotas
	if q.groupOf == nil {
		q.groupOf, q.expires = map[int64]int{}, map[int]event.Time{}
	}
	g, known := q.groupOf[ev.Arg]
	if !known && !ev.Flags.InInterrupt() && len(q.groupOf) < mostOwners {
		if g = f.sched.Curr(ev.CPU).QuotaGroup(); g > 0 {
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
	best := -1
	for i := range f.timers {
		t := &f.timers[i]
		if t.Kind != kind || known && t.Group != group {
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
	if kind == sched.TimerCFSPeriod {
		f.sched.ForceQuotaPeriod(t.Group, f.now)
	}
	f.sched.TimerExpired(ev.CPU, t)
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
