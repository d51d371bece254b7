package sched

import (
	"errors"
	"fmt"

	"github.com/whylate/whylate/event"
)

// The kernel's verdicts; match with errors.Is.
var (
	ErrInval = errors.New("EINVAL")
	ErrPerm  = errors.New("EPERM")
	ErrBusy  = errors.New("EBUSY")
)

// verdict is an errno with its reason.
func verdict(errno error, format string, args ...any) error {
	return fmt.Errorf("%w: %s", errno, fmt.Sprintf(format, args...))
}

// The limits of deadline periods; sched_dl_period_min and _max.
const (
	dlPeriodMin  event.Time = 100_000
	dlPeriodMax  event.Time = 1 << 22 * 1000
	dlRuntimeMin event.Time = 1 << dlScale
)

// checkAttr is what __sched_setscheduler() checks before it looks at the task.
func checkAttr(a *Attr) error {
	switch a.Policy {
	case Normal, Batch, Idle:
		if a.Priority != 0 {
			return verdict(ErrInval, "%s has no priority, %d given", a.Policy, a.Priority)
		}
		if a.Nice < -20 || a.Nice > 19 {
			return verdict(ErrInval, "nice %d is not between −20 and 19", a.Nice)
		}
	case FIFO, RR:
		if a.Priority < 1 || a.Priority > 99 {
			return verdict(ErrInval, "priority %d of %s is not between 1 and 99", a.Priority, a.Policy)
		}
	case Deadline:
		return checkParamDL(a)
	case stopPolicy, idleTask:
	default:
		return verdict(ErrInval, "policy %d does not exist", a.Policy)
	}
	return nil
}

// checkParamDL is __checkparam_dl().
func checkParamDL(a *Attr) error {
	period := a.Period
	if period == 0 {
		period = a.Deadline
	}
	switch {
	case a.Deadline <= 0:
		return verdict(ErrInval, "a deadline task needs a deadline")
	case a.Runtime < dlRuntimeMin:
		return verdict(ErrInval, "runtime of %d ns is less than %d", a.Runtime, dlRuntimeMin)
	case period < a.Deadline || a.Deadline < a.Runtime:
		return verdict(ErrInval, "runtime %d ≤ deadline %d ≤ period %d does not hold", a.Runtime, a.Deadline, period)
	case period < dlPeriodMin || period > dlPeriodMax:
		return verdict(ErrInval, "period of %d ns is not between %d and %d", period, dlPeriodMin, dlPeriodMax)
	}
	return nil
}

// admit is sched_dl_overflow(): the bandwidth of all deadline tasks must fit.
func (s *Sched) admit(p *Task, a *Attr) error {
	old := int64(0)
	if p.Attr.Policy == Deadline {
		old = p.dl.dlBW
	}
	now := int64(0)
	if a.Policy == Deadline {
		period := a.Period
		if period == 0 {
			period = a.Deadline
		}
		now = toRatio(period, a.Runtime)
		if !p.mask.contains(allCPUs(s.cfg.CPUs)) {
			return verdict(ErrPerm, "a deadline task must be allowed to use every CPU of its root domain")
		}
	}
	if now == old {
		return nil
	}
	if limit := s.cfg.DLBandwidth; limit >= 0 && now > old && s.dlBW-old+now > limit*int64(s.cfg.CPUs) {
		return verdict(ErrBusy, "deadline tasks may use %d/1048576 of each CPU; %d of %d are taken, %d more do not fit",
			limit, s.dlBW-old, limit*int64(s.cfg.CPUs), now)
	}
	s.dlBW += now - old
	return nil
}

// setAttr gives p, which is in no queue, its attributes, or the kernel's verdict.
func (s *Sched) setAttr(p *Task, a Attr) error {
	if err := checkAttr(&a); err != nil {
		return err
	}
	if err := s.admit(p, &a); err != nil {
		return err
	}
	if p.Attr.Policy == Deadline {
		s.rqs[p.cpu].dl.thisBW -= p.dl.dlBW
	}
	p.Attr = a
	if a.Policy == Deadline {
		d := &p.dl
		d.dlRuntime, d.dlDeadline, d.dlPeriod = a.Runtime, a.Deadline, a.Period
		if d.dlPeriod == 0 {
			d.dlPeriod = d.dlDeadline
		}
		d.dlBW, d.dlDensity = toRatio(d.dlPeriod, d.dlRuntime), toRatio(d.dlDeadline, d.dlRuntime)
		d.runtime, d.deadline, d.throttled = 0, 0, false
		s.rqs[p.cpu].dl.thisBW += d.dlBW
	}
	p.rt.timeSlice = s.cfg.RRTimeslice
	p.se.weight = weightOf(&p.Attr)
	s.setPrio(p)
	return nil
}

