package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// This file looks for an idle CPU that shares the cache with a target.

// idleForWake reports whether a woken task would run on c at once: it is idle, or all that
// is there is SCHED_IDLE (from 5.4 on).
func (s *Sched) idleForWake(c event.CPU) bool {
	s.work.Searched++
	return s.idleCPU(c) || s.cfg.Fair.IdleTasksYield && s.schedIdleCPU(c)
}

// selectIdleSibling is select_idle_sibling(): the target, the CPU where p was, that of a thread of the
// kernel which has done what p asked for, the one where p was before; then all with that cache. If none is
// idle p waits on the target.
func (s *Sched) selectIdleSibling(from event.CPU, p *Task, prev, target event.CPU, f WakeFlags) event.CPU {
	if s.idleForWake(target) {
		return target
	}
	near := s.cpusShareCache(prev, target)
	if prev != target && near && s.idleForWake(prev) {
		return prev
	}
	if s.cfg.Fair.SelectIdle411 {
		return s.selectIdleSibling411(from, p, target)
	}
	if rq := s.rqs[from]; prev == from && f&WakeIRQ == 0 && rq.curr != rq.idle && rq.curr.Kthread && rq.curr.nrAllowed == 1 && rq.nrRunning <= 1 {
		return prev
	}
	recent := p.recentUsedCPU
	if !s.asking {
		p.recentUsedCPU = prev
	}
	if recent != prev && recent != target && s.cpusShareCache(recent, target) && s.idleForWake(recent) && p.mask.has(recent) {
		return recent
	}
	sd := s.sdLLC(target)
	if sd == nil {
		return target
	}
	idleCore := false
	if s.smtActive {
		idleCore = s.llcShared(target).hasIdleCores
		if !idleCore && near {
			if c := s.selectIdleSMT(p, sd, prev); c != event.NoCPU {
				return c
			}
		}
	}
	if c := s.selectIdleCPU(from, p, sd, idleCore, target); c != event.NoCPU {
		return c
	}
	return target
}

// selectIdleSMT looks at the other threads of a core; select_idle_smt(), 5.13.
func (s *Sched) selectIdleSMT(p *Task, sd *schedDomain, core event.CPU) event.CPU {
	smt := s.smtMask(core)
	for c := smt.nextAnd(p.mask, 0); c != event.NoCPU; c = smt.nextAnd(p.mask, c+1) {
		if c != core && sd.span.has(c) && s.idleForWake(c) {
			return c
		}
	}
	return event.NoCPU
}

// selectIdleCPU looks through the cache of target, from the CPU after it: for a core that is
// all idle if there may be one, else for a CPU, as many as the features let it; select_idle_cpu().
func (s *Sched) selectIdleCPU(from event.CPU, p *Task, sd *schedDomain, idleCore bool, target event.CPU) event.CPU {
	limit := sd.weight
	prop := s.has(SISProp) && !idleCore
	if prop {
		if s.sdLLC(from) == nil {
			return event.NoCPU
		}
		limit = s.scanLimit(from, sd)
	}
	if s.has(SISUtil) {
		if limit = s.llcShared(target).nrIdleScan; limit == 0 {
			return event.NoCPU // so busy that none is idle, most likely
		}
	}
	cpus := s.placeMask
	cpus.and(sd.span, p.mask)
	if idleCore {
		return s.selectIdleCore(cpus, target)
	}
	before := event.Time(0)
	if prop {
		before = s.host.Price(&s.work)
	}
	c, all := s.scanIdle(cpus, target+1, limit)
	if prop && all {
		s.countScan(from, s.host.Price(&s.work)-before)
	}
	return c
}

// scanLimit is how many CPUs SIS_PROP lets a wake look at: as many as take the time that its CPU
// will idle, by how long it mostly did, but three at least. While it is busy that is halved with every jiffy.
func (s *Sched) scanLimit(from event.CPU, sd *schedDomain) int {
	rq := s.rqs[from]
	idle := rq.wakeAvgIdle
	now := s.jiffies(s.host.Now())
	if rq.wakeStamp < now {
		idle >>= min(now-rq.wakeStamp, 63)
		if !s.asking {
			rq.wakeAvgIdle, rq.wakeStamp = idle, now
		}
	}
	span, cost := event.Time(sd.weight)*idle, s.sdLLC(from).avgScanCost+1
	nr := event.Time(4)
	if span > 4*cost {
		nr = span / cost
	}
	return int(nr) - 1
}

// countScan notes what looking for an idle CPU has cost; update_avg() of avg_scan_cost.
func (s *Sched) countScan(from event.CPU, cost event.Time) {
	if s.asking {
		return
	}
	rq, sd := s.rqs[from], s.sdLLC(from)
	rq.wakeAvgIdle -= min(rq.wakeAvgIdle, cost)
	sd.avgScanCost += (cost - sd.avgScanCost) / 8
}

// scanIdle returns the first CPU of cpus, from start on and around, on which a woken task would run
// at once, among the first limit of them. all says that it was not the limit that ended the search.
func (s *Sched) scanIdle(cpus cpuMask, start event.CPU, limit int) (found event.CPU, all bool) {
	found, seen := s.scanRange(cpus, int(start), s.cfg.CPUs, limit)
	if found == event.NoCPU {
		var n int
		found, n = s.scanRange(cpus, 0, min(int(start), s.cfg.CPUs), limit-seen)
		seen += n
	}
	s.work.Searched += seen
	return found, found != event.NoCPU || seen < limit || seen == cpus.count()
}

