package sched

import (
	"sort"

	"github.com/whylate/whylate/event"
)

// dlEntity is the part of a task that the deadline class owns; sched_dl_entity. Times are
// ns.
type dlEntity struct {
	task *Task

	dlRuntime, dlDeadline, dlPeriod event.Time // parameters
	dlBW, dlDensity                 int64      // runtime/period and runtime/deadline, of 1 << 20

	runtime  event.Time // what is left of this instance
	deadline event.Time // absolute

	queued    bool
	throttled bool
	yielded   bool
	pushable  bool
	// nonContending: it sleeps, but its bandwidth counts until its 0-lag time.
	nonContending bool
	active        bool // its bandwidth counts in runningBW of its CPU
}

func (d *dlEntity) init(p *Task) { d.task = p }

// implicit reports deadline = period.
func (d *dlEntity) implicit() bool { return d.dlDeadline == d.dlPeriod }

// boosted is is_dl_boosted().
func (d *dlEntity) boosted() bool { return d.task.donor != nil }

// params are those of the donor while the entity is boosted; pi_of().
func (d *dlEntity) params() *dlEntity {
	if donor := d.task.donor; donor != nil && donor.class == dlClass {
		return &donor.dl
	}
	return d
}

// dlRQ is dl_rq: its tasks in the order of their deadlines.
type dlRQ struct {
	tasks     []*Task // queued, by deadline; equal ones by arrival
	nrRunning int
	pushable  []*Task
	runningBW int64 // bandwidth of active tasks; GRUB
	thisBW    int64 // bandwidth of all tasks of this CPU
}

func (dl *dlRQ) first() *Task { return dl.tasks[0] }

// dlEntityPreempt reports whether a goes before b; dl_entity_preempt().
func dlEntityPreempt(a, b *Task) bool { return a.dl.deadline < b.dl.deadline }

// scale is DL_SCALE: products of two times of 64 bits would overflow.
const dlScale = 10

// dlEntityOverflow reports whether to keep runtime and deadline would give the entity
// more than its bandwidth from t on; dl_entity_overflow().
func dlEntityOverflow(d *dlEntity, t event.Time) bool {
	pi := d.params()
	left := int64(pi.dlDeadline>>dlScale) * int64(d.runtime>>dlScale)
	right := int64((d.deadline-t)>>dlScale) * int64(pi.dlRuntime>>dlScale)
	return right < left
}

// updateDLEntity gives a woken entity a new instance, unless what it has left fits into
// what is left of its deadline; update_dl_entity(), the wake-up rule of the CBS.
func (s *Sched) updateDLEntity(rq *RQ, d *dlEntity) {
	now := rq.clock
	if d.deadline >= now && !dlEntityOverflow(d, now) {
		return
	}
	if !d.implicit() && d.deadline >= now && !d.boosted() {
		// A constrained deadline: the runtime that fits, with the old deadline;
		// update_dl_revised_wakeup().
		laxity := d.deadline - now
		d.runtime = event.Time(int64(laxity) * d.dlDensity >> 20)
		return
	}
	s.setupNewDLEntity(rq, d)
}

// setupNewDLEntity is replenish_dl_new_period().
func (s *Sched) setupNewDLEntity(rq *RQ, d *dlEntity) {
	pi := d.params()
	d.deadline = rq.clock + pi.dlDeadline
	d.runtime = pi.dlRuntime
}

// replenishDLEntity gives back runtime, a period later for each; replenish_dl_entity().
func (s *Sched) replenishDLEntity(rq *RQ, d *dlEntity) {
	pi := d.params()
	if pi.dlPeriod <= 0 {
		return
	}
	if d.deadline == 0 || d.boosted() && d.dlDeadline == 0 {
		s.setupNewDLEntity(rq, d)
	}
	if d.yielded && d.runtime > 0 {
		d.runtime = 0
	}
	for d.runtime <= 0 {
		d.deadline += pi.dlPeriod
		d.runtime += pi.dlRuntime
	}
	if d.deadline < rq.clock {
		s.setupNewDLEntity(rq, d) // it lags so far behind that it begins anew
	}
	d.yielded, d.throttled = false, false
}

// enqueueTaskDL is enqueue_task_dl() with enqueue_dl_entity().
func (s *Sched) enqueueTaskDL(rq *RQ, p *Task, f flags) {
	d := &p.dl
	if d.boosted() && d.params() != d {
		d.throttled = false // the boosted instance is the donor's
	}
	if f&enqueueMigrated == 0 {
		s.addRunningBW(rq, d)
	}
	switch {
	case f&enqueueWakeup != 0:
		s.updateDLEntity(rq, d)
	case f&enqueueReplenish != 0:
		s.replenishDLEntity(rq, d)
	case f&enqueueRestore != 0 && d.deadline < rq.clock:
		s.setupNewDLEntity(rq, d)
	}
	if d.throttled && f&enqueueReplenish == 0 {
		return // it waits for its timer
	}
	s.linkDL(rq, p)
	if rq.curr != p && p.nrCPUsAllowed() > 1 {
		s.enqueuePushableDLTask(rq, p)
	}
}

// linkDL puts p into its place in the queue; __enqueue_dl_entity().
func (s *Sched) linkDL(rq *RQ, p *Task) {
	list := rq.dl.tasks
	i := sort.Search(len(list), func(i int) bool { return dlEntityPreempt(p, list[i]) })
	list = append(list, nil)
	copy(list[i+1:], list[i:])
	list[i] = p
	rq.dl.tasks = list
	p.dl.queued = true
	rq.dl.nrRunning++
	rq.nrRunning++
	s.earliestChanged(rq)
}

