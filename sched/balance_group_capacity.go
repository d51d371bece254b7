package sched

import "github.com/whylate/whylate/event"

// This file is what CPUs and groups of them have to give to fair tasks, and what is used of it.

// maxLoadBalanceInterval is max_load_balance_interval in jiffies: a tenth of a second for each CPU.
func (s *Sched) maxLoadBalanceInterval() int64 {
	return max(1, int64(1_000_000_000/s.cfg.Tick)*int64(s.cfg.CPUs)/10)
}

// msToJiffies is msecs_to_jiffies(): ms in ticks, a part of one counts as one.
func (s *Sched) msToJiffies(ms int64) int64 {
	return (ms*1_000_000 + int64(s.cfg.Tick) - 1) / int64(s.cfg.Tick)
}

// capacityOrig is what c had if no other class and no interrupt used any of it, of 1024;
// arch_scale_cpu_capacity(). With SMTGain threads share what their core is worth.
func (s *Sched) capacityOrig(c event.CPU) int64 {
	if sd := s.rqs[c].sd; s.cfg.Fair.SMTGain > 0 && sd != nil && sd.flags&sdShareCPUCapacity != 0 && sd.weight > 1 {
		return s.cfg.Fair.SMTGain / int64(sd.weight)
	}
	return capacityScale
}

// capacityOf is capacity_of(): what fair tasks may use of a CPU, as of the last pass that asked
// (updateCPUCapacity), of 1024.
func (s *Sched) capacityOf(rq *RQ) int64 { return rq.cpuCapacity }

// updateCPUCapacity is update_cpu_capacity().
func (s *Sched) updateCPUCapacity(c event.CPU) int64 {
	rq := s.rqs[c]
	rq.cpuCapacity = s.scaleRTCapacity(c)
	return rq.cpuCapacity
}

// scaleRTCapacity is scale_rt_capacity(): what real-time and deadline tasks leave, at least 1.
func (s *Sched) scaleRTCapacity(c event.CPU) int64 {
	rq := s.rqs[c]
	if s.cfg.Fair.PELT411 {
		return max(1, s.capacityOrig(c)*s.scaleRTCapacity411(rq)>>capacityShift)
	}
	return max(1, s.capacityOrig(c)-int64(rq.avgRT.utilAvg+rq.avgDL.utilAvg))
}

// updateGroupCapacity sums up what the group of c in sd has to give, from the groups of the domain
// below, which were summed up before; update_group_capacity().
func (s *Sched) updateGroupCapacity(sd *schedDomain, c event.CPU) {
	sgc := sd.groups.capacity
	interval := min(max(s.msToJiffies(sd.balanceInterval), 1), s.maxLoadBalanceInterval())
	sgc.nextUpdate = s.jiffies(s.host.Now()) + interval
	child := sd.child
	if child == nil {
		sgc.capacity = s.updateCPUCapacity(c)
		sgc.minCapacity, sgc.maxCapacity = sgc.capacity, sgc.capacity
		return
	}
	sum, least, most := int64(0), int64(1)<<62, int64(0)
	if child.flags&sdOverlap != 0 {
		cpus := sd.groups.cpus
		for c := cpus.first(); c != event.NoCPU; c = cpus.next(c + 1) {
			by := s.capacityOf(s.rqs[c])
			sum, least, most = sum+by, min(least, by), max(most, by)
		}
	} else {
		for g := child.groups; ; {
			by := g.capacity
			sum, least, most = sum+by.capacity, min(least, by.minCapacity), max(most, by.maxCapacity)
			if g = g.next; g == child.groups {
				break
			}
		}
	}
	sgc.capacity, sgc.minCapacity, sgc.maxCapacity = sum, least, most
}

// cpuUtil is cpu_util_cfs(): how much of c fair tasks use, of 1024: those that ran lately, or
// those that are queued by what they used before they slept, whichever is more.
func (s *Sched) cpuUtil(c event.CPU) int64 { return s.cpuUtilWith(c, nil, false) }

// cpuUtilWithout is cpu_util_without(): cpuUtil as if p had never been on c.
func (s *Sched) cpuUtilWithout(c event.CPU, p *Task) int64 {
	if p.cpu != c || p.se.avg.lastUpdateTime == 0 {
		p = nil
	}
	return s.cpuUtilWith(c, p, false)
}

// cpuUtilWith is cpu_util() of c without p, which is or was there; nil: of all. boost counts what they want to use,
// where that is more; cpu_util_cfs_boost().
func (s *Sched) cpuUtilWith(c event.CPU, p *Task, boost bool) int64 {
	rq := s.rqs[c]
	avg := &rq.cfs.avg
	util := int64(avg.utilAvg)
	if p != nil {
		util = max(0, util-int64(p.se.avg.utilAvg))
	}
	if boost {
		util = max(util, int64(avg.runnableAvg))
	}
	if s.has(UtilEst) {
		est := int64(avg.utilEst.enqueued)
		if p != nil && (p.onRQ || rq.curr == p) {
			est = max(0, est-int64(s.taskUtilEst(&p.se.avg)))
		}
		util = max(util, est)
	}
	return min(util, s.capacityOrig(c))
}
