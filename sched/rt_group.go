package sched

import "github.com/whylate/whylate/event"

// Group is a control group of the cpu controller with RT_GROUP_SCHED: cpu.rt_runtime_us of
// every cpu.rt_period_us is what the real-time tasks of it and of the groups below may use of
// each CPU. The nil Group is the root. task_group.
//
// The kernel keeps a queue for each group and CPU, and picks a group as if it were a task of
// its best task's priority. Here the tasks of all groups are in the CPU's lists, and those of
// a throttled group are taken out; among tasks of one priority the order can differ from a
// kernel's, where a whole group goes to the end of the list when one of its tasks comes or
// goes.
type Group struct {
	parent   *Group
	children []*Group
	id       int // of its timer; the root has 0
	bw       rtBandwidth
	cpus     []groupRQ
	depth    int   // groups from the root to it, with it
	shares   int64 // its weight among its siblings, shifted
	loadAvg  int64 // load_avg: of all its queues, as far as they have told
	idle     bool  // cpu.idle
	auto     bool  // it is the autogroup of a session
	tasks    int   // real-time ones, runnable or not

	quota cfsBandwidth // cpu.max: what its fair tasks may use of all CPUs together
}

// groupRQ is the rt_rq and the cfs_rq of a group on one CPU.
type groupRQ struct {
	rtBudget
	runnable []*Task // the real-time tasks of the group itself, in the order of their coming

	cfs cfsRQ       // of the fair tasks of the group
	se  schedEntity // that stands for it in the queue above
}

// rtBudget is the part of rt_rq that counts.
type rtBudget struct {
	throttled bool       // rt_throttled: its tasks have used up their runtime
	boosted   int        // rt_nr_boosted; counted with RT_GROUP_SCHED only
	time      event.Time // rt_time: what they have used and not yet repaid
	runtime   event.Time // rt_runtime: what they may use, with what is borrowed
}

// dark is rt_rq_throttled(): with RT_GROUP_SCHED a boosted task opens the whole queue.
func (b *rtBudget) dark() bool { return b.throttled && b.boosted == 0 }

// budget is the rt_rq of g on the CPU of rq.
func (rq *RQ) budget(g *Group) *rtBudget {
	if g == nil {
		return &rq.rt.rtBudget
	}
	return &g.cpus[rq.cpu].rtBudget
}

// bandwidth is the rt_bandwidth of g.
func (s *Sched) bandwidth(g *Group) *rtBandwidth {
	if g == nil {
		return &s.rtBW
	}
	return &g.bw
}

// NewGroup makes a group below parent; as in the kernel it has no runtime yet, so that no
// real-time task can be in it.
func (s *Sched) NewGroup(parent *Group) *Group {
	g := &Group{parent: parent, id: len(s.groups) + 1, cpus: make([]groupRQ, len(s.rqs))}
	g.bw = rtBandwidth{group: g, period: s.cfg.RTPeriod}
	s.initGroupCFS(g)
	s.initCfsBandwidth(g)
	s.groups = append(s.groups, g)
	if parent != nil {
		parent.children = append(parent.children, g)
	} else {
		s.top = append(s.top, g)
	}
	return g
}

// SetGroupBandwidth writes cpu.rt_runtime_us and cpu.rt_period_us of g, both in ns here;
// tg_set_rt_bandwidth(). A negative runtime: no limit. EINVAL: no period, more than the period,
// more than the root or sched_rt_runtime_us allow, groups that together have more than the
// one above. EBUSY: no runtime for a group with real-time tasks.
func (s *Sched) SetGroupBandwidth(g *Group, runtime, period event.Time) error {
	if runtime < 0 {
		runtime = noLimit
	}
	switch {
	case g == nil && runtime == 0:
		return verdict(ErrInval, "the root group needs a runtime")
	case period <= 0:
		return verdict(ErrInval, "a period of %d ns", period)
	}
	if err := s.rtSchedulable(nil, g, runtime, period); err != nil {
		return err
	}
	b := s.bandwidth(g)
	b.runtime, b.period = runtime, period
	for _, rq := range s.rqs {
		rq.budget(g).runtime = runtime
	}
	return nil
}

// rtSchedulable is tg_rt_schedulable() for at and all groups below it, if set had runtime of
// period.
func (s *Sched) rtSchedulable(at, set *Group, runtime, period event.Time) error {
	has := func(g *Group) (event.Time, event.Time) {
		if g == set {
			return runtime, period
		}
		b := s.bandwidth(g)
		return b.runtime, b.period
	}
	r, p := has(at)
	total := rtRatio(r, p)
	below := s.top
	if at != nil {
		below = at.children
	}
	switch {
	case r > p:
		return verdict(ErrInval, "runtime %d is more than the period %d", r, p)
	case s.rtBandwidthEnabled() && r == 0 && s.bandwidth(at).runtime != 0 && at != nil && at.tasks > 0:
		return verdict(ErrBusy, "%d real-time tasks are in the group", at.tasks)
	case total > rtRatio(s.cfg.RTRuntime, s.cfg.RTPeriod):
		return verdict(ErrInval, "%d of %d ns is more than sched_rt_runtime_us allows", r, p)
	}
	sum := int64(0)
	for _, g := range below {
		sum += rtRatio(has(g))
	}
	if sum > total {
		return verdict(ErrInval, "the groups below have %d/%d of a CPU, the group has %d", sum, bwUnit, total)
	}
	for _, g := range below {
		if err := s.rtSchedulable(g, set, runtime, period); err != nil {
			return err
		}
	}
	return nil
}

