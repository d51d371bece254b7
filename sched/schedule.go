package sched

import "github.com/whylate/whylate/event"

// Block says that the current task of c will sleep in the given state at the next
// Schedule; set_current_state(). A wake before that takes it back.
func (s *Sched) Block(c event.CPU, state event.State) {
	s.rqs[c].curr.State = state
}

// Schedule chooses what c runs next and switches to it; __schedule(). preempt says that
// the kernel made the current task leave inside the kernel (SM_PREEMPT): then it stays
// runnable whatever its state, and its prev_state is R+. A task that leaves on its way to
// user mode does so as if by itself, with R.
func (s *Sched) Schedule(c event.CPU, preempt bool) Work {
	s.begin(c)
	rq := s.rqs[c]
	prev := rq.curr
	if s.cfg.HRTick || s.cfg.HRTickDL {
		s.host.CancelTimer(Timer{Kind: TimerHRTick, CPU: c})
		rq.hrtickOn = false
	}
	s.updateRQClock(rq)
	if prev == rq.idle {
		s.updateCPULoadNohz(rq)
	}
	state := prev.State
	if preempt {
		state = event.StatePreempted
	} else if state != event.StateRunnable {
		s.deactivateTask(rq, prev, sleepFlags(state))
	}
	next := s.pickNextTask(rq, prev)
	rq.needResched, rq.needReschedLazy, rq.inIdle = false, false, false
	if next != prev {
		s.work.Switches++
		s.emitSwitch(c, prev, next, state)
		prev.leftPinned = prev.migrateDisabled > 0 // migrate_disable_switch()
		prev.onCPU, next.onCPU = false, true
		rq.curr = next
		if next == rq.idle {
			s.updateCPULoadStop(rq)
		}
		if prev.class == fairClass && prev.State.Dead() && !preempt {
			s.taskDeadFair(prev)
		}
	}
	s.balanceCallbacks(c, rq)
	return s.work
}

// specialStates are those in which a wake that nobody meant would do harm:
// is_special_task_state(). Who sleeps in one leaves its queue at once.
const specialStates = event.StateStopped | event.StateTraced | event.StateDead | event.StateZombie | event.StateDeadOld | event.StateParked

// sleepFlags are those with which a task leaves that sleeps in state.
func sleepFlags(state event.State) flags {
	if state&specialStates != 0 {
		return flagSleep | flagSpecial
	}
	return flagSleep
}

// pickNextTask asks the classes in their order; pick_next_task().
func (s *Sched) pickNextTask(rq *RQ, prev *Task) *Task {
	s.work.Picks++
	s.balance(rq, prev)
	// A fair task that goes takes part in the choice as the current one, before 6.12 where only fair tasks
	// are runnable.
	put := prev.class != fairClass || !s.cfg.Fair.PickFirst && rq.nrRunning != rq.cfs.hNrRunning
	before := s.work.FairWork
	s.work.Left = int(prev.class)
	if put && !s.deferPutPrev(rq, prev) {
		s.putPrevTask(rq, prev)
	}
	if next := s.resume(rq); next != nil {
		return next
	}
	inFront := s.work.FairWork.less(&before)
	next := s.firstRunnable(rq, prev)
	if next == nil && s.newidleBalance(rq) {
		next = s.firstRunnable(rq, prev)
	}
	if next == nil {
		next = rq.idle
	}
	if s.follow != nil {
		next = s.follow.Pick(rq.cpu, prev, next)
	}
	if s.decide != nil {
		s.tell(rq, prev, next)
	}
	if !put && next.class == fairClass {
		next.execStart = rq.clock
		s.switchFair(rq, prev, next)
		return next
	}
	if !put {
		before = s.work.FairWork
		if !s.deferPutPrev(rq, prev) {
			s.putPrevTask(rq, prev)
		}
		inFront = s.work.FairWork.less(&before)
	}
	if next.class == rtClass {
		s.work.RTPicks++
		s.work.InFront = inFront
	}
	s.setNextTask(rq, next, true)
	return next
}

