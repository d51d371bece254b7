package sched

import "github.com/whylate/whylate/event"

// This file is about which tasks leave a busy CPU.

// canMigrateTask reports whether p may be moved to the destination; can_migrate_task().
func (s *Sched) canMigrateTask(p *Task, env *lbEnv) bool {
	switch {
	case s.throttledLBPair(p, env):
		env.stayed |= lbThrottled
		return false
	case s.cfg.Fair.DelayedStay && p.se.delayed && env.migration != migrateLoad:
		env.stayed |= lbDelayed
		return false
	case s.cfg.Fair.PerCPUKthreadsStay && p.perCPU:
		return false
	case !p.allowed(env.dst.cpu):
		env.stayed |= lbPinned
		s.notHere(p, env)
		return false
	}
	env.flags &^= lbfAllPinned
	if env.src.curr == p {
		env.stayed |= lbRunning
		return false
	}
	if env.flags&lbfActiveLB != 0 || env.sd.nrBalanceFailed > env.sd.cacheNiceTries || !s.taskHot(p, env) {
		return true
	}
	env.stayed |= lbHot
	return false
}

// notHere notes that p may not run on the destination, and which other CPU of the group could take it.
func (s *Sched) notHere(p *Task, env *lbEnv) {
	env.flags |= lbfSomePinned
	if env.idle == cpuNewlyIdle || env.flags&(lbfDstPinned|lbfActiveLB) != 0 || p.migrateDisabled > 0 {
		return
	}
	for c := env.cpus.nextAnd(env.dstGroup, 0); c != event.NoCPU; c = env.cpus.nextAnd(env.dstGroup, c+1) {
		if p.mask.has(c) {
			env.flags |= lbfDstPinned
			env.newDstCPU = c
			return
		}
	}
}

// throttledLBPair is throttled_lb_pair(): p's group is out of quota on one of the two CPUs. Where tasks are
// throttled one by one those of the source are not in its list.
func (s *Sched) throttledLBPair(p *Task, env *lbEnv) bool {
	return p.group != nil && (p.throttledOn(env.dst) || !s.cfg.Fair.TaskThrottle && p.throttledOn(env.src))
}

// taskHot reports whether p is likely to have its data in the caches of the source: it ran there less than
// sysctl_sched_migration_cost ago, or will soon; task_hot().
func (s *Sched) taskHot(p *Task, env *lbEnv) bool {
	switch {
	case p.class != fairClass, p.Attr.Policy == Idle:
		return false
	case !s.cfg.Fair.LoadBalance411 && env.sd.flags&sdShareCPUCapacity != 0:
		return false // threads of a core share all
	case s.has(CacheHotBuddy) && env.dst.nrRunning > 0 && (p.se.cfsRQ.next == &p.se || p.se.cfsRQ.last == &p.se):
		return true
	}
	cost := s.cfg.Fair.MigrationCost
	return cost < 0 || cost > 0 && env.src.clock-p.execStart < cost
}

// nextToMove is the task that detachTasks looks at after p, nil: at first. From 4.15 on that is who ran
// longest ago, in 4.11 who came last into its queue.
func (s *Sched) nextToMove(rq *RQ, p *Task) *Task {
	switch head := s.cfg.Fair.LoadBalance411; {
	case p == nil && head:
		return rq.cfsTasks
	case p == nil:
		return rq.cfsLast
	case head:
		return p.se.group.next
	}
	return p.se.group.prev
}

