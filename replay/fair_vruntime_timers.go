package replay

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// This file lets the timers of quotas expire when the trace shows it: there throttled groups come
// back into the queues above them.

// SetTimer starts or moves a timer of the model.
func (f *vruntimeFollower) SetTimer(t sched.Timer, at event.Time) {
	if t.Kind != sched.TimerCFSPeriod && t.Kind != sched.TimerCFSSlack {
		return
	}
	f.CancelTimer(t)
	f.timers = append(f.timers, forcedTimer{t, at})
}

// CancelTimer stops it.
func (f *vruntimeFollower) CancelTimer(t sched.Timer) {
	f.timers = slices.DeleteFunc(f.timers, func(o forcedTimer) bool { return o.Kind == t.Kind && o.Group == t.Group })
}

func (f *vruntimeFollower) kindOf(ev *event.Event) (sched.TimerKind, bool) {
	switch f.names.String(ev.Func) {
	case "sched_cfs_period_timer":
		return sched.TimerCFSPeriod, true
	case "sched_cfs_slack_timer":
		return sched.TimerCFSSlack, true
	}
	return 0, false
}

// own finds out whose timer an event is about: that of the model which is to expire next to at.
func (f *vruntimeFollower) own(ev *event.Event, at event.Time) {
	if _, known := f.owners[ev.Arg]; known {
		return
	}
	kind, ok := f.kindOf(ev)
	if !ok {
		return
	}
	var best *forcedTimer
	for i := range f.timers {
		t := &f.timers[i]
		if t.Kind != kind || f.owned(t.Timer) {
			continue
		}
		if best == nil || farFrom(t.at, at) < farFrom(best.at, at) {
			best = t
		}
	}
	if best != nil && farFrom(best.at, at) < farTimer && len(f.owners) < mostOwners {
		f.owners[ev.Arg] = best.Timer
	}
}

func (f *vruntimeFollower) owned(t sched.Timer) bool {
	for _, o := range f.owners {
		if o.Kind == t.Kind && o.Group == t.Group {
			return true
		}
	}
	return false
}

// expire notes the expiry of a timer. What it does follows the charge of the current task, if
// that is in a queue where somebody comes back.
func (f *vruntimeFollower) expire(ev *event.Event) {
	f.own(ev, ev.Time)
	if t, ok := f.owners[ev.Arg]; ok {
		f.expired = append(f.expired, expiry{t, ev.Time})
	}
}

// longBefore is when groups got their quotas: two periods later their timers had stopped.
const longBefore event.Time = 3_000_000_000

// limit gives a group its quota, long before now, and lets it have used some of it.
func (f *vruntimeFollower) limit(g *sched.Group, told *Group) {
	now := f.clock
	f.clock -= longBefore
	if _, err := f.sched.SetQuota(0, g, told.Quota, told.Period, told.Burst); err == nil {
		for n := 0; n < 8 && len(f.timers) > 0; n++ {
			t := f.timers[len(f.timers)-1]
			if t.at >= now {
				break
			}
			f.clock = t.at
			f.timers = f.timers[:len(f.timers)-1]
			f.sched.TimerExpired(0, t.Timer)
		}
	}
	f.sched.ForceQuotaKept(0, g)
	f.clock = now
}

// serve lets timers expire; untold: no charge told the clock.
func (f *vruntimeFollower) serve(untold bool) {
	for len(f.expired) > 0 {
		e := f.expired[0]
		f.expired = f.expired[1:]
		if untold {
			f.clock = max(f.clock, f.stamps.clockOf(e.at))
		}
		cur, ok := f.sched.Curr(0).Data.(*vruntimeTask)
		if untold && ok && cur.task.Rank() == sched.RankFair && cur.queue.group != nil && f.sched.QuotaWaits(e.timer.Group) {
			for q := cur.queue.up; q != nil; q = q.up {
				q.vague = true
			}
		}
		f.CancelTimer(e.timer)
		f.sched.TimerExpired(0, e.timer)
	}
}
