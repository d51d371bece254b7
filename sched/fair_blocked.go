package sched

import "github.com/whylate/whylate/event"

// This file keeps the load of those that sleep from standing still, and tracks how much of a CPU
// goes to other classes.

// classLoad is what real-time and deadline tasks use of a CPU; rq.avg_rt and rq.avg_dl. What interrupts
// use is tracked by kernels with IRQ_TIME_ACCOUNTING or PARAVIRT_TIME_ACCOUNTING, which those of
// Debian are not.
type classLoad struct {
	avgRT, avgDL schedAvg
}

// updateClassLoad is update_rt_rq_load_avg() and update_dl_rq_load_avg(): running says whether a task
// of the class has run since the last time. There is none before 4.19.
func (s *Sched) updateClassLoad(rq *RQ, sa *schedAvg, running bool) {
	if s.cfg.Fair.PELT411 || s.cfg.FairPlaced {
		return
	}
	load := uint64(0)
	if running {
		load = 1
	}
	periods := sa.updateLoadSum(rq.clockPelt(), load, load, running)
	s.countLoad(periods, 3)
	if periods > 0 {
		sa.updateLoadAvg(1)
	}
}

// classLeaves is called when a task of class c is put back or ticks, classComes when one comes on
// a CPU where another class ran.
func (s *Sched) classLeaves(rq *RQ, c class) {
	switch c {
	case rtClass:
		s.updateClassLoad(rq, &rq.avgRT, true)
	case dlClass:
		s.updateClassLoad(rq, &rq.avgDL, true)
	}
}

func (s *Sched) classComes(rq *RQ, c class) {
	switch {
	case rq.curr.class == c:
	case c == rtClass:
		s.updateClassLoad(rq, &rq.avgRT, false)
	case c == dlClass:
		s.updateClassLoad(rq, &rq.avgDL, false)
	}
}

// Capacity returns how much of CPU c real-time and deadline tasks leave to fair ones, of 1024 and
// at least 1, as of the last update of their load; scale_rt_capacity().
func (s *Sched) Capacity(c event.CPU) int64 {
	rq := s.rqs[c]
	if s.cfg.Fair.PELT411 {
		return s.scaleRTCapacity411(rq)
	}
	return max(1, capacityScale-int64(rq.avgRT.utilAvg+rq.avgDL.utilAvg))
}

// blockedEvery is how often the load of sleeping tasks is brought up to date on all CPUs of a scheduler that
// follows a recorded one: the passes of that, which would do it, are not recorded where they moved nothing.
const blockedEvery event.Time = peltHalving * 1_000_000

// tickBlocked does so, at a tick of any CPU.
func (s *Sched) tickBlocked(now event.Time) {
	if now < s.nextBlocked || len(s.groups) == 0 || len(s.rqs) == 1 || s.cfg.FairPlaced {
		return
	}
	s.nextBlocked = now + blockedEvery
	for _, rq := range s.rqs {
		s.updateRQClock(rq)
		s.updateBlockedAverages(rq)
	}
}

// updateBlockedAverages brings the load of all queues of a CPU up to date, those of groups before
// those above them; update_blocked_averages(). Balancing CPUs do it before they compare, and an idle CPU for
// others that are. A CPU without domains does not balance: there it stays until a task comes or goes.
func (s *Sched) updateBlockedAverages(rq *RQ) {
	rq.lastBlockedTick = s.jiffies(rq.clock)
	flags := updateTG
	if s.cfg.Fair.PELT411 {
		flags = 0 // a group hears what its own queue does, not what came from below
	}
	s.updateClassLoad(rq, &rq.avgRT, rq.curr.class == rtClass)
	s.updateClassLoad(rq, &rq.avgDL, rq.curr.class == dlClass)
	if s.fadesLater(rq) {
		return
	}
	blocked := rq.avgRT.utilAvg > 0 || rq.avgDL.utilAvg > 0
	for cfs := rq.leafHead; cfs != nil; {
		next := cfs.leafNext
		if cfs.loadStopped {
			cfs = next
			continue
		}
		asleep := rq.fading.leaves > manyLeaves && cfs.onlyFades()
		if s.updateBlocked(cfs) {
			s.updateTGLoadAvg(cfs)
		}
		if se := cfs.se; se != nil && !asleep && (s.cfg.Fair.PELT411 || se.avg.loadAvg > 0 || se.avg.utilAvg > 0 || cfs.propagate) {
			s.updateLoadAvg(se.cfsRQ, se, flags)
		}
		if cfs.se != nil && (cfs.decayed() || rq.fading.leaves > manyLeaves && cfs.faded()) {
			rq.unlinkLeaf(cfs)
		}
		blocked = blocked || cfs.avg.loadAvg > 0 || cfs.avg.utilAvg > 0
		cfs = next
	}
	rq.hasBlockedLoad = rq.hasBlockedLoad && blocked
}

func (s *Sched) updateBlocked(cfs *cfsRQ) bool {
	if s.cfg.Fair.PELT411 {
		return s.updateCfsRQLoad411(cfs.clockPelt(), cfs)
	}
	return s.updateCfsRQLoadAvg(cfs.clockPelt(), cfs)
}
