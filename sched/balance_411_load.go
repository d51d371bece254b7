package sched

import "github.com/whylate/whylate/event"

// This file is rq.cpu_load[], the load of a CPU as it was over some ticks, up to 5.1: at index i
// each tick counts for 1/2^i and what was before for the rest. With LB_BIAS balancing takes the
// lower of it and the load now for where tasks may come from, the higher for where they may go, so
// that a load has to last before anything moves.

// cpuLoads is how many there are; CPU_LOAD_IDX_MAX.
const cpuLoads = 5

// keepsCPULoad reports whether there is anybody who goes by them.
func (s *Sched) keepsCPULoad() bool {
	return s.cfg.Fair.LoadBalance411 && len(s.rqs) > 1 && s.cfg.Tick > 0 && !s.cfg.FairPlaced
}

// weightedCPULoad is the load of those that are runnable, as the root queue knows it;
// weighted_cpuload(), 4.11.
func (rq *RQ) weightedCPULoad() int64 { return int64(rq.cfs.runnableLoad.avg) }

// sourceLoad is a low guess of the load of c, with what it was at index idx of the domain; 0: only
// now counts; source_load().
func (s *Sched) sourceLoad(c event.CPU, idx int) int64 {
	rq := s.rqs[c]
	now := rq.weightedCPULoad()
	if idx == 0 || !s.has(LBBias) {
		return now
	}
	return min(rq.cpuLoad[idx-1], now)
}

// targetLoad is a high guess; target_load().
func (s *Sched) targetLoad(c event.CPU, idx int) int64 {
	rq := s.rqs[c]
	now := rq.weightedCPULoad()
	if idx == 0 || !s.has(LBBias) {
		return now
	}
	return max(rq.cpuLoad[idx-1], now)
}

// updateCPULoadActive is the tick of rq; cpu_load_update_active(). Where ticks were left out
// although it was busy, NO_HZ_FULL, its load is taken to have been that of the last one.
func (s *Sched) updateCPULoadActive(rq *RQ) {
	if !s.keepsCPULoad() {
		return
	}
	rq.rtAvg.forget(rq.clock)
	pending := s.jiffies(rq.clock) - rq.lastLoadUpdate
	rq.lastLoadUpdate += pending
	rq.updateCPULoad(rq.weightedCPULoad(), max(pending, 1))
}

// updateCPULoadStop is the beginning of a time without ticks: what the load is then is taken to be
// that of all of it; cpu_load_update_nohz_start().
func (s *Sched) updateCPULoadStop(rq *RQ) {
	if s.keepsCPULoad() {
		rq.cpuLoad[0] = rq.weightedCPULoad()
	}
}

// updateCPULoadNohz is its end; cpu_load_update_nohz_stop().
func (s *Sched) updateCPULoadNohz(rq *RQ) { s.catchUpCPULoad(rq, rq.weightedCPULoad()) }

// updateCPULoadIdle is before another CPU balances for one that does not tick; cpu_load_update_idle().
func (s *Sched) updateCPULoadIdle(rq *RQ) {
	if rq.weightedCPULoad() == 0 {
		s.catchUpCPULoad(rq, 0)
	}
}

// catchUpCPULoad is cpu_load_update_nohz().
func (s *Sched) catchUpCPULoad(rq *RQ, load int64) {
	if !s.keepsCPULoad() {
		return
	}
	now := s.jiffies(rq.clock)
	if pending := now - rq.lastLoadUpdate; pending > 0 {
		rq.lastLoadUpdate = now
		rq.updateCPULoad(load, pending)
	}
}

// updateCPULoad is pending ticks, of which the last one finds load and the others what the first
// index has; cpu_load_update(). Where load grows the mean is rounded up, or it would never get
// there.
func (rq *RQ) updateCPULoad(load, pending int64) {
	before := rq.cpuLoad[0]
	rq.cpuLoad[0] = load
	for i := 1; i < cpuLoads; i++ {
		old := decayLoadMissed(rq.cpuLoad[i], pending-1, i)
		if before > 0 {
			old += before - decayLoadMissed(before, pending-1, i)
		}
		add := load
		if load > old {
			add += 1<<i - 1
		}
		rq.cpuLoad[i] = (old*(1<<i-1) + add) >> i
	}
}

// decayTable has at [i][j] (1 − 1/2^i)^(2^j) in 128ths, rounded down; degrade_factor.
var decayTable = [cpuLoads][7]int64{
	1: {64, 32, 8},
	2: {96, 72, 40, 12, 1},
	3: {112, 98, 75, 43, 15, 1},
	4: {120, 112, 98, 76, 45, 16, 2},
}

// decayedBy are the ticks after which nothing is left; degrade_zero_ticks.
var decayedBy = [cpuLoads]int64{1: 8, 2: 32, 3: 64, 4: 128}

// decayLoadMissed is load after n ticks without any, at index i; decay_load_missed().
func decayLoadMissed(load, n int64, i int) int64 {
	switch {
	case n <= 0:
		return load
	case n >= decayedBy[i]:
		return 0
	case i == 1:
		return load >> n
	}
	for j := 0; n > 0; n, j = n>>1, j+1 {
		if n&1 != 0 {
			load = load * decayTable[i][j] >> 7
		}
	}
	return load
}
