package replay

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/timeline"
)

// The methods that make a forcer a sched.Host and a sched.Follower.

// Now is the kernel's clock at the event that is followed, where a charge tells it, else its stamp.
func (f *forcer) Now() event.Time {
	if f.rqNow != event.NoTime {
		return f.rqNow
	}
	return f.now
}

// Resched notes that the model asks c to schedule: the trace says when it does.
func (f *forcer) Resched(_, c event.CPU, _ bool) {
	f.cpus[c].asked, f.cpus[c].askedEvent = true, f.events
}

// Kick, KickWakeList and Stopper belong to what the trace decides.
func (f *forcer) Kick(_, _ event.CPU)         {}
func (f *forcer) KickWakeList(_, _ event.CPU) {}

// RaiseBalance and KickBalance, too: what a balancer did is in the trace.
func (f *forcer) RaiseBalance(event.CPU)     {}
func (f *forcer) KickBalance(_, _ event.CPU) {}

// Price is nothing: the recorded times have what the kernel's work took.
func (f *forcer) Price(*sched.Work) event.Time { return 0 }

// Stopper is never asked for: who follows wakes the stoppers itself.
func (f *forcer) Stopper(event.CPU) *sched.Task { return nil }

// Emit throws away what the model would say.
func (f *forcer) Emit(event.CPU, *event.Event) {}

// forcedTimer is a timer of the model.
type forcedTimer struct {
	sched.Timer
	at event.Time
}

// SetTimer starts or moves a timer of the model.
func (f *forcer) SetTimer(t sched.Timer, at event.Time) {
	f.CancelTimer(t)
	if t.Kind == sched.TimerCFSPeriod {
		at = f.quotaTimer(t.Group, at)
	}
	f.timers = append(f.timers, forcedTimer{t, at})
}

// CancelTimer stops it.
func (f *forcer) CancelTimer(t sched.Timer) {
	f.timers = slices.DeleteFunc(f.timers, func(o forcedTimer) bool {
		return o.Kind == t.Kind && o.Task == t.Task && o.Group == t.Group && (t.Task != nil || ofGroup(t.Kind) || o.CPU == t.CPU)
	})
}

// ofGroup reports whether a group has such a timer, wherever it was started.
func ofGroup(k sched.TimerKind) bool {
	return k == sched.TimerRTPeriod || k == sched.TimerCFSPeriod || k == sched.TimerCFSSlack
}

// timerFunc is a timer function that is followed.
type timerFunc uint8

const (
	funcOther timerFunc = iota + 1
	funcTick
	funcRTPeriod
	funcDL
	funcHRTick
	funcCFSPeriod
	funcCFSSlack
)

func (f *forcer) funcOf(name event.Name) timerFunc {
	k := f.funcs[name]
	if k == 0 {
		k = funcOther
		switch f.names.String(name) {
		case "tick_sched_timer", "tick_nohz_handler":
			k = funcTick
		case "sched_rt_period_timer":
			k = funcRTPeriod
		case "dl_task_timer":
			k = funcDL
		case "hrtick":
			k = funcHRTick
		case "sched_cfs_period_timer":
			k = funcCFSPeriod
		case "sched_cfs_slack_timer":
			k = funcCFSSlack
		}
		f.funcs[name] = k
	}
	return k
}

// recorded reports whether the expiries of a timer come from the trace.
func (f *forcer) recorded(k sched.TimerKind) bool {
	return k != sched.TimerInactive && f.first.shows(event.HrtimerExpireEntry)
}

// mostExpiries bounds the timers that expire between two events: more come only where a stamp is
// not to be believed.
const mostExpiries = 1000

// expireByTime lets the timers expire that the trace does not show.
func (f *forcer) expireByTime() {
	n := 0
	for i := 0; i < len(f.timers) && n < mostExpiries; {
		t := f.timers[i]
		if t.at > f.now || f.recorded(t.Kind) {
			i++
			continue
		}
		f.timers = slices.Delete(f.timers, i, i+1)
		f.sched.TimerExpired(t.CPU, t.Timer)
		i = 0
		n++
	}
}

// expired is the expiry of a timer.
func (f *forcer) expired(ev *event.Event) {
	switch f.funcOf(ev.Func) {
	case funcTick:
		if ev.Arg2 != event.NoArg {
			f.offset = ev.Arg2 - int64(ev.Time)
		}
		f.tick(ev)
	case funcRTPeriod:
		f.sched.ForceRTPeriod()
		f.sched.TimerExpired(ev.CPU, sched.Timer{Kind: sched.TimerRTPeriod, CPU: ev.CPU})
		f.scores.periods++
		for c := range f.cpus {
			f.cpus[c].used = 0
		}
	case funcDL:
		if t := f.owners[ev.Arg]; t != nil {
			f.replenished(ev.CPU, t)
			return
		}
		f.nearest(ev, sched.TimerDL)
	case funcHRTick:
		f.nearest(ev, sched.TimerHRTick)
	case funcCFSPeriod:
		f.quotaExpired(ev, sched.TimerCFSPeriod)
	case funcCFSSlack:
		f.quotaExpired(ev, sched.TimerCFSSlack)
	}
}

