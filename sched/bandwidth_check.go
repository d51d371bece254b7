package sched

import (
	"fmt"
	"slices"
)

// checkQuotas looks whether throttled queues are where they should be, and whether a timer will
// let them go on.
func (s *Sched) checkQuotas() error {
	for _, g := range s.groups {
		b := &g.quota
		n := 0
		for c := range g.cpus {
			cfs := &g.cpus[c].cfs
			if cfs.throttled {
				n++
			}
			if err := s.checkQuota1(cfs); err != nil {
				return fmt.Errorf("group %d on CPU %d: %w", g.id, c, err)
			}
		}
		switch {
		case n != len(b.throttled):
			return fmt.Errorf("group %d: %d queues are throttled, its list has %d", g.id, n, len(b.throttled))
		case b.runtime < 0:
			return fmt.Errorf("group %d: %d ns are left", g.id, b.runtime)
		case (n > 0 || b.slackStarted) && !b.active:
			return fmt.Errorf("group %d: %d queues are throttled, and no timer runs", g.id, n)
		}
	}
	return nil
}

// checkQuota1 looks at the queue of a group on one CPU.
func (s *Sched) checkQuota1(cfs *cfsRQ) error {
	count := 0
	for g := cfs.tg; g != nil; g = g.parent {
		if g.cpus[cfs.rq.cpu].cfs.throttled {
			count++
		}
	}
	out := cfs.hidden
	switch {
	case count != cfs.throttleCount:
		return fmt.Errorf("throttle_count %d, throttled queues from here up %d", cfs.throttleCount, count)
	case cfs.throttled && (!cfs.runtimeEnabled || cfs.runtimeRemaining > 0):
		return fmt.Errorf("throttled with %d ns left", cfs.runtimeRemaining)
	case cfs.throttled && !slices.Contains(cfs.tg.quota.throttled, cfs):
		return fmt.Errorf("throttled, and not in the list")
	case out && cfs.se.onRQ:
		return fmt.Errorf("throttled, and in the queue above")
	case !out && cfs.nrRunning > 0 && !cfs.se.onRQ:
		return fmt.Errorf("%d entities, not throttled, and not in the queue above", cfs.nrRunning)
	case len(cfs.limbo) > 0 && count == 0:
		return fmt.Errorf("%d tasks in limbo, and nothing is throttled", len(cfs.limbo))
	}
	if out {
		_, err := cfs.check()
		return err
	}
	return nil
}

// checkLimbo looks whether p is in the limbo of its queue if it is throttled, and only then.
func (p *Task) checkLimbo() error {
	if p.class != fairClass {
		return nil
	}
	if in := slices.Contains(p.se.cfsRQ.limbo, p); in != p.throttled {
		return fmt.Errorf("throttled %v, in limbo %v", p.throttled, in)
	}
	return nil
}
