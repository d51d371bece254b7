package sched

import "github.com/whylate/whylate/event"

// Follower lets a scheduler follow a recorded one: it is asked where the model has chosen,
// and what it answers is done. A host that follows a trace thereby keeps the queues as the
// kernel had them and still hears what the model would have done. Whoever does not call
// Follow pays a comparison with nil.
type Follower interface {
	// Pick returns what c runs next. next is what the model chose; prev has been put back
	// into its queue. What is returned must be runnable on c, or its idle task.
	Pick(c event.CPU, prev, next *Task) *Task
	// Place returns the CPU of a task that is about to be woken.
	Place(p *Task) event.CPU
	// Move reports whether the model may take p, which waits on from, to to. It is asked
	// whenever the model wants to push, pull or balance.
	Move(p *Task, from, to event.CPU) bool
	// Charge returns what p, the current task of c, is charged where the model would charge delta.
	Charge(c event.CPU, p *Task, delta event.Time) event.Time
}

// Follow lets f decide from now on. The stoppers then do nothing by themselves: they are
// woken and sent to sleep as tasks are.
func (s *Sched) Follow(f Follower) { s.follow = f }

// mayMove asks the follower, if there is one.
func (s *Sched) mayMove(p *Task, from, to *RQ) bool {
	return s.follow == nil || s.follow.Move(p, from.cpu, to.cpu)
}

// AskPlace returns the CPU that the model would wake p on, or with WakeFork start it. turn says that
// several were as good and a counter that no event shows chose among them. It changes nothing, and
// the wake that follows, for which the follower is asked, notes nothing: NoteWake does, once for each.
func (s *Sched) AskPlace(from event.CPU, p *Task, f WakeFlags) (c event.CPU, turn bool) {
	s.asking = true
	defer func() { s.asking = false }()
	return s.NoteWake(from, p, f)
}

// NoteWake is AskPlace for a wake that takes place: the scheduler remembers who has woken whom,
// where p was and what the search has found out, as the kernel does when it looks for a CPU.
func (s *Sched) NoteWake(from event.CPU, p *Task, f WakeFlags) (c event.CPU, turn bool) {
	s.begin(from)
	start := p.wakeCPU
	if f&WakeFork != 0 {
		start = from
		if !p.allowed(start) {
			start = p.mask.first()
		}
		s.inheritWakees(p, start)
	} else {
		f |= wakeTTWU
	}
	return s.chooseTaskRQ(from, p, start, f), s.tookTurn
}

// TookTurn reports whether the last question was answered by such a counter.
func (s *Sched) TookTurn() bool { return s.tookTurn }

// AskPush lets the class of p push one task away from c, as far as the follower lets it.
// pull says that another CPU asked for it (RT_PUSH_IPI).
func (s *Sched) AskPush(from, c event.CPU, p *Task, pull bool) {
	s.begin(from)
	switch rq := s.rqs[c]; p.class {
	case rtClass:
		s.pushRTTask(from, rq, pull)
	case dlClass:
		s.pushDLTask(from, rq)
	}
}

// AskPull lets c pull for the class of p, as far as the follower lets it.
func (s *Sched) AskPull(c event.CPU, p *Task) {
	s.begin(c)
	switch rq := s.rqs[c]; p.class {
	case rtClass:
		s.pullRTTask(rq)
	case dlClass:
		s.pullDLTask(rq)
	}
}

// First returns the task that c would run next among those that are in its queues now; prev is
// the one that leaves.
func (s *Sched) First(c event.CPU, prev *Task) *Task {
	rq := s.rqs[c]
	if next := s.firstRunnable(rq, prev); next != nil {
		return next
	}
	return rq.idle
}

// Candidates returns what could be picked on c now, as a Decision of OnDecision says it. It is
// valid until the next operation.
func (s *Sched) Candidates(c event.CPU) *Decision {
	rq := s.rqs[c]
	s.fillDecision(rq, rq.curr, rq.curr)
	return &s.decision
}

// Idle returns the idle task of c.
func (s *Sched) Idle(c event.CPU) *Task { return s.rqs[c].idle }

// Equals reports whether another real-time task of p's priority is in the queue of its CPU.
func (s *Sched) Equals(p *Task) bool { return p.class == rtClass && p.rt.run.on && !p.rt.run.alone() }

