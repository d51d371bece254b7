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
	ErrSrch  = errors.New("ESRCH")
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

// check is what __sched_setscheduler() checks before it looks at the task. A nice value
// out of range is one that sched_setattr(2) would clamp; here it is a mistake.
func (a *Attr) check() error {
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
		if a.Priority != 0 {
			return verdict(ErrInval, "%s has no priority, %d given", a.Policy, a.Priority)
		}
		return a.checkParamDL()
	default:
		return verdict(ErrInval, "policy %d does not exist", a.Policy)
	}
	return nil
}

// period is the given one, or the deadline.
func (a *Attr) period() event.Time {
	if a.Period == 0 {
		return a.Deadline
	}
	return a.Period
}

// bw is the bandwidth that a needs, of 1 << 20.
func (a *Attr) bw() int64 {
	if a.Policy != Deadline {
		return 0
	}
	return toRatio(a.period(), a.Runtime)
}

// checkParamDL is __checkparam_dl().
func (a *Attr) checkParamDL() error {
	period := a.period()
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

// same reports whether a asks for nothing new; the tests before `change:` in
// __sched_setscheduler().
func (a *Attr) same(p *Task) bool {
	o := &p.Attr
	if a.Policy != o.Policy {
		return false
	}
	switch a.Policy {
	case FIFO, RR:
		return a.Priority == o.Priority
	case Deadline:
		d := &p.dl
		return a.Runtime == d.dlRuntime && a.Deadline == d.dlDeadline && a.Period == d.dlPeriod &&
			a.Reclaim == o.Reclaim && a.Overrun == o.Overrun
	}
	return a.Nice == o.Nice && a.Slice == o.Slice
}

// admit is sched_dl_overflow(): the bandwidth of all deadline tasks must fit. Here it is
// admitted; that of a task which leaves the class is given back at its 0-lag time.
func (s *Sched) admit(p *Task, a *Attr) error {
	d := &p.dl
	if a.Policy != Deadline {
		return nil
	}
	bw, old := a.bw(), int64(0)
	if d.member {
		old = d.dlBW
		if bw == old {
			return nil
		}
	}
	most := s.cfg.DLBandwidth * int64(s.cfg.CPUs)
	if s.cfg.DLBandwidth >= 0 && most < s.dlBW-old+bw {
		return verdict(ErrBusy, "deadline tasks may use %d/%d of each CPU, together %d; %d are taken, %d more do not fit",
			s.cfg.DLBandwidth, bwUnit, most, s.dlBW-old, bw)
	}
	if d.member || d.inactiveTimer {
		s.addTotalBW(-d.dlBW)
	}
	s.addTotalBW(bw)
	if d.member && !p.onRQ {
		s.changeUtilization(p, bw)
	}
	return nil
}

// changeUtilization counts the new bandwidth of a sleeping task; dl_change_utilization().
func (s *Sched) changeUtilization(p *Task, bw int64) {
	d, rq := &p.dl, s.rqs[p.cpu]
	if d.nonContending {
		rq.dl.subRunningBW(d.dlBW)
		d.nonContending = false
		s.cancelInactive(p)
	}
	if !d.uncounted {
		rq.dl.addThisBW(bw - d.dlBW)
	}
}
