package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// findIdlestCPU is the slow path, for new tasks and such that execute another program: from sd, the highest
// domain, downwards, in each the idlest group and in that the idlest CPU; find_idlest_cpu(),
// sched_balance_find_dst_cpu() from 6.10 on. The local group is left only if another is clearly idler.
func (s *Sched) findIdlestCPU(sd *schedDomain, p *Task, cpu, prev event.CPU, f WakeFlags) event.CPU {
	if !sd.span.intersects(p.mask) {
		return prev
	}
	if f&WakeFork == 0 && !s.cfg.Fair.LoadBalance411 {
		s.syncEntityLoadAvg(&p.se) // for what the CPUs would be used without it
	}
	dest := cpu
	for sd != nil {
		if sd.flags&f.balances() == 0 {
			sd = sd.child
			continue
		}
		group := s.findIdlestGroup(sd, p, cpu, f)
		next := cpu
		if group != nil {
			next = s.findIdlestGroupCPU(group, p, cpu)
			dest = next
		}
		s.tellSlow(sd, p, cpu, next, group)
		if next == cpu {
			sd = sd.child
			continue
		}
		cpu = next
		weight := sd.weight
		sd = nil
		for d := s.rqs[cpu].sd; d != nil && d.weight < weight; d = d.parent {
			if d.flags&f.balances() != 0 {
				sd = d
			}
		}
	}
	return dest
}

// findIdlestGroup returns the group that p should go to instead of that of this, nil for none;
// find_idlest_group().
func (s *Sched) findIdlestGroup(sd *schedDomain, p *Task, this event.CPU, f WakeFlags) *schedGroup {
	s.slowPass.Groups = s.slowPass.Groups[:0]
	if s.cfg.Fair.LoadBalance411 {
		return s.findIdlestGroup411(sd, p, this, f)
	}
	var local, idlest *schedGroup
	var here, best sgStats
	for g := sd.groups; ; {
		if g.cpus.intersects(p.mask) {
			st := s.wakeStatsOf(sd, g, p)
			isLocal := g.cpus.has(this)
			s.noteSlow(g, isLocal, &st)
			if isLocal {
				local, here = g, st
			} else if idlest == nil || st.idler(&best) {
				idlest, best = g, st
			}
		}
		if g = g.next; g == sd.groups {
			break
		}
	}
	if idlest == nil || local != nil && !s.leaveLocal(sd, local, p, &here, &best) {
		return nil
	}
	return idlest
}

// wakeStatsOf is what the CPUs of a group that p may use are like without p; update_sg_wakeup_stats().
func (s *Sched) wakeStatsOf(sd *schedDomain, g *schedGroup, p *Task) sgStats {
	st := sgStats{capacity: g.capacity.capacity, weight: g.weight}
	for c := g.cpus.nextAnd(p.mask, 0); c != event.NoCPU; c = g.cpus.nextAnd(p.mask, c+1) {
		rq := s.rqs[c]
		load, runnable, local := rq.cpuLoadOf(), rq.cpuRunnable(), 0
		if p.cpu == c && p.se.avg.lastUpdateTime != 0 {
			load = max(0, load-s.taskHLoad(p))
			runnable = max(0, runnable-int64(p.se.avg.runnableAvg))
			if p.onRQ {
				local = 1
			}
		}
		st.load, st.runnable, st.util = st.load+load, st.runnable+runnable, st.util+s.cpuUtilWithout(c, p)
		st.nrRunning += rq.nrRunning - local
		if rq.nrRunning == local && (rq.curr == rq.idle || rq.curr == p) && len(rq.wakeList) == 0 {
			st.idleCPUs++
		}
		s.work.Searched++
	}
	st.kind = groupClassify(sd.imbalancePct, g, &st)
	if st.kind == groupFullyBusy || st.kind == groupOverloaded {
		st.avgLoad = st.load * capacityScale / st.capacity
	}
	return st
}

// idler reports whether a group is a better place than best; update_pick_idlest().
func (sgs *sgStats) idler(best *sgStats) bool {
	if sgs.kind != best.kind {
		return sgs.kind < best.kind
	}
	switch sgs.kind {
	case groupOverloaded, groupFullyBusy:
		return sgs.avgLoad < best.avgLoad
	case groupHasSpare:
		return sgs.idleCPUs > best.idleCPUs || sgs.idleCPUs == best.idleCPUs && sgs.util < best.util
	}
	return false
}

// leaveLocal reports whether p should leave the local group for the idlest of the others.
func (s *Sched) leaveLocal(sd *schedDomain, local *schedGroup, p *Task, here, best *sgStats) bool {
	if here.kind != best.kind {
		return here.kind > best.kind
	}
	switch here.kind {
	case groupOverloaded, groupFullyBusy:
		imbalance := (nice0Load >> weightShift) * (sd.imbalancePct - 100) / 100
		switch {
		case sd.flags&sdNUMA != 0 && best.avgLoad+imbalance >= here.avgLoad:
			return false
		case best.avgLoad >= here.avgLoad+imbalance:
			return false
		}
		return 100*here.avgLoad > sd.imbalancePct*best.avgLoad
	case groupHasSpare:
		if sd.flags&sdNUMA != 0 && !s.numaImbalanced(sd, local, p, here, best) {
			return false
		}
		return here.idleCPUs < best.idleCPUs
	}
	return false
}

// numaImbalanced reports whether nodes are so far from balance that a task should leave its own, where few
// tasks that belong together may stay; adjust_numa_imbalance(). Which node a task prefers for its memory
// is not modelled.
func (s *Sched) numaImbalanced(sd *schedDomain, local *schedGroup, p *Task, here, best *sgStats) bool {
	may := 0
	for i, w := range local.cpus {
		may += bits.OnesCount64(w & p.mask[i])
	}
	imbalance := max(here.idleCPUs-best.idleCPUs, best.idleCPUs-here.idleCPUs)
	return adjustNUMAImbalance(int64(imbalance), here.nrRunning+1, min(may, sd.imbNUMANr)) != 0
}

// findIdlestGroupCPU is find_idlest_group_cpu(): a CPU that runs only SCHED_IDLE tasks, else the one that went
// idle last, whose cache may be the warmest, else the one with the least load. In which idle state CPUs are
// the scheduler of the model does not know.
func (s *Sched) findIdlestGroupCPU(g *schedGroup, p *Task, this event.CPU) event.CPU {
	if g.weight == 1 {
		return g.cpus.first()
	}
	idle, least := event.NoCPU, this
	latest, leastLoad := event.Time(-1), int64(-1)
	for c := g.cpus.nextAnd(p.mask, 0); c != event.NoCPU; c = g.cpus.nextAnd(p.mask, c+1) {
		s.work.Searched++
		rq := s.rqs[c]
		switch {
		case s.cfg.Fair.IdleTasksYield && s.schedIdleCPU(c):
			return c
		case s.idleCPU(c):
			since := rq.idleStamp // from the beginning, if it never ran anything
			if since > latest {
				idle, latest = c, since
			}
		case idle == event.NoCPU:
			load := s.slowLoad(rq)
			if leastLoad < 0 || load < leastLoad || s.cfg.Fair.LoadBalance411 && load == leastLoad && c == this {
				least, leastLoad = c, load
			}
		}
	}
	if idle != event.NoCPU {
		return idle
	}
	return least
}

// slowLoad is the load by which the slow path compares CPUs.
func (s *Sched) slowLoad(rq *RQ) int64 {
	if s.cfg.Fair.LoadBalance411 {
		return rq.weightedCPULoad()
	}
	return rq.cpuLoadOf()
}
