package cause

import (
	"fmt"
	"sort"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// dlThrottled: a deadline task had used up its runtime and waited for its replenishment.
//
// Shown and proven by: its own dl_task_timer, from its start to its expiry; a timer is a
// task's own if all its starts are seen while that task runs or is being woken, and on kernels
// with deadline servers, if the scheduler once passed that task over while it ran. Where it is
// not known: the scheduler chose a task that goes after every deadline task, or idle, with
// this one in its queue, until a dl_task_timer of that CPU, at most 100 µs before it leaves.
//
// Or, where no timer events are recorded: it is passed over like that after it ran, since it
// woke, with no events lost, for the runtime that the machine's snapshot has of it, and at most a
// tick longer; until a period after it came to the CPU, less a tick, or less 100 µs where that was
// idle: so much earlier it may have woken.
//
// Likely: it is passed over like that, and timer events are not recorded or do not fit.
//
// Not this: a deadline task that another deadline task preempts; dl_task_timer of another
// task, or of the fair server. Where a deadline task may be throttled unseen, the other causes
// of its waits are likely at most.
var dlThrottled = Kind{
	Name:  "dl_throttled",
	Title: "deadline throttling",
	Needs: []event.Kind{event.SchedSwitch, event.HrtimerStart, event.HrtimerExpireEntry},
	Best:  Proven,
}

// ownDeadline reports whether the waiter is a deadline task of its own: one that only
// inherits a deadline is never throttled.
func (p *piece) ownDeadline() bool {
	return p.waiter.class == ClassDeadline && p.w.Base.Deadline()
}

func matchDLThrottled(p *piece) (Interval, bool) {
	if !p.ownDeadline() {
		return Interval{}, false
	}
	if own := p.a.ownTimer(p.w.Task.ID); own != nil && p.a.x.Occurs(event.HrtimerExpireEntry) {
		return p.ownThrottling(own)
	}
	if p.run == nil || p.cur.class <= ClassDeadline || !p.cameAfter() {
		return Interval{}, false
	}
	i := p.interval(&dlThrottled, Likely)
	i.Evidence = []Ref{{p.run.Start, p.cpu}}
	i.Detail = "the scheduler passed it over" + p.a.saysDeadline(p.w.Task)
	switch e, ok := p.replenished(); {
	case !p.a.x.Occurs(event.HrtimerExpireEntry) && p.dlUntil != event.NoTime && p.to <= p.dlUntil:
		i.Verdict = Proven
	case !p.a.x.Occurs(event.HrtimerExpireEntry):
		i.Needs = []string{"timer:hrtimer_expire_entry"}
	case ok:
		i.Verdict = Proven
		if e != event.NoTime {
			i.Evidence = append(i.Evidence, Ref{e, p.cpu})
		}
	default:
		i.Needs = []string{"timer:hrtimer_start"}
	}
	return i, true
}

// ownThrottling goes by the timer of the task itself.
func (p *piece) ownThrottling(own *ownTimer) (Interval, bool) {
	start, end, ok := own.at(p.from)
	if !ok {
		return Interval{}, false
	}
	// The way from the expiry to the switch is a part of it, unless somebody who goes first
	// has the CPU meanwhile.
	back := end != event.NoTime && p.w.Woken < end && p.since <= end && p.run != nil && p.cur.class > ClassDeadline &&
		p.run.Start <= end && p.run.End-end <= afterTimer
	if end != event.NoTime && p.from >= end && !back {
		return Interval{}, false
	}
	i := p.interval(&dlThrottled, Proven)
	i.Detail = strings.TrimPrefix(p.a.saysDeadline(p.w.Task), ": ")
	i.Evidence = []Ref{{start, p.w.CPU}}
	if end != event.NoTime {
		i.Evidence = append(i.Evidence, Ref{end, p.cpu})
	}
	return i, true
}

// saysDeadline is what the snapshot has of the runtime of t, "" where it does not know.
func (a *Analysis) saysDeadline(t *timeline.Task) string {
	x := a.deadlineParams(t)
	if x == nil {
		return ""
	}
	return fmt.Sprintf(": it may run %s of each %s", millis(x.RuntimeNS), millis(x.PeriodNS))
}

// deadlineParams returns t as a deadline task of the snapshot, nil where it is none there.
func (a *Analysis) deadlineParams(t *timeline.Task) *sysinfo.Task {
	x := TaskOf(a.snap, a.x.Names, t)
	if x == nil || x.Policy != sysinfo.Deadline || x.RuntimeNS <= 0 || x.PeriodNS <= 0 {
		return nil
	}
	return x
}

// mostTurns bounds how many runs of a task are looked at for what it used.
const mostTurns = 1000

// throttledUntil is until when at least the task of w, which was switched out while it could go on,
// has no runtime left; NoTime: that is not known. It ran, since it woke, for as long as the snapshot
// lets it, and at most a tick longer; then it gets more a period after it woke at the earliest. When
// that was is not known, only when it came to the CPU: up to a tick later, or a little after an idle
// CPU was woken for it. Where events were lost meanwhile it may have slept unseen.
func (a *Analysis) throttledUntil(w *latency.Wait) event.Time {
	x, d := a.deadlineParams(w.Task), a.deadline[w.Task.ID]
	if x == nil || d == nil || w.Kind == latency.Wakeup || !w.Base.Deadline() {
		return event.NoTime
	}
	var used event.Time
	last := d.lastRun(w.Woken)
	for i := last; i >= 0 && i > last-mostTurns; i-- {
		r, ci := d.runs[i], &a.x.CPUs[d.cpus[i]]
		if r.End > w.Woken {
			continue // it begins with the end of w
		}
		if len(timeline.Overlapping(ci.Gaps, r.Start, w.Woken)) > 0 {
			return event.NoTime
		}
		used += r.End - r.Start
		if !r.Marks.Has(timeline.MarkFromSleep) {
			continue
		}
		over := used - event.Time(x.RuntimeNS)
		if over < 0 || over > a.tick+afterTimer {
			return event.NoTime
		}
		waited := a.tick
		before := sort.Search(len(ci.Runs), func(n int) bool { return ci.Runs[n].End >= r.Start })
		if before < len(ci.Runs) && ci.Runs[before].Start < r.Start && a.x.Tracker.Task(ci.Runs[before].Task).Idle() {
			waited = idleExitLongest
		}
		return r.Start + event.Time(x.PeriodNS) - waited
	}
	return event.NoTime
}

// replenished returns the expiry that ends the run of who was chosen instead; NoTime and true
// if it ends without one, so that the throttling goes on. It is false if timers expire that do
// not end it: one of them may be this task's.
func (p *piece) replenished() (event.Time, bool) {
	last := event.NoTime
	for _, list := range p.a.dlTimer {
		for i := sort.Search(len(list), func(i int) bool { return list[i].At >= p.run.Start }); i < len(list) && list[i].At < p.run.End; i++ {
			if p.run.End-list[i].At > afterTimer {
				return event.NoTime, false
			}
			last = list[i].At
		}
	}
	comes := p.n+1 < len(p.ci.Runs) && p.ci.Runs[p.n+1].Task == p.w.Task.ID
	return last, last != event.NoTime || !comes // without an expiry it would not come back
}

// ifThrottled weakens i where the waiter may be throttled unseen: then nothing else kept it.
func (p *piece) ifThrottled(i Interval) Interval {
	if i.Kind == &dlThrottled || i.Kind == &irq || i.Kind == &softirq || i.Verdict < Proven || !p.ownDeadline() {
		return i
	}
	if own := p.a.ownTimer(p.w.Task.ID); own != nil && p.a.x.Occurs(event.HrtimerExpireEntry) || !p.a.mayBeThrottled(p.w, p.from) {
		return i
	}
	i.Verdict = Likely
	i.Needs = append(i.Needs, "timer:hrtimer_start", "timer:hrtimer_expire_entry")
	return i
}
