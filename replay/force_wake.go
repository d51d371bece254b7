package replay

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/timeline"
)

// waking asks the model where it would wake a task: the kernel looks for a CPU between
// sched_waking and sched_wakeup.
func (f *forcer) waking(ev *event.Event, tl *timeline.Task) {
	sight := f.sight()
	if tl == nil {
		return
	}
	t := f.of(tl, ev.CPU)
	if f.exists(ev.Target) {
		f.fresh(t, ev.Target)
	}
	f.sync(ev.CPU, t, ev.TaskPrio)
	f.askPush(ev, t)
	if t.sight = sight; t.task.OnRQ() {
		return
	}
	if f.exists(ev.Target) {
		f.sched.ForceCPU(t.task, ev.Target)
	}
	t.waking, t.wakingEvent = true, f.events
	f.cpus[t.task.CPU()].wakes = t
	f.beginWake(ev, t)
	if !f.first.shows(event.SchedWakeup) {
		f.closePlace(ev.CPU)
		f.arrive(ev, t, t.task.CPU(), false)
	}
}

// beginWake asks where t, which is about to be woken, should go. One that has never left its queue (delayed) just
// stays, and nothing is chosen.
func (f *forcer) beginWake(ev *event.Event, t *forced) {
	if t.asked = false; t.task.Delayed() && (!f.exists(t.sight.to) || t.sight.to == t.task.CPU()) {
		return
	}
	f.beginPlace(ev, t, 0)
	if t.sight.sent && f.exists(t.sight.to) {
		t.sent = true
		f.sched.ForceInFlight(t.sight.to, 1)
	}
}

// allowed is how many CPUs t may use, as far as that is known.
func (f *forcer) allowed(t *forced) int {
	if b := f.first.of(t.id); b.cpus != nil {
		return len(b.cpus)
	}
	return len(f.cpus)
}

// mayUse reports whether t may use c, as far as that is known.
func (f *forcer) mayUse(t *forced, c event.CPU) bool {
	b := f.first.of(t.id)
	return b.cpus == nil || slices.Contains(b.cpus, c)
}

// wakeup puts a woken task into the queue of its CPU.
func (f *forcer) wakeup(ev *event.Event, tl *timeline.Task) {
	if tl == nil || ev.Arg == 0 || !f.exists(ev.Target) {
		return
	}
	t := f.of(tl, ev.Target)
	f.closePlacingOf(t)
	if t.sent {
		t.sent = false
		f.sched.ForceInFlight(t.sight.to, -1)
	}
	f.fresh(t, ev.Target)
	f.sync(ev.CPU, t, ev.TaskPrio)
	fork := ev.Kind == event.SchedWakeupNew
	switch {
	case t.task.OnRQ() && t.unsure:
		f.sched.ForceAsleep(t.task, event.StateSleeping)
		f.relist(t)
	case t.task.OnRQ():
		t.waking = false
		if !t.task.Running() && t.task.CPU() != ev.Target {
			f.sched.ForceMove(ev.CPU, t.task, ev.Target)
			f.relist(t)
		}
		return // it had not left: the wake is used up
	}
	before := t.task.CPU()
	switch {
	case fork:
		if before = ev.CPU; t.task.State == event.StateNew && !t.forkAsked {
			f.beginPlace(ev, t, sched.WakeFork)
		}
	case !t.waking && t.sight.sent && before == ev.Target:
		// It was still about to leave its CPU, which then woke it itself: nothing was chosen.
	case !t.waking:
		f.beginPlace(ev, t, 0)
	}
	f.closePlace(ev.CPU)
	f.scorePlace(ev, t, before)
	f.arrive(ev, t, ev.Target, fork)
}

// arrive lets the model wake t on c, and opens the question whether its current task has to go.
func (f *forcer) arrive(ev *event.Event, t *forced, c event.CPU, fork bool) {
	t.waking = false
	defer func() { t.wakingEvent = 0 }()
	t.since, t.wokenAt, t.wokenBy = f.now, f.now, ev.CPU
	t.unsure, t.unordered = false, false
	f.place = c
	f.wakesAt(ev, t, c)
	f.sched.ForceCPU(t.task, c)
	ask := f.beforeWake(ev, t, c)
	switch {
	case t.task.State == event.StateNew && fork:
		f.sched.WakeUpNewTask(ev.CPU, t.task)
	case t.task.State == event.StateNew || t.task.State.Dead():
		f.sched.ForceReady(t.task, c)
	default:
		f.sched.TryToWakeUp(ev.CPU, t.task)
	}
	f.chargeLeft(c)
	f.relist(t)
	if ask {
		f.afterWake(ev, t, c, fork)
	}
	f.cpus[c].dirty = true
}

// migrate moves a waiting task as the kernel did.
func (f *forcer) migrate(ev *event.Event, tl *timeline.Task) {
	if tl == nil || !f.exists(ev.Target) {
		return
	}
	t := f.of(tl, ev.CPU)
	f.fresh(t, ev.Target)
	f.sync(ev.CPU, t, ev.TaskPrio)
	switch {
	case t.waking:
		// The wake tells where it went.
	case !t.task.OnRQ():
		f.sched.ForceCPU(t.task, ev.Target)
	case !t.task.Running():
		f.moved(ev, t)
	}
}
