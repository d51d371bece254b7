package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// dlEntity is the part of a task that the deadline class owns; sched_dl_entity. Times are
// ns.
type dlEntity struct {
	dlRuntime, dlDeadline, dlPeriod event.Time // parameters; 0 for who never had them
	dlBW, dlDensity                 int64      // runtime/period and runtime/deadline, of 1 << 20

	runtime  event.Time // what is left of this instance
	deadline event.Time // absolute

	// piSE is whose parameters count: those of the first who waits for a boosted task, else
	// its own; pi_se.
	piSE *dlEntity

	node      node // in the queue
	push      node // in the CPU's tasks that could run elsewhere
	member    bool // the task's policy is SCHED_DEADLINE: its bandwidth counts
	throttled bool
	yielded   bool
	overrun   bool // a SIGXCPU is due
	// nonContending: it sleeps, but its bandwidth counts until its 0-lag time.
	nonContending bool
	inactiveTimer bool // that time is awaited
	uncounted     bool // a wake takes it to another CPU: this_bw of none has it now
}

// longAgo is the deadline of an entity that has had no instance yet: always over.
const longAgo event.Time = -1 << 62

func (d *dlEntity) init(p *Task) {
	d.node.task, d.push.task = p, p
	d.deadline = longAgo
	d.piSE = d
}

// queued is on_dl_rq(): not so for one that is throttled.
func (d *dlEntity) queued() bool { return d.node.in }

// bw is what counts for the CPU: not so after the task has left the class.
func (d *dlEntity) bw() int64 {
	if d.member {
		return d.dlBW
	}
	return 0
}

// implicit reports deadline = period.
func (d *dlEntity) implicit() bool { return d.dlDeadline == d.dlPeriod }

// boosted is is_dl_boosted().
func (d *dlEntity) boosted() bool { return d.piSE != d }

// dlRQ is dl_rq: its tasks in the order of their deadlines.
type dlRQ struct {
	queue     tree
	nrRunning int
	pushable  tree  // pushable_dl_tasks_root
	runningBW int64 // bandwidth of active tasks; GRUB
	thisBW    int64 // bandwidth of all tasks of this CPU
	extraBW   int64 // that nobody has been admitted to
	bwRatio   int64 // 1 / most bandwidth, of 1 << 8
	maxBW     int64 // most bandwidth
}

// earliest is earliest_dl.curr.
func (dl *dlRQ) earliest() event.Time {
	if dl.queue.first == nil {
		return noDeadline
	}
	return event.Time(dl.queue.first.key)
}

// leftmost reports whether p runs first.
func (dl *dlRQ) leftmost(p *Task) bool { return dl.queue.first == &p.dl.node }

// dlEntityPreempt reports whether a goes before b; dl_entity_preempt().
func dlEntityPreempt(a, b *Task) bool { return a.dl.deadline < b.dl.deadline }

// dlScale is DL_SCALE: products of two times of 64 bits would overflow.
const dlScale = 10

// dlEntityOverflow reports whether to keep runtime and deadline would give the entity
// more than its bandwidth from t on; dl_entity_overflow().
func dlEntityOverflow(d *dlEntity, t event.Time) bool {
	pi := d.piSE
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
		hi, lo := bits.Mul64(uint64(d.dlDensity), uint64(d.deadline-now))
		d.runtime = event.Time(hi<<(64-bwShift) | lo>>bwShift)
		return
	}
	d.newPeriod(rq)
}

// newPeriod is replenish_dl_new_period().
func (d *dlEntity) newPeriod(rq *RQ) {
	d.deadline = rq.clock + d.piSE.dlDeadline
	d.runtime = d.piSE.dlRuntime
}

// replenish gives back runtime, a period later for each; replenish_dl_entity().
func (d *dlEntity) replenish(rq *RQ) {
	pi := d.piSE
	if d.dlDeadline == 0 {
		d.newPeriod(rq) // boosted from another class: all is the donor's
	}
	if d.yielded {
		d.runtime = min(d.runtime, 0)
	}
	if d.runtime <= 0 && pi.dlRuntime > 0 {
		n := -d.runtime/pi.dlRuntime + 1
		d.deadline += n * pi.dlPeriod
		d.runtime += n * pi.dlRuntime
	}
	if d.deadline < rq.clock {
		d.newPeriod(rq) // it lags so far behind that it begins anew
	}
	d.yielded, d.throttled = false, false
}

