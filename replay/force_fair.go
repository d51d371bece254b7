package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
	"github.com/whylate/whylate/workload"
)

// This file has what fair tasks need beside the other classes: the groups and virtual times with
// which the trace begins, and the clock by which the kernel charges.

// fairSight is what a first look at the trace tells of where a fair task stood when it was first charged.
type fairSight struct {
	seen     bool
	cpu      event.CPU
	ran      event.Time
	vruntime int64 // after that
}

// charge notes the first charge of a task that tells its virtual run time: 6.5 and earlier do.
func (f *fairSight) charge(ev *event.Event) {
	if f.seen || ev.Arg2 == event.NoArg || ev.Arg2 == 0 || ev.Arg <= 0 || ev.Task != ev.PID {
		return
	}
	*f = fairSight{true, ev.CPU, event.Time(ev.Arg), ev.Arg2}
}

// groupOf returns the group of a path of the snapshot, and makes it and those above it; nil is the
// root.
func (f *forcer) groupOf(path string) *sched.Group {
	if path == "" || path == "/" {
		return nil
	}
	if g, ok := f.groups[path]; ok {
		return g
	}
	if workload.CheckGroups(len(f.groups)+1, len(f.cpus)) != nil {
		f.guess.add(groupRefused)
		return nil
	}
	told, _ := groupInSnapshot(f.first.snap, path)
	g, err := told.make(f.sched, f.groupOf(above(f.first.snap, path)), 0, f.now)
	if err != nil {
		f.guess.add(groupRefused)
	}
	f.groups[path] = g
	forceQueues(f.sched, g, told.Queues, len(f.cpus))
	return g
}

// beginFair lets the queues of the root be as the snapshot has them, before any task is there.
func (f *forcer) beginFair() {
	if f.first.snap == nil {
		return
	}
	root := queuesOf(f.first.snap, "/")
	forceQueues(f.sched, nil, root, len(f.cpus))
	for _, q := range root {
		if f.exists(q.CPU) {
			f.cpus[q.CPU].fairKnown = true
		}
	}
}

// enterGroup puts a new task of the model into its group, and where it stood when the trace began.
func (f *forcer) enterGroup(t *forced, b *beginning) {
	if f.first.snap != nil {
		if k := f.first.snap.Task(int32(t.tl.PID)); k != nil && f.told(t.tl.PID) {
			f.sched.SetGroup(t.task, f.groupOf(groupPath(f.first.snap, k)))
			if v, ok := virtualOf(k); ok {
				f.sched.ForceVirtual(t.task, v)
				t.fairBy = FromSnapshot
				return
			}
		}
	}
	if t.task.State == event.StateNew {
		return // its parent tells
	}
	t.fairBy = Assumed
	if s := &b.fair; s.seen && s.cpu == b.cpu {
		v := s.vruntime - f.sched.VirtualOf(t.task, s.ran)
		f.sched.ForceVirtual(t.task, sched.VirtualTime{VRuntime: v})
		t.fairBy = FromEvents
		if !f.cpus[s.cpu].fairKnown {
			f.cpus[s.cpu].fairKnown = true
			f.sched.ForceQueue(s.cpu, nil, v)
		}
	}
}

// told reports whether the snapshot tells of the task that has pid.
func (f *forcer) told(pid event.PID) bool {
	k, ok := f.known[pid]
	return ok && !k.inferred
}

// chargedFair takes over where a fair task stands, of which nothing was known before this charge.
func (f *forcer) chargedFair(ev *event.Event, tl *timeline.Task, cur *sched.Task) {
	t, ok := cur.Data.(*forced)
	if !ok || t.fairBy != Assumed || cur.Rank() != sched.RankFair || ev.Arg2 == event.NoArg || ev.Arg2 == 0 || tl.PID != cur.PID {
		return
	}
	f.sched.ForceVirtual(cur, sched.VirtualTime{VRuntime: ev.Arg2})
	t.fairBy = FromEvents
}

// virtualOf is where the snapshot has a task.
func virtualOf(k *sysinfo.Task) (sched.VirtualTime, bool) {
	if k.VRuntimeNS == nil {
		return sched.VirtualTime{}, false
	}
	v := sched.VirtualTime{VRuntime: *k.VRuntimeNS}
	if k.VirtualDeadlineNS != nil {
		v.Deadline = *k.VirtualDeadlineNS
	}
	return v, true
}

// forked is the fork of a task, which inherits the group of its parent.
func (f *forcer) forked(ev *event.Event, t *forced) {
	if t.forkSeen || t.task.State != event.StateNew {
		return
	}
	t.forkSeen = true
	if t.fairBy != FromSnapshot {
		f.sched.SetGroup(t.task, f.sched.Curr(ev.CPU).Group())
	}
	f.sched.ForceFork(ev.CPU, t.task)
	t.fairBy = FromEvents
	t.forkAsked = true
	f.beginPlace(ev, t, sched.WakeFork)
}

