package sched

// This file has the choice of EEVDF: of those that are eligible the earliest virtual deadline goes
// first.

// pickEEVDF is pick_eevdf(). The current entity goes on while its turn is protected, unless
// protect is false.
//
// Kernels before 6.8 have a timeline by vruntime and look for the earliest deadline among the
// eligible; this one is by deadline and finds the first that is eligible. That is the same
// entity, but for deadlines that are equal to the nanosecond.
func (s *Sched) pickEEVDF(cfs *cfsRQ, protect bool) *schedEntity {
	first, curr := cfs.first(), cfs.curr
	if curr != nil && !curr.onRQ {
		curr = nil
	}
	if cfs.nrRunning == 1 {
		if curr != nil {
			return curr
		}
		return first
	}
	sum, load := cfs.sums()
	zero := cfs.minVruntime
	if curr != nil && (curr.vruntime-zero)*load > sum {
		curr = nil
	}
	if curr != nil && protect && s.runsToParity(curr) {
		return curr
	}
	best := first
	if first != nil && (first.vruntime-zero)*load > sum {
		best = nil
		for n := cfs.timeline.root; n != nil; {
			switch l := n.left; {
			case l != nil && (l.least-zero)*load <= sum:
				n = l
				continue
			case (n.value-zero)*load <= sum:
				best = n.se
			default:
				n = n.right
				continue
			}
			break
		}
	}
	switch {
	case best != nil && (curr == nil || curr.deadline >= best.deadline):
		return best
	case curr != nil:
		return curr
	}
	return cfs.anyEntity()
}

// anyEntity is the choice where nobody is eligible. That cannot be, but for virtual times so far apart, forced by a
// recording, that a sum of them does not fit.
func (cfs *cfsRQ) anyEntity() *schedEntity {
	if first := cfs.first(); first != nil {
		return first
	}
	if c := cfs.curr; c != nil && c.onRQ {
		return c
	}
	return nil
}

// pickNextEEVDF is pick_next_entity() of EEVDF. It returns nil where it has found somebody who
// sleeps, whose lag is paid: that one has left now.
func (s *Sched) pickNextEEVDF(cfs *cfsRQ) *schedEntity {
	if b := cfs.next; b != nil && s.has(PickBuddy) && cfs.eligible(b) {
		return b
	}
	se := s.pickEEVDF(cfs, true)
	if se != nil && se.delayed {
		s.dequeueEntities(cfs.rq, se, flagSleep|flagDelayed)
		return nil
	}
	return se
}

// A turn is protected from the moment of its choice: up to 6.16 until the slice is used up, for
// which vlag, that nobody needs meanwhile, has the deadline; later until vprot.

// pickedEntity is set_protect_slice(): se has been chosen.
func (s *Sched) pickedEntity(cfs *cfsRQ, se *schedEntity) {
	if !s.eevdf() {
		return
	}
	if !s.cfg.Fair.ProtectShortest {
		se.vlag = se.deadline
		return
	}
	slice := s.cfg.Fair.BaseSlice / FairScale(s.cfg.CPUs)
	if s.has(RunToParity) {
		slice = cfs.minSlice()
	}
	se.vprot = se.deadline
	if slice > 0 && slice < se.slice {
		se.vprot = min(se.vprot, se.vruntime+calcDeltaFair(slice, se))
	}
}

// protectSlice is protect_slice().
func (s *Sched) protectSlice(se *schedEntity) bool {
	if s.cfg.Fair.ProtectShortest {
		return se.vprot > se.vruntime
	}
	return se.vlag == se.deadline
}

// runsToParity reports whether the choice keeps se, which is current and eligible.
func (s *Sched) runsToParity(se *schedEntity) bool {
	return (s.cfg.Fair.ProtectShortest || s.has(RunToParity)) && s.protectSlice(se)
}

// cancelProtectSlice is cancel_protect_slice().
func (s *Sched) cancelProtectSlice(se *schedEntity) {
	switch {
	case !s.protectSlice(se):
	case s.cfg.Fair.ProtectShortest:
		se.vprot = se.vruntime
	default:
		se.vlag = se.deadline + 1
	}
}