// detachTasks takes tasks from the source up to the imbalance into env.tasks; detach_tasks(). Who is
// looked at and stays goes to the other end of the list, so that a later pass looks at others first.
func (s *Sched) detachTasks(env *lbEnv) {
	src := env.src
	env.tasks = env.tasks[:0]
	if src.nrRunning <= 1 {
		env.flags &^= lbfAllPinned
		return
	}
	if env.imbalance <= 0 {
		return
	}
	left := src.nrRunning // of the source, whether they are only asked for or moved
	var last *Task
	for {
		p := s.nextToMove(src, last)
		if p == nil || env.idle != cpuNotIdle && left <= 1 {
			return
		}
		if env.loop++; env.loop > env.loopMax {
			return
		}
		if env.loop > env.loopBreak {
			env.loopBreak += s.cfg.nrMigrateBreak()
			env.flags |= lbfNeedBreak
			return
		}
		s.work.Searched++
		if !s.canMigrateTask(p, env) || !s.takes(p, env) {
			if env.dry {
				last = p
			} else {
				s.toOtherEnd(src, p)
			}
			continue
		}
		left--
		if env.dry {
			last = p
			env.tasks = append(env.tasks, p)
		} else {
			s.detachMoved(p, env)
		}
		if env.imbalance <= 0 || env.idle == cpuNewlyIdle && s.cfg.preemption() {
			return
		}
	}
}

// toOtherEnd moves p to the end of the list where it is looked at last.
func (s *Sched) toOtherEnd(rq *RQ, p *Task) {
	rq.unlinkTask(p)
	if s.cfg.Fair.LoadBalance411 {
		rq.linkTaskLast(p)
		return
	}
	rq.linkTask(p)
}

// takes reports whether p is not too much for the imbalance, and takes it off that.
func (s *Sched) takes(p *Task, env *lbEnv) bool {
	by := int64(1)
	switch {
	case s.cfg.Fair.LoadBalance411:
		by = s.taskHLoad(p)
		if s.has(LBMin) && by < 16 && env.sd.nrBalanceFailed == 0 || by/2 > env.imbalance {
			env.stayed |= lbTooMuch
			return false
		}
	case env.migration == migrateLoad:
		by = max(s.taskHLoad(p), 1)
		if s.has(LBMin) && by < 16 && env.sd.nrBalanceFailed == 0 || shrBound(by, env.sd.nrBalanceFailed) > env.imbalance {
			env.stayed |= lbTooMuch
			return false
		}
	case env.migration == migrateUtil:
		by = int64(s.taskUtilEst(&p.se.avg))
		if shrBound(by, env.sd.nrBalanceFailed) > env.imbalance {
			env.stayed |= lbTooMuch
			return false
		}
	case env.migration == migrateMisfit:
		return false // all CPUs are alike: every task fits
	}
	env.imbalance -= by
	return true
}

// shrBound is shr_bound(): v shifted down, by what it has of digits at most.
func shrBound(v int64, by int) int64 { return v >> min(by, 63) }

// detachMoved takes p out of the queue of the source; detach_task().
func (s *Sched) detachMoved(p *Task, env *lbEnv) {
	p.moving = true
	s.deactivateTask(env.src, p, 0)
	s.setTaskCPU(s.hereOr(env.dst), p, env.dst.cpu)
	env.tasks = append(env.tasks, p)
	if env.pass != nil {
		env.pass.Moved = append(env.pass.Moved, p)
	}
}

// detachOneTask takes one task from the source, nil: there is none; detach_one_task().
func (s *Sched) detachOneTask(env *lbEnv) *Task {
	for p := s.nextToMove(env.src, nil); p != nil; p = s.nextToMove(env.src, p) {
		s.work.Searched++
		if s.canMigrateTask(p, env) {
			s.detachMoved(p, env)
			return p
		}
	}
	return nil
}

// attachTasks puts what was detached into the queue of the destination, the last first; attach_tasks().
func (s *Sched) attachTasks(env *lbEnv) {
	if len(env.tasks) == 0 || env.dry {
		return
	}
	s.updateRQClock(env.dst)
	for i := len(env.tasks) - 1; i >= 0; i-- {
		s.attachMoved(env.dst, env.tasks[i])
		env.tasks[i] = nil
	}
	env.tasks = env.tasks[:0]
}

// attachMoved is attach_task().
func (s *Sched) attachMoved(rq *RQ, p *Task) {
	s.activateTask(rq, p, 0)
	p.moving = false
	s.wakeupPreempt(s.hereOr(rq), rq, p, 0)
}