// setPrio takes priority and class from the attributes or from the donor;
// rt_effective_prio().
func (s *Sched) setPrio(p *Task) {
	p.prio, p.class = p.Attr.prio(), p.Attr.class()
	if d := p.donor; d != nil && (d.class < p.class || d.class == p.class && d.prio < p.prio) {
		p.prio, p.class = d.prio, d.class
		if d.class == dlClass {
			p.dl.deadline = d.dl.deadline
		}
	}
}

// SetAttr is sched_setattr(2); it leaves no event. The error is the kernel's verdict.
func (s *Sched) SetAttr(from event.CPU, p *Task, a Attr) (Work, error) {
	s.begin()
	if err := checkAttr(&a); err != nil {
		return s.work, err
	}
	var err error
	s.change(from, p, func() {
		if p.Attr.Policy == Deadline {
			s.leaveDL(p)
		}
		err = s.setAttr(p, a)
	})
	return s.work, err
}

// leaveDL ends what the deadline class has going for p; switched_from_dl().
func (s *Sched) leaveDL(p *Task) {
	d := &p.dl
	s.host.CancelTimer(Timer{Kind: TimerDL, CPU: p.cpu, Task: p})
	s.host.CancelTimer(Timer{Kind: TimerInactive, CPU: p.cpu, Task: p})
	s.subRunningBW(s.rqs[p.cpu], d)
	d.nonContending, d.throttled = false, false
}

// Boost makes p inherit the priority of donor, or with nil have its own again;
// rt_mutex_setprio(). It emits sched_pi_setprio.
func (s *Sched) Boost(from event.CPU, p, donor *Task) Work {
	s.begin()
	if p.donor == donor && donor == nil {
		return s.work
	}
	old := p.prio
	next := *p
	next.donor = donor
	s.setPrio(&next)
	if next.prio == old && next.class == p.class && next.class != dlClass {
		p.donor = donor
		return s.work
	}
	s.emitSetprio(from, p, old, next.prio)
	s.change(from, p, func() {
		p.donor = donor
		s.setPrio(p)
	})
	return s.work
}

// change takes p out of its queue, lets set change what it is, and puts it back;
// __sched_setscheduler() and rt_mutex_setprio() do it alike, with check_class_changed().
func (s *Sched) change(from event.CPU, p *Task, set func()) {
	rq := s.rqs[p.cpu]
	s.updateRQClock(rq)
	queued, running := p.onRQ, rq.curr == p
	oldPrio, oldClass := p.prio, p.class
	if queued {
		s.dequeueTask(rq, p, 0)
	}
	if running {
		s.putPrevTask(rq, p)
		s.dequeuePushables(rq, p)
	}
	set()
	if queued {
		f := enqueueRestore
		if oldPrio < p.prio {
			f |= enqueueHead // it keeps its place in front of its new equals
		}
		if p.class == dlClass && p.dl.deadline == 0 {
			f |= enqueueReplenish
		}
		s.enqueueTask(rq, p, f)
	}
	if running {
		s.setNextTask(rq, p, false)
	}
	s.checkClassChanged(from, rq, p, oldClass, oldPrio)
}

func (s *Sched) dequeuePushables(rq *RQ, p *Task) {
	s.dequeuePushableTask(rq, p)
	s.dequeuePushableDLTask(rq, p)
}

