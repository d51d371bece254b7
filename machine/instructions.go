package machine

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// What pieces of the scheduler's work are, in instructions, counted one by one in Debian's
// 6.1 for x86-64 (docs/sources.md). Another compiler, version or processor has other figures
// of about the same size. The pieces of what no kernel has are estimates.
const (
	putPrevIdle   = 2   // put_prev_task_idle()
	putPrevOther  = 54  // put_prev_task_rt(), with update_curr_rt()
	putPrevFair   = 23  // put_prev_task_fair(), what is done once
	putPrevEntity = 160 // put_prev_entity(), with update_load_avg() that finds nothing to do
	setNextEntity = 182 // pick_next_entity() and set_next_entity(), likewise
	updateCurr    = 55  // update_curr(), of an entity that has run
	treeInsert    = 21  // rb_insert_color() of a tree that had some already, on average
	treeLevel     = 8   // a level of the tree on the way down
	peltUpdate    = 50  // __update_load_avg_se() or _cfs_rq() that adds something
	peltDecay     = 20  // one of its three sums, where a period has ended; how many have does not matter

	deferPut   = 8  // estimate: the class, on_rq, what is remembered
	settlePut  = 29 // put_prev_task_fair() as above, and an estimate of 6: finding it, forgetting it
	settleTime = 4  // estimate: moving exec_start of an entity
)

// instructions are those of the fair class inside an operation.
func instructions(w *sched.FairWork) int64 {
	n := putPrevEntity*w.PutPrevs + setNextEntity*w.SetNexts + updateCurr*w.Charged + treeInsert*w.Inserts + treeLevel*w.Depth + peltUpdate*w.PeltUpdates +
		peltDecay*w.PeltDecays + deferPut*w.Deferred + settlePut*w.Settled + settleTime*w.PutAside
	return int64(n)
}

// putPrevInstructions are those of put_prev_task() of the task that left where another was
// chosen; w is what the fair class did in it.
func putPrevInstructions(left int, w *sched.FairWork) int64 {
	n := instructions(w)
	switch {
	case left == sched.RankIdle:
		n += putPrevIdle
	case left != sched.RankFair:
		n += putPrevOther
	case w.PutPrevs > 0:
		n += putPrevFair
	}
	return n
}

// allInstructions are those that are counted of an operation.
func allInstructions(w *sched.Work) int64 {
	if w.Picks == 0 {
		return instructions(&w.FairWork)
	}
	return putPrevInstructions(w.Left, &w.FairWork)
}

// PutPrevs says what put_prev_task() did on a CPU in front of real-time tasks.
type PutPrevs struct {
	Calls int64
	Fair  int64 // of them, those that put back a fair task, or put that off
	// Deferred are those that were put off, Settled those that were done after that.
	Deferred, Settled int64
	// Instructions of all calls, of the shortest and of the longest; of what was put off, those
	// that remember it.
	Instructions, Min, Max int64
	// FairMin is that of the shortest one for a fair task.
	FairMin int64
}

// PutPrevs returns what was counted on c so far.
func (m *Machine) PutPrevs(c event.CPU) PutPrevs { return m.cpus[c].putPrevs }

// CountFrom lets PutPrevs and SchedulerTime count what is done from at on only.
func (m *Machine) CountFrom(at event.Time) { m.countFrom = at }

// OwnWork is how long c will still be at what cannot be interrupted: its own work, or with a
// thread's section with interrupts off, in ns. A co-kernel counts its own alone.
func (m *Machine) OwnWork(c event.CPU) event.Time {
	cp := &m.cpus[c]
	switch {
	case m.cfg.CoKernel:
		return max(cp.co.until-m.now, 0)
	case cp.busy > m.now:
		return cp.busy - m.now
	case cp.running != nil && cp.running.mode == IRQsOff:
		return max(cp.running.remaining-(m.now-cp.running.since), 0)
	}
	return 0
}

// SchedulerTime is how long c was at the scheduler's work so far, or changed sides with a
// co-kernel, in ns.
func (m *Machine) SchedulerTime(c event.CPU) event.Time { return m.cpus[c].scheduler }

// count notes what an operation on c did of put_prev_task().
func (p *PutPrevs) count(w *sched.Work) {
	p.Settled += int64(w.Settled)
	p.Deferred += int64(w.Deferred)
	if w.RTPicks == 0 {
		return
	}
	n := putPrevInstructions(w.Left, &w.InFront)
	if p.Calls == 0 {
		p.Min = n
	}
	if p.Calls++; w.Left == sched.RankFair {
		if p.Fair++; p.Fair == 1 {
			p.FairMin = n
		}
		p.FairMin = min(p.FairMin, n)
	}
	p.Instructions += n
	p.Min, p.Max = min(p.Min, n), max(p.Max, n)
}
