package sched

import "github.com/whylate/whylate/event"

// This file is what listeners are told of a pass.

// tellNoGroups begins the groups of a pass, which may look at them again and again.
func (env *lbEnv) tellNoGroups() {
	if p := env.pass; p != nil {
		p.Groups, p.Queues, p.Busiest, p.Imbalance = p.Groups[:0], p.Queues[:0], -1, 0
	}
}

// addGroup makes place for a group with the CPUs of g, with the memory of earlier ones.
func (p *BalancePass) addGroup(g *schedGroup) *BalanceGroup {
	if len(p.Groups) < cap(p.Groups) {
		p.Groups = p.Groups[:len(p.Groups)+1]
	} else {
		p.Groups = append(p.Groups, BalanceGroup{})
	}
	to := &p.Groups[len(p.Groups)-1]
	*to = BalanceGroup{CPUs: to.CPUs[:0]}
	for c := g.cpus.first(); c != event.NoCPU; c = g.cpus.next(c + 1) {
		to.CPUs = append(to.CPUs, c)
	}
	return to
}

// tellGroup notes what was found out of g.
func (env *lbEnv) tellGroup(g *schedGroup, local bool, sgs *sgStats) {
	if env.pass == nil {
		return
	}
	to := env.pass.addGroup(g)
	to.Local, to.Type = local, groupTypeNames[sgs.kind]
	to.Load, to.Capacity, to.Util = sgs.load, sgs.capacity, sgs.util
	to.Running, to.Idle = sgs.nrRunning, sgs.idleCPUs
}

// tellImbalance notes which group was chosen and what of it should move.
func (env *lbEnv) tellImbalance(busiest *schedGroup) {
	p := env.pass
	if p == nil || env.imbalance == 0 {
		return
	}
	p.Imbalance, p.Metric = env.imbalance, migrationNames[env.migration]
	at := 0
	for g := env.sd.groups; g != busiest; g = g.next {
		at++
	}
	p.Busiest = at
}

// migrationNames are the units of an imbalance.
var migrationNames = [...]string{migrateLoad: "load", migrateUtil: "util", migrateTask: "task", migrateMisfit: "misfit"}

// tellQueue notes what was compared of rq: its load and nr, its fair tasks.
func (s *Sched) tellQueue(env *lbEnv, rq *RQ, load int64, nr int) {
	if p := env.pass; p != nil {
		p.Queues = append(p.Queues, BalanceQueue{CPU: rq.cpu, Load: load, Capacity: s.capacityOf(rq), Running: nr, Runnable: s.trueLoad(rq)})
	}
}

// trueLoad is what the fair tasks that want to run on rq weigh there now: for each task its load,
// brought to now, times for each group above it what the group weighs (cpu.weight 100 = 1024)
// for the load of all of its queues. Whoever sleeps or is out of quota does not count.
func (s *Sched) trueLoad(rq *RQ) int64 {
	const fine = 10 // more digits, so that many small groups do not vanish
	now, sum := s.host.Now()+peltEpoch, int64(0)
	for p := rq.cfsTasks; p != nil; p = p.se.group.next {
		se := &p.se
		if se.delayed || s.throttledHierarchy(se.cfsRQ) {
			continue
		}
		load := s.loadNow(now, se) << fine
		for q := se.cfsRQ; q.tg != nil; q = q.se.cfsRQ {
			shares := s.scaleDown(q.tg.shares)
			all := max(q.tg.loadAvg, int64(q.avg.loadAvg), 1)
			load = min(load*shares/all, shares<<fine)
		}
		sum += load
	}
	return sum >> fine
}

// loadNow is the load of a task that wants to run, as if it was updated now, the time of its CPU's
// load tracking.
func (s *Sched) loadNow(now event.Time, se *schedEntity) int64 {
	sa := se.avg
	now -= se.cfsRQ.stoppedTime
	switch {
	case sa.lastUpdateTime == 0:
	case s.cfg.Fair.PELT411:
		sa.updateLoad411(now, uint64(se.load.weight>>weightShift), false, nil)
	case sa.updateLoadSum(now, 1, 1, false) > 0:
		sa.updateLoadAvg(se.seWeight())
	}
	return int64(sa.loadAvg)
}