// nextPeriod is dl_next_period().
func (d *dlEntity) nextPeriod() event.Time { return d.deadline - d.dlDeadline + d.dlPeriod }

// checkConstrainedDL throttles a task that wakes after its deadline but before its next
// period: else it could use runtime/deadline instead of runtime/period;
// dl_check_constrained_dl().
func (s *Sched) checkConstrainedDL(rq *RQ, p *Task) {
	d := &p.dl
	if d.deadline >= rq.clock || d.nextPeriod() <= rq.clock || d.boosted() || !s.startDLTimer(rq, p) {
		return
	}
	d.throttled = true
	d.runtime = min(d.runtime, 0)
}

// enqueueTaskDL is enqueue_task_dl() with enqueue_dl_entity().
func (s *Sched) enqueueTaskDL(rq *RQ, p *Task, f flags) {
	d := &p.dl
	switch {
	case d.boosted():
		if d.throttled { // the boost overrides it
			s.host.CancelTimer(Timer{Kind: TimerDL, CPU: rq.cpu, Task: p})
			d.throttled = false
		}
	case !d.member:
		d.throttled = false // it is about to lose its boost
		return
	}
	if !d.throttled && !d.implicit() {
		s.checkConstrainedDL(rq, p)
	}
	if p.moving || f&flagSave != 0 {
		rq.dl.addThisBW(d.bw())
		rq.dl.addRunningBW(d.bw())
	}
	if d.throttled && f&flagReplenish == 0 {
		if f&flagWakeup != 0 {
			s.taskContending(rq, p)
		}
		return // it waits for its timer
	}
	switch {
	case f&flagWakeup != 0:
		s.taskContending(rq, p)
		s.updateDLEntity(rq, d)
	case f&flagReplenish != 0:
		d.replenish(rq)
	case f&flagSave != 0 && !d.boosted() && d.deadline < rq.clock && !d.throttled:
		d.newPeriod(rq)
	}
	rq.dl.queue.insert(&d.node, int64(d.deadline))
	rq.dl.nrRunning++
	s.addNrRunning(rq)
	s.earliestChanged(rq)
	if rq.curr != p && p.nrAllowed > 1 {
		s.enqueuePushableDLTask(rq, p)
	}
}

// unlinkDL is __dequeue_task_dl().
func (s *Sched) unlinkDL(rq *RQ, p *Task) {
	if p.dl.queued() {
		rq.dl.queue.remove(&p.dl.node)
		rq.dl.nrRunning--
		s.subNrRunning(rq)
		s.earliestChanged(rq)
	}
	s.dequeuePushableDLTask(rq, p)
}

// earliestChanged keeps the maps by which other CPUs look for a place.
func (s *Sched) earliestChanged(rq *RQ) {
	rq.rd.cpudl.set(rq.cpu, rq.dl.earliest())
	s.updateCPUPri(rq)
}

// dequeueTaskDL is dequeue_task_dl().
func (s *Sched) dequeueTaskDL(rq *RQ, p *Task, f flags) {
	s.updateCurrDL(rq)
	s.unlinkDL(rq, p)
	if p.moving || f&flagSave != 0 {
		rq.dl.subRunningBW(p.dl.bw())
		rq.dl.subThisBW(p.dl.bw())
	}
	if f&flagSleep != 0 {
		s.taskNonContending(rq, p)
	}
}

// updateCurrDL charges the current deadline task and throttles it when its runtime is
// used up; update_curr_dl(). This happens at ticks and switches, with HRTICK_DL to the ns.
func (s *Sched) updateCurrDL(rq *RQ) {
	p := rq.curr
	d := &p.dl
	if p.class != dlClass || !d.queued() {
		return
	}
	delta := s.chargeNamed(rq, p)
	if delta <= 0 && !d.yielded {
		return
	}
	used := delta
	if p.Attr.Reclaim && d.member {
		delta = s.grubReclaim(rq, d, delta)
	}
	d.runtime -= delta
	if d.runtime <= 0 || d.yielded {
		s.throttleDL(rq, p)
	}
	s.chargeDLToRT(rq, used)
}

