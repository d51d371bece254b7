package sched

import (
	"github.com/whylate/whylate/event"
)

// NewTask returns a task that is not runnable yet. The CPUs of affinity are those it may
// use; none means all. Errors are the kernel's verdict on attr.
func (s *Sched) NewTask(pid event.PID, comm event.Name, attr Attr, affinity []event.CPU) (*Task, error) {
	mask, err := s.maskOf(affinity)
	if err != nil {
		return nil, err
	}
	p := &Task{PID: pid, Comm: comm, mask: mask, State: event.StateNew}
	p.Attr = Attr{Policy: Normal}
	p.class, p.prio = fairClass, event.DefaultPrio
	p.cpu = mask.first()
	p.dl.init(p)
	if err := s.setAttr(p, attr); err != nil {
		return nil, err
	}
	return p, nil
}

func (s *Sched) maskOf(affinity []event.CPU) (cpuMask, error) {
	if len(affinity) == 0 {
		return allCPUs(s.cfg.CPUs), nil
	}
	m := newMask(s.cfg.CPUs)
	for _, c := range affinity {
		if c >= 0 && int(c) < s.cfg.CPUs {
			m.set(c)
		}
	}
	if m.count() == 0 {
		return nil, verdict(ErrInval, "none of the CPUs exists")
	}
	return m, nil
}

// WakeUpNewTask makes a new task runnable for the first time; wake_up_new_task(). It
// starts on the CPU of its parent where it may.
func (s *Sched) WakeUpNewTask(from event.CPU, p *Task) Work {
	s.begin()
	p.State = event.StateRunnable
	cpu := from
	if !p.allowed(cpu) {
		cpu = p.mask.first()
	}
	p.cpu = cpu
	if c := s.selectTaskRQ(from, p, true); c != cpu {
		p.cpu = c
	}
	rq := s.rqs[p.cpu]
	s.updateRQClock(rq)
	s.activateTask(rq, p, enqueueWakeup)
	s.emitWake(from, event.SchedWakeupNew, p)
	s.wakeupPreempt(from, rq, p)
	s.taskWoken(from, rq, p)
	return s.work
}

// TryToWakeUp makes p runnable; try_to_wake_up(). It reports false for a task that was
// runnable already. from is the CPU on which the wake is executed.
func (s *Sched) TryToWakeUp(from event.CPU, p *Task) (bool, Work) {
	s.begin()
	if p.State == event.StateRunnable || p.State.Dead() || p.State == event.StateNew {
		return false, s.work
	}
	s.emitWaking(from, p)
	if p.onRQ {
		// It has said that it will sleep and not come to it; ttwu_runnable().
		p.State = event.StateRunnable
		s.emitWake(from, event.SchedWakeup, p)
		return true, s.work
	}
	p.State = event.StateRunnable
	if c := s.selectTaskRQ(from, p, false); c != p.cpu {
		s.setTaskCPU(from, p, c)
	}
	rq := s.rqs[p.cpu]
	s.updateRQClock(rq)
	s.activateTask(rq, p, enqueueWakeup)
	s.emitWake(from, event.SchedWakeup, p)
	s.wakeupPreempt(from, rq, p)
	s.taskWoken(from, rq, p)
	return true, s.work
}

// selectTaskRQ asks the class where p should run; select_task_rq(). A CPU that p may not
// use is replaced by the first that it may.
func (s *Sched) selectTaskRQ(from event.CPU, p *Task, fork bool) event.CPU {
	cpu := p.cpu
	if p.nrCPUsAllowed() > 1 && p.migrateDisabled == 0 {
		switch p.class {
		case dlClass:
			cpu = s.selectTaskRQDL(from, p)
		case rtClass:
			cpu = s.selectTaskRQRT(from, p)
		case fairClass:
			cpu = s.selectTaskRQFair(from, p, fork)
		}
	}
	if !p.allowed(cpu) {
		cpu = p.mask.first()
	}
	return cpu
}

// setTaskCPU moves p, which is in no queue, to c; set_task_cpu().
func (s *Sched) setTaskCPU(at event.CPU, p *Task, c event.CPU) {
	if p.cpu == c {
		return
	}
	s.work.Migrations++
	s.emitMigrate(at, p, c)
	if p.class == dlClass {
		s.migrateTaskDL(p, c)
	}
	p.cpu = c
}

// wakeupPreempt decides whether p, newly in the queue, should have the CPU at once;
// wakeup_preempt(), check_preempt_curr() before 6.8.
func (s *Sched) wakeupPreempt(from event.CPU, rq *RQ, p *Task) {
	switch {
	case p.class < rq.curr.class:
		s.reschedCurr(from, rq)
	case p.class > rq.curr.class:
	case p.class == dlClass:
		s.wakeupPreemptDL(from, rq, p)
	case p.class == rtClass:
		s.wakeupPreemptRT(from, rq, p)
	case p.class == fairClass:
		s.wakeupPreemptFair(from, rq, p)
	}
}

// taskWoken lets the class push a task that has to wait elsewhere; task_woken().
func (s *Sched) taskWoken(from event.CPU, rq *RQ, p *Task) {
	switch p.class {
	case dlClass:
		s.taskWokenDL(from, rq, p)
	case rtClass:
		s.taskWokenRT(from, rq, p)
	}
}

