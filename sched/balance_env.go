package sched

import "github.com/whylate/whylate/event"

// lbReasons are why tasks of a source stayed where they are.
type lbReasons uint8

const (
	lbPinned    lbReasons = 1 << iota // they may not use the destination
	lbRunning                         // they run
	lbHot                             // their caches are warm
	lbTooMuch                         // they weigh more than should move
	lbThrottled                       // their group is out of quota
	lbDelayed                         // they only wait to leave
)

// newEnv begins a pass of rq over sd. The one lbEnv of a scheduler is used again and again: passes
// do not nest.
func (s *Sched) newEnv(rq *RQ, sd *schedDomain, idle cpuIdleType, kind BalanceKind) *lbEnv {
	env := &s.lb
	cpus, tasks := env.cpus, env.tasks[:0]
	if cpus == nil {
		cpus = newMask(s.cfg.CPUs)
	}
	copy(cpus, sd.span)
	*env = lbEnv{sd: sd, this: rq, dst: rq, idle: idle, kind: kind, dry: s.follow != nil, cpus: cpus, dstGroup: sd.groups.balanceMask, tasks: tasks,
		newDstCPU: event.NoCPU, loopBreak: s.cfg.nrMigrateBreak()}
	if s.onBalance != nil {
		env.pass = s.newPass(rq.cpu, kind)
		env.pass.Domain = s.domainName(sd)
		env.pass.Span = sd.span.appendTo(env.pass.Span)
	}
	return env
}

// newPass empties the one pass that listeners are told. CPU c is the destination.
func (s *Sched) newPass(c event.CPU, kind BalanceKind) *BalancePass {
	p := &s.pass
	*p = BalancePass{At: s.host.Now(), By: s.here, CPU: c, Kind: kind, Busiest: -1, Source: event.NoCPU,
		Span: p.Span[:0], Groups: p.Groups[:0], Queues: p.Queues[:0], Moved: p.Moved[:0]}
	if s.here < 0 {
		p.By = c
	}
	return p
}

// appendTo adds the CPUs of m to list.
func (m cpuMask) appendTo(list []event.CPU) []event.CPU {
	for c := m.first(); c != event.NoCPU; c = m.next(c + 1) {
		list = append(list, c)
	}
	return list
}

// tellPass tells who listens how the pass of env has ended.
func (s *Sched) tellPass(env *lbEnv, why string) {
	p := env.pass
	if p == nil {
		return
	}
	if env.src != nil {
		p.Source = env.src.cpu
	}
	switch {
	case len(p.Moved) > 0:
		p.Why = ""
	case env.src != nil || p.Why == "" || why == whyAllPinned:
		p.Why = why // else whoever compared the groups has said it closer
	}
	s.onBalance(p)
}

// whyStayed says why no task of the source moved.
func (env *lbEnv) whyStayed() string {
	switch {
	case env.src.nrRunning <= 1:
		return "the source has only one task"
	case env.flags&lbfAllPinned != 0:
		return whyAllPinned
	case env.stayed&lbHot != 0:
		return "cache hot"
	case env.stayed&lbTooMuch != 0:
		return "each task is more than should move"
	case env.stayed&lbThrottled != 0:
		return "out of quota"
	case env.stayed&lbPinned != 0:
		return "pinned"
	}
	return "nothing to move"
}
