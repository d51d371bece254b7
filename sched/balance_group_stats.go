package sched

import "github.com/whylate/whylate/event"

// groupType is what a group of CPUs needs; group_type. Of two groups the one with the higher is busier.
type groupType uint8

const (
	groupHasSpare   groupType = iota // it could do more
	groupFullyBusy                   // it has what it can do
	groupMisfitTask                  // one of its tasks has not enough of its CPU, since other classes take much of it
	groupSMTBalance                  // threads of a core share it, and the CPU that balances is idle
	groupImbalanced                  // affinity kept its tasks from being spread
	groupOverloaded                  // it has more than it can do
)

// groupTypeNames are the kernel's names.
var groupTypeNames = [...]string{groupHasSpare: "has_spare", groupFullyBusy: "fully_busy", groupMisfitTask: "misfit_task",
	groupSMTBalance: "smt_balance", groupImbalanced: "imbalanced", groupOverloaded: "overloaded"}

// sgStats is what is known of a group; sg_lb_stats. The first four are sums of its CPUs.
type sgStats struct {
	load, util, runnable  int64
	nrRunning, hNrRunning int // tasks of all classes, fair ones
	capacity              int64
	idleCPUs, weight      int
	kind                  groupType
	smtBalance            bool
	misfitLoad            int64 // the greatest load of a task that has not enough of its CPU
	avgLoad               int64 // load for a whole CPU; of overloaded groups only
}

// sdStats is what is known of a domain; sd_lb_stats.
type sdStats struct {
	busiest, local           *schedGroup
	busiestStats, localStats sgStats
	totalLoad, totalCapacity int64
	avgLoad                  int64
	preferSibling            bool // groups should be filled alike
}

// updateSdStats looks at all groups of env.sd; update_sd_lb_stats().
func (s *Sched) updateSdStats(env *lbEnv, sds *sdStats) {
	sds.busiestStats.idleCPUs = int(^uint(0) >> 1)
	now, util, overload := s.jiffies(s.host.Now()), int64(0), false
	env.tellNoGroups()
	for g := env.sd.groups; ; {
		var other sgStats
		sgs, local := &other, g.cpus.has(env.dst.cpu)
		if local {
			sds.local, sgs = g, &sds.localStats
			if env.idle != cpuNewlyIdle || now >= g.capacity.nextUpdate {
				s.updateGroupCapacity(env.sd, env.dst.cpu)
			}
		}
		if s.updateSgStats(env, g, local, sgs) {
			overload = true
		}
		env.tellGroup(g, local, sgs)
		if !local && s.busierThan(sds, g, sgs) {
			sds.busiest, sds.busiestStats = g, *sgs
		}
		sds.totalLoad += sgs.load
		sds.totalCapacity += sgs.capacity
		util += sgs.util
		if g = g.next; g == env.sd.groups {
			break
		}
	}
	if s.cfg.Fair.PreferSiblingBusiest {
		sds.preferSibling = sds.busiest != nil && sds.busiest.flags&sdPreferSibling != 0
	} else {
		sds.preferSibling = env.sd.child != nil && env.sd.child.flags&sdPreferSibling != 0
	}
	if env.sd.parent == nil {
		env.dst.rd.overload = overload
	}
	s.updateIdleCPUScan(env, util)
}

// updateSgStats looks at the CPUs of g, and reports whether one has tasks that wait;
// update_sg_lb_stats().
func (s *Sched) updateSgStats(env *lbEnv, g *schedGroup, local bool, sgs *sgStats) (overload bool) {
	*sgs = sgStats{capacity: g.capacity.capacity, weight: g.weight}
	for c := g.cpus.nextAnd(env.cpus, 0); c != event.NoCPU; c = g.cpus.nextAnd(env.cpus, c+1) {
		rq := s.rqs[c]
		load := rq.cpuLoadOf()
		sgs.load += load
		sgs.util += s.cpuUtil(c)
		sgs.runnable += rq.cpuRunnable()
		sgs.hNrRunning += s.fairNr(rq)
		sgs.nrRunning += rq.nrRunning
		overload = overload || rq.nrRunning > 1
		switch {
		case rq.nrRunning == 0 && s.idleCPU(c):
			sgs.idleCPUs++
		case !local && env.idle != cpuNotIdle && s.fairNr(rq) == 1 && s.squeezed(rq, env.sd):
			sgs.misfitLoad = max(sgs.misfitLoad, load)
		}
	}
	sgs.smtBalance = s.cfg.Fair.SMTBalance && !local && env.idle != cpuNotIdle && g.smt && sgs.hNrRunning > 1
	if sgs.kind = groupClassify(env.sd.imbalancePct, g, sgs); sgs.kind == groupOverloaded {
		sgs.avgLoad = sgs.load * capacityScale / sgs.capacity
	}
	s.work.Searched += sgs.weight
	return overload
}

