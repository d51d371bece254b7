package sched

import "github.com/whylate/whylate/event"

// This file is about idle CPUs that do not tick: one of them is asked by a busy CPU, at its tick, to
// balance for all of them.

// nohzFlags is what an idle CPU is asked to do; NOHZ_*.
type nohzFlags uint8

const (
	nohzBalanceKick nohzFlags = 1 << iota // balance for all idle CPUs
	nohzStatsKick                         // bring their load up to date
	nohzNewilbKick                        // likewise, of the CPU to itself, as it goes idle
	nohzNextKick                          // work out when the next of them is due

	nohzKickMask = nohzBalanceKick | nohzStatsKick | nohzNextKick
)

// nohzState is what all CPUs know together; nohz.
type nohzState struct {
	idleCPUs    cpuMask // that stopped their tick as they were idle; they may be busy again and not have ticked yet
	nr          int
	hasBlocked  bool // their load may still decay
	needsUpdate bool // one of them came since nextBalance was worked out
	nextBalance int64
	nextBlocked int64
	full        cpuMask // nohz_full=
}

// nohzBalancerKick asks an idle CPU to balance for all, if there is a reason on rq, which ticks;
// nohz_balancer_kick(), in 4.11 nohz_kick_needed() before that.
func (s *Sched) nohzBalancerKick(rq *RQ) {
	if rq.idleBalance {
		return
	}
	s.nohzBalanceExitIdle(rq)
	if s.nohz.nr == 0 {
		return
	}
	now, old := s.jiffies(rq.clock), s.cfg.Fair.LoadBalance411
	f := nohzFlags(0)
	if !old && s.nohz.hasBlocked && now > s.nohz.nextBlocked {
		f = nohzStatsKick
	}
	if now >= s.nohz.nextBalance && s.idleShouldHelp(rq) {
		f = nohzStatsKick | nohzBalanceKick
	}
	if !old && s.nohz.needsUpdate {
		f |= nohzNextKick
	}
	if f != 0 {
		s.kickILB(rq, f)
	}
}

// idleShouldHelp reports whether rq has a task that another CPU should take, or the CPUs with which it shares
// a cache may have.
func (s *Sched) idleShouldHelp(rq *RQ) bool {
	switch shared := s.llcShared(rq.cpu); {
	case rq.nrRunning >= 2:
		return true
	case rq.cfs.hNrRunning >= 1 && s.squeezed(rq, rq.sd):
		return true
	default:
		return shared != nil && shared.nrBusyCPUs > 1
	}
}

// kickILB is kick_ilb(): the first idle CPU gets an interrupt, unless it was asked already.
func (s *Sched) kickILB(rq *RQ, f nohzFlags) {
	old := s.cfg.Fair.LoadBalance411
	switch {
	case old:
		s.nohz.nextBalance++
	case f&nohzBalanceKick != 0:
		s.nohz.nextBalance = s.jiffies(rq.clock) + 1
	}
	c := s.findNewILB(rq.cpu)
	if c == event.NoCPU {
		return
	}
	ilb := s.rqs[c]
	before := ilb.nohzFlags
	ilb.nohzFlags |= f
	if before&nohzKickMask == 0 {
		s.host.KickBalance(rq.cpu, c)
	}
}

// findNewILB returns the idle CPU that should balance for all, NoCPU if there is none; find_new_ilb(). In 4.11 it is
// the first of those that stopped their tick, or nobody.
func (s *Sched) findNewILB(from event.CPU) event.CPU {
	m := s.nohz.idleCPUs
	for c := m.first(); c != event.NoCPU; c = m.next(c + 1) {
		s.work.Searched++
		switch {
		case s.cfg.Fair.LoadBalance411:
			if s.idleCPU(c) {
				return c
			}
			return event.NoCPU
		case c != from && s.housekeeping(c) && s.idleCPU(c):
			return c
		}
	}
	return event.NoCPU
}

// KickedBalance is the interrupt by which another CPU asks c, which is idle, to balance for all that
// do not tick; nohz_csd_func(). It raises the softirq.
func (s *Sched) KickedBalance(c event.CPU) Work {
	s.begin(c)
	rq := s.rqs[c]
	f := rq.nohzFlags
	rq.nohzFlags = 0
	if rq.idleBalance = s.idleCPU(c); rq.idleBalance && f&nohzKickMask != 0 {
		rq.nohzIdleBalance = f
		s.host.RaiseBalance(c)
	}
	return s.work
}

// nohzIdleBalance does what rq was asked to do for the idle CPUs, and reports whether it was asked;
// nohz_idle_balance().
func (s *Sched) nohzIdleBalance(rq *RQ, idle cpuIdleType) bool {
	f := rq.nohzIdleBalance
	rq.nohzIdleBalance = 0
	if f == 0 || idle != cpuIdle {
		return false
	}
	s.balanceIdleCPUs(rq, f)
	return true
}