// Block says that the current task of c will sleep in the given state at the next
// Schedule; set_current_state(). A wake before that takes it back.
func (s *Sched) Block(c event.CPU, state event.State) {
	s.rqs[c].curr.State = state
}

// Schedule chooses what c runs next and switches to it; __schedule(). preempt says that
// the current task did not ask for it: then it stays runnable whatever its state.
func (s *Sched) Schedule(c event.CPU, preempt bool) Work {
	s.begin()
	rq := s.rqs[c]
	prev := rq.curr
	s.updateRQClock(rq)
	state := prev.State
	if !preempt && state != event.StateRunnable && prev != rq.idle {
		s.deactivateTask(rq, prev, dequeueSleep)
	}
	next := s.pickNextTask(rq, prev)
	rq.needResched = false
	if next != prev {
		rq.nrSwitches++
		s.work.Switches++
		if preempt && state != event.StateRunnable {
			state = event.StatePreempted
		} else if preempt && prev != rq.idle {
			state = event.StateRunnable
		}
		if prev == rq.idle {
			state = event.StateRunnable
		}
		s.emitSwitch(c, prev, next, state)
		prev.onCPU, next.onCPU = false, true
		rq.curr = next
	}
	s.balanceCallbacks(rq)
	return s.work
}

// pickNextTask asks the classes in their order; pick_next_task().
func (s *Sched) pickNextTask(rq *RQ, prev *Task) *Task {
	s.work.Picks++
	s.balance(rq, prev)
	s.putPrevTask(rq, prev)
	next := rq.idle
	switch {
	case rq.stop != nil:
		next = rq.stop
	case rq.dl.nrRunning > 0:
		next = rq.dl.first()
	case rq.rt.nrRunning > 0:
		next = rq.rt.first()
	case rq.cfs.nrRunning > 0:
		next = rq.cfs.first()
	}
	s.setNextTask(rq, next, true)
	return next
}

// balance pulls tasks from elsewhere where prev, which goes, leaves its class dry, from
// its class downwards until something is runnable; put_prev_task_balance().
func (s *Sched) balance(rq *RQ, prev *Task) {
	if prev.class == dlClass {
		if !prev.dl.queued {
			s.pullDLTask(rq)
		}
		if rq.stop != nil || rq.dl.nrRunning > 0 {
			return
		}
	}
	if prev.class == dlClass || prev.class == rtClass {
		if !prev.rt.queued && rq.rt.highest() > prev.prio {
			s.pullRTTask(rq)
		}
	}
}

func (s *Sched) putPrevTask(rq *RQ, prev *Task) {
	switch prev.class {
	case dlClass:
		s.putPrevTaskDL(rq, prev)
	case rtClass:
		s.putPrevTaskRT(rq, prev)
	case fairClass:
		s.putPrevTaskFair(rq, prev)
	case stopClass:
		s.charge(rq, prev)
	}
}

func (s *Sched) setNextTask(rq *RQ, next *Task, first bool) {
	next.execStart = rq.clock
	switch next.class {
	case dlClass:
		s.setNextTaskDL(rq, next, first)
	case rtClass:
		s.setNextTaskRT(rq, next, first)
	case fairClass:
		s.setNextTaskFair(rq, next)
	}
}

// balanceCallbacks pushes what the pick left waiting; balance_callbacks().
func (s *Sched) balanceCallbacks(rq *RQ) {
	if rq.pushDL {
		rq.pushDL = false
		for s.pushDLTask(rq.cpu, rq) {
		}
	}
	if rq.pushRT {
		rq.pushRT = false
		for s.pushRTTask(rq.cpu, rq) {
		}
	}
}

// SchedulerTick is the tick of c; scheduler_tick(), sched_tick() from 6.10.
func (s *Sched) SchedulerTick(c event.CPU) Work {
	s.begin()
	rq := s.rqs[c]
	s.updateRQClock(rq)
	switch rq.curr.class {
	case dlClass:
		s.updateCurrDL(rq)
	case rtClass:
		s.taskTickRT(rq, rq.curr)
	case fairClass:
		s.taskTickFair(rq, rq.curr)
	case stopClass:
		s.charge(rq, rq.curr)
	}
	return s.work
}

// Yield is sched_yield(2) of the current task of c; the caller schedules afterwards.
func (s *Sched) Yield(c event.CPU) Work {
	s.begin()
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
	s.begin()
	switch t.Kind {
	case TimerDL:
		s.dlTaskTimer(at, t.Task)
	case TimerInactive:
		s.inactiveTaskTimer(t.Task)
	case TimerHRTick:
		s.hrtick(s.rqs[t.CPU])
	}
	return s.work
}

// hrtick is the tick that was set for the moment at which the current task's time is up.
func (s *Sched) hrtick(rq *RQ) {
	s.updateRQClock(rq)
	switch rq.curr.class {
	case dlClass:
		s.updateCurrDL(rq)
	case fairClass:
		s.taskTickFair(rq, rq.curr)
	}
}
