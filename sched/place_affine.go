package sched

import "github.com/whylate/whylate/event"

// wakeAffine chooses between the CPU of the waker and the one where p was, near which an idle
// CPU is then looked for; wake_affine().
func (s *Sched) wakeAffine(sd *schedDomain, p *Task, this, prev event.CPU, sync bool) event.CPU {
	s.work.Searched += 2
	if s.cfg.Fair.WakeAffine411 {
		return s.wakeAffine411(sd, p, this, prev, sync)
	}
	target := event.NoCPU
	if s.has(WAIdle) {
		target = s.wakeAffineIdle(this, prev, sync)
	}
	if s.has(WAWeight) && target == event.NoCPU {
		target = s.wakeAffineWeight(sd, p, this, prev, sync)
	}
	if target != this {
		return prev
	}
	return this
}

// wakeAffineIdle looks at what idles now; wake_affine_idle(). A waker whose CPU is idle is an interrupt: that
// pulls only where the cache is shared, or all tasks would gather where interrupts come. NoCPU: it cannot tell.
func (s *Sched) wakeAffineIdle(this, prev event.CPU, sync bool) event.CPU {
	rq := s.rqs[this]
	switch {
	case s.idleCPU(this) && s.cpusShareCache(this, prev):
		if s.idleCPU(prev) {
			return prev
		}
		return this
	case sync && rq.nrRunning-rq.cfs.hNrDelayed == 1:
		return this // which is about to be idle
	case s.idleCPU(prev):
		return prev
	}
	return event.NoCPU
}

// wakeAffineWeight compares the loads of both CPUs if p ran beside the waker; wake_affine_weight().
// NoCPU: it had better not.
func (s *Sched) wakeAffineWeight(sd *schedDomain, p *Task, this, prev event.CPU, sync bool) event.CPU {
	thisLoad := s.rqs[this].cpuLoadOf()
	if curr := s.rqs[this].curr; sync && curr.se.cfsRQ != nil { // not the idle task, nor a stopper
		load := s.taskHLoad(curr)
		if load > thisLoad {
			return this
		}
		thisLoad -= load
	}
	load := s.taskHLoad(p)
	thisLoad += load
	prevLoad := s.rqs[prev].cpuLoadOf() - load
	if s.has(WABias) {
		thisLoad *= 100
		prevLoad *= affinePct(sd)
	}
	thisLoad *= s.capacityOf(s.rqs[prev])
	prevLoad *= s.capacityOf(s.rqs[this])
	if sync {
		prevLoad++ // equals go to the waker
	}
	if thisLoad < prevLoad {
		return this
	}
	return event.NoCPU
}

// affinePct is how much more the previous CPU is taken to be loaded, in percent: half of what a
// balancer would tolerate.
func affinePct(sd *schedDomain) int64 { return 100 + (sd.imbalancePct-100)/2 }

// wakeAffine411 is wake_affine() of 4.3 to 4.13: what the roots of both CPUs would be loaded with if p,
// in its groups, ran here or there.
func (s *Sched) wakeAffine411(sd *schedDomain, p *Task, this, prev event.CPU, sync bool) event.CPU {
	load, thisLoad := s.sourceLoad(prev, sd.wakeIdx), s.targetLoad(this, sd.wakeIdx)
	if sync {
		curr := s.rqs[this].curr
		weight := int64(curr.se.avg.loadAvg)
		thisLoad += effectiveLoad(curr.group, this, -weight, -weight)
		load += effectiveLoad(curr.group, prev, 0, -weight)
	}
	weight := int64(p.se.avg.loadAvg)
	here := 100 * s.capacityOf(s.rqs[prev])
	there := affinePct(sd) * s.capacityOf(s.rqs[this])
	if thisLoad > 0 {
		here *= thisLoad + effectiveLoad(p.group, this, weight, weight)
		there *= load + effectiveLoad(p.group, prev, 0, weight)
	}
	if here <= there {
		return this
	}
	return prev
}

// effectiveLoad is by how much the load of CPU c at the root would change if g had wl more of it
// there, and wg more on all CPUs; effective_load(), up to 4.13. A group only hands on as much as its shares let
// it, and what it has more here others have less.
func effectiveLoad(g *Group, c event.CPU, wl, wg int64) int64 {
	for ; g != nil; g = g.parent {
		q := &g.cpus[c]
		load := int64(q.cfs.avg.loadAvg)
		all := wg + g.loadAvg - q.cfs.tgLoadAvgContrib + load
		load += wl
		share := g.shares >> weightShift
		if all > 0 && load < all {
			share = load * share / all
		}
		wl = max(share, leastShares) - int64(q.se.avg.loadAvg)
		wg = 0
	}
	return wl
}
