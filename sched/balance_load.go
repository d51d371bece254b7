package sched

import "github.com/whylate/whylate/event"

// This file is one pass of a CPU over one of its domains. Who is busy and by how much is asked in
// balance_group*.go, which tasks move in balance_detach.go.

// lbEnd is how a pass ends.
type lbEnd uint8

const (
	lbDone      lbEnd = iota // it moved something, or failed to
	lbBalanced               // there is nothing to do
	lbAllPinned              // no task may leave where there are too many
	lbOnePinned              // the task that runs there may not
)

// whyAllPinned is the end of a pass that found tasks, but none that may go where it is for.
const whyAllPinned = "all pinned"

// maxPinnedInterval is up to where the interval grows while all tasks are pinned, ms;
// MAX_PINNED_INTERVAL.
const maxPinnedInterval int64 = 512

// loadBalance lets rq look for work in sd, and returns how many tasks it moved; load_balance(),
// sched_balance_rq() from 6.10 on. goOn becomes false if another CPU of the group balances for it.
func (s *Sched) loadBalance(rq *RQ, sd *schedDomain, idle cpuIdleType, kind BalanceKind, goOn *bool) int {
	env := s.newEnv(rq, sd, idle, kind)
	moved, end, why := s.balancePass(env, goOn)
	switch end {
	case lbBalanced:
		if sd.parent != nil && (s.cfg.Fair.LoadBalance411 || env.flags&lbfAllPinned == 0) {
			sd.parent.groups.capacity.imbalance = 0 // others had a chance to repair it
		}
		sd.nrBalanceFailed = 0
	case lbAllPinned:
		sd.nrBalanceFailed = 0
	}
	if end != lbDone {
		moved = 0
		s.lengthenInterval(env)
	}
	s.tellPass(env, why)
	return moved
}

// lengthenInterval lets it take longer to the next pass over the domain. CPUs that go idle ask at any time and
// leave the interval alone, but not in 4.11.
func (s *Sched) lengthenInterval(env *lbEnv) {
	sd, old := env.sd, s.cfg.Fair.LoadBalance411
	if !old && (env.idle == cpuNewlyIdle || s.cfg.Fair.MisfitKeepsInterval && env.migration == migrateMisfit) {
		return
	}
	if env.flags&lbfAllPinned != 0 && sd.balanceInterval < maxPinnedInterval || sd.balanceInterval < sd.maxInterval {
		sd.balanceInterval *= 2
	}
}

// balancePass is the pass itself. why says how it ended where nothing moved.
func (s *Sched) balancePass(env *lbEnv, goOn *bool) (moved int, end lbEnd, why string) {
	for {
		if !s.shouldWeBalance(env) {
			*goOn = false
			return 0, lbBalanced, "another CPU of the group balances"
		}
		env.src = nil
		g := s.findBusiestGroup(env)
		if g == nil {
			if env.flags&lbfAllPinned != 0 {
				return 0, lbBalanced, whyAllPinned // and without those there is nothing
			}
			return 0, lbBalanced, "no busier group"
		}
		src := s.findBusiestQueue(env, g)
		if src == nil {
			return 0, lbBalanced, "no busier queue"
		}
		env.src = src
		if !s.cfg.Fair.LoadBalance411 || src.nrRunning > 1 {
			env.flags |= lbfAllPinned
		}
		if src.nrRunning > 1 {
			moved = s.moveTasks(env)
			if env.flags&lbfAllPinned != 0 {
				env.cpus.clear(src.cpu)
				if s.othersLeft(env) {
					env.loop, env.loopBreak = 0, s.cfg.nrMigrateBreak()
					continue
				}
				return moved, lbAllPinned, whyAllPinned
			}
		}
		why = ""
		if moved == 0 {
			why = env.whyStayed()
		}
		if !s.passMoved(env, moved) {
			return moved, lbOnePinned, "the running task is pinned"
		}
		return moved, lbDone, why
	}
}

// othersLeft reports whether CPUs are left that something could come from; in 4.11 those of the own group
// count, too.
func (s *Sched) othersLeft(env *lbEnv) bool {
	if s.cfg.Fair.LoadBalance411 {
		return !env.cpus.empty()
	}
	return !env.dstGroup.contains(env.cpus)
}