// mostOwners bounds the timers whose owner is kept.
const mostOwners = 1 << 16

// replenished is the expiry of the timer of t.
func (f *forcer) replenished(c event.CPU, t *forced) {
	for i := range f.timers {
		if tm := f.timers[i].Timer; tm.Kind == sched.TimerDL && tm.Task == t.task {
			f.timers = slices.Delete(f.timers, i, i+1)
			f.spend(c, func() { f.sched.TimerExpired(c, tm) })
			break
		}
	}
	f.relist(t)
	f.disturb(t)
}

// nearest lets that timer of the model expire which was set nearest to now.
func (f *forcer) nearest(ev *event.Event, kind sched.TimerKind) {
	best := -1
	for i := range f.timers {
		t := &f.timers[i]
		if t.Kind != kind || kind == sched.TimerHRTick && t.CPU != ev.CPU {
			continue
		}
		if best < 0 || farFrom(t.at, f.now) < farFrom(f.timers[best].at, f.now) {
			best = i
		}
	}
	if best < 0 || farFrom(f.timers[best].at, f.now) > farTimer {
		return
	}
	t := f.timers[best].Timer
	f.timers = slices.Delete(f.timers, best, best+1)
	f.spend(ev.CPU, func() { f.sched.TimerExpired(ev.CPU, t) })
	if t.Task != nil {
		if d, ok := t.Task.Data.(*forced); ok {
			f.relist(d)
			f.disturb(d)
		}
	}
}

// farTimer is how far the expiry of a timer may lie from when the model set it.
const farTimer event.Time = 1_000_000

func farFrom(a, b event.Time) event.Time { return max(a-b, b-a) }

// started is the start of a timer. That of a fair server which has just got a whole runtime
// tells all of its state; where deadline tasks have such timers too, whose it is is not known.
func (f *forcer) started(ev *event.Event) {
	switch f.funcOf(ev.Func) {
	case funcDL:
	case funcCFSPeriod:
		f.quotaStarted(ev)
		return
	default:
		return
	}
	if cur := f.sched.Curr(ev.CPU); cur.Attr.Policy == sched.Deadline && f.sched.FairServer(ev.CPU) == nil {
		// A task that is throttled starts its timer itself.
		if t, ok := cur.Data.(*forced); ok && len(f.owners) < mostOwners {
			f.owners[ev.Arg] = t
		}
		return
	}
	if f.offset == 0 || f.first.dlTasks > 0 || f.sched.FairServer(ev.CPU) == nil {
		return
	}
	a := f.serverAttr
	at := event.Time(ev.Arg3 - f.offset)
	if a.Runtime <= 0 || farFrom(at, f.now+a.Period-a.Runtime) > freshServer {
		return
	}
	f.sched.ForceServerTimer(ev.CPU, at)
	f.cpus[ev.CPU].serverKnown = true
}

// freshServer is how far the stamps of an event and of the server's clock may lie apart.
const freshServer event.Time = 50_000

// Place answers where a task is woken.
func (f *forcer) Place(*sched.Task) event.CPU { return f.place }

// Charge takes the run time that the kernel charged, where it told; the model's own reckoning
// ends at the stamps of events.
func (f *forcer) Charge(c event.CPU, _ *sched.Task, delta event.Time) event.Time {
	if !f.first.shows(event.SchedStatRuntime) {
		return delta
	}
	cp := &f.cpus[c]
	delta, cp.charge = cp.charge, 0
	return delta
}

// charged is sched_stat_runtime. A CPU that takes a task from another one charges the current task
// there.
func (f *forcer) charged(ev *event.Event, tl *timeline.Task) {
	if tl == nil || ev.Arg <= 0 {
		return
	}
	c := ev.CPU
	if f.sched.Curr(c).PID != ev.Task {
		t := f.of(tl, c)
		if c = t.task.CPU(); !t.task.Running() {
			return
		}
	}
	cur := f.sched.Curr(c)
	before, _ := cur.Deadline()
	f.cpus[c].charge = event.Time(ev.Arg)
	f.chargeClock(ev, cur, event.Time(ev.Arg))
	if f.chargedInWake(c) {
		return
	}
	f.spend(c, func() { f.sched.ChargeCurrent(c) })
	f.cpus[c].charge = 0
	f.chargedFair(ev, tl, cur)
	f.leaveSession(f.of(tl, c))
	f.refillDue(ev.CPU)
	f.tickDue(c)
	f.used(c)
	if after, _ := cur.Deadline(); cur.Rank() == sched.RankDL && (after != before || cur.Throttled()) {
		f.turned = turned{cpu: c, by: ev.CPU, at: f.cpus[ev.CPU].runEvents}
	}
}