// scanRange is scanIdle for the CPUs from from on and before to; seen is how many it looked at. Those
// that are not idle are passed over by the word.
func (s *Sched) scanRange(cpus cpuMask, from, to, limit int) (found event.CPU, seen int) {
	for i := from / 64; i*64 < to && seen < limit; i++ {
		word := cpus[i]
		if i*64 < from {
			word &= ^uint64(0) << (from % 64)
		}
		if (i+1)*64 > to {
			word &= 1<<(to%64) - 1
		}
		may := word
		if !s.idlePolicySeen {
			may &= s.idle[i]
		}
		for ; may != 0; may &= may - 1 {
			n := seen + bits.OnesCount64(word&(may&-may-1)) // before it
			if n >= limit {
				break
			}
			if c := event.CPU(i*64 + bits.TrailingZeros64(may)); s.idleCPU(c) || s.cfg.Fair.IdleTasksYield && s.schedIdleCPU(c) {
				return c, n + 1
			}
		}
		seen += bits.OnesCount64(word)
	}
	return event.NoCPU, min(seen, limit)
}

// selectIdleCore returns the first CPU of cpus after target of which the whole core is idle, else
// one that would do anyway. Where there is no such core nobody looks for one until a core has gone
// idle again. It uses up cpus.
func (s *Sched) selectIdleCore(cpus cpuMask, target event.CPU) event.CPU {
	other := event.NoCPU
	for c := cpus.nextWrap(event.NoCPU, target+1); c != event.NoCPU; c = cpus.nextWrap(c, target+1) {
		if s.coreIsIdle(cpus, c, &other) {
			return c
		}
		cpus.without(s.smtMask(c))
	}
	s.setIdleCores(target, false)
	return other
}

// coreIsIdle reports whether all threads of the core of c are idle; select_idle_core() of 5.12 and
// later. The first thread on which a woken task would run at once becomes other.
func (s *Sched) coreIsIdle(cpus cpuMask, c event.CPU, other *event.CPU) bool {
	idle, smt := true, s.smtMask(c)
	for t := smt.first(); t != event.NoCPU; t = smt.next(t + 1) {
		s.work.Searched++
		switch {
		case s.idleCPU(t):
			if *other == event.NoCPU && cpus.has(t) {
				*other = t
			}
		case *other != event.NoCPU:
			return false
		default:
			idle = false
			if s.cfg.Fair.IdleTasksYield && s.schedIdleCPU(t) && cpus.has(t) {
				*other = t
				return false
			}
		}
	}
	return idle
}

// setIdleCores notes whether the cache of c has cores that are all idle; set_idle_cores().
func (s *Sched) setIdleCores(c event.CPU, some bool) {
	if shared := s.llcShared(c); shared != nil && !s.asking {
		shared.hasIdleCores = some
	}
}

// updateIdleCore is update_idle_core(): rq goes idle, and with it perhaps its core.
func (s *Sched) updateIdleCore(rq *RQ) {
	if !s.smtActive {
		return
	}
	shared := s.llcShared(rq.cpu)
	if shared == nil || shared.hasIdleCores {
		return
	}
	smt := s.smtMask(rq.cpu)
	for c := smt.first(); c != event.NoCPU; c = smt.next(c + 1) {
		if c != rq.cpu && !s.idleCPU(c) {
			return
		}
	}
	shared.hasIdleCores = true
}

// selectIdleSibling411 is the rest of select_idle_sibling() of 4.9 to 4.15: it first looks for an idle
// core, if there may be one, from target on, then for any CPU, and then again at the core of target. No
// limit but SIS_AVG_CPU.
func (s *Sched) selectIdleSibling411(from event.CPU, p *Task, target event.CPU) event.CPU {
	sd := s.sdLLC(target)
	if sd == nil {
		return target
	}
	cpus := s.placeMask
	if s.smtActive && s.llcShared(target).hasIdleCores {
		cpus.and(sd.span, p.mask)
		for c := cpus.nextWrap(event.NoCPU, target); c != event.NoCPU; c = cpus.nextWrap(c, target) {
			if s.wholeCoreIdle(c) {
				return c
			}
			cpus.without(s.smtMask(c))
		}
		s.setIdleCores(target, false)
	}
	if c := s.selectIdleCPU411(from, p, sd, target); c != event.NoCPU {
		return c
	}
	if !s.smtActive {
		return target
	}
	smt := s.smtMask(target)
	for c := smt.nextAnd(p.mask, 0); c != event.NoCPU; c = smt.nextAnd(p.mask, c+1) {
		if s.idleForWake(c) {
			return c
		}
	}
	return target
}

// wholeCoreIdle reports whether all threads of the core of c are idle.
func (s *Sched) wholeCoreIdle(c event.CPU) bool {
	idle, smt := true, s.smtMask(c)
	for t := smt.first(); t != event.NoCPU; t = smt.next(t + 1) {
		s.work.Searched++
		idle = idle && s.idleCPU(t)
	}
	return idle
}

// selectIdleCPU411 is select_idle_cpu() of 4.11.
func (s *Sched) selectIdleCPU411(from event.CPU, p *Task, sd *schedDomain, target event.CPU) event.CPU {
	this := s.sdLLC(from)
	if this == nil {
		return event.NoCPU
	}
	cost := s.has(SISAvgCPU)
	if cost && s.rqs[from].avgIdle/512 < this.avgScanCost {
		return event.NoCPU
	}
	before := event.Time(0)
	if cost {
		before = s.host.Price(&s.work)
	}
	cpus := s.placeMask
	cpus.and(sd.span, p.mask)
	c, _ := s.scanIdle(cpus, target, sd.weight)
	if cost && !s.asking {
		this.avgScanCost += (s.host.Price(&s.work) - before - this.avgScanCost) / 8
	}
	return c
}
