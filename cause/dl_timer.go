package cause

import (
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// ownTimer is the dl_task_timer of one deadline task: from when to when it ran. Meanwhile the
// task is throttled.
type ownTimer struct{ from, to []event.Time } // to: NoTime where no end is in the trace

// at returns the stretch that covers t, else the last one before it; false if there is none.
func (o *ownTimer) at(t event.Time) (from, to event.Time, ok bool) {
	n := sort.Search(len(o.from), func(i int) bool { return o.from[i] > t })
	if n == 0 {
		return event.NoTime, event.NoTime, false
	}
	return o.from[n-1], o.to[n-1], true
}

// next returns the first start or end after t, NoTime if there is none.
func (o *ownTimer) next(t event.Time) event.Time {
	n := sort.Search(len(o.from), func(i int) bool { return o.from[i] > t })
	next := event.NoTime
	if n < len(o.from) {
		next = o.from[n]
	}
	if n > 0 && o.to[n-1] != event.NoTime && o.to[n-1] > t {
		next = o.to[n-1]
	}
	return next
}

// deadlineTask is one that ran at a deadline priority of its own, with its runs in order.
type deadlineTask struct {
	runs []*timeline.Run
	cpus []event.CPU
}

// lastRun returns the run that began last at or before t, −1 if none did.
func (d *deadlineTask) lastRun(t event.Time) int {
	return sort.Search(len(d.runs), func(i int) bool { return d.runs[i].Start > t }) - 1
}

// collectDeadlineTasks lists the tasks of the deadline class and ties timers to them.
func (a *Analysis) collectDeadlineTasks() {
	a.deadline = make(map[timeline.TaskID]*deadlineTask)
	for c := range a.x.CPUs {
		for i := range a.x.CPUs[c].Runs {
			r := &a.x.CPUs[c].Runs[i]
			if !r.PrioOut.Deadline() && !r.PrioIn.Deadline() {
				continue
			}
			if _, _, boosted := a.x.PrioAt(r, r.End-1); !boosted && a.deadline[r.Task] == nil {
				a.deadline[r.Task] = &deadlineTask{}
			}
		}
	}
	if len(a.deadline) == 0 {
		return
	}
	for c := range a.x.CPUs {
		for i := range a.x.CPUs[c].Runs {
			r := &a.x.CPUs[c].Runs[i]
			if d := a.deadline[r.Task]; d != nil {
				d.runs, d.cpus = append(d.runs, r), append(d.cpus, event.CPU(c))
			}
		}
	}
	for _, d := range a.deadline {
		sort.Sort(d)
	}
	a.collectOwnTimers()
}

func (d *deadlineTask) Len() int           { return len(d.runs) }
func (d *deadlineTask) Less(i, j int) bool { return d.runs[i].Start < d.runs[j].Start }
func (d *deadlineTask) Swap(i, j int) {
	d.runs[i], d.runs[j] = d.runs[j], d.runs[i]
	d.cpus[i], d.cpus[j] = d.cpus[j], d.cpus[i]
}

// collectOwnTimers finds out whose the timers of the deadline class are. A task's own is
// started only while that task is current, or is being woken; whoever all starts of an
// address have in common owns it. Where a deadline server may be (its timer has the same
// function) that is not enough: there the task must once have been passed over by the
// scheduler while the timer ran, and must never have run before it had ended.
func (a *Analysis) collectOwnTimers() {
	starts := make(map[int64][]timeline.DLStart)
	var order []int64
	for _, s := range a.x.DLStarts {
		if s.Timer == event.NoArg {
			continue
		}
		if starts[s.Timer] == nil {
			order = append(order, s.Timer)
		}
		starts[s.Timer] = append(starts[s.Timer], s)
	}
	ends := make(map[int64][]event.Time)
	for _, list := range a.dlTimer {
		for _, e := range list {
			ends[e.Timer] = append(ends[e.Timer], e.At)
		}
	}
	for _, s := range a.x.DLCancels {
		ends[s.Timer] = append(ends[s.Timer], s.At)
	}
	a.ownTimers = make(map[timeline.TaskID]*ownTimer)
	a.timerOf = make(map[int64]timeline.TaskID)
	for _, address := range order {
		id := a.ownerOf(starts[address])
		if id == timeline.NoTask {
			continue
		}
		own := &ownTimer{}
		slices.Sort(ends[address])
		for _, s := range starts[address] {
			own.add(s.At, ends[address])
		}
		if sure, possible := a.mayOwn(id, own); !possible || !sure && a.x.Facts.FairServer != kernel.No {
			continue
		}
		if _, twice := a.ownTimers[id]; twice {
			own = nil // a task has one timer: no telling which
		} else {
			a.timerOf[address] = id
		}
		a.ownTimers[id] = own
	}
}

// add takes in a start and the end that follows it.
func (o *ownTimer) add(at event.Time, ends []event.Time) {
	end := event.NoTime
	if n, _ := slices.BinarySearch(ends, at); n < len(ends) {
		end = ends[n]
	}
	if n := len(o.from); n > 0 && (o.to[n-1] == event.NoTime || o.to[n-1] > at) {
		return // started once more while it ran
	}
	o.from, o.to = append(o.from, at), append(o.to, end)
}

// ownerOf returns the one deadline task that all starts of a timer have in common, NoTask if
// there is none or more than one.
func (a *Analysis) ownerOf(starts []timeline.DLStart) timeline.TaskID {
	var may []timeline.TaskID
	for n, s := range starts {
		here := make([]timeline.TaskID, 0, 2)
		for _, id := range [...]timeline.TaskID{s.By, s.For} {
			if id != timeline.NoTask && a.deadline[id] != nil && (n == 0 || slices.Contains(may, id)) && !slices.Contains(here, id) {
				here = append(here, id)
			}
		}
		may = here
	}
	if len(may) != 1 {
		return timeline.NoTask
	}
	return may[0]
}

// mayOwn reports whether the stretches of a timer can be those in which task id was
// throttled: it did not come to run in any. sure says that in one of them the scheduler
// passed it over for a task that goes after every deadline task.
func (a *Analysis) mayOwn(id timeline.TaskID, own *ownTimer) (sure, possible bool) {
	d := a.deadline[id]
	for i, from := range own.from {
		n := d.lastRun(from)
		if n+1 < len(d.runs) && (own.to[i] == event.NoTime || d.runs[n+1].Start < own.to[i]) && a.x.Occurs(event.HrtimerExpireEntry) {
			return false, false
		}
		if n < 0 {
			continue
		}
		r := d.runs[n]
		if r.End >= from && r.End-from <= afterTimer && r.PrioOut.Deadline() && r.State.Runnable() && a.passedOver(d.cpus[n], r) {
			sure = true
		}
	}
	return sure, true
}

// passedOver reports whether the run after r on c is one of a task that goes after every
// deadline task.
func (a *Analysis) passedOver(c event.CPU, r *timeline.Run) bool {
	n := a.x.RunAt(c, r.End)
	if n < 0 {
		return false
	}
	next := &a.x.CPUs[c].Runs[n]
	if next.Start != r.End {
		return false
	}
	return ClassOf(next.PrioIn, a.comm(next.Comm), a.x.Tracker.Task(next.Task).Idle()) > ClassDeadline
}

// ownTimer returns the timer of task id, nil if it is not known.
func (a *Analysis) ownTimer(id timeline.TaskID) *ownTimer { return a.ownTimers[id] }

// mayBeThrottled reports whether the deadline task of w, whose timer is not known, may be
// throttled at t: since it last came to the CPU a timer was started that may be its own, or
// that would not show. One that comes to the CPU without any such timer ending before was
// not.
func (a *Analysis) mayBeThrottled(w *latency.Wait, t event.Time) bool {
	id := w.Task.ID
	if a.x.Occurs(event.HrtimerExpireEntry) && !w.Open() && !a.timerEnds(id, t, w.OnCPU) {
		return false
	}
	if !a.x.Occurs(event.HrtimerStart) || a.deadline[id] == nil {
		return true
	}
	since := event.NoTime
	if n := a.deadline[id].lastRun(t); n >= 0 {
		since = a.deadline[id].runs[n].Start
	}
	own := a.x.PrioChanges(id)
	if i := sort.Search(len(own), func(i int) bool { return own[i].At >= since }); i < len(own) && own[i].At <= t {
		return true
	}
	list := a.x.DLStarts
	for i := sort.Search(len(list), func(i int) bool { return list[i].At >= since }); i < len(list) && list[i].At <= t; i++ {
		s := &list[i]
		if owner, known := a.timerOf[s.Timer]; known && owner != id {
			continue
		}
		if s.By == id || s.For == id || s.By == timeline.NoTask || !a.x.Occurs(event.SchedWaking) {
			return true
		}
	}
	return false
}

// timerEnds reports whether, from from to to, a timer of the deadline class ended, or a boost
// may have replenished the task.
func (a *Analysis) timerEnds(id timeline.TaskID, from, to event.Time) bool {
	for _, list := range a.dlTimer {
		if i := sort.Search(len(list), func(i int) bool { return list[i].At >= from }); i < len(list) && list[i].At <= to {
			return true
		}
	}
	changes := a.x.PrioChanges(id)
	i := sort.Search(len(changes), func(i int) bool { return changes[i].At >= from })
	return i < len(changes) && changes[i].At <= to
}
