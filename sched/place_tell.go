package sched

import "github.com/whylate/whylate/event"

// This file tells who listens (OnBalance) what the slow path compared. A pass is one domain:
// Source is the CPU in whose domain it looked, CPU the one that it found, Busiest the group that it
// chose, the idlest.

// tellsSlow reports whether somebody listens.
func (s *Sched) tellsSlow() bool { return s.onBalance != nil && !s.asking }

// noteSlow notes what was found out of a group.
func (s *Sched) noteSlow(g *schedGroup, local bool, sgs *sgStats) {
	if s.tellsSlow() {
		to := s.slowPass.addGroup(g)
		to.Local, to.Type, to.Load, to.Capacity, to.Util = local, groupTypeNames[sgs.kind], sgs.load, sgs.capacity, sgs.util
		to.Running, to.Idle = sgs.nrRunning, sgs.idleCPUs
	}
}

func (s *Sched) noteSlow411(g *schedGroup, local bool, l *load411) {
	if !s.tellsSlow() {
		return
	}
	to := s.slowPass.addGroup(g)
	to.Local, to.Type, to.Load, to.Capacity = local, "other", l.runnable, g.capacity.capacity
	for _, c := range to.CPUs {
		to.Util += s.cpuUtil(c)
		to.Running += s.rqs[c].cfs.hNrRunning
		if s.idleCPU(c) {
			to.Idle++
		}
	}
}

// tellSlow tells of a look from cpu over sd that chose chosen and in it next; nil: it stays.
func (s *Sched) tellSlow(sd *schedDomain, p *Task, cpu, next event.CPU, chosen *schedGroup) {
	if !s.tellsSlow() {
		return
	}
	b := &s.slowPass
	span := b.Span[:0]
	for c := sd.span.first(); c != event.NoCPU; c = sd.span.next(c + 1) {
		span = append(span, c)
	}
	*b = BalancePass{At: s.host.Now(), By: s.here, CPU: next, Kind: BalanceWake, Domain: s.domainName(sd), Span: span, Groups: b.Groups,
		Queues: b.Queues[:0], Busiest: -1, Source: cpu, Imbalance: 1, Metric: "task", Moved: b.Moved[:0]}
	i := 0
	for g := sd.groups; chosen != nil; g = g.next {
		if g == chosen {
			b.Busiest = i
			break
		}
		if g.cpus.intersects(p.mask) {
			i++
		}
	}
	switch {
	case next != cpu:
		b.Moved = append(b.Moved, p)
	case chosen == nil:
		b.Why = "no idler group"
	default:
		b.Why = "no idler CPU"
	}
	s.onBalance(b)
}
