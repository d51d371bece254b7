package sched

import "github.com/whylate/whylate/event"

// This file is about a CPU that is about to go idle and looks for work first, if it will idle for
// longer than that takes.

// updateAvgIdle notes how long rq was idle, when a task is woken there; ttwu_do_wakeup().
func (s *Sched) updateAvgIdle(rq *RQ) {
	if !rq.idling {
		return
	}
	rq.idling = false
	rq.avgIdle += (rq.clock - rq.idleStamp - rq.avgIdle) / 8
	rq.avgIdle = min(rq.avgIdle, 2*rq.maxIdleBalanceCost)
	rq.wakeStamp, rq.wakeAvgIdle = s.jiffies(rq.clock), rq.avgIdle/2
}

// newidleBalance looks for work for rq, which has none, and reports whether it has some now;
// newidle_balance(), idle_balance() before 5.1, sched_balance_newidle() from 6.10 on.
func (s *Sched) newidleBalance(rq *RQ) bool {
	switch {
	case s.standIn():
		return s.pullStandIn(rq)
	case s.follow != nil:
		s.followNewidle(rq)
		return false
	case len(rq.wakeList) > 0:
		return false
	}
	rq.idling, rq.idleStamp = true, rq.clock
	next := s.jiffies(rq.clock) + s.hz()
	pulled := false
	switch sd := rq.sd; {
	case sd == nil:
	case !rq.rd.overload:
		s.updateNextBalance(sd, &next)
		s.tellSkipped(rq, "no CPU has more than one task")
	case rq.avgIdle < s.leastIdle(sd):
		s.updateNextBalance(sd, &next)
		s.tellSkipped(rq, "it seldom idles for longer than that takes")
	default:
		pulled = s.newidleDomains(rq, &next)
	}
	rq.nextBalance = min(rq.nextBalance, next)
	if pulled {
		rq.idling = false
	} else {
		s.nohzNewidleBalance(rq)
	}
	return pulled
}

// leastIdle is how long a CPU should mostly idle for it to look for work.
func (s *Sched) leastIdle(sd *schedDomain) event.Time {
	if s.cfg.Fair.LoadBalance411 {
		return s.cfg.Fair.MigrationCost
	}
	return sd.maxNewidleLBCost
}

// newidleDomains goes through the domains of rq up to the first where it finds something.
func (s *Sched) newidleDomains(rq *RQ, next *int64) bool {
	moved, goOn := 0, true
	cost, t0 := event.Time(0), s.host.Price(&s.work)
	s.updateBlockedAverages(rq)
	for sd := rq.sd; sd != nil; sd = sd.parent {
		s.updateNextBalance(sd, next)
		if rq.avgIdle < cost+sd.maxNewidleLBCost {
			s.tellSkipped(rq, "it seldom idles for longer than that takes")
			break
		}
		if sd.flags&sdBalanceNewidle != 0 {
			weight := uint32(1)
			if s.has(NIRandom) {
				weight = 1 + sd.newidleRatio
				if uint32(s.roll()%1024) > weight {
					sd.updateNewidleStats(0)
					s.tellSkipped(rq, "the dice said that it seldom helps")
					continue
				}
				weight = (1024 + weight/2) / weight
			}
			moved = s.loadBalance(rq, sd, cpuNewlyIdle, BalanceNewidle, &goOn)
			t1 := s.host.Price(&s.work)
			spent := max(t1-t0, 1) // a kernel's clock never says that it took no time
			cost, t0 = cost+spent, t1
			if moved == 0 {
				weight = 0
			}
			s.updateNewidleCost(sd, spent, weight)
		}
		if moved > 0 || !goOn || rq.nrRunning > 0 {
			break
		}
	}
	rq.maxIdleBalanceCost = max(rq.maxIdleBalanceCost, cost)
	return moved > 0 || rq.nrRunning > 0
}

// updateNextBalance is update_next_balance(): a CPU that goes idle balances as often as an idle one.
func (s *Sched) updateNextBalance(sd *schedDomain, next *int64) {
	*next = min(*next, sd.lastBalance+s.sdBalanceInterval(sd, false))
}

// updateNewidleStats counts the tries of a CPU that goes idle and, by their weights, those that helped;
// update_newidle_stats().
func (sd *schedDomain) updateNewidleStats(success uint32) {
	sd.newidleCall++
	sd.newidleSuccess += success
	if sd.newidleCall >= 1024 {
		sd.newidleRatio = sd.newidleSuccess
		sd.newidleCall /= 2
		sd.newidleSuccess /= 2
	}
}

// updateNewidleCost keeps the most that a pass over sd cost, which fades by 1 % in a second, and reports whether
// it just did; update_newidle_cost().
func (s *Sched) updateNewidleCost(sd *schedDomain, cost event.Time, success uint32) bool {
	now := s.jiffies(s.host.Now())
	if cost > 0 {
		sd.updateNewidleStats(success)
	}
	switch {
	case cost > sd.maxNewidleLBCost:
		sd.maxNewidleLBCost, sd.lastDecayMaxLBCost = cost, now
	case now > sd.lastDecayMaxLBCost+s.hz():
		sd.maxNewidleLBCost = sd.maxNewidleLBCost * 253 / 256
		sd.lastDecayMaxLBCost = now
		return true
	}
	return false
}

// roll is sched_rng(): the next of a series of random numbers.
func (s *Sched) roll() uint64 {
	s.rolls++
	return scramble(s.cfg.Fair.NewidleSeed + s.rolls)
}

// tellSkipped tells who listens that rq went idle without looking.
func (s *Sched) tellSkipped(rq *RQ, why string) {
	if s.onBalance == nil {
		return
	}
	p := s.newPass(rq.cpu, BalanceNewidle)
	p.Why = why
	s.onBalance(p)
}