// The ranks of the classes, in the order in which they are asked.
const (
	RankStop = int(stopClass)
	RankDL   = int(dlClass)
	RankRT   = int(rtClass)
	RankFair = int(fairClass)
	RankIdle = int(idleClass)
)

// Rank returns the class of p by its place in that order.
func (p *Task) Rank() int { return int(p.class) }

// Before reports whether a goes before b whatever their places in their queues: by class, and
// for real-time tasks by priority.
func Before(a, b *Task) bool {
	return a.class < b.class || a.class == b.class && a.class == rtClass && a.prio < b.prio
}

// ForceCPU says where p, which is in no queue, was last.
func (s *Sched) ForceCPU(p *Task, c event.CPU) {
	switch {
	case p.cpu == c || p.OnRQ():
		return
	}
	if p.onRQ {
		s.begin(c)
		s.updateRQClock(s.rqs[p.cpu])
		s.leaveDelayed(s.rqs[p.cpu], p)
	}
	switch {
	case p.State == event.StateNew:
		s.placeNew(p, c)
	default:
		if !p.dl.uncounted {
			s.migrateWoken(p) // the next wake counts its bandwidth there
		}
		if p.class == fairClass {
			s.migrateTaskRQFair(p, c)
		}
		p.cpu, p.wakeCPU = c, c
		s.setTaskRQ(p, c)
	}
}

// ForceReady puts p, which sleeps, into the queue of c as if it had been woken there. It asks
// nobody to make way.
func (s *Sched) ForceReady(p *Task, c event.CPU) {
	s.begin(c)
	if p.OnRQ() {
		return
	}
	s.ForceCPU(p, c)
	p.State = event.StateRunnable
	rq := s.rqs[c]
	s.updateRQClock(rq)
	if p.onRQ {
		s.enqueueTask(rq, p, flagDelayed)
		return
	}
	s.activateTask(rq, p, p.wakeFlags())
}

// ForceAsleep takes p, which waits, out of its queue.
func (s *Sched) ForceAsleep(p *Task, state event.State) {
	s.begin(p.cpu)
	rq := s.rqs[p.cpu]
	if !p.onRQ || rq.curr == p {
		return
	}
	s.updateRQClock(rq)
	p.State = state
	if p.se.delayed {
		s.leaveDelayed(rq, p)
		return
	}
	s.deactivateTask(rq, p, flagSleep|flagSpecial)
}

// ForceMove takes p, which waits, to c.
func (s *Sched) ForceMove(at event.CPU, p *Task, c event.CPU) {
	s.begin(at)
	if p.onRQ && !p.onCPU && p.cpu != c {
		s.moveQueued(at, s.rqs[p.cpu], s.rqs[c], p)
	}
}

// ForceCheck lets the model decide whether p, which has come to its CPU, should have that at
// once.
func (s *Sched) ForceCheck(at event.CPU, p *Task) {
	if p.onRQ && !p.onCPU {
		s.begin(at)
		s.wakeupPreempt(at, s.rqs[p.cpu], p, flagWakeup)
	}
}

// ForceNeedResched sets or clears TIF_NEED_RESCHED of c.
func (s *Sched) ForceNeedResched(c event.CPU, on bool) {
	rq := s.rqs[c]
	rq.needResched = on
	if !on {
		rq.needReschedLazy = false
	}
}

// ForceRTThrottled throttles the real-time tasks of c, or lets them go on.
func (s *Sched) ForceRTThrottled(c event.CPU, on bool) {
	rq := s.rqs[c]
	if rq.rt.throttled == on {
		return
	}
	s.begin(c)
	rq.rt.throttled = on
	s.showGroup(rq, nil)
}

// RTUsed returns what the real-time tasks of c have used of their runtime and not yet repaid,
// and what they may use; ns, noLimit is negative.
func (s *Sched) RTUsed(c event.CPU) (used, may event.Time) {
	return s.rqs[c].rt.time, s.rqs[c].rt.runtime
}

// ForceRTPeriod says that the period timer expires now, whenever the model thought that it
// would.
func (s *Sched) ForceRTPeriod() { s.rtBW.expires = s.host.Now() }

// Serves reports whether the fair server of c would choose what runs next.
func (s *Sched) Serves(c event.CPU) bool {
	rq := s.rqs[c]
	return rq.server.queued() && rq.cfs.hNrRunning > 0
}

