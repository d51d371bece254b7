package sched

import "github.com/whylate/whylate/event"

// SetAttr is sched_setattr(2) for p, executed on CPU from; it leaves no event. The error is
// the kernel's verdict: EINVAL for values that make no sense, EPERM for a deadline task
// that may not use every CPU, EBUSY where the bandwidth of deadline tasks does not suffice,
// ESRCH for a task that has exited.
func (s *Sched) SetAttr(from event.CPU, p *Task, a Attr) (Work, error) {
	s.begin(from)
	err := s.setScheduler(from, p, a, true)
	return s.work, err
}

// SetUserNice is setpriority(2) for p, executed on CPU from; it leaves no event. Otherwise than
// with SetAttr the queue does not go on while p is out of it. A task that is not of a fair policy
// has the nice value once it is. EINVAL: nice is not between −20 and 19. ESRCH: p has exited.
func (s *Sched) SetUserNice(from event.CPU, p *Task, nice int) (Work, error) {
	s.begin(from)
	a := p.Attr
	a.Nice = nice
	fair := a
	if a.Policy != Normal && a.Policy != Batch && a.Policy != Idle {
		fair = Attr{Nice: nice}
	}
	if err := fair.check(); err != nil {
		return s.work, err
	}
	rq := s.rqs[p.cpu]
	switch {
	case p.State.Dead():
		return s.work, verdict(ErrSrch, "the task has exited")
	case nice == p.Attr.Nice:
		return s.work, nil
	case fair.Policy != a.Policy:
		p.Attr.Nice = nice
		return s.work, nil
	}
	s.updateRQClock(rq)
	prio := effectivePrio(a.prio(), p.donor)
	s.change(from, rq, p, flagSave, p.class, func() {
		s.setParams(p, &a, prio)
		p.prio = prio
	})
	s.balanceCallbacks(from, rq)
	return s.work, nil
}

// Normalize makes p a normal task whatever locks lend it, as normalize_rt_tasks() does with
// each task: deadline and real-time policies become SCHED_NORMAL, a negative nice value 0.
// A boost is gone until the next change of who waits for its locks.
func (s *Sched) Normalize(from event.CPU, p *Task) Work {
	s.begin(from)
	a := Attr{Policy: p.Attr.Policy, Nice: max(p.Attr.Nice, 0)}
	switch a.Policy {
	case FIFO, RR, Deadline:
		a = Attr{Policy: Normal}
	}
	// Nothing in it can be refused: the values are in range and need no bandwidth.
	if err := s.setScheduler(from, p, a, false); err != nil {
		panic("sched: a normal task was refused: " + err.Error())
	}
	return s.work
}

// setScheduler is __sched_setscheduler(). pi says that what p inherits stays.
func (s *Sched) setScheduler(from event.CPU, p *Task, a Attr, pi bool) error {
	if err := a.check(); err != nil {
		return err
	}
	rq := s.rqs[p.cpu]
	switch {
	case p == rq.stop || p == rq.idle:
		return verdict(ErrInval, "the stopper and the idle task keep their class")
	case p.State.Dead():
		return verdict(ErrSrch, "the task has exited")
	}
	s.idlePolicySeen = s.idlePolicySeen || a.Policy == Idle
	s.updateRQClock(rq)
	if a.same(p) && (pi || p.prio == a.prio()) {
		p.Attr = a
		return nil
	}
	if a.Policy == Deadline && s.cfg.DLBandwidth >= 0 && (!p.mask.contains(s.rqs[p.cpu].rd.span) || s.cfg.DLBandwidth == 0) {
		return verdict(ErrPerm, "a deadline task must be allowed to use every CPU of its root domain, and there must be bandwidth")
	}
	if err := s.mayBeRT(p.group, a.Policy, ErrPerm); err != nil {
		return err
	}
	if err := s.admit(p, &a); err != nil {
		return err
	}
	f := flagSave | flagMove
	prio := a.prio()
	if pi {
		prio = effectivePrio(prio, p.donor)
	}
	if prio == p.prio {
		f &^= flagMove
	}
	if prio < 0 && a.Policy != Deadline && p.donor != nil {
		p.dl.piSE = p.donor.dl.piSE // it was a deadline task and now inherits from one
		f |= flagReplenish
	}
	if p.prio < prio {
		f |= flagHead // it stays in front of its new equals
	}
	s.change(from, rq, p, f, classOf(prio), func() {
		s.setParams(p, &a, prio)
		p.prio, p.class = prio, classOf(prio)
		if prio >= 0 {
			p.dl.piSE = &p.dl // nobody lends it a deadline any more
		}
	})
	s.balanceCallbacks(from, rq)
	return nil
}

