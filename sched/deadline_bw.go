package sched

import "github.com/whylate/whylate/event"

// addRunningBW counts the bandwidth of a task that becomes active; task_contending().
func (s *Sched) addRunningBW(rq *RQ, d *dlEntity) {
	if d.nonContending {
		// Its 0-lag time has not come: the bandwidth is still counted.
		d.nonContending = false
		s.host.CancelTimer(Timer{Kind: TimerInactive, CPU: rq.cpu, Task: d.task})
		return
	}
	if !d.active && d.task.Attr.Policy == Deadline {
		d.active = true
		rq.dl.runningBW += d.dlBW
	}
}

func (s *Sched) subRunningBW(rq *RQ, d *dlEntity) {
	if d.active {
		d.active = false
		rq.dl.runningBW -= d.dlBW
	}
}

// taskNonContending keeps the bandwidth of a task that goes to sleep until its 0-lag
// time; task_non_contending().
func (s *Sched) taskNonContending(rq *RQ, p *Task) {
	d := &p.dl
	if d.dlRuntime == 0 || !d.active {
		return
	}
	zeroLag := d.deadline - event.Time(mulDiv(int64(d.runtime), int64(d.dlPeriod), int64(d.dlRuntime)))
	if zeroLag <= rq.clock {
		s.subRunningBW(rq, d)
		return
	}
	d.nonContending = true
	s.host.SetTimer(Timer{Kind: TimerInactive, CPU: rq.cpu, Task: p}, zeroLag)
}

// inactiveTaskTimer is inactive_task_timer(): the 0-lag time has come.
func (s *Sched) inactiveTaskTimer(p *Task) {
	d := &p.dl
	if d.nonContending {
		d.nonContending = false
		s.subRunningBW(s.rqs[p.cpu], d)
	}
}

// migrateTaskDL moves the bandwidth of p to the queue of c.
func (s *Sched) migrateTaskDL(p *Task, c event.CPU) {
	d := &p.dl
	from, to := s.rqs[p.cpu], s.rqs[c]
	if d.active {
		from.dl.runningBW -= d.dlBW
		to.dl.runningBW += d.dlBW
	}
	from.dl.thisBW -= d.dlBW
	to.dl.thisBW += d.dlBW
}

// grubReclaim slows the use of runtime down by the bandwidth that sleeping tasks leave;
// grub_reclaim(): dq = −max(u, 1 − uInact − uExtra)·dt, with the reclaimable bandwidth of
// the CPU, without the extra of the whole machine.
func (s *Sched) grubReclaim(rq *RQ, d *dlEntity, delta event.Time) event.Time {
	most := s.cfg.DLBandwidth
	if most < 0 {
		most = bwUnit
	}
	inactive := max(0, rq.dl.thisBW-rq.dl.runningBW)
	extra := max(0, most-rq.dl.thisBW)
	u := max(d.dlBW, bwUnit-inactive-extra)
	u = mulDiv(u, bwUnit, most)
	return event.Time(mulDiv(int64(delta), min(u, bwUnit), bwUnit))
}

// mulDiv returns a·b/c; the product may have more than 64 bits.
func mulDiv(a, b, c int64) int64 {
	if c == 0 {
		return 0
	}
	negative := (a < 0) != (b < 0)
	hi, lo := mul64(abs(a), abs(b))
	if hi >= uint64(c) {
		return 1<<63 - 1
	}
	q := div64(hi, lo, uint64(c))
	if negative {
		return -int64(q)
	}
	return int64(q)
}

// toRatio is a/b of 1 << 20; to_ratio().
func toRatio(period, runtime event.Time) int64 {
	if period == 0 {
		return 0
	}
	return mulDiv(int64(runtime), bwUnit, int64(period))
}
