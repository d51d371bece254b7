package sched

import "github.com/whylate/whylate/event"

// findIdlestGroup411 is find_idlest_group() of 4.11: by how much of a CPU is left at most, or
// for a new task, of which that says nothing, by what is runnable, and where that is about equal by
// what has been, too.
func (s *Sched) findIdlestGroup411(sd *schedDomain, p *Task, this event.CPU, f WakeFlags) *schedGroup {
	idx := sd.forkexecIdx
	if f.balances() == sdBalanceWake {
		idx = sd.wakeIdx
	}
	scale := affinePct(sd)
	imbalance := (nice0Load >> weightShift) * (sd.imbalancePct - 100) / 100
	var idlest, roomy *schedGroup
	var here, best, most load411
	for g := sd.groups; ; {
		if g.cpus.intersects(p.mask) {
			isLocal := g.cpus.has(this)
			l := s.load411Of(g, p, idx, isLocal)
			s.noteSlow411(g, isLocal, &l)
			switch {
			case isLocal:
				here = l
			case idlest == nil || best.runnable > l.runnable+imbalance:
				idlest, best = g, l
			case l.runnable < best.runnable+imbalance && 100*best.avg > scale*l.avg:
				idlest, best.avg = g, l.avg // its runnable load stays what is compared
			}
			if !isLocal && l.spare > most.spare {
				roomy, most = g, l
			}
		}
		if g = g.next; g == sd.groups {
			break
		}
	}
	if f&WakeFork == 0 {
		need := int64(p.se.avg.utilAvg) / 2
		switch {
		case here.spare > need && scale*here.spare > 100*most.spare:
			return nil
		case most.spare > need:
			return roomy
		}
	}
	switch {
	case idlest == nil:
	case best.runnable > here.runnable+imbalance:
	case here.runnable < best.runnable+imbalance && 100*here.avg < scale*best.avg:
	default:
		return idlest
	}
	return nil // also where p may not use the local group, of which nothing was counted then
}

// load411 is what find_idlest_group() of 4.11 compares: loads, of 1024 for a task of nice 0 on each
// CPU, and the most that is left of a CPU.
type load411 struct{ runnable, avg, spare int64 }

func (s *Sched) load411Of(g *schedGroup, p *Task, idx int, local bool) (l load411) {
	for c := g.cpus.first(); c != event.NoCPU; c = g.cpus.next(c + 1) {
		s.work.Searched++
		if local {
			l.runnable += s.sourceLoad(c, idx)
		} else {
			l.runnable += s.targetLoad(c, idx)
		}
		l.avg += s.rqs[c].cpuLoadOf()
		l.spare = max(l.spare, s.capacitySpareWake(c, p))
	}
	l.runnable = l.runnable * capacityScale / g.capacity.capacity
	l.avg = l.avg * capacityScale / g.capacity.capacity
	return l
}

// capacitySpareWake is capacity_spare_wake(): what is left of c without p.
func (s *Sched) capacitySpareWake(c event.CPU, p *Task) int64 {
	return max(0, s.capacityOrig(c)-s.cpuUtilWithout(c, p))
}