func (s *Sched) unlinkDL(rq *RQ, p *Task) {
	if !p.dl.queued {
		return
	}
	list := rq.dl.tasks
	for i := range list {
		if list[i] == p {
			copy(list[i:], list[i+1:])
			list[len(list)-1] = nil
			rq.dl.tasks = list[:len(list)-1]
			break
		}
	}
	p.dl.queued = false
	rq.dl.nrRunning--
	rq.nrRunning--
	s.dequeuePushableDLTask(rq, p)
	s.earliestChanged(rq)
}

// earliestChanged keeps the maps by which other CPUs look for a place.
func (s *Sched) earliestChanged(rq *RQ) {
	if rq.dl.nrRunning > 0 {
		s.cpudl.set(rq.cpu, rq.dl.first().dl.deadline)
	} else {
		s.cpudl.clear(rq.cpu)
	}
	s.updateCPUPri(rq)
}

// dequeueTaskDL is dequeue_task_dl().
func (s *Sched) dequeueTaskDL(rq *RQ, p *Task, f flags) {
	if rq.curr == p {
		s.updateCurrDL(rq)
	}
	s.unlinkDL(rq, p)
	if f&dequeueSleep != 0 {
		s.taskNonContending(rq, p)
	} else if f&enqueueMigrated == 0 {
		s.subRunningBW(rq, &p.dl)
	}
}

// updateCurrDL charges the current deadline task and throttles it when its runtime is
// used up; update_curr_dl(). This happens at ticks and switches, with HRTICK_DL to the ns.
func (s *Sched) updateCurrDL(rq *RQ) {
	p := rq.curr
	d := &p.dl
	delta := s.charge(rq, p)
	if delta <= 0 && !d.yielded {
		return
	}
	if delta > 0 && s.cfg.StatRuntimeRT {
		s.emitRuntime(rq.cpu, p, delta, 0)
	}
	if p.Attr.Reclaim && !d.boosted() {
		delta = s.grubReclaim(rq, d, delta)
	}
	d.runtime -= delta
	if d.runtime > 0 && !d.yielded || !d.queued {
		return
	}
	d.throttled = true
	s.unlinkDL(rq, p)
	if d.boosted() || !s.startDLTimer(rq, p) {
		s.replenishDLEntity(rq, d)
		s.linkDL(rq, p)
	}
	if rq.dl.nrRunning == 0 || rq.dl.first() != p {
		s.reschedCurr(rq.cpu, rq)
	}
}

// startDLTimer arms the replenishment at the next period; start_dl_timer(). It reports
// false if that is already over.
func (s *Sched) startDLTimer(rq *RQ, p *Task) bool {
	d := &p.dl
	at := d.deadline - d.dlDeadline + d.dlPeriod
	if at <= rq.clock {
		return false
	}
	s.host.SetTimer(Timer{Kind: TimerDL, CPU: rq.cpu, Task: p}, at)
	return true
}

// dlTaskTimer replenishes a throttled task; dl_task_timer().
func (s *Sched) dlTaskTimer(at event.CPU, p *Task) {
	d := &p.dl
	rq := s.rqs[p.cpu]
	s.updateRQClock(rq)
	if p.Attr.Policy != Deadline || d.boosted() || !d.throttled {
		return
	}
	if !p.onRQ {
		s.replenishDLEntity(rq, d) // it went to sleep meanwhile
		return
	}
	s.work.Enqueues++
	s.replenishDLEntity(rq, d)
	s.linkDL(rq, p)
	if rq.curr != p && p.nrCPUsAllowed() > 1 {
		s.enqueuePushableDLTask(rq, p)
	}
	if rq.curr.class == dlClass && rq.curr != p {
		s.wakeupPreemptDL(at, rq, p)
	} else {
		s.reschedCurr(at, rq)
	}
	if len(rq.dl.pushable) > 0 && rq.curr.class == dlClass {
		for s.pushDLTask(at, rq) {
		}
	}
}

// yieldTaskDL gives up what is left of this instance; yield_task_dl().
func (s *Sched) yieldTaskDL(rq *RQ) {
	rq.curr.dl.yielded = true
	s.updateCurrDL(rq)
}

func (s *Sched) wakeupPreemptDL(from event.CPU, rq *RQ, p *Task) {
	if dlEntityPreempt(p, rq.curr) || !rq.curr.dl.queued {
		s.reschedCurr(from, rq)
	}
}

func (s *Sched) putPrevTaskDL(rq *RQ, p *Task) {
	s.updateCurrDL(rq)
	if p.dl.queued && p.nrCPUsAllowed() > 1 {
		s.enqueuePushableDLTask(rq, p)
	}
	s.host.CancelTimer(Timer{Kind: TimerHRTick, CPU: rq.cpu})
}

func (s *Sched) setNextTaskDL(rq *RQ, p *Task, first bool) {
	s.dequeuePushableDLTask(rq, p)
	if s.cfg.HRTickDL {
		s.host.SetTimer(Timer{Kind: TimerHRTick, CPU: rq.cpu}, rq.clock+max(p.dl.runtime, 0))
	}
	if first && len(rq.dl.pushable) > 0 {
		rq.pushDL = true
	}
}
