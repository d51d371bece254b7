package sched

import "github.com/whylate/whylate/event"

// Rebalance is the softirq SCHED of c; run_rebalance_domains(), sched_balance_softirq() from 6.10 on.
func (s *Sched) Rebalance(c event.CPU) Work {
	s.begin(c)
	return s.work
}

// KickedBalance is the interrupt by which another CPU asks c, which is idle, to balance for all that
// do not tick; nohz_csd_func(). It raises the softirq.
func (s *Sched) KickedBalance(c event.CPU) Work {
	s.begin(c)
	return s.work
}