// moveTasks moves tasks from the source, to the destination and then to others of its group that may
// run what it may not; the loop more_balance of load_balance().
func (s *Sched) moveTasks(env *lbEnv) (moved int) {
	src := env.src
	env.loopMax = min(s.cfg.Fair.NrMigrate, src.nrRunning)
	for {
		s.updateRQClock(src)
		s.detachTasks(env)
		moved += len(env.tasks)
		s.attachTasks(env)
		if env.flags&lbfNeedBreak != 0 {
			env.flags &^= lbfNeedBreak
			continue
		}
		if env.flags&lbfDstPinned == 0 || env.imbalance <= 0 || env.dry && moved > 0 {
			break
		}
		env.cpus.clear(env.dst.cpu)
		env.dst = s.rqs[env.newDstCPU]
		env.flags &^= lbfDstPinned
		env.loop, env.loopBreak = 0, s.cfg.nrMigrateBreak()
	}
	if up := env.sd.parent; !env.dry && up != nil && env.flags&lbfSomePinned != 0 && env.imbalance > 0 {
		up.groups.capacity.imbalance = 1 // affinity keeps it from being balanced here
	}
	return moved
}

// passMoved is the end of a pass that found a source and moved so many tasks. If none, it asks the source's
// stopper, where that is needed, to push the task that runs there. It reports false if that may not leave.
func (s *Sched) passMoved(env *lbEnv, moved int) bool {
	sd, src, old := env.sd, env.src, s.cfg.Fair.LoadBalance411
	active := false
	if moved > 0 {
		sd.nrBalanceFailed = 0
	} else {
		if env.idle != cpuNewlyIdle && !(s.cfg.Fair.MisfitKeepsInterval && env.migration == migrateMisfit) {
			sd.nrBalanceFailed++
		}
		if s.needActiveBalance(env) {
			if !src.curr.allowed(env.this.cpu) {
				if old {
					env.flags |= lbfAllPinned
				}
				return false
			}
			env.flags &^= lbfAllPinned
			if active = s.startActiveBalance(env); old {
				sd.nrBalanceFailed = sd.cacheNiceTries + 1 // hot tasks may move now
			}
		}
	}
	switch {
	case !active || !old && s.needActiveBalance(env):
		sd.balanceInterval = sd.minInterval
	case old && sd.balanceInterval < sd.maxInterval:
		sd.balanceInterval *= 2 // the stopper may need a while
	}
	return true
}

// shouldWeBalance reports whether the destination is who balances for its group: a CPU that goes idle,
// else the first idle CPU of the group, else its first; should_we_balance().
func (s *Sched) shouldWeBalance(env *lbEnv) bool {
	dst, g := env.dst, env.sd.groups
	switch {
	case !env.cpus.has(dst.cpu):
		return false
	case env.idle == cpuNewlyIdle:
		return s.cfg.Fair.LoadBalance411 || dst.nrRunning == 0 && len(dst.wakeList) == 0
	}
	cores := s.cfg.Fair.BalanceIdleCores && env.sd.flags&sdShareCPUCapacity == 0
	thread := event.NoCPU // the first idle CPU of a core that is not idle
	for c := env.cpus.nextAnd(g.balanceMask, 0); c != event.NoCPU; c = env.cpus.nextAnd(g.balanceMask, c+1) {
		s.work.Searched++
		switch {
		case !s.idleCPU(c):
			continue
		case cores && !s.coreIdleBut(c):
			if thread == event.NoCPU {
				thread = c
			}
			continue
		}
		return c == dst.cpu
	}
	if thread != event.NoCPU {
		return thread == dst.cpu
	}
	return g.balanceMask.first() == dst.cpu
}

// coreIdleBut is is_core_idle(): all other threads of c's core are idle.
func (s *Sched) coreIdleBut(c event.CPU) bool {
	m := s.smtMask(c)
	for o := m.first(); o != event.NoCPU; o = m.next(o + 1) {
		if o != c && !s.idleCPU(o) {
			return false
		}
	}
	return true
}

// needActiveBalance reports whether the task that runs on the source should be pushed by its stopper;
// need_active_balance().
func (s *Sched) needActiveBalance(env *lbEnv) bool {
	sd := env.sd
	failed := sd.nrBalanceFailed > sd.cacheNiceTries+2
	if !s.cfg.Fair.LoadBalance411 {
		failed = failed && env.migration == migrateTask
	}
	switch {
	case failed:
		return true
	case env.idle != cpuNotIdle && env.src.cfs.hNrRunning == 1 && s.squeezed(env.src, sd) &&
		s.capacityOf(env.src)*sd.imbalancePct < s.capacityOf(env.dst)*100:
		return true
	}
	return !s.cfg.Fair.LoadBalance411 && env.migration == migrateMisfit
}

// squeezed is check_cpu_capacity(): other classes take so much of rq that fair tasks had better be elsewhere.
func (s *Sched) squeezed(rq *RQ, sd *schedDomain) bool {
	return rq.cpuCapacity*sd.imbalancePct < s.capacityOrig(rq.cpu)*100
}
