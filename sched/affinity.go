package sched

import "github.com/whylate/whylate/event"

// Affinity returns the CPUs on which p may run, 64 in each word; cpus_mask. It is p's own and must
// not be changed. Whether migration is disabled does not matter here.
func (p *Task) Affinity() []uint64 { return p.mask }

func (s *Sched) maskOf(affinity []event.CPU) (cpuMask, error) {
	if len(affinity) == 0 {
		return allCPUs(s.cfg.CPUs), nil
	}
	m := newMask(s.cfg.CPUs)
	for _, c := range affinity {
		if c >= 0 && int(c) < s.cfg.CPUs {
			m.set(c)
		}
	}
	if m.empty() {
		return nil, verdict(ErrInval, "none of the CPUs exists")
	}
	return m, nil
}

// SetAffinity is sched_setaffinity(2), executed on CPU from. A waiting task on a CPU that
// it may not use any more is moved at once. For a current one the stopper of its CPU is
// woken, which preempts and moves it: then move is false too, for the caller has nothing
// to do. Unlike the kernel it does not wait until the task has moved.
//
// Errors are EINVAL (no CPU that exists, a thread of the CPU's own) and EBUSY (a deadline task must keep every CPU of
// its root domain).
func (s *Sched) SetAffinity(from event.CPU, p *Task, affinity []event.CPU) (move bool, w Work, err error) {
	s.begin(from)
	mask, err := s.maskOf(affinity)
	if err != nil {
		return false, s.work, err
	}
	if p.Attr.Policy == Deadline && s.cfg.DLBandwidth >= 0 && !mask.contains(s.rqs[p.cpu].rd.span) {
		return false, s.work, verdict(ErrBusy, "the affinity of a deadline task must cover its root domain")
	}
	if p.mask.equal(mask) {
		return false, s.work, nil
	}
	rq := s.rqs[p.cpu]
	if p == rq.stop || p == rq.idle {
		return false, s.work, verdict(ErrInval, "the stopper and the idle task belong to their CPU") // PF_NO_SETAFFINITY
	}
	s.updateRQClock(rq)
	dest := s.anyDistribute(from, mask)
	s.doSetCPUsAllowed(rq, p, mask)
	s.affineMoveTask(from, rq, p, dest)
	return false, s.work, nil
}

// doSetCPUsAllowed gives p another affinity; __do_set_cpus_allowed(). It keeps its place
// in the queue.
func (s *Sched) doSetCPUsAllowed(rq *RQ, p *Task, mask cpuMask) {
	queued, running := p.onRQ, rq.curr == p
	if queued {
		s.dequeueTask(rq, p, flagSave)
	}
	if running {
		s.putPrevTask(rq, p)
	}
	p.setMask(mask)
	if queued {
		s.enqueueTask(rq, p, flagSave)
	}
	if running {
		s.setNextTask(rq, p, false)
	}
}

// affineMoveTask gets p off a CPU that it may not use any more; affine_move_task().
func (s *Sched) affineMoveTask(from event.CPU, rq *RQ, p *Task, dest event.CPU) {
	switch {
	case p.mask.has(p.cpu):
		p.moveTo = event.NoCPU
	case p.onCPU || p.State == event.StateWaking:
		waits := p.moveTo != event.NoCPU // a stopper is on its way already
		p.moveTo = dest
		if !waits {
			s.stopOneCPU(from, rq, stopWork{task: p})
		}
	case p.migrateDisabled > 0:
		p.moveTo = dest // migrate_enable() will see to it
	case p.onRQ:
		s.moveTo(from, rq, p, dest)
	}
}

// MigrateDisable pins the current task of c where it is; migrate_disable(). Calls nest.
func (s *Sched) MigrateDisable(c event.CPU) { s.rqs[c].curr.migrateDisabled++ }

// MigrateEnable undoes one MigrateDisable of the current task of c; migrate_enable(). If
// meanwhile the task should have gone elsewhere, the stopper is woken to bring it there. One
// that was switched out meanwhile gets its CPUs back as by sched_setaffinity(2), which takes it out of
// its queue and charges it: a deadline task may find its runtime used up here.
func (s *Sched) MigrateEnable(c event.CPU) (move bool) {
	s.begin(c)
	rq := s.rqs[c]
	p := rq.curr
	if p.migrateDisabled == 0 {
		return false
	}
	if p.migrateDisabled--; p.migrateDisabled > 0 {
		return false
	}
	if p.leftPinned {
		p.leftPinned = false
		s.updateRQClock(rq)
		s.doSetCPUsAllowed(rq, p, p.mask)
	}
	switch {
	case !p.mask.has(c):
		if !p.mask.has(p.moveTo) {
			p.moveTo = s.anyDistribute(c, p.mask)
		}
		s.stopOneCPU(c, rq, stopWork{task: p})
	case p.pushWanted && !rq.pushBusy:
		rq.pushBusy = true
		s.stopOneCPU(c, rq, stopWork{task: p, push: true})
	}
	return false
}
