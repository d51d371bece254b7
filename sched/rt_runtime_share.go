package sched

import "github.com/whylate/whylate/event"

// balanceRuntime borrows runtime from other CPUs where rt has used more than its own;
// balance_runtime(), do_balance_runtime(). From each that has some to spare it takes one part
// in as many as there are CPUs, until it has the whole period. Nothing is given back by
// itself: who lent too much borrows in turn.
func (s *Sched) balanceRuntime(b *rtBandwidth, rt *rtBudget) {
	if !s.cfg.RTRuntimeShare || len(s.rqs) == 1 || rt.time <= rt.runtime {
		return
	}
	for _, rq := range s.rqs {
		o := rq.budget(b.group)
		if o == rt || o.runtime == noLimit {
			continue
		}
		spare := o.runtime - o.time
		if spare <= 0 {
			continue
		}
		spare = min(spare/event.Time(len(s.rqs)), b.period-rt.runtime)
		o.runtime -= spare
		rt.runtime += spare
		if rt.runtime == b.period {
			return
		}
	}
}