// checkClassChanged is check_class_changed(): prio_changed(), switched_from() and
// switched_to() of the classes.
func (s *Sched) checkClassChanged(from event.CPU, rq *RQ, p *Task, oldClass class, oldPrio event.Prio) {
	if !p.onRQ || oldClass == p.class && oldPrio == p.prio {
		return
	}
	if rq.curr != p {
		s.wakeupPreempt(from, rq, p)
		switch {
		case p.class == rtClass && len(rq.rt.pushable) > 0:
			rq.pushRT = true
		case p.class == dlClass && len(rq.dl.pushable) > 0:
			rq.pushDL = true
		}
		return
	}
	// The current task became less important: somebody else may go first, here or
	// pulled from elsewhere.
	if p.class > oldClass || p.prio > oldPrio {
		if oldClass == rtClass && p.class >= rtClass {
			s.pullRTTask(rq)
		}
		first := rq.firstRunnable()
		if first != nil && first != p && (first.class < p.class || first.class == p.class && first.prio < p.prio || p.class == fairClass) {
			s.reschedCurr(from, rq)
		}
	}
	if p.class == dlClass && rq.dl.nrRunning > 0 && rq.dl.first() != p {
		s.reschedCurr(from, rq)
	}
}

// firstRunnable returns the task that a pick would find first, nil for none.
func (rq *RQ) firstRunnable() *Task {
	switch {
	case rq.stop != nil:
		return rq.stop
	case rq.dl.nrRunning > 0:
		return rq.dl.first()
	case rq.rt.nrRunning > 0:
		return rq.rt.first()
	case rq.cfs.nrRunning > 0:
		return rq.cfs.first()
	}
	return nil
}

// SetAffinity is sched_setaffinity(2). A queued task on a CPU that it may not use any more
// is moved at once; for a current one move is true: the caller must run the stopper there
// and call MoveAway from it.
func (s *Sched) SetAffinity(from event.CPU, p *Task, affinity []event.CPU) (move bool, w Work, err error) {
	s.begin()
	mask, err := s.maskOf(affinity)
	if err != nil {
		return false, s.work, err
	}
	if p.Attr.Policy == Deadline && !mask.contains(allCPUs(s.cfg.CPUs)) {
		return false, s.work, verdict(ErrBusy, "the affinity of a deadline task must cover its root domain")
	}
	rq := s.rqs[p.cpu]
	s.updateRQClock(rq)
	if p.onRQ && rq.curr != p {
		s.dequeuePushables(rq, p)
	}
	p.mask = mask
	if mask.has(p.cpu) || p.migrateDisabled > 0 {
		if p.onRQ && rq.curr != p && mask.count() > 1 {
			switch p.class {
			case rtClass:
				s.enqueuePushableTask(rq, p)
			case dlClass:
				s.enqueuePushableDLTask(rq, p)
			}
		}
		return false, s.work, nil
	}
	if !p.onRQ {
		return false, s.work, nil // it will be placed when it wakes
	}
	if rq.curr == p {
		return true, s.work, nil
	}
	s.moveTo(from, rq, p, mask.first())
	return false, s.work, nil
}

// MoveAway moves p, which the stopper has taken off its CPU, to one that it may use;
// migration_cpu_stop().
func (s *Sched) MoveAway(from event.CPU, p *Task) Work {
	s.begin()
	if p.onRQ && !p.onCPU && !p.allowed(p.cpu) {
		s.moveTo(from, s.rqs[p.cpu], p, p.mask.first())
	}
	return s.work
}

func (s *Sched) moveTo(from event.CPU, rq *RQ, p *Task, c event.CPU) {
	to := s.rqs[c]
	s.moveQueued(from, rq, to, p)
	s.wakeupPreempt(from, to, p)
}

// MigrateDisable pins the current task of c where it is; migrate_disable(). Calls nest.
func (s *Sched) MigrateDisable(c event.CPU) { s.rqs[c].curr.migrateDisabled++ }

// MigrateEnable undoes one MigrateDisable; migrate_enable(). It reports whether the task
// is on a CPU that it may not use any more.
func (s *Sched) MigrateEnable(c event.CPU) (move bool) {
	p := s.rqs[c].curr
	if p.migrateDisabled > 0 {
		p.migrateDisabled--
	}
	return p.migrateDisabled == 0 && !p.mask.has(c)
}

// Exit ends the current task of c: the next Schedule switches it out for the last time.
func (s *Sched) Exit(c event.CPU, state event.State) {
	p := s.rqs[c].curr
	p.State = state
	if p.Attr.Policy == Deadline {
		s.host.CancelTimer(Timer{Kind: TimerDL, CPU: p.cpu, Task: p})
		s.dlBW -= p.dl.dlBW
	}
}