// ForcePlace moves p, a real-time task, to the head or to the end of the tasks of its priority.
func (s *Sched) ForcePlace(p *Task, head bool) { s.requeueTaskRT(s.rqs[p.cpu], p, head) }

// ForceTurn ends the turn of p, a real-time task, as that of a SCHED_RR one: who does so is one.
func (s *Sched) ForceTurn(p *Task) {
	if p.class != rtClass || p.Attr.Policy != FIFO && p.Attr.Policy != RR {
		return
	}
	rq := s.rqs[p.cpu]
	if p.Attr.Policy == FIFO {
		p.Attr.Policy = RR
		if p.rt.onRQ && !p.rt.parked {
			rq.rt.rrNrRunning++
		}
	}
	p.rt.timeSlice = s.cfg.RRTimeslice
	s.requeueTaskRT(rq, p, false)
}

// ForceFairServer lets the fair server of c serve, or end. It then has its whole runtime.
func (s *Sched) ForceFairServer(c event.CPU, on bool) {
	rq := s.rqs[c]
	sv := &rq.server
	if sv.task == nil || on == sv.queued() || on && rq.cfs.hNrRunning == 0 {
		return
	}
	s.begin(c)
	s.updateRQClock(rq)
	d := &sv.task.dl
	s.cancelServerTimer(sv)
	sv.armed, sv.active = false, true
	if !on {
		// As if its runtime had been used up.
		d.runtime, d.throttled = 0, true
		s.dequeueServer(rq)
		sv.running = false
		s.newServerPeriod(rq)
		s.startServerTimer(rq)
		return
	}
	d.newPeriod(rq)
	d.throttled, sv.running = false, true
	rq.dl.queue.insert(&d.node, int64(d.deadline))
	rq.dl.nrRunning++
	s.earliestChanged(rq)
}

// ForceServerTimer says that the timer of c's server was started to expire at at and that the
// whole runtime is left: the server waits for the last moment.
func (s *Sched) ForceServerTimer(c event.CPU, at event.Time) {
	rq := s.rqs[c]
	sv := &rq.server
	if sv.task == nil || sv.task.dl.dlRuntime == 0 {
		return
	}
	s.begin(c)
	s.updateRQClock(rq)
	if sv.queued() {
		s.dequeueServer(rq)
	}
	s.cancelServerTimer(sv)
	d := &sv.task.dl
	d.runtime = d.dlRuntime
	d.deadline = at + d.runtime
	sv.active, sv.running, sv.armed, d.throttled = true, false, true, true
	s.setServerTimer(rq, c, at)
}

// ForceReplenish gives p, a deadline task that is throttled, its runtime back.
func (s *Sched) ForceReplenish(p *Task) {
	if p.class != dlClass || !p.dl.throttled {
		return
	}
	s.begin(p.cpu)
	rq := s.rqs[p.cpu]
	s.host.CancelTimer(Timer{Kind: TimerDL, CPU: p.cpu, Task: p})
	s.updateRQClock(rq)
	if !p.onRQ {
		p.dl.replenish(rq)
		return
	}
	s.enqueueTask(rq, p, flagReplenish)
}

// ForceThrottled lets p, a deadline task that waits, wait for its replenishment.
func (s *Sched) ForceThrottled(p *Task) {
	rq := s.rqs[p.cpu]
	if p.class != dlClass || !p.dl.queued() {
		return
	}
	s.begin(p.cpu)
	s.updateRQClock(rq)
	p.dl.throttled = true
	p.dl.runtime = min(p.dl.runtime, 0)
	s.unlinkDL(rq, p)
	s.startDLTimer(rq, p)
}

// ChargeCurrent charges the current task of c up to now; update_curr().
func (s *Sched) ChargeCurrent(c event.CPU) {
	s.begin(c)
	rq := s.rqs[c]
	s.updateRQClock(rq)
	switch rq.curr.class {
	case dlClass:
		s.updateCurrDL(rq)
	case rtClass:
		s.updateCurrRT(rq)
	case fairClass:
		s.updateCurrFair(rq)
	}
}

// ForceInFlight says that n more wakes are on their way to c, on its wake list: until they have come it is not idle.
func (s *Sched) ForceInFlight(c event.CPU, n int) { s.rqs[c].inFlight = max(0, s.rqs[c].inFlight+n) }
