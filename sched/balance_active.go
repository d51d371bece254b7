package sched

// This file is about pushing away the task that runs on a CPU, which nobody can pull.

// startActiveBalance asks the stopper of the source to push a task to the CPU that the pass is for. It reports
// false if that is on its way to somewhere already.
func (s *Sched) startActiveBalance(env *lbEnv) bool {
	src := env.src
	if src.activeBalance || env.dry {
		return false
	}
	src.activeBalance, src.pushCPU = true, env.this.cpu
	s.stopOneCPU(s.hereOr(env.this), src, stopWork{active: true})
	return true
}

// activeLoadBalance is the stopper of rq pushing a task to where it was asked to;
// active_load_balance_cpu_stop().
func (s *Sched) activeLoadBalance(rq *RQ) {
	asked := rq.activeBalance
	rq.activeBalance = false
	if !asked || rq.nrRunning <= 1 {
		return
	}
	to := s.rqs[rq.pushCPU]
	sd := to.sd
	for sd != nil && !sd.span.has(rq.cpu) {
		sd = sd.parent
	}
	if sd == nil {
		return
	}
	env := s.newEnv(to, sd, cpuIdle, BalanceActive)
	env.src, env.flags = rq, lbfActiveLB
	s.updateRQClock(rq)
	why := ""
	if p := s.detachOneTask(env); p != nil {
		sd.nrBalanceFailed = 0
		s.updateRQClock(to)
		s.attachMoved(to, p)
	} else {
		why = env.whyStayed()
	}
	s.tellPass(env, why)
}