// fairNr is how many fair tasks count as running on rq: cfs.h_nr_running, h_nr_queued from 6.12 on
// with those that sleep and are still queued, h_nr_runnable from 6.14 on without them.
func (s *Sched) fairNr(rq *RQ) int {
	if s.cfg.Fair.BalanceWithoutDelayed {
		return rq.cfs.hNrRunning - rq.cfs.hNrDelayed
	}
	return rq.cfs.hNrRunning
}

// groupClassify is group_classify().
func groupClassify(pct int64, g *schedGroup, sgs *sgStats) groupType {
	switch {
	case sgs.overloaded(pct):
		return groupOverloaded
	case g.capacity.imbalance != 0:
		return groupImbalanced
	case sgs.smtBalance:
		return groupSMTBalance
	case sgs.misfitLoad > 0:
		return groupMisfitTask
	case !sgs.hasCapacity(pct):
		return groupFullyBusy
	}
	return groupHasSpare
}

// hasCapacity is group_has_capacity(): it has fewer tasks than CPUs, or they use, and want to use,
// noticeably less than it has.
func (sgs *sgStats) hasCapacity(pct int64) bool {
	return sgs.nrRunning < sgs.weight || sgs.capacity*pct >= sgs.runnable*100 && sgs.capacity*100 > sgs.util*pct
}

// overloaded is group_is_overloaded(): it has more tasks than CPUs, and they use nearly all that it
// has, or want noticeably more.
func (sgs *sgStats) overloaded(pct int64) bool {
	return sgs.nrRunning > sgs.weight && (sgs.capacity*100 < sgs.util*pct || sgs.capacity*pct < sgs.runnable*100)
}

// busierThan reports whether g is busier than the busiest of those before it; update_sd_pick_busiest().
func (s *Sched) busierThan(sds *sdStats, g *schedGroup, sgs *sgStats) bool {
	busiest := &sds.busiestStats
	switch {
	case sgs.hNrRunning == 0:
		return false // nothing to take
	case sgs.kind != busiest.kind:
		return sgs.kind > busiest.kind
	}
	fair := &s.cfg.Fair
	switch sgs.kind {
	case groupOverloaded:
		return sgs.avgLoad > busiest.avgLoad
	case groupImbalanced:
		return false // as good as the first
	case groupMisfitTask:
		return sgs.misfitLoad > busiest.misfitLoad || fair.LaterMisfit && sgs.misfitLoad == busiest.misfitLoad
	case groupSMTBalance:
		if sgs.idleCPUs == 0 && busiest.idleCPUs == 0 {
			return !sds.busiest.smt
		}
	case groupFullyBusy:
		// Their loads are not known: the first, but for cores that threads share.
		return fair.SMTBalance && !sds.busiest.smt
	case groupHasSpare:
		if fair.SMTBalance && sds.busiest != nil && sds.busiest.smt != g.smt {
			return !g.smt || sgs.hNrRunning > 1
		}
	}
	if sgs.idleCPUs != busiest.idleCPUs {
		return sgs.idleCPUs < busiest.idleCPUs
	}
	return sgs.nrRunning > busiest.nrRunning
}

// updateIdleCPUScan says how many CPUs a wake may look at for an idle one, by how much all of the
// last-level cache use: none from 85 % on; update_idle_cpu_scan(), SIS_UTIL.
func (s *Sched) updateIdleCPUScan(env *lbEnv, util int64) {
	sd := env.sd
	if !s.has(SISUtil) || env.idle == cpuNewlyIdle || sd.shared == nil || sd.parent != nil && sd.parent.flags&sdShareLLC != 0 {
		return // newly idle CPUs do not, they are too many
	}
	n := int64(sd.weight)
	x, pct := util/n, sd.imbalancePct
	used := min(x*x*pct*pct/(10000*capacityScale), capacityScale)
	sd.shared.nrIdleScan = int((capacityScale - used) * n / capacityScale)
}