// balanceIdleCPUs balances for all idle CPUs that are due, this one last, and brings their load up to date;
// _nohz_idle_balance(). It stops when this one has something to run.
func (s *Sched) balanceIdleCPUs(this *RQ, f nohzFlags) {
	n, now, old := &s.nohz, s.jiffies(this.clock), s.cfg.Fair.LoadBalance411
	next, due, blocked := now+60*s.hz(), false, false
	if f&nohzStatsKick != 0 {
		n.hasBlocked = false
	}
	if f&nohzNextKick != 0 {
		n.needsUpdate = false
	}
	first := this.cpu + 1
	if old {
		first = 0
	}
	for c, turned := n.idleCPUs.next(first), false; ; c = n.idleCPUs.next(c + 1) {
		if c == event.NoCPU && !turned {
			c, turned = n.idleCPUs.first(), true
		}
		if c == event.NoCPU || turned && c >= first {
			break
		}
		s.work.Searched++
		if !s.idleCPU(c) || old && c == this.cpu {
			continue
		}
		if s.mustStop(this) {
			n.hasBlocked = n.hasBlocked || f&nohzStatsKick != 0
			n.needsUpdate = n.needsUpdate || f&nohzNextKick != 0
			if old {
				break
			}
			return
		}
		rq := s.rqs[c]
		if f&nohzStatsKick != 0 && !old && s.updateNohzStats(rq, now) {
			blocked = true
		}
		if now >= rq.nextBalance {
			s.updateRQClock(rq)
			if old {
				s.updateCPULoadIdle(rq)
				s.updateBlockedAverages(rq)
			}
			if f&nohzBalanceKick != 0 {
				s.rebalanceDomains(rq, cpuIdle, BalanceNohz)
			}
		}
		if rq.nextBalance < next {
			next, due = rq.nextBalance, true
		}
	}
	if due {
		n.nextBalance = next
	}
	if f&nohzStatsKick != 0 {
		n.nextBlocked = now + s.msToJiffies(peltHalving)
	}
	n.hasBlocked = n.hasBlocked || blocked
}

// mustStop reports whether this has something better to do than to balance for others.
func (s *Sched) mustStop(this *RQ) bool {
	asked := this.needResched || this.needReschedLazy
	return asked && (s.cfg.Fair.LoadBalance411 || !s.idleCPU(this.cpu))
}

// updateNohzStats brings the load of an idle CPU up to date, once a tick, and reports whether some is left;
// update_nohz_stats().
func (s *Sched) updateNohzStats(rq *RQ, now int64) bool {
	switch {
	case !rq.hasBlockedLoad:
		return false
	case now <= rq.lastBlockedTick:
		return true
	}
	s.updateRQClock(rq)
	s.updateBlockedAverages(rq)
	return rq.hasBlockedLoad
}

// nohzNewidleBalance lets rq bring the load of idle CPUs up to date before it goes idle itself;
// nohz_newidle_balance().
func (s *Sched) nohzNewidleBalance(rq *RQ) {
	if s.cfg.Fair.LoadBalance411 || rq.avgIdle < s.cfg.Fair.MigrationCost {
		return
	}
	if s.nohz.hasBlocked && s.jiffies(rq.clock) >= s.nohz.nextBlocked {
		rq.nohzFlags |= nohzNewilbKick
	}
}

// EnterIdle says that c is in the idle loop, and whether it has stopped its tick there; the host says so whenever
// it looks. It costs something the first time since c ran something; nohz_run_idle_balance(),
// nohz_balance_enter_idle().
func (s *Sched) EnterIdle(c event.CPU, stopped bool) (w Work, did bool) {
	rq := s.rqs[c]
	if rq.inIdle || rq.sd == nil || !s.balances() {
		return Work{}, false
	}
	rq.inIdle = true
	if f := rq.nohzFlags; f&nohzNewilbKick != 0 {
		rq.nohzFlags &^= nohzNewilbKick
		if f == nohzNewilbKick && !rq.needResched {
			s.begin(c)
			s.updateRQClock(rq)
			s.balanceIdleCPUs(rq, nohzStatsKick)
			w, did = s.work, true
		}
	}
	if stopped {
		s.nohzBalanceEnterIdle(rq)
	}
	return w, did
}

// nohzBalanceEnterIdle is nohz_balance_enter_idle(). In 4.11 nobody balances for idle CPUs of nohz_full=.
func (s *Sched) nohzBalanceEnterIdle(rq *RQ) {
	if s.cfg.Fair.LoadBalance411 && !s.housekeeping(rq.cpu) {
		return
	}
	rq.hasBlockedLoad = true
	s.nohz.hasBlocked = true
	if rq.nohzTickStopped {
		return
	}
	rq.nohzTickStopped = true
	s.nohz.idleCPUs.set(rq.cpu)
	s.nohz.nr++
	s.nohz.needsUpdate = true
	if shared := s.llcShared(rq.cpu); shared != nil && !rq.nohzIdle {
		rq.nohzIdle = true
		shared.nrBusyCPUs--
	}
}

// nohzBalanceExitIdle is nohz_balance_exit_idle(), at the first tick at which rq is busy.
func (s *Sched) nohzBalanceExitIdle(rq *RQ) {
	if !rq.nohzTickStopped {
		return
	}
	rq.nohzTickStopped = false
	s.nohz.idleCPUs.clear(rq.cpu)
	s.nohz.nr--
	if shared := s.llcShared(rq.cpu); shared != nil && rq.nohzIdle {
		rq.nohzIdle = false
		shared.nrBusyCPUs++
	}
}

// housekeeping reports whether c may be asked to balance for others, which CPUs of nohz_full= are not;
// HK_TYPE_MISC.
func (s *Sched) housekeeping(c event.CPU) bool { return !s.nohz.full.has(c) }
