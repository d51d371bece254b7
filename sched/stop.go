package sched

import "github.com/whylate/whylate/event"

// stopWork is something that the stopper of a CPU should do with a task.
type stopWork struct {
	task   *Task
	push   bool // push_cpu_stop(); else migration_cpu_stop()
	active bool // active_load_balance_cpu_stop()
	exec   bool // migration_cpu_stop() for sched_exec(), to CPU to
	to     event.CPU
}

// NewStopper returns migration/N of c, asleep. The host makes it when Host.Stopper asks
// for the first time; comm is its name.
func (s *Sched) NewStopper(c event.CPU, pid event.PID, comm event.Name) *Task {
	t := s.newTask(pid, comm, stopPolicy, c)
	t.prio, t.class, t.State = 0, stopClass, event.StateSleeping
	s.rqs[c].stop = t
	return t
}

// stopOneCPU hands work to the stopper of rq and wakes it; stop_one_cpu_nowait().
func (s *Sched) stopOneCPU(from event.CPU, rq *RQ, w stopWork) {
	if s.follow != nil {
		return // what it did is in the recording
	}
	stopper := rq.stop
	if stopper == nil {
		stopper = s.host.Stopper(rq.cpu)
	}
	rq.stopWorks = append(rq.stopWorks, w)
	s.ttwu(from, stopper, wakeTTWU)
}

// pushCurrent asks the stopper of rq to push the current task away, so that one which
// cannot move gets the CPU; get_push_task() and push_cpu_stop(). Between two CPUs that
// both have such a task the kernel can push one to and fro; where that takes no time it
// would never end, so a task is pushed once at a moment.
func (s *Sched) pushCurrent(from event.CPU, rq *RQ) {
	p := rq.curr
	if rq.pushBusy || p.nrAllowed == 1 || p.migrateDisabled > 0 || p.pushedAt == s.host.Now() {
		return
	}
	rq.pushBusy = true
	s.stopOneCPU(from, rq, stopWork{task: p, push: true})
}

// RunStopWork does one piece of work as the stopper of c, which is current there, and
// reports whether there was one; cpu_stopper_thread().
func (s *Sched) RunStopWork(c event.CPU) (bool, Work) {
	s.begin(c)
	rq := s.rqs[c]
	if len(rq.stopWorks) == 0 {
		return false, s.work
	}
	w := rq.stopWorks[0]
	n := copy(rq.stopWorks, rq.stopWorks[1:])
	rq.stopWorks[n] = stopWork{}
	rq.stopWorks = rq.stopWorks[:n]
	s.updateRQClock(rq)
	switch {
	case w.active:
		s.activeLoadBalance(rq)
	case w.exec:
		if p := w.task; p.cpu == c && p.onRQ && p.allowed(w.to) {
			s.moveTo(c, rq, p, w.to)
		}
	case w.push:
		s.pushCPUStop(rq, w.task)
	default:
		s.migrationCPUStop(rq, w.task)
	}
	return true, s.work
}

// pushCPUStop is push_cpu_stop().
func (s *Sched) pushCPUStop(rq *RQ, p *Task) {
	rq.pushBusy = false
	if p.cpu != rq.cpu {
		return
	}
	if p.migrateDisabled > 0 {
		p.pushWanted = true
		return
	}
	p.pushWanted = false
	if !p.onRQ || p == rq.curr {
		return
	}
	var to *RQ
	switch {
	case p.class == rtClass:
		to = s.findLockLowestRQ(rq.cpu, rq, p)
	case p.class == dlClass && !p.dl.throttled:
		to = s.findLockLaterRQ(rq.cpu, rq, p)
	}
	if to != nil {
		p.pushedAt = rq.clock
		s.moveQueued(rq.cpu, rq, to, p)
		s.reschedCurr(rq.cpu, to)
	}
}

// migrationCPUStop brings p to the CPU that it was meant for; migration_cpu_stop().
func (s *Sched) migrationCPUStop(rq *RQ, p *Task) {
	switch {
	case p.cpu != rq.cpu:
		if p.moveTo != event.NoCPU && !p.allowed(p.cpu) {
			s.stopOneCPU(rq.cpu, s.rqs[p.cpu], stopWork{task: p}) // it moved meanwhile: after it
			return
		}
	case p.migrateDisabled > 0:
		return // migrate_enable() comes back to it
	case p.mask.has(p.cpu) || !p.mask.has(p.moveTo):
	case p.onRQ:
		s.moveTo(rq.cpu, rq, p, p.moveTo)
	default:
		p.wakeCPU = p.moveTo
	}
	p.moveTo = event.NoCPU
}

// moveTo is move_queued_task().
func (s *Sched) moveTo(from event.CPU, rq *RQ, p *Task, c event.CPU) {
	to := s.rqs[c]
	s.moveQueued(from, rq, to, p)
	s.wakeupPreempt(from, to, p, 0)
}