// setParams is __setscheduler_params(); prio is the effective priority that p gets.
func (s *Sched) setParams(p *Task, a *Attr, prio event.Prio) {
	d := &p.dl
	boosted := p.class == dlClass && prio < 0
	p.countIn(-1)
	p.Attr = *a
	p.countIn(1)
	s.setSlice(p)
	s.reweightTask(p)
	switch {
	case a.Policy == Deadline:
		entered := !d.member
		d.dlRuntime, d.dlDeadline, d.dlPeriod = a.Runtime, a.Deadline, a.period()
		d.dlBW, d.dlDensity = a.bw(), toRatio(a.Deadline, a.Runtime)
		d.member = true
		if entered && boosted && !p.onRQ {
			s.rqs[p.cpu].dl.addThisBW(d.dlBW)
		}
	case d.member && boosted:
		s.leaveBoosted(p)
	}
}

// leaveBoosted gives the bandwidth of p back, which leaves the policy and stays in the
// class by a boost: nobody will see it go.
func (s *Sched) leaveBoosted(p *Task) {
	d, rq := &p.dl, s.rqs[p.cpu]
	if !p.onRQ {
		if d.nonContending {
			rq.dl.subRunningBW(d.dlBW)
			s.cancelInactive(p)
		}
		if !d.uncounted {
			rq.dl.subThisBW(d.dlBW)
		}
	}
	s.dropBW(p)
}

// Boost makes p inherit the priority of donor, or with nil have its own again;
// rt_mutex_setprio(). It emits sched_pi_setprio where the priority changes.
func (s *Sched) Boost(from event.CPU, p, donor *Task) Work {
	s.begin(from)
	normal := p.Attr.prio()
	prio := effectivePrio(normal, donor)
	if p.donor == donor && prio == p.prio && prio >= 0 {
		return s.work
	}
	rq := s.rqs[p.cpu]
	if p == rq.stop || p == rq.idle {
		return s.work // they take no lock that somebody could wait for
	}
	s.updateRQClock(rq)
	p.donor = donor
	if prio == p.prio && prio >= 0 {
		return s.work
	}
	s.emitSetprio(from, p, p.prio, prio)
	f := flagSave | flagMove
	if prio == p.prio {
		f &^= flagMove
	}
	// Whose deadline counts is changed when p is out of the queue.
	pi := &p.dl
	switch {
	case prio < 0:
		if normal >= 0 || donor != nil && donor.class == dlClass && dlEntityPreempt(donor, p) {
			pi = donor.dl.piSE
			f |= flagReplenish
		}
	case prio < event.MaxRTPrio && p.prio < prio:
		f |= flagHead
	}
	s.change(from, rq, p, f, classOf(prio), func() {
		p.dl.piSE = pi
		p.prio, p.class = prio, classOf(prio)
	})
	s.balanceCallbacks(from, rq)
	return s.work
}

// change takes p out of its queue, lets set change what it is, its class to next, and puts it back;
// __sched_setscheduler() and rt_mutex_setprio() do it alike.
func (s *Sched) change(from event.CPU, rq *RQ, p *Task, f flags, next class, set func()) {
	if next != p.class {
		s.leaveDelayed(rq, p)
	}
	queued, running := p.onRQ, rq.curr == p
	oldPrio, oldClass := p.prio, p.class
	if queued {
		s.dequeueTask(rq, p, f&(flagSave|flagMove))
	}
	if running {
		s.putPrevTask(rq, p)
	}
	set()
	if queued {
		s.enqueueTask(rq, p, f)
	}
	if running {
		s.setNextTask(rq, p, false)
	}
	s.checkClassChanged(from, rq, p, oldClass, oldPrio)
}

// checkClassChanged is check_class_changed().
func (s *Sched) checkClassChanged(from event.CPU, rq *RQ, p *Task, oldClass class, oldPrio event.Prio) {
	if oldClass == p.class {
		switch {
		case p.class == dlClass:
			s.prioChangedDL(from, rq, p)
		case oldPrio == p.prio:
		case p.class == rtClass:
			s.prioChangedRT(from, rq, p, oldPrio)
		case p.class == fairClass:
			s.prioChangedFair(from, rq, p, oldPrio)
		}
		return
	}
	switch oldClass {
	case fairClass:
		s.switchedFromFair(rq, p)
	case dlClass:
		s.switchedFromDL(rq, p)
	case rtClass:
		s.switchedFromRT(rq, p)
	}
	switch p.class {
	case dlClass:
		s.switchedToDL(from, rq, p)
	case rtClass:
		s.switchedToRT(from, rq, p)
	case fairClass:
		s.switchedToFair(from, rq, p)
	}
}
