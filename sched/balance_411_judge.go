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

// judge411 fills in what the rule of env's pass would have chosen if the load of each CPU were the sum
// of what the tasks queued there weigh (queuedLoad). It is called when the group is chosen; as long as no
// queue is, the pass has chosen none.
func (s *Sched) judge411(env *lbEnv) {
	if len(s.queued) < len(s.rqs) {
		s.queued = make([]int64, len(s.rqs))
	}
	for c := env.sd.span.first(); c != event.NoCPU; c = env.sd.span.next(c + 1) {
		s.queued[c] = s.queuedLoad(s.rqs[c])
	}
	p := env.pass
	p.Judged, p.Better = true, event.NoCPU
	if g, imbalance, _ := s.busiestGroup411(env, s.queued); g != nil {
		if rq := s.busiestQueue411(env, g, imbalance, s.queued); rq != nil {
			p.Better = rq.cpu
		}
	}
	p.Source = event.NoCPU
	p.Wrong = p.Better != event.NoCPU
}

// choose411 notes the queue that the pass chose; nil: none.
func (p *BalancePass) choose411(rq *RQ) {
	p.Source = event.NoCPU
	if rq != nil {
		p.Source = rq.cpu
	}
	p.Wrong = p.Judged && p.Better != p.Source
}

// addGroup411 tells of a group.
func (p *BalancePass) addGroup411(g *schedGroup, local bool, stats *groupStats411) {
	p.Groups = append(p.Groups, BalanceGroup{CPUs: g.cpus.list(), Local: local, Type: stats.kind.String(),
		Load: stats.load, Capacity: stats.capacity, Util: stats.util, Running: stats.running, Idle: stats.idle})
}

// groupOf is the place of g in Groups, −1 if it is nil.
func (p *BalancePass) groupOf(g *schedGroup) int {
	for i := range p.Groups {
		if g != nil && p.Groups[i].CPUs[0] == g.cpus.first() {
			return i
		}
	}
	return -1
}

// queues411 tells of the queues of g.
func (s *Sched) queues411(env *lbEnv, g *schedGroup) {
	for c := g.cpus.nextAnd(env.cpus, 0); c != event.NoCPU; c = g.cpus.nextAnd(env.cpus, c+1) {
		rq := s.rqs[c]
		env.pass.Queues = append(env.pass.Queues, BalanceQueue{CPU: c, Load: rq.weightedCPULoad(), Capacity: s.capacityOf(rq),
			Running: rq.cfs.hNrRunning, Runnable: s.queuedLoad(rq)})
	}
}

// list returns the CPUs of the set.
func (m cpuMask) list() []event.CPU {
	out := make([]event.CPU, 0, m.count())
	for c := m.first(); c != event.NoCPU; c = m.next(c + 1) {
		out = append(out, c)
	}
	return out
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
