package sched

import "github.com/whylate/whylate/event"

// NewTask returns a task that is not runnable yet. The CPUs of affinity are those it may
// use; none means all. Errors are the kernel's verdict on attr.
func (s *Sched) NewTask(pid event.PID, comm event.Name, attr Attr, affinity []event.CPU) (*Task, error) {
	mask, err := s.maskOf(affinity)
	if err != nil {
		return nil, err
	}
	p := &Task{PID: pid, Comm: comm, State: event.StateNew, moveTo: event.NoCPU, pushedAt: event.NoTime}
	p.setMask(mask)
	p.Attr = Attr{Policy: Normal}
	p.class, p.prio = fairClass, event.DefaultPrio
	p.cpu = mask.first()
	p.wakeCPU = p.cpu
	p.rt.run.task, p.rt.push.task = p, p
	p.rt.timeSlice = s.cfg.RRTimeslice
	p.dl.init(p)
	p.se.initTask(p, &s.rqs[p.cpu].cfs)
	p.se.load, p.se.slice = weightOf(&p.Attr), s.cfg.Fair.BaseSlice
	s.initEntityLoad(&p.se)
	if err := s.setScheduler(0, p, attr, true); err != nil {
		return nil, err
	}
	return p, nil
}

// WakeUpNewTask makes a new task runnable for the first time; wake_up_new_task(). It
// starts on the CPU of its parent unless its class finds it a better one.
func (s *Sched) WakeUpNewTask(from event.CPU, p *Task) Work {
	s.begin(from)
	if p.State != event.StateNew {
		return s.work
	}
	s.taskForkFair(from, p)
	p.State = event.StateRunnable
	cpu := from
	if !p.allowed(cpu) {
		cpu = p.mask.first()
	}
	s.placeNew(p, cpu)
	s.inheritWakees(p, cpu)
	s.placeNew(p, s.selectTaskRQ(from, p, cpu, WakeFork))
	rq := s.rqs[p.cpu]
	s.updateRQClock(rq)
	s.postInitEntityUtilAvg(p)
	f := flagInitial
	if p.class != fairClass {
		f = flagWakeup
	}
	s.activateTask(rq, p, f)
	s.emitWake(from, event.SchedWakeupNew, p)
	s.wakeupPreempt(from, rq, p, flagFork)
	s.taskWoken(from, rq, p)
	return s.work
}

// placeNew is __set_task_cpu() for a task that was in no queue yet: that is no migration.
func (s *Sched) placeNew(p *Task, c event.CPU) {
	if p.Attr.Policy == Deadline && p.cpu != c {
		s.rqs[p.cpu].dl.subThisBW(p.dl.bw())
		s.rqs[c].dl.addThisBW(p.dl.bw())
	}
	p.cpu, p.wakeCPU = c, c
	s.setTaskRQ(p, c)
}

// TryToWakeUp makes p runnable; try_to_wake_up(). It reports false for a task that was
// runnable already. from is the CPU on which the wake is executed.
func (s *Sched) TryToWakeUp(from event.CPU, p *Task) (bool, Work) { return s.WakeUp(from, p, 0) }

// WakeUp is TryToWakeUp by who is about to sleep, or by an interrupt.
func (s *Sched) WakeUp(from event.CPU, p *Task, f WakeFlags) (bool, Work) {
	s.begin(from)
	woken := s.ttwu(from, p, f|wakeTTWU)
	return woken, s.work
}

// notAsleep are the states in which a wake finds nothing to do.
const notAsleep = event.StateDead | event.StateZombie | event.StateDeadOld | event.StateNew | event.StateWaking

func (s *Sched) ttwu(from event.CPU, p *Task, f WakeFlags) bool {
	if p.State == event.StateRunnable || p.State&notAsleep != 0 {
		return false
	}
	s.emitWaking(from, p)
	if p.onRQ {
		s.ttwuRunnable(from, p)
		return true
	}
	p.State = event.StateWaking
	if c := s.selectTaskRQ(from, p, p.wakeCPU, f); c != p.cpu {
		s.migrateWoken(p)
		s.setTaskCPU(from, p, c)
	}
	rq := s.rqs[p.cpu]
	if s.cfg.TTWUQueue && s.ttwuQueueCond(from, rq) {
		s.idle.clear(rq.cpu)
		if rq.wakeList = append(rq.wakeList, p); len(rq.wakeList) == 1 {
			s.host.KickWakeList(from, rq.cpu)
		}
		return true
	}
	s.updateRQClock(rq)
	s.ttwuDoActivate(from, rq, p)
	return true
}

