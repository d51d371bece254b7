package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

const (
	bwShift    = 20 // BW_SHIFT
	ratioShift = 8  // RATIO_SHIFT
)

// init is init_dl_rq_bw_ratio().
func (dl *dlRQ) init(cfg *Config) {
	if cfg.DLBandwidth <= 0 {
		dl.bwRatio, dl.extraBW, dl.maxBW = 1<<ratioShift, bwUnit, bwUnit
		return
	}
	dl.bwRatio = (bwUnit * bwUnit / cfg.DLBandwidth) >> (bwShift - ratioShift)
	dl.extraBW, dl.maxBW = cfg.DLBandwidth, cfg.DLBandwidth
}

func (dl *dlRQ) addThisBW(bw int64)    { dl.thisBW += bw }
func (dl *dlRQ) subThisBW(bw int64)    { dl.thisBW -= bw }
func (dl *dlRQ) addRunningBW(bw int64) { dl.runningBW += bw }
func (dl *dlRQ) subRunningBW(bw int64) { dl.runningBW -= bw }

// addTotalBW admits bandwidth, or with a negative one gives it back; __dl_add() and
// __dl_sub(). What is left for reclaiming shrinks on each CPU by its part.
func (s *Sched) addTotalBW(bw int64) {
	s.dlBW += bw
	for _, rq := range s.rqs {
		rq.dl.extraBW -= bw / int64(len(s.rqs))
	}
}

// taskContending counts the bandwidth of a task that wakes; task_contending().
func (s *Sched) taskContending(rq *RQ, p *Task) {
	d := &p.dl
	if !d.member {
		return
	}
	if d.uncounted {
		d.uncounted = false
		rq.dl.addThisBW(d.dlBW)
	}
	if d.nonContending {
		// Its 0-lag time has not come: the bandwidth is still counted.
		d.nonContending = false
		s.cancelInactive(p)
		return
	}
	rq.dl.addRunningBW(d.dlBW)
}

func (s *Sched) cancelInactive(p *Task) {
	p.dl.inactiveTimer = false
	s.host.CancelTimer(Timer{Kind: TimerInactive, CPU: p.cpu, Task: p})
}

// taskNonContending keeps the bandwidth of a task that goes to sleep, dies or leaves the
// class until its 0-lag time; task_non_contending().
func (s *Sched) taskNonContending(rq *RQ, p *Task) {
	d := &p.dl
	if !d.member {
		return
	}
	zeroLag := d.deadline - event.Time(mulDiv(int64(d.runtime), int64(d.dlPeriod), int64(d.dlRuntime)))
	if zeroLag >= rq.clock && !d.inactiveTimer {
		d.nonContending, d.inactiveTimer = true, true
		s.host.SetTimer(Timer{Kind: TimerInactive, CPU: rq.cpu, Task: p}, zeroLag)
		return
	}
	if p.class == dlClass {
		rq.dl.subRunningBW(d.dlBW)
	}
	if p.State.Dead() {
		rq.dl.subThisBW(d.dlBW)
	}
	if p.Attr.Policy != Deadline || p.State.Dead() {
		s.dropBW(p)
	}
}

// dropBW gives the admitted bandwidth of p back; it is no deadline task any more, unless it
// is boosted to one.
func (s *Sched) dropBW(p *Task) {
	s.addTotalBW(-p.dl.dlBW)
	p.dl.clearParams()
}

// clearParams is __dl_clear_params().
func (d *dlEntity) clearParams() {
	d.dlRuntime, d.dlDeadline, d.dlPeriod, d.dlBW, d.dlDensity = 0, 0, 0, 0, 0
	d.member, d.throttled, d.yielded, d.nonContending, d.uncounted, d.overrun = false, false, false, false, false, false
}

// inactiveTaskTimer is inactive_task_timer(): the 0-lag time has come.
func (s *Sched) inactiveTaskTimer(p *Task) {
	d := &p.dl
	rq := s.rqs[p.cpu]
	s.updateRQClock(rq)
	d.inactiveTimer = false
	if p.Attr.Policy != Deadline || p.State.Dead() {
		if p.State.Dead() && d.nonContending {
			rq.dl.subRunningBW(d.dlBW)
			rq.dl.subThisBW(d.dlBW)
		}
		s.dropBW(p)
		return
	}
	if d.nonContending {
		d.nonContending = false
		rq.dl.subRunningBW(d.dlBW)
	}
}

