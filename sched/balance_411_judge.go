package sched

import "github.com/whylate/whylate/event"

// This file is for who listens to passes: what each compared, and whether it would have chosen
// otherwise had it known what is queued. Nothing here changes what is done.

// weightedLoadOf, sourceLoadOf and targetLoadOf are what a rule takes the load of c to be: that of
// the kernel, or what is in loads instead of the load of now. What cpu_load[] remembers stays.
func (s *Sched) weightedLoadOf(c event.CPU, loads []int64) int64 {
	if loads == nil {
		return s.rqs[c].weightedCPULoad()
	}
	return loads[c]
}

func (s *Sched) sourceLoadOf(c event.CPU, idx int, loads []int64) int64 {
	switch {
	case loads == nil:
		return s.sourceLoad(c, idx)
	case idx == 0 || !s.has(LBBias):
		return loads[c]
	}
	return min(s.rqs[c].cpuLoad[idx-1], loads[c])
}

func (s *Sched) targetLoadOf(c event.CPU, idx int, loads []int64) int64 {
	switch {
	case loads == nil:
		return s.targetLoad(c, idx)
	case idx == 0 || !s.has(LBBias):
		return loads[c]
	}
	return max(s.rqs[c].cpuLoad[idx-1], loads[c])
}

// tellBusiest411 notes which group was chosen, why if none was, and what the same rules would have
// chosen if the load of each CPU were the sum of what the tasks queued there weigh (queuedLoad).
func (s *Sched) tellBusiest411(env *lbEnv, g *schedGroup, why string) {
	p := env.pass
	p.Metric, p.Imbalance = "load", env.imbalance
	for at := env.sd.groups; g != nil; at = at.next {
		if p.Busiest++; at == g {
			break
		}
	}
	if g == nil {
		p.Why = why
	}
	if len(s.queued) < len(s.rqs) {
		s.queued = make([]int64, len(s.rqs))
	}
	for c := env.sd.span.first(); c != event.NoCPU; c = env.sd.span.next(c + 1) {
		s.queued[c] = s.queuedLoad(s.rqs[c])
	}
	p.Judged, p.Better = true, event.NoCPU
	if better, imbalance, _ := s.busiestGroup411(env, s.queued); better != nil {
		if rq := s.busiestQueue411(env, better, imbalance, s.queued); rq != nil {
			p.Better = rq.cpu
		}
	}
	s.choose411(p, nil) // until a queue is chosen
}

// tellQueue411 notes what was compared of the queues of g, of which rq was chosen; nil: none.
func (s *Sched) tellQueue411(env *lbEnv, g *schedGroup, rq *RQ) {
	for c := g.cpus.nextAnd(env.cpus, 0); c != event.NoCPU; c = g.cpus.nextAnd(env.cpus, c+1) {
		rq := s.rqs[c]
		s.tellQueue(env, rq, rq.weightedCPULoad(), rq.cfs.hNrRunning)
	}
	s.choose411(env.pass, rq)
}

// choose411 notes the queue that the pass chose; nil: none.
func (s *Sched) choose411(p *BalancePass, rq *RQ) {
	p.Source = event.NoCPU
	if rq != nil {
		p.Source = rq.cpu
	}
	waits := func(c event.CPU) bool { return c != event.NoCPU && s.rqs[c].nrRunning > 1 }
	p.Wrong = waits(p.Better) && !waits(p.Source)
}

// tellGroup411 notes what was found out of g.
func (env *lbEnv) tellGroup411(g *schedGroup, local bool, stats *groupStats411) {
	if env.pass == nil {
		return
	}
	to := env.pass.addGroup(g)
	to.Local, to.Type = local, stats.kind.String()
	to.Load, to.Capacity, to.Util = stats.load, stats.capacity, stats.util
	to.Running, to.Idle = stats.running, stats.idle
}

// queuedLoad is the sum of what all fair tasks that are queued on a CPU weigh as the root sees it: the load of
// each, times the part that the weight of each group above has of what is queued in it. It is what
// runnable_load_avg of the root would be if everything below were known there at once. Loads are taken as of when the
// root was last brought up to date: how old it is by itself is no fault of what is below.
func (s *Sched) queuedLoad(rq *RQ) int64 {
	sum := int64(0)
	for p := rq.cfsTasks; p != nil; p = p.se.group.next {
		sum += s.scaledLoad(p, rq.cfs.avg.lastUpdateTime)
	}
	return sum >> loadDigits
}

// scaledLoad is what p weighs at the root at now, with loadDigits; 0 if it is not there, being
// throttled.
func (s *Sched) scaledLoad(p *Task, now event.Time) int64 {
	se := &p.se
	if !se.onRQ {
		return 0
	}
	load := s.loadAt(se, now)
	for up := se.parent; up != nil; up = up.parent {
		if !up.onRQ || up.myQ.load.weight == 0 {
			return 0
		}
		load = load * up.load.weight / up.myQ.load.weight
	}
	return load
}

// loadDigits are the binary digits after the point of what is summed up, so that many small ones are
// not lost.
const loadDigits = 6

// loadAt is load_avg of se, which is queued, if it were brought up to date now; with loadDigits.
func (s *Sched) loadAt(se *schedEntity, now event.Time) int64 {
	avg := se.avg
	if now > avg.lastUpdateTime {
		if s.cfg.Fair.PELT411 {
			avg.updateLoad411(now, uint64(se.load.weight>>weightShift), false, nil)
		} else if avg.updateLoadSum(now, 1, 1, false) > 0 {
			avg.updateLoadAvg(se.seWeight())
		}
	}
	return int64(avg.loadAvg) << loadDigits
}