// chargedInWake reports whether the charge at hand is that of the wake of a task which is still in the
// queue of c: the kernel looks at its lag first and charges the current task then.
func (f *forcer) chargedInWake(c event.CPU) bool {
	cp := &f.cpus[c]
	t := cp.wakes
	return t != nil && t.waking && t.task.Delayed() && t.task.CPU() == c && !cp.ticking && f.sched.Curr(c).Rank() == sched.RankFair
}

// chargeLeft charges what such a wake has not taken.
func (f *forcer) chargeLeft(c event.CPU) {
	cp := &f.cpus[c]
	if cp.wakes = nil; cp.charge > 0 {
		f.sched.ChargeCurrent(c)
		cp.charge = 0
	}
}

// tickDue lets the tick that waits for its charge come to pass.
func (f *forcer) tickDue(c event.CPU) {
	if cp := &f.cpus[c]; cp.ticking {
		cp.ticking = false
		f.spend(c, func() { f.sched.SchedulerTick(c) })
	}
}

// untick ends the wait of a tick for its charge, where the event at hand shows that it is over.
func (f *forcer) untick(ev *event.Event) {
	cp := &f.cpus[ev.CPU]
	if !cp.ticking {
		return
	}
	if ev.Kind == event.SchedStatRuntime || withinTick(f, ev) {
		return // the tick may raise softirqs and wake before it charges
	}
	f.tickDue(ev.CPU)
}

// followFair makes the model's order that of the kernel, where it would have picked another fair task,
// and says what its state was worth.
func (f *forcer) followFair(c event.CPU, model *sched.Task) {
	if model == f.want || f.want.Rank() != sched.RankFair || model.Rank() != sched.RankFair {
		return
	}
	if f.ranOut(c, model) {
		return
	}
	f.sched.ForceFairFirst(c, f.want)
}

// withinTick reports whether ev, which follows the expiry of a tick on its CPU, belongs to it.
func withinTick(f *forcer, ev *event.Event) bool {
	return ev.Flags.InInterrupt() && ev.Kind != event.HrtimerExpireExit && ev.Kind != event.HrtimerExpireEntry &&
		!(ev.Kind == event.HrtimerStart && f.funcOf(ev.Func) == funcTick)
}

// yieldPhase is how far a sched_yield(2) of the current task has come: its charge is recorded within it,
// and a switch only if somebody else was chosen.
type yieldPhase uint8

const (
	noYield    yieldPhase = iota
	willYield             // the system call has begun
	hasYielded            // the model has followed it; the choice comes next
)

// yieldOf is the phase after the system call that t has entered.
func yieldOf(t *timeline.Task) yieldPhase {
	if t != nil && t.Yielding {
		return willYield
	}
	return noYield
}

// yields lets a fair task yield at the charge of its system call.
func (f *forcer) yields(ev *event.Event) {
	cp := &f.cpus[ev.CPU]
	if cur := f.sched.Curr(ev.CPU); cp.yield == willYield && cur.PID == ev.Task && cur.Rank() == sched.RankFair {
		cp.yield = hasYielded
		f.sched.Yield(ev.CPU)
	}
}

// yieldStayed is a yield after which the same task was chosen: no switch follows it.
func (f *forcer) yieldStayed(ev *event.Event) {
	cp := &f.cpus[ev.CPU]
	switch {
	case ev.Kind == event.SchedSwitch || ev.Kind == event.SchedStatRuntime && cp.yield == willYield:
	case cp.yield == hasYielded:
		cp.yield = noYield
		f.stayed(ev.CPU)
	default:
		cp.yield = noYield
	}
}

// stayed is a choice that left the current task of c where it was: no switch tells it, but that nobody
// asks it to leave any more. Who sleeps and still is in the queue may have left it in that.
func (f *forcer) stayed(c event.CPU) {
	cur := f.sched.Curr(c)
	if cur.Rank() != sched.RankFair || !cur.State.Runnable() {
		return
	}
	// The choice charges it, or there was nothing to charge.
	now := f.rqNow
	if at := cur.ExecStart(); at > 0 && at <= f.now && f.first.shows(event.SchedStatRuntime) {
		f.rqNow = at
	}
	f.want, f.quiet = cur, true
	f.sched.Schedule(c, true)
	f.quiet, f.rqNow = false, now
}

// leaveSession is what sched_autogroup_exit_task() does to a fair task that exits: the charge after
// sched_process_exit is its.
func (f *forcer) leaveSession(t *forced) {
	if t.exiting && !t.leftSession {
		t.leftSession = true
		f.sched.AutogroupExit(t.task.CPU(), t.task)
	}
}