// migrateWoken takes the bandwidth of a task that wakes elsewhere from the queue where it
// was; migrate_task_rq_dl(). The enqueueing adds it to the new one.
func (s *Sched) migrateWoken(p *Task) {
	d := &p.dl
	if !d.member {
		return
	}
	rq := s.rqs[p.cpu]
	if d.nonContending {
		s.updateRQClock(rq)
		rq.dl.subRunningBW(d.dlBW)
		d.nonContending = false
		s.cancelInactive(p)
	}
	rq.dl.subThisBW(d.dlBW)
	d.uncounted = true
}

// switchedFromDL is switched_from_dl(). The bandwidth of a task that leaves the class stays
// admitted until its 0-lag time; that of one which slept through it is given back now (the
// kernel forgets to). A task that was only boosted has none.
func (s *Sched) switchedFromDL(rq *RQ, p *Task) {
	d := &p.dl
	if d.member {
		if p.onRQ {
			s.taskNonContending(rq, p)
		} else {
			if d.nonContending {
				rq.dl.subRunningBW(d.dlBW)
			}
			if !d.uncounted {
				rq.dl.subThisBW(d.dlBW)
			}
			if !d.inactiveTimer {
				s.dropBW(p)
			}
		}
		d.member, d.nonContending, d.uncounted = false, false, false
	}
	if p.onRQ && rq.dl.nrRunning == 0 {
		rq.callbacks |= pullDLTasks
	}
}

// switchedToDL is switched_to_dl(). A task that is only boosted may still have bandwidth to
// give back (the kernel forgets it).
func (s *Sched) switchedToDL(from event.CPU, rq *RQ, p *Task) {
	if p.dl.inactiveTimer && p.dl.member {
		s.cancelInactive(p)
	}
	switch {
	case !p.onRQ:
		rq.dl.addThisBW(p.dl.bw())
	case rq.curr != p:
		if p.nrAllowed > 1 && rq.dl.pushable.n > 0 {
			rq.callbacks |= pushDLTasks
		}
		if rq.curr.class == dlClass {
			s.wakeupPreemptDL(from, rq, p)
		} else {
			s.reschedCurr(from, rq)
		}
	}
}

// prioChangedDL is prio_changed_dl(): the parameters changed, or it is boosted. As of 6.12;
// before, a throttled task that a boost woke did not preempt one of a lower class.
func (s *Sched) prioChangedDL(from event.CPU, rq *RQ, p *Task) {
	if !p.onRQ {
		return
	}
	if rq.dl.pushable.n == 0 {
		rq.callbacks |= pullDLTasks
	}
	switch {
	case rq.curr != p:
		if rq.curr.class > dlClass || rq.curr.class == dlClass && dlEntityPreempt(p, rq.curr) {
			s.reschedCurr(from, rq)
		}
	case rq.dl.nrRunning == 0 || rq.dl.earliest() < p.dl.deadline: // none: it is throttled now
		s.reschedCurr(from, rq)
	}
}

// grubReclaim slows the use of runtime down by the bandwidth that nobody uses;
// grub_reclaim(): dq = −max(u, uMax − uInact − uExtra)/uMax · dt, before 6.5
// dq = −max(u/uMax, 1 − uInact − uExtra)·dt.
func (s *Sched) grubReclaim(rq *RQ, d *dlEntity, delta event.Time) event.Time {
	dl := &rq.dl
	unused := dl.thisBW - dl.runningBW + dl.extraBW
	var u int64
	if s.cfg.GRUBBeforeMax {
		least := d.dlBW * dl.bwRatio >> ratioShift
		u = max(least, bwUnit-unused)
	} else {
		u = max(d.dlBW, dl.maxBW-unused) * dl.bwRatio >> ratioShift
	}
	hi, lo := bits.Mul64(uint64(delta), uint64(u))
	return event.Time(hi<<(64-bwShift) | lo>>bwShift)
}

// mulDiv returns a·b/c, rounded towards 0; the product may have more than 64 bits. b and c
// are positive.
func mulDiv(a, b, c int64) int64 {
	magnitude := uint64(a)
	if a < 0 {
		magnitude = -magnitude
	}
	hi, lo := bits.Mul64(magnitude, uint64(b))
	if hi >= uint64(c) {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	if a < 0 {
		return -int64(q)
	}
	return int64(q)
}

// toRatio is runtime/period of 1 << 20; to_ratio().
func toRatio(period, runtime event.Time) int64 {
	if period == 0 {
		return 0
	}
	return mulDiv(int64(runtime), bwUnit, int64(period))
}
