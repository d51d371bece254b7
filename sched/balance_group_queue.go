package sched

import "github.com/whylate/whylate/event"

// findBusiestQueue is find_busiest_queue(), sched_balance_find_src_rq() from 6.10 on: the CPU of g to
// take from, by what should move; nil if none has anything.
func (s *Sched) findBusiestQueue(env *lbEnv, g *schedGroup) *RQ {
	if s.cfg.Fair.LoadBalance411 {
		return s.findBusiestQueue411(env, g)
	}
	var busiest *RQ
	most, mostCapacity := int64(0), int64(1)
	for c := g.cpus.nextAnd(env.cpus, 0); c != event.NoCPU; c = g.cpus.nextAnd(env.cpus, c+1) {
		rq := s.rqs[c]
		nr, capacity := s.fairNr(rq), s.capacityOf(rq)
		s.work.Searched++
		s.tellQueue(env, rq, rq.cpuLoadOf(), nr)
		if nr == 0 {
			continue
		}
		switch env.migration {
		case migrateLoad:
			load := rq.cpuLoadOf()
			if nr == 1 && load > env.imbalance && !s.squeezed(rq, env.sd) {
				continue // its one task is too much
			}
			// The greatest load for what the CPU can give.
			if load*mostCapacity > most*capacity {
				busiest, most, mostCapacity = rq, load, capacity
			}
		case migrateUtil:
			util := s.cpuUtilWith(c, nil, s.cfg.Fair.BusiestByRunnable)
			if nr > 1 && util > most { // of one task nothing can be taken
				busiest, most = rq, util
			}
		case migrateTask:
			if int64(nr) > most {
				busiest, most = rq, int64(nr)
			}
		}
	}
	return busiest
}
