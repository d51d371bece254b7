package sched

import "github.com/whylate/whylate/event"

// On a big machine with many groups most of what a CPU has in its list of leaves is load of tasks that
// ran there once and are somewhere else now. A kernel goes through all of it before every pass. Here a CPU
// with many such groups does so every 64 ms only, and in between just for those that have tasks or
// that a task has left. What fades is late by that: the load of a whole group, which its weights come from. That
// of the CPU fades by itself and is not late.

// manyLeaves is from how many groups on that is done, fadeEvery how often all are looked at.
const (
	manyLeaves            = 32
	fadeEvery  event.Time = 2 * peltHalving * 1_000_000
)

// fading is what a CPU knows for that.
type fading struct {
	leaves  int        // queues in its list
	allAt   event.Time // when all of them were last brought up to date
	pending []*cfsRQ   // that tasks have left since their last update
}

// noteRemoved says that a task has left cfs without its lock.
func (cfs *cfsRQ) noteRemoved() {
	if cfs.removed.nr == 1 && cfs.tg != nil {
		cfs.rq.fading.pending = append(cfs.rq.fading.pending, cfs)
	}
}

// fadesLater reports whether it is enough to look at a few of the groups of rq now, and brings these up to date.
func (s *Sched) fadesLater(rq *RQ) bool {
	f := &rq.fading
	if s.cfg.Fair.PELT411 || f.leaves <= manyLeaves || rq.clock >= f.allAt+fadeEvery {
		f.allAt, f.pending = rq.clock, f.pending[:0]
		return false
	}
	for _, cfs := range f.pending {
		if cfs.removed.nr > 0 {
			s.updateBranch(cfs)
		}
	}
	f.pending = f.pending[:0]
	for p := rq.cfsTasks; p != nil; p = p.se.group.next {
		s.updateBranch(p.se.cfsRQ)
	}
	s.updateBlocked(&rq.cfs)
	return true
}

// onlyFades reports whether cfs has nothing that the queue above does not know: its entity is in none, and
// may be brought up to date when it comes.
func (cfs *cfsRQ) onlyFades() bool {
	return cfs.load.weight == 0 && cfs.removed.nr == 0 && !cfs.propagate
}

// faded reports whether what is left of the load of cfs is less than 1, and no queue below is in the list. A
// kernel waits until there is nothing at all, twice as long.
func (cfs *cfsRQ) faded() bool {
	sa := &cfs.avg
	if !cfs.onlyFades() || sa.loadAvg|sa.runnableAvg|sa.utilAvg != 0 || cfs.tgLoadAvgContrib != 0 {
		return false
	}
	below := cfs.leafPrev
	return below == nil || below.se.cfsRQ != cfs
}

// updateBranch brings a queue and those above it up to date.
func (s *Sched) updateBranch(cfs *cfsRQ) {
	for ; cfs.se != nil && !cfs.loadStopped; cfs = cfs.se.cfsRQ {
		if s.updateBlocked(cfs) {
			s.updateTGLoadAvg(cfs)
		}
		s.updateLoadAvg(cfs.se.cfsRQ, cfs.se, updateTG)
	}
}
