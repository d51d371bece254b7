package sched

import (
	"sort"

	"github.com/whylate/whylate/event"
)

// This file is a stand-in for the fair class: a plain weighted virtual run time, the
// least of which runs next and is preempted at ticks. It is no kernel's rule. Shares are
// right in the long run; latencies of fair tasks are not.

// fairEntity is the part of a task that the fair class owns; sched_entity.
type fairEntity struct {
	vruntime int64
	weight   int64
	seq      uint64
	queued   bool
}

// fairRQ is cfs_rq.
type fairRQ struct {
	tasks       []*Task // by vruntime, then by arrival; the current one is in here too
	nrRunning   int
	minVruntime int64
	seq         uint64
}

// nice0 is the weight of nice 0; NICE_0_LOAD.
const nice0 int64 = 1024

// weightOf is the weight of a nice value: each step changes it by a quarter, as
// sched_prio_to_weight does, computed instead of copied.
func weightOf(a *Attr) int64 {
	if a.Policy == Idle {
		return 3
	}
	w := nice0 << 20
	for n := a.Nice; n > 0; n-- {
		w = w * 4 / 5
	}
	for n := a.Nice; n < 0; n++ {
		w = w * 5 / 4
	}
	return max(1, (w+1<<19)>>20)
}

func (q *fairRQ) first() *Task { return q.tasks[0] }

func (q *fairRQ) link(p *Task) {
	q.seq++
	p.se.seq = q.seq
	i := sort.Search(len(q.tasks), func(i int) bool { return q.tasks[i].se.vruntime > p.se.vruntime })
	q.tasks = append(q.tasks, nil)
	copy(q.tasks[i+1:], q.tasks[i:])
	q.tasks[i] = p
	p.se.queued = true
}

func (q *fairRQ) unlink(p *Task) {
	for i := range q.tasks {
		if q.tasks[i] == p {
			copy(q.tasks[i:], q.tasks[i+1:])
			q.tasks[len(q.tasks)-1] = nil
			q.tasks = q.tasks[:len(q.tasks)-1]
			break
		}
	}
	p.se.queued = false
}

func (s *Sched) enqueueTaskFair(rq *RQ, p *Task, f flags) {
	p.se.weight = weightOf(&p.Attr)
	if f&enqueueMigrated != 0 || f&enqueueWakeup != 0 {
		p.se.vruntime = max(p.se.vruntime, rq.cfs.minVruntime)
	}
	rq.cfs.link(p)
	rq.cfs.nrRunning++
	rq.nrRunning++
}

func (s *Sched) dequeueTaskFair(rq *RQ, p *Task, _ flags) {
	if rq.curr == p {
		s.updateCurrFair(rq)
	}
	rq.cfs.unlink(p)
	rq.cfs.nrRunning--
	rq.nrRunning--
}

func (s *Sched) updateCurrFair(rq *RQ) {
	p := rq.curr
	delta := s.charge(rq, p)
	if delta <= 0 {
		return
	}
	p.se.vruntime += int64(delta) * nice0 / max(p.se.weight, 1)
	if p.se.queued {
		rq.cfs.unlink(p)
		rq.cfs.link(p)
		rq.cfs.minVruntime = max(rq.cfs.minVruntime, rq.cfs.first().se.vruntime)
	}
	vruntime := event.NoArg
	if s.cfg.StatRuntimeRT {
		vruntime = p.se.vruntime
	}
	s.emitRuntime(rq.cpu, p, delta, vruntime)
}

// selectTaskRQFair takes the CPU where p was if it is idle, else the first idle one, else
// for a new task the one with the fewest tasks.
func (s *Sched) selectTaskRQFair(_ event.CPU, p *Task, fork bool) event.CPU {
	if s.rqs[p.cpu].nrRunning == 0 && p.allowed(p.cpu) {
		return p.cpu
	}
	best := p.cpu
	for c := p.mask.first(); c != event.NoCPU; c = p.mask.next(c + 1) {
		s.work.Searched++
		if s.rqs[c].nrRunning == 0 {
			return c
		}
		if fork && s.rqs[c].nrRunning < s.rqs[best].nrRunning {
			best = c
		}
	}
	return best
}

// fairSlice is how far the current task may run ahead before another gets its turn, and
// how far a woken one must be behind to preempt at once.
const fairSlice int64 = 3_000_000

func (s *Sched) wakeupPreemptFair(from event.CPU, rq *RQ, p *Task) {
	s.updateCurrFair(rq)
	if p.Attr.Policy == Normal && rq.curr.se.vruntime-p.se.vruntime > fairSlice/3 {
		s.reschedCurr(from, rq)
	}
}

func (s *Sched) taskTickFair(rq *RQ, p *Task) {
	s.updateCurrFair(rq)
	if rq.cfs.nrRunning > 1 && p.se.vruntime-rq.cfs.first().se.vruntime >= fairSlice {
		s.reschedCurr(rq.cpu, rq)
	}
}

func (s *Sched) yieldTaskFair(rq *RQ) {
	s.updateCurrFair(rq)
	p := rq.curr
	if last := rq.cfs.tasks[len(rq.cfs.tasks)-1]; p != last {
		p.se.vruntime = last.se.vruntime + 1
		rq.cfs.unlink(p)
		rq.cfs.link(p)
	}
}

func (s *Sched) putPrevTaskFair(rq *RQ, _ *Task) { s.updateCurrFair(rq) }

func (s *Sched) setNextTaskFair(*RQ, *Task) {}