// throttleDL takes the current task, which has used up its runtime, out of the queue until
// its next period.
func (s *Sched) throttleDL(rq *RQ, p *Task) {
	d := &p.dl
	d.throttled = true
	if d.runtime <= 0 && p.Attr.Overrun {
		d.overrun = true
	}
	s.unlinkDL(rq, p)
	if d.boosted() || !s.startDLTimer(rq, p) {
		s.enqueueTaskDL(rq, p, flagReplenish)
	}
	if !rq.dl.leftmost(p) {
		s.reschedCurr(rq.cpu, rq)
	}
}

// startDLTimer arms the replenishment at the next period; start_dl_timer(). It reports
// false if that has been over for a microsecond.
func (s *Sched) startDLTimer(rq *RQ, p *Task) bool {
	at := p.dl.nextPeriod()
	if (at-rq.clock)/1000 < 0 {
		return false
	}
	s.host.SetTimer(Timer{Kind: TimerDL, CPU: rq.cpu, Task: p}, at)
	return true
}

// dlTaskTimer replenishes a throttled task; dl_task_timer().
func (s *Sched) dlTaskTimer(at event.CPU, p *Task) {
	d := &p.dl
	rq := s.rqs[p.cpu]
	if p == rq.server.task {
		s.dlServerTimer(at, rq)
		return
	}
	if p.class != dlClass || d.boosted() || !d.throttled {
		return
	}
	s.updateRQClock(rq)
	if !p.onRQ {
		d.replenish(rq) // it went to sleep meanwhile
		return
	}
	s.enqueueTask(rq, p, flagReplenish)
	if rq.curr.class == dlClass {
		s.wakeupPreemptDL(at, rq, p)
	} else {
		s.reschedCurr(at, rq)
	}
	if rq.dl.pushable.n > 0 {
		s.pushDLTask(at, rq)
	}
}

// yieldTaskDL gives up what is left of this instance; yield_task_dl().
func (s *Sched) yieldTaskDL(rq *RQ) {
	rq.curr.dl.yielded = true
	s.updateCurrDL(rq)
}

// wakeupPreemptDL is wakeup_preempt_dl() with check_preempt_equal_dl().
func (s *Sched) wakeupPreemptDL(from event.CPU, rq *RQ, p *Task) {
	curr := rq.curr
	if dlEntityPreempt(p, curr) {
		s.reschedCurr(from, rq)
		return
	}
	if p.dl.deadline != curr.dl.deadline || rq.needResched || p == curr {
		return
	}
	if curr.nrAllowed == 1 || !rq.rd.cpudl.later(curr) || p.nrAllowed != 1 && rq.rd.cpudl.later(p) {
		return
	}
	s.reschedCurr(from, rq)
}

func (s *Sched) putPrevTaskDL(rq *RQ, p *Task) {
	s.updateCurrDL(rq)
	if p.dl.queued() && p.nrAllowed > 1 {
		s.enqueuePushableDLTask(rq, p)
	}
}

func (s *Sched) setNextTaskDL(rq *RQ, p *Task, first bool) {
	s.dequeuePushableDLTask(rq, p)
	if !first {
		return
	}
	if s.cfg.HRTickDL {
		s.startHRTick(rq, p.dl.runtime)
	}
	if rq.dl.pushable.n > 0 {
		rq.callbacks |= pushDLTasks
	}
}

// taskTickDL is task_tick_dl(); exact says that an hrtick came and not a tick.
func (s *Sched) taskTickDL(rq *RQ, p *Task, exact bool) {
	s.updateCurrDL(rq)
	if exact && s.cfg.HRTickDL && p.dl.runtime > 0 && rq.dl.leftmost(p) {
		s.startHRTick(rq, p.dl.runtime)
	}
}

// sigXCPU is SIGXCPU.
const sigXCPU = 24

// checkDLOverrun tells the current task that it has used more than its runtime, if it
// asked for that; check_dl_overrun(), which the tick calls.
func (s *Sched) checkDLOverrun(rq *RQ) {
	if p := rq.curr; p.dl.overrun {
		p.dl.overrun = false
		s.emitSignal(rq.cpu, p, sigXCPU)
	}
}