// firstRunnable returns the first task of the first class that has one, nil for none;
// __pick_next_task(). After a fair task or idleness, where only fair tasks are runnable, no
// other class is asked.
func (s *Sched) firstRunnable(rq *RQ, prev *Task) *Task {
	switch {
	case prev.class >= fairClass && rq.nrRunning == rq.cfs.hNrRunning:
		return s.pickTaskFair(rq)
	case rq.stop != nil && rq.stop.onRQ:
		return rq.stop
	}
	for rq.dl.nrRunning > 0 {
		p := rq.dl.queue.head()
		if p != rq.server.task {
			return p
		}
		if rq.deferred != nil {
			s.settlePutPrev(rq) // it may use up what the server has left
			continue
		}
		if fair := s.pickTaskFair(rq); fair != nil {
			if !rq.server.queued() {
				continue // the charge within the choice has used up its runtime
			}
			return fair
		}
		s.dlServerStop(rq)
	}
	switch {
	case rq.rt.queued:
		return rq.rt.active.first()
	}
	return s.pickTaskFair(rq)
}

// balance pulls tasks from elsewhere where prev, which goes, leaves its class dry, from
// its class downwards until something is runnable; put_prev_task_balance(). Idle and fair
// tasks leave nothing to pull for.
func (s *Sched) balance(rq *RQ, prev *Task) {
	if prev.class > rtClass {
		return
	}
	stop := rq.stop != nil && rq.stop.onRQ
	if prev.class == stopClass && stop {
		return
	}
	if prev.class <= dlClass {
		if prev.class == dlClass && !prev.dl.queued() {
			s.pullDLTask(rq)
		}
		if stop || rq.dl.nrRunning > 0 {
			return
		}
	}
	if !prev.rt.onRQ && rq.rt.highest() > prev.prio {
		s.pullRTTask(rq)
	}
}

func (s *Sched) putPrevTask(rq *RQ, prev *Task) {
	s.classLeaves(rq, prev.class)
	switch prev.class {
	case dlClass:
		s.putPrevTaskDL(rq, prev)
	case rtClass:
		s.putPrevTaskRT(rq, prev)
	case fairClass:
		s.putPrevTaskFair(rq, prev)
	case idleClass:
		s.dlServerUpdateIdle(rq, prev)
	case stopClass:
		s.charge(rq, prev)
	}
}

func (s *Sched) setNextTask(rq *RQ, next *Task, first bool) {
	next.execStart = rq.clock
	if first {
		s.classComes(rq, next.class)
	}
	switch next.class {
	case dlClass:
		s.setNextTaskDL(rq, next, first)
	case rtClass:
		s.setNextTaskRT(rq, next, first)
	case fairClass:
		s.setNextTaskFair(rq, next, first)
	case idleClass:
		s.updateIdleCore(rq)
	}
}

// balanceCallbacks pushes and pulls what an operation left to do; balance_callbacks().
func (s *Sched) balanceCallbacks(from event.CPU, rq *RQ) {
	for rq.callbacks != 0 {
		f := rq.callbacks
		rq.callbacks = 0
		if f&pullDLTasks != 0 {
			s.pullDLTask(rq)
		}
		if f&pullRTTasks != 0 {
			s.pullRTTask(rq)
		}
		if f&pushDLTasks != 0 {
			s.pushDLTasks(from, rq)
		}
		if f&pushRTTasks != 0 {
			s.pushRTTasks(from, rq)
		}
	}
}

