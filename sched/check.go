package sched

import (
	"cmp"
	"fmt"

	"github.com/whylate/whylate/event"
)

// Check looks for broken rules of the scheduler's own state: a task that is lost or in two
// queues, counts and maps that disagree with the queues, bandwidth that does not add up.
// tasks are all that were ever made with NewTask. It is for tests, between operations.
func (s *Sched) Check(tasks []*Task) error {
	for _, rq := range s.rqs {
		if err := cmp.Or(s.checkRQ(rq), s.checkLeaves(rq)); err != nil {
			return fmt.Errorf("CPU %d: %w", rq.cpu, err)
		}
	}
	thisBW := make([]int64, len(s.rqs))
	runningBW := make([]int64, len(s.rqs))
	if err := cmp.Or(s.checkRTRuntime(), s.checkEEVDF()); err != nil {
		return err
	}
	if err := s.checkQuotas(); err != nil {
		return err
	}
	total := s.serversBW
	for c, rq := range s.rqs {
		if t := rq.server.task; t != nil {
			if err := rq.checkServer(); err != nil {
				return fmt.Errorf("CPU %d: fair server: %w", c, err)
			}
			thisBW[c] += t.dl.dlBW
			if rq.server.active && t.dl.dlRuntime > 0 || t.dl.nonContending {
				runningBW[c] += t.dl.dlBW
			}
		}
	}
	for _, p := range tasks {
		if err := s.checkTask(p); err != nil {
			return fmt.Errorf("task %d: %w", p.PID, err)
		}
		d := &p.dl
		if d.member || d.inactiveTimer {
			total += d.dlBW
		}
		if !d.member {
			continue
		}
		if d.uncounted {
			continue
		}
		thisBW[p.cpu] += d.dlBW
		if p.onRQ || d.nonContending {
			runningBW[p.cpu] += d.dlBW
		}
	}
	for c, rq := range s.rqs {
		if rq.dl.thisBW != thisBW[c] || rq.dl.runningBW != runningBW[c] {
			return fmt.Errorf("CPU %d: this_bw %d, running_bw %d; its tasks have %d, %d", c, rq.dl.thisBW, rq.dl.runningBW, thisBW[c], runningBW[c])
		}
	}
	if s.dlBW != total {
		return fmt.Errorf("total_bw %d; the tasks have %d", s.dlBW, total)
	}
	return nil
}

// checkTask looks at where one task is.
func (s *Sched) checkTask(p *Task) error {
	rq := s.rqs[p.cpu]
	current := rq.curr == p
	switch {
	case p.onCPU != current:
		return fmt.Errorf("on_cpu is %v, current on CPU %d: %v", p.onCPU, p.cpu, current)
	case current && !p.onRQ:
		return fmt.Errorf("it is current and not runnable")
	case p.se.delayed && (!p.onRQ || current || p.class != fairClass):
		return fmt.Errorf("it is delayed: on_rq %v, current %v, class %s", p.onRQ, current, p.ClassName())
	case p.OnRQ() != (p.State == 0) && !current: // the current one may have said that it will sleep
		return fmt.Errorf("on_rq is %v, state %s", p.onRQ, p.State)
	case p.moving:
		return fmt.Errorf("it is still on its way")
	}
	rt, dl, fair := p.rt.run.on, p.dl.queued(), p.se.onRQ
	in := p.class == rtClass && rt && !dl && !fair || p.class == dlClass && dl && !rt && !fair ||
		p.class == fairClass && fair && !rt && !dl
	none := !rt && !dl && !fair
	switch {
	case p.onRQ && !in && !(none && (p.class == dlClass && p.dl.throttled || p.class == rtClass && p.rt.parked || p.class == fairClass && p.throttled)):
		return fmt.Errorf("it is runnable, and in the queues rt %v, dl %v, fair %v", rt, dl, fair)
	case !p.onRQ && !none:
		return fmt.Errorf("it sleeps, and is in a queue")
	case p.rt.onRQ != (rt || p.rt.parked):
		return fmt.Errorf("the real-time class counts it %v, its list has it %v", p.rt.onRQ, rt)
	}
	if p.rt.onRQ && p.rt.parked != p.mustPark() {
		return fmt.Errorf("its groups keep it out: %v, it is kept out: %v", p.mustPark(), p.rt.parked)
	}
	if err := p.checkLimbo(); err != nil {
		return err
	}
	wait := p.onRQ && !current && p.nrAllowed > 1
	switch {
	case p.rt.push.on != (wait && rt):
		return fmt.Errorf("pushable for the real-time class: %v", p.rt.push.on)
	case p.dl.push.in != (wait && dl):
		return fmt.Errorf("pushable for the deadline class: %v", p.dl.push.in)
	}
	return nil
}

// checkRTRuntime looks whether what CPUs lend each other is what they borrow.
func (s *Sched) checkRTRuntime() error {
	sum := event.Time(0)
	for _, rq := range s.rqs {
		sum += rq.rt.runtime - s.rtBW.runtime
		if rt := &rq.rt; rt.time < 0 || s.rtBW.runtime >= 0 && (rt.runtime < 0 || rt.runtime > s.rtBW.period) {
			return fmt.Errorf("CPU %d: rt_time %d, rt_runtime %d of %d", rq.cpu, rt.time, rt.runtime, s.rtBW.period)
		}
	}
	if sum != 0 {
		return fmt.Errorf("rt_runtime of all CPUs is %d more than they were given", sum)
	}
	return nil
}