// rtRatio is to_ratio() of a runtime that may have no limit: a whole CPU.
func rtRatio(runtime, period event.Time) int64 {
	if runtime < 0 {
		return bwUnit
	}
	return toRatio(period, runtime)
}

// Attach moves p into g, executed on CPU from; cpu_cgroup_attach() and sched_move_task(). EINVAL: p is a real-time
// task and g has no runtime.
func (s *Sched) Attach(from event.CPU, p *Task, g *Group) (Work, error) {
	s.begin(from)
	if p.State.Dead() {
		return s.work, verdict(ErrSrch, "the task has exited")
	}
	if err := s.mayBeRT(g, p.Attr.Policy, ErrInval); err != nil {
		return s.work, err
	}
	rq := s.rqs[p.cpu]
	s.updateRQClock(rq)
	queued, running := p.onRQ, rq.curr == p
	if queued {
		s.dequeueTask(rq, p, flagSave|flagMove)
	}
	if running {
		s.putPrevTask(rq, p)
	}
	p.countIn(-1)
	s.taskChangeGroup(p, g)
	p.countIn(1)
	if queued {
		s.enqueueTask(rq, p, flagSave|flagMove)
	}
	if running {
		s.setNextTask(rq, p, false)
		s.reschedCurr(from, rq)
	} else if queued {
		s.wakeupPreempt(from, rq, p, 0) // a kernel waits for the next reason
	}
	s.balanceCallbacks(from, rq)
	return s.work, nil
}

// countIn counts p among the real-time tasks of its group.
func (p *Task) countIn(n int) {
	if p.group != nil && (p.Attr.Policy == FIFO || p.Attr.Policy == RR) {
		p.group.tasks += n
	}
}

// mayBeRT refuses real-time policies where they could never run.
func (s *Sched) mayBeRT(g *Group, policy Policy, errno error) error {
	if s.cfg.RTGroupSched && s.rtBandwidthEnabled() && (policy == FIFO || policy == RR) && s.bandwidth(g).runtime == 0 {
		return verdict(errno, "the group of the task has no real-time runtime (cpu.rt_runtime_us)")
	}
	return nil
}

// enterGroups counts p, which becomes runnable, in its groups, and reports whether one of them
// keeps it out of the lists.
func (s *Sched) enterGroups(rq *RQ, p *Task) (dark bool) {
	if g := p.group; g != nil {
		q := &g.cpus[rq.cpu]
		q.runnable = append(q.runnable, p)
	}
	p.rt.boosted = p.prio != p.Attr.prio()
	s.countBoost(rq, p, 1)
	for g := p.group; g != nil; g = g.parent {
		s.startRTBandwidth(rq, g)
		dark = dark || g.cpus[rq.cpu].dark()
	}
	s.startRTBandwidth(rq, nil)
	return dark
}

// leaveGroups is the opposite.
func (s *Sched) leaveGroups(rq *RQ, p *Task) {
	if g := p.group; g != nil {
		q := &g.cpus[rq.cpu]
		for i, o := range q.runnable {
			if o == p {
				n := copy(q.runnable[i:], q.runnable[i+1:])
				q.runnable[i+n] = nil
				q.runnable = q.runnable[:i+n]
				break
			}
		}
	}
	s.countBoost(rq, p, -1)
}

// countBoost counts a boosted task in its groups: the first one opens those that are
// throttled, the last one closes them again.
func (s *Sched) countBoost(rq *RQ, p *Task, n int) {
	if !s.cfg.RTGroupSched || !p.rt.boosted {
		return
	}
	for g := p.group; ; g = g.parent {
		b := rq.budget(g)
		was := b.dark()
		if b.boosted += n; b.dark() != was {
			s.showGroup(rq, g)
		}
		if g == nil {
			return
		}
	}
}

// showGroup takes the tasks of g out of the lists of rq or puts them back, as its throttling
// has it.
func (s *Sched) showGroup(rq *RQ, g *Group) {
	if g == nil {
		if rq.rt.dark() {
			s.dequeueTopRTRQ(rq)
		} else {
			s.enqueueTopRTRQ(rq)
		}
		return
	}
	dark := false
	for up := g; up != nil; up = up.parent {
		dark = dark || up.cpus[rq.cpu].dark()
	}
	for _, p := range g.cpus[rq.cpu].runnable {
		switch {
		case dark && !p.rt.parked:
			s.dequeueRT(rq, p, 0)
			p.rt.parked = true
		case !dark && p.rt.parked:
			p.rt.parked = false
			s.enqueueRT(rq, p, 0)
			if p.prio < rq.curr.prio {
				s.reschedCurr(s.hereOr(rq), rq) // where a boost opened it, a kernel waits for the next reason
			}
		}
	}
	for _, child := range g.children {
		s.showGroup(rq, child)
	}
}

// mustPark reports whether a group of p is throttled on its CPU.
func (p *Task) mustPark() bool {
	for g := p.group; g != nil; g = g.parent {
		if g.cpus[p.cpu].dark() {
			return true
		}
	}
	return false
}

// Parked reports whether a runnable real-time task is kept off its CPU because its group, or
// one above, has used up its runtime.
func (p *Task) Parked() bool { return p.rt.parked }