// SchedulerTick is the tick of c; scheduler_tick(), sched_tick() from 6.10.
func (s *Sched) SchedulerTick(c event.CPU) Work {
	s.begin(c)
	rq := s.rqs[c]
	s.updateRQClock(rq)
	if rq.needReschedLazy {
		s.reschedCurr(c, rq) // it had its time to leave by itself
	}
	switch rq.curr.class {
	case dlClass:
		s.taskTickDL(rq, rq.curr, false)
	case rtClass:
		s.taskTickRT(rq, rq.curr)
	case fairClass:
		s.taskTickFair(rq, rq.curr, false)
	}
	s.classLeaves(rq, rq.curr.class)
	s.updateCPULoadActive(rq)
	s.checkDLOverrun(rq)
	switch {
	case s.balances(), s.passesTold && !s.standIn():
		s.triggerLoadBalance(rq)
	case s.standIn():
		s.kickIdle(rq)
	default:
		s.tickBlocked(rq.clock)
	}
	return s.work
}

// hrtick is the tick that was set for the moment at which the current task's time is up.
func (s *Sched) hrtick(rq *RQ) {
	rq.hrtickOn = false
	s.updateRQClock(rq)
	switch rq.curr.class {
	case dlClass:
		s.taskTickDL(rq, rq.curr, true)
	case fairClass:
		s.taskTickFair(rq, rq.curr, true)
	}
}

// leastHRTick is the shortest time that an hrtick is set for; hrtick_start().
const leastHRTick event.Time = 10_000

// startHRTick is hrtick_start().
func (s *Sched) startHRTick(rq *RQ, delay event.Time) {
	rq.hrtickOn = true
	s.host.SetTimer(Timer{Kind: TimerHRTick, CPU: rq.cpu}, s.host.Now()+max(delay, leastHRTick))
}

// CanStopTick reports whether the current task of c needs no tick: nobody waits whom the
// tick would help; sched_can_stop_tick(). It is asked where NO_HZ_FULL is on.
func (s *Sched) CanStopTick(c event.CPU) bool {
	rq := s.rqs[c]
	switch {
	case rq.dl.nrRunning > 0:
		return false
	case rq.rt.rrNrRunning > 0:
		return rq.rt.rrNrRunning == 1
	case rq.rt.nrRunning > 0:
		return true
	}
	return rq.cfs.hNrRunning <= 1 && !(s.cfg.Fair.QuotaKeepsTick && rq.curr.quotaConstrained())
}

// Yield is sched_yield(2) of the current task of c; the caller schedules afterwards.
func (s *Sched) Yield(c event.CPU) Work {
	s.begin(c)
	rq := s.rqs[c]
	s.updateRQClock(rq)
	switch rq.curr.class {
	case dlClass:
		s.yieldTaskDL(rq)
	case rtClass:
		s.requeueTaskRT(rq, rq.curr, false)
	case fairClass:
		s.yieldTaskFair(rq)
	}
	return s.work
}

// TimerExpired tells the scheduler that one of its timers has expired; at is the CPU that
// serves it.
func (s *Sched) TimerExpired(at event.CPU, t Timer) Work {
	s.begin(at)
	switch t.Kind {
	case TimerDL:
		s.dlTaskTimer(at, t.Task)
	case TimerInactive:
		s.inactiveTaskTimer(t.Task)
	case TimerHRTick:
		s.hrtick(s.rqs[t.CPU])
	case TimerRTPeriod:
		if s.cfg.RTPeriod <= 0 {
			break // who follows a trace may see one that this kernel does not have
		}
		s.schedRTPeriodTimer(at, t.Group)
	case TimerCFSPeriod:
		s.schedCfsPeriodTimer(at, s.groups[t.Group-1])
	case TimerCFSSlack:
		s.schedCfsSlackTimer(s.groups[t.Group-1])
	}
	return s.work
}

// Exit ends the current task of c: the next Schedule switches it out for the last time.
func (s *Sched) Exit(c event.CPU, state event.State) {
	p := s.rqs[c].curr
	p.countIn(-1)
	p.State = state
	if p.Attr.Policy == Deadline {
		s.host.CancelTimer(Timer{Kind: TimerDL, CPU: p.cpu, Task: p})
	}
}
