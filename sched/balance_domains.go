package sched

import "github.com/whylate/whylate/event"

// This file is about when a CPU balances by itself: at ticks, in the softirq SCHED.

// standIn reports whether fair tasks are placed and balanced by fair_stand_in.go: the loads that a
// kernel goes by are not known.
func (s *Sched) standIn() bool { return s.cfg.FairPlaced }

// balances reports whether the scheduler balances fair tasks by itself: one that follows a recorded one
// only moves what that has moved.
func (s *Sched) balances() bool { return s.follow == nil && !s.standIn() }

// rqBalance is what a CPU remembers for balancing, beside its domains.
type rqBalance struct {
	idleBalance     bool      // it was idle at its last tick, or when it was asked to balance for others
	nohzTickStopped bool      // it is in nohz.idleCPUs
	nohzIdle        bool      // it is not counted in nr_busy_cpus; sd_llc.nohz_idle
	inIdle          bool      // it has entered the idle loop since it last ran something
	nohzFlags       nohzFlags // what it was asked to do for others, on its way
	nohzIdleBalance nohzFlags // and there
	hasBlockedLoad  bool      // its load may still decay
	lastBlockedTick int64     // when that was last brought up to date; last_blocked_load_update_tick

	leafHead *cfsRQ // leaf_cfs_rq_list
	fading
}

// hz is the number of jiffies in a second.
func (s *Sched) hz() int64 { return int64(1_000_000_000 / s.cfg.Tick) }

// initBalance makes rq ready to balance.
func (s *Sched) initBalance(rq *RQ) {
	rq.avgIdle, rq.maxIdleBalanceCost = 2*s.cfg.Fair.MigrationCost, s.cfg.Fair.MigrationCost
	rq.cfs.onList, rq.leafHead = true, &rq.cfs
}

// triggerLoadBalance raises the softirq if it is time to balance, and asks an idle CPU to balance for
// those that do not tick; trigger_load_balance(), sched_balance_trigger() from 6.10 on.
func (s *Sched) triggerLoadBalance(rq *RQ) {
	rq.idleBalance = s.idleCPU(rq.cpu)
	if rq.sd == nil {
		return
	}
	if s.jiffies(rq.clock) >= rq.nextBalance {
		s.host.RaiseBalance(rq.cpu)
	}
	s.nohzBalancerKick(rq)
}

// Rebalance is the softirq SCHED of c; run_rebalance_domains(), sched_balance_softirq() from 6.10 on.
func (s *Sched) Rebalance(c event.CPU) Work {
	s.begin(c)
	rq := s.rqs[c]
	if rq.sd == nil || !s.balances() {
		return s.work
	}
	s.updateRQClock(rq)
	idle := cpuNotIdle
	if rq.idleBalance {
		idle = cpuIdle
	}
	if s.nohzIdleBalance(rq, idle) && !s.cfg.Fair.LoadBalance411 {
		return s.work
	}
	s.updateBlockedAverages(rq)
	s.rebalanceDomains(rq, idle, BalancePeriodic)
	return s.work
}

// rebalanceDomains lets rq balance over those of its domains that are due; rebalance_domains(),
// sched_balance_domains() from 6.10 on.
func (s *Sched) rebalanceDomains(rq *RQ, idle cpuIdleType, kind BalanceKind) {
	now := s.jiffies(s.host.Now())
	next, due := now+60*s.hz(), false
	cost, decayed := event.Time(0), false
	goOn := true
	for sd := rq.sd; sd != nil; sd = sd.parent {
		decayed = s.updateNewidleCost(sd, 0, 0)
		cost += sd.maxNewidleLBCost
		if !goOn {
			if decayed {
				continue
			}
			break
		}
		interval := s.sdBalanceInterval(sd, s.isBusy(rq, idle))
		if s.mayBalanceAlone(sd) {
			if now >= sd.lastBalance+interval {
				if s.loadBalance(rq, sd, idle, kind, &goOn) > 0 {
					if idle = cpuNotIdle; s.idleCPU(rq.cpu) {
						idle = cpuIdle
					}
				}
				sd.lastBalance = now
				interval = s.sdBalanceInterval(sd, s.isBusy(rq, idle))
			}
			s.balancedAlone(sd)
		}
		if at := sd.lastBalance + interval; at < next {
			next, due = at, true
		}
	}
	if decayed {
		rq.maxIdleBalanceCost = max(s.cfg.Fair.MigrationCost, cost)
	}
	if !due {
		return
	}
	rq.nextBalance = next
	if s.cfg.Fair.LoadBalance411 && idle == cpuIdle {
		s.nohz.nextBalance = min(s.nohz.nextBalance, next)
	}
}

// isBusy reports whether rq has better things to do than to balance.
func (s *Sched) isBusy(rq *RQ, idle cpuIdleType) bool {
	return idle != cpuIdle && (s.cfg.Fair.LoadBalance411 || !s.schedIdleCPU(rq.cpu))
}

// sdBalanceInterval is how many jiffies a pass over sd is after the last; get_sd_balance_interval().
func (s *Sched) sdBalanceInterval(sd *schedDomain, busy bool) int64 {
	ms := sd.balanceInterval
	if busy {
		ms *= sd.busyFactor
	}
	interval := s.msToJiffies(ms)
	if busy && !s.cfg.Fair.LoadBalance411 {
		interval-- // levels whose intervals are multiples would always come together
	}
	return min(max(interval, 1), s.maxLoadBalanceInterval())
}

// mayBalanceAlone reports whether no other CPU balances over a domain in which only one may do so at a
// time, SD_SERIALIZE. A pass takes no time in the model, but lasts as long as it costs.
func (s *Sched) mayBalanceAlone(sd *schedDomain) bool {
	return sd.flags&sdSerialize == 0 || s.host.Now()+s.host.Price(&s.work) >= s.serialUntil
}

func (s *Sched) balancedAlone(sd *schedDomain) {
	if sd.flags&sdSerialize != 0 {
		s.serialUntil = s.host.Now() + s.host.Price(&s.work)
	}
}
