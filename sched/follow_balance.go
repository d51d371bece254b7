package sched

import "github.com/whylate/whylate/event"

// This file lets a scheduler that follows a recorded one balance as that did: a pass is made where one was
// recorded, with all that the kernel notes, but what moves is in the recording.

// FollowBalance says that the passes of the softirq SCHED are recorded, so that FollowRebalance will tell of each.
func (s *Sched) FollowBalance() { s.passesTold = true }

// FollowRebalance is the softirq SCHED of c. kicked says that another CPU asked c, which is idle, to balance for
// all that do not tick.
func (s *Sched) FollowRebalance(c event.CPU, kicked bool) {
	s.begin(c)
	rq := s.rqs[c]
	if rq.sd == nil || s.standIn() {
		return
	}
	s.updateRQClock(rq)
	idle := cpuNotIdle
	if rq.idleBalance = s.idleCPU(c); rq.idleBalance {
		idle = cpuIdle
	}
	if kicked && idle == cpuIdle {
		s.balanceIdleCPUs(rq, nohzStatsKick|nohzBalanceKick)
		return
	}
	s.updateBlockedAverages(rq)
	s.rebalanceDomains(rq, idle, BalancePeriodic)
}

// followNewidle is what a CPU notes that is about to go idle, in a recorded scheduler.
func (s *Sched) followNewidle(rq *RQ) {
	rq.idling, rq.idleStamp = true, rq.clock
	if s.passesTold && rq.sd != nil && rq.rd.overload {
		s.updateBlockedAverages(rq)
	}
}

// ForceNohz says that c idles and has stopped its tick.
func (s *Sched) ForceNohz(c event.CPU) {
	if rq := s.rqs[c]; rq.sd != nil && !s.standIn() {
		s.nohzBalanceEnterIdle(rq)
	}
}

// ForceBalanced says that a pass for to took something from from. newidle: to was about to go idle.
func (s *Sched) ForceBalanced(from, to event.CPU, newidle bool) {
	sd := s.rqs[to].sd
	for sd != nil && !sd.span.has(from) {
		sd = sd.parent
	}
	if sd == nil {
		return
	}
	if sd.nrBalanceFailed = 0; !newidle {
		sd.balanceInterval = sd.minInterval
	}
}

// AskedPass is what a pass would do.
type AskedPass struct {
	Source event.CPU // NoCPU: nothing would move
	Task   *Task     // the first that it would take
	Push   bool      // it would ask the stopper of the source to push who runs there
	Why    string    // where nothing would move
}

// AskBalance returns what c would do in a pass over its domains now, from the lowest up to where it finds
// something, whenever the next would be due. With BalanceNewidle c has nothing left to run, whatever the model
// still has there. Nothing is noted but what a pass finds out of the CPUs.
func (s *Sched) AskBalance(c event.CPU, kind BalanceKind) AskedPass {
	s.begin(c)
	rq := s.rqs[c]
	idle := cpuNotIdle
	switch {
	case kind == BalanceNewidle:
		idle = cpuNewlyIdle
		nr, h := rq.nrRunning, rq.cfs.hNrRunning
		rq.nrRunning, rq.cfs.hNrRunning = 0, 0
		defer func() { rq.nrRunning, rq.cfs.hNrRunning = nr, h }()
	case s.idleCPU(c):
		idle = cpuIdle
	}
	s.updateRQClock(rq)
	answer := AskedPass{Source: event.NoCPU}
	for sd := rq.sd; sd != nil && answer.Source == event.NoCPU; sd = sd.parent {
		answer = s.askPass(rq, sd, idle, kind)
	}
	return answer
}

func (s *Sched) askPass(rq *RQ, sd *schedDomain, idle cpuIdleType, kind BalanceKind) AskedPass {
	failed, interval := sd.nrBalanceFailed, sd.balanceInterval
	imbalance := sd.groups.capacity.imbalance
	env := s.newEnv(rq, sd, idle, kind)
	env.dry = true
	goOn := true
	moved, end, why := s.balancePass(env, &goOn)
	push := moved == 0 && end == lbDone && env.src != nil && s.needActiveBalance(env)
	sd.nrBalanceFailed, sd.balanceInterval, sd.groups.capacity.imbalance = failed, interval, imbalance
	switch {
	case moved > 0:
		return AskedPass{Source: env.src.cpu, Task: env.tasks[0]}
	case push:
		return AskedPass{Source: env.src.cpu, Push: true}
	}
	return AskedPass{Source: event.NoCPU, Why: why}
}