// checkServer looks whether the server is in one of its states.
func (rq *RQ) checkServer() error {
	sv := &rq.server
	d := &sv.task.dl
	waits := d.throttled && sv.timer && !d.queued()
	runs := !d.throttled && !sv.timer && !sv.armed && d.queued()
	switch {
	case !sv.active && !d.queued() && !sv.timer && !sv.armed && !d.throttled:
	case sv.active && (waits || runs):
	default:
		return fmt.Errorf("active %v, throttled %v, armed %v, timer %v, queued %v", sv.active, d.throttled, sv.armed, sv.timer, d.queued())
	}
	if sv.armed && sv.running || rq.cfs.hNrRunning > 0 && d.dlRuntime > 0 && !sv.active {
		return fmt.Errorf("active %v, armed %v, running %v, %d fair tasks", sv.active, sv.armed, sv.running, rq.cfs.hNrRunning)
	}
	return nil
}

// checkRQ looks at the counts of one queue and at what other CPUs believe of it.
func (s *Sched) checkRQ(rq *RQ) error {
	n, err := rq.count()
	if err == nil {
		err = rq.checkDeferred()
	}
	if err != nil {
		return err
	}
	stop := 0
	if rq.stop != nil && rq.stop.onRQ {
		stop = 1
	}
	if n += stop; rq.nrRunning != n {
		return fmt.Errorf("nr_running %d, tasks in the queues %d", rq.nrRunning, n)
	}
	c := rq.cpu
	idle := n == 0 && len(rq.wakeList) == 0
	switch {
	case !rq.curr.onCPU || rq.curr.cpu != c:
		return fmt.Errorf("current is task %d of CPU %d", rq.curr.PID, rq.curr.cpu)
	case s.idle.has(c) != idle:
		return fmt.Errorf("idle mask says %v, %d tasks", s.idle.has(c), n)
	case rq.rd.rto.prio[c] != rq.rt.highestNext():
		return fmt.Errorf("rto says %d, first pushable %d", rq.rd.rto.prio[c], rq.rt.highestNext())
	case rq.rd.dlo.has(c) != (rq.dl.pushable.n > 0):
		return fmt.Errorf("dlo_mask says %v", rq.rd.dlo.has(c))
	case rq.dl.nrRunning == 0 && rq.rd.cpupri.prio[c] != rq.rt.highest():
		return fmt.Errorf("cpupri %d, highest %d", rq.rd.cpupri.prio[c], rq.rt.highest())
	case rq.rd.cpudl.earliest[c] != rq.dl.earliest() || rq.rd.cpudl.free.has(c) != (rq.dl.nrRunning == 0):
		return fmt.Errorf("cpudl %d, earliest deadline %d", rq.rd.cpudl.earliest[c], rq.dl.earliest())
	case rq.callbacks != 0:
		return fmt.Errorf("balance callbacks were not called")
	}
	return nil
}

// count walks over the queues and compares their orders and counts.
func (rq *RQ) count() (int, error) {
	rt, rr := 0, 0
	for prio := range rq.rt.active.queue {
		for l := rq.rt.active.queue[prio].head; l != nil; l = l.next {
			if rt++; l.task.Attr.Policy == RR {
				rr++
			}
			if int(l.task.prio) != prio || l.task.cpu != rq.cpu {
				return 0, fmt.Errorf("task %d of CPU %d and priority %d is in list %d", l.task.PID, l.task.cpu, l.task.prio, prio)
			}
		}
	}
	if rq.rt.nrRunning != rt || rq.rt.rrNrRunning != rr {
		return 0, fmt.Errorf("rt_nr_running %d, rr %d; in the lists %d, %d", rq.rt.nrRunning, rq.rt.rrNrRunning, rt, rr)
	}
	dl, err := rq.dl.queue.check(rq)
	if err != nil {
		return 0, err
	}
	if rq.dl.nrRunning != dl {
		return 0, fmt.Errorf("dl_nr_running %d, in the queue %d", rq.dl.nrRunning, dl)
	}
	fair, err := rq.cfs.check()
	switch {
	case rq.rt.queued != (rt > 0 && !rq.rt.dark()):
		return 0, fmt.Errorf("rt_queued is %v, throttled %v, %d tasks", rq.rt.queued, rq.rt.throttled, rt)
	case rq.rt.dark():
		rt = 0 // they do not count
	}
	if rq.server.queued() {
		dl-- // nor does the server
	}
	return rt + dl + fair, err
}

// check walks over a tree of rq and returns how many it holds.
func (t *tree) check(rq *RQ) (int, error) {
	n := 0
	var before *node
	for at := t.first; at != nil; at = at.next() {
		n++
		switch {
		case before != nil && at.before(before):
			return n, fmt.Errorf("task %d is before %d in a tree", before.task.PID, at.task.PID)
		case at.task.cpu != rq.cpu:
			return n, fmt.Errorf("task %d of CPU %d is in a tree", at.task.PID, at.task.cpu)
		}
		before = at
	}
	if n != t.n {
		return n, fmt.Errorf("a tree of %d tasks says %d", n, t.n)
	}
	return n, nil
}
