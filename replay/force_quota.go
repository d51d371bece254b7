package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// This file follows the quotas of groups: when their periods end, and who is throttled.

// quotaTimers are the period timers of groups.
type quotaTimers struct {
	groupOf map[int64]int // of an address, where it is known
	started []startedTimer
}

// startedTimer is a recorded start of a period timer that belongs to none of the model yet.
type startedTimer struct {
	timer   int64
	at      event.Time // when it was recorded
	expires event.Time // on the clock of the trace
}

// mostStarted bounds the starts that are kept.
const mostStarted = 64

// quotaStarted is the start of a period timer: the kernel starts that of a group which takes from its
// quota after a pause, just before the charge or the wake in which it does is recorded.
func (f *forcer) quotaStarted(ev *event.Event) {
	if f.offset == 0 {
		return
	}
	s := startedTimer{ev.Arg, f.now, event.Time(ev.Arg3 - f.offset)}
	q := &f.quotas
	if g, ok := q.groupOf[s.timer]; ok {
		for i := range f.timers {
			if t := &f.timers[i]; t.Kind == sched.TimerCFSPeriod && t.Group == g {
				t.at = s.expires
				return
			}
		}
	}
	if len(q.started) < mostStarted {
		q.started = append(q.started, s)
	}
}

// quotaTimer returns when the period timer of a group expires that the model would have expire at at:
// as the kernel started it just before, if it did.
func (f *forcer) quotaTimer(group int, at event.Time) event.Time {
	q := &f.quotas
	for i := len(q.started) - 1; i >= 0; i-- {
		s := q.started[i]
		g, known := q.groupOf[s.timer]
		if known && g != group || f.now-s.at > mostLag {
			continue
		}
		if q.groupOf == nil {
			q.groupOf = map[int64]int{}
		}
		q.groupOf[s.timer] = group
		q.started = append(q.started[:i], q.started[i+1:]...)
		return s.expires
	}
	return at
}

// quotaExpired is the expiry of a timer of a group's quota: of the group that it is known to belong
// to, else of the one whose timer the model has nearest.
func (f *forcer) quotaExpired(ev *event.Event, kind sched.TimerKind) {
	best := -1
	own, known := f.quotas.groupOf[ev.Arg]
	for i := range f.timers {
		t := &f.timers[i]
		if t.Kind != kind || kind == sched.TimerCFSPeriod && known && t.Group != own {
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
	if kind == sched.TimerCFSPeriod && !known && len(f.quotas.groupOf) < mostOwners {
		if f.quotas.groupOf == nil {
			f.quotas.groupOf = map[int64]int{}
		}
		f.quotas.groupOf[ev.Arg] = t.Group
	}
	f.timers = append(f.timers[:best], f.timers[best+1:]...)
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