// ttwuRunnable wakes a task that has said that it will sleep and not come to it, or is delayed;
// ttwu_runnable().
func (s *Sched) ttwuRunnable(from event.CPU, p *Task) {
	rq := s.rqs[p.cpu]
	s.updateRQClock(rq)
	if p.se.delayed {
		s.enqueueTask(rq, p, flagDelayed)
	}
	if rq.curr != p {
		s.wakeupPreempt(from, rq, p, flagWakeup)
	}
	p.State = event.StateRunnable
	s.emitWake(from, event.SchedWakeup, p)
	if rq.curr != p {
		s.taskWoken(from, rq, p)
	}
}

// ttwuDoActivate is ttwu_do_activate(): the preemption is decided before the event.
func (s *Sched) ttwuDoActivate(from event.CPU, rq *RQ, p *Task) {
	s.activateTask(rq, p, p.wakeFlags())
	s.wakeupPreempt(from, rq, p, flagWakeup)
	p.State = event.StateRunnable
	s.emitWake(from, event.SchedWakeup, p)
	s.taskWoken(from, rq, p)
	s.updateAvgIdle(rq)
}

// wakeFlags are those with which a woken task comes into its queue.
func (p *Task) wakeFlags() flags {
	if !p.migrated {
		return flagWakeup
	}
	p.migrated = false
	return flagWakeup | flagMigrated
}

// ttwuQueueCond reports whether the wake should be finished by the target: it does not
// share this CPU's cache, or it is idle; ttwu_queue_cond().
func (s *Sched) ttwuQueueCond(from event.CPU, rq *RQ) bool {
	if !s.cpusShareCache(from, rq.cpu) {
		return true
	}
	return from != rq.cpu && rq.nrRunning == 0
}

// WakeList finishes the wakes that others left to c, in an interrupt of c;
// sched_ttwu_pending().
func (s *Sched) WakeList(c event.CPU) Work {
	s.begin(c)
	rq := s.rqs[c]
	s.updateRQClock(rq)
	for i, p := range rq.wakeList {
		rq.wakeList[i] = nil
		s.ttwuDoActivate(c, rq, p)
	}
	rq.wakeList = rq.wakeList[:0]
	if rq.nrRunning == 0 {
		s.idle.set(c) // a throttled task came
	}
	return s.work
}

// selectTaskRQ asks the class where p should run; select_task_rq(). Where somebody follows a
// recorded scheduler that says it.
func (s *Sched) selectTaskRQ(from event.CPU, p *Task, cpu event.CPU, f WakeFlags) event.CPU {
	if s.follow != nil {
		return s.follow.Place(p)
	}
	return s.chooseTaskRQ(from, p, cpu, f)
}

// chooseTaskRQ is the model's own choice. A CPU that p may not use is replaced by one
// that it may.
func (s *Sched) chooseTaskRQ(from event.CPU, p *Task, cpu event.CPU, f WakeFlags) event.CPU {
	switch {
	case p.migrateDisabled > 0:
		return p.cpu
	case p.nrAllowed == 1:
		return p.mask.first()
	}
	switch p.class {
	case dlClass:
		if f&WakeExec == 0 {
			cpu = s.selectTaskRQDL(from, p, cpu, f&WakeFork != 0)
		}
	case rtClass:
		if f&WakeExec == 0 {
			cpu = s.selectTaskRQRT(from, p, cpu)
		}
	case fairClass:
		cpu = s.selectTaskRQFair(from, p, cpu, f)
	}
	if !p.mask.has(cpu) {
		return s.fallbackRQ(p)
	}
	return cpu
}

// fallbackRQ is select_fallback_rq(): the first CPU that p may use of the node where it was, else of all.
func (s *Sched) fallbackRQ(p *Task) event.CPU {
	for c := p.mask.first(); c != event.NoCPU; c = p.mask.next(c + 1) {
		if s.nodeOf(c) == s.nodeOf(p.cpu) {
			return c
		}
	}
	return p.mask.first()
}

// setTaskCPU moves p, which is in no queue, to c; set_task_cpu().
func (s *Sched) setTaskCPU(at event.CPU, p *Task, c event.CPU) {
	p.wakeCPU = c
	if p.cpu == c {
		return
	}
	s.work.Migrations++
	s.emitMigrate(at, p, c)
	if p.class == fairClass {
		s.migrateTaskRQFair(p, c)
	}
	p.cpu = c
	s.setTaskRQ(p, c)
}

// wakeupPreempt decides whether p, newly in the queue, should have the CPU at once;
// wakeup_preempt(), check_preempt_curr() before 6.8.
func (s *Sched) wakeupPreempt(from event.CPU, rq *RQ, p *Task, f flags) {
	switch {
	case p.class < rq.curr.class:
		s.reschedCurr(from, rq)
	case p.class > rq.curr.class:
	case p.class == dlClass:
		s.wakeupPreemptDL(from, rq, p)
	case p.class == rtClass:
		s.wakeupPreemptRT(from, rq, p)
	case p.class == fairClass:
		s.wakeupPreemptFair(from, rq, p, f)
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
