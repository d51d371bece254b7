package sched

import "github.com/whylate/whylate/event"

// cpuIdleType says in which state a CPU balances.
type cpuIdleType uint8

const (
	cpuNotIdle cpuIdleType = iota
	cpuIdle
	cpuNewlyIdle
)

// migrationType is what an imbalance is counted in, from 5.5 on.
type migrationType uint8

const (
	migrateLoad migrationType = iota
	migrateUtil
	migrateTask
	migrateMisfit
)

// lbFlags are what a pass has found out; LBF_*.
type lbFlags uint8

const (
	lbfAllPinned lbFlags = 1 << iota
	lbfNeedBreak
	lbfDstPinned
	lbfSomePinned
	lbfActiveLB
)

// lbEnv is one balancing pass of a CPU over one of its domains; lb_env.
type lbEnv struct {
	sd        *schedDomain
	this      *RQ // for whom it is
	dst, src  *RQ // dst is another of its group where tasks may not use this
	idle      cpuIdleType
	kind      BalanceKind
	dry       bool    // it is only asked what it would do
	cpus      cpuMask // those that are looked at
	dstGroup  cpuMask // of the local group
	newDstCPU event.CPU
	imbalance int64 // in the unit of migration; before 5.5 load
	migration migrationType
	flags     lbFlags
	loop      int
	loopBreak int
	loopMax   int
	tasks     []*Task // detached
	stayed    lbReasons
	pass      *BalancePass // what is told of it; nil: nobody listens
}

// jiffies is the number of ticks at t.
func (s *Sched) jiffies(t event.Time) int64 { return int64(t / s.cfg.Tick) }

// cpuLoadOf is cpu_load(): load_avg of the root queue, of all tasks that are or were there.
func (rq *RQ) cpuLoadOf() int64 { return int64(rq.cfs.avg.loadAvg) }

// cpuRunnable is cpu_runnable(): runnable_avg of the root queue.
func (rq *RQ) cpuRunnable() int64 { return int64(rq.cfs.avg.runnableAvg) }

// idleCPU is idle_cpu(): c runs its idle task, nothing waits there and no wake is on its way.
func (s *Sched) idleCPU(c event.CPU) bool {
	rq := s.rqs[c]
	return rq.curr == rq.idle && rq.nrRunning == 0 && len(rq.wakeList)+rq.inFlight == 0
}

// schedIdleCPU is sched_idle_cpu(): all that is there is SCHED_IDLE.
func (s *Sched) schedIdleCPU(c event.CPU) bool {
	rq := s.rqs[c]
	return rq.nrRunning > 0 && rq.nrRunning == rq.cfs.idleHNr
}
