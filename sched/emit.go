package sched

import "github.com/whylate/whylate/event"

// newEvent returns the one event that all tracepoints fill in turn, so that none is
// allocated.
func (s *Sched) newEvent() *event.Event {
	s.ev.Reset()
	return &s.ev
}

// emitSwitch is the tracepoint sched_switch. Its stamp lies before the switch itself.
func (s *Sched) emitSwitch(c event.CPU, prev, next *Task, state event.State) {
	if s.cfg.Quiet {
		return
	}
	ev := s.newEvent()
	ev.Kind = event.SchedSwitch
	ev.Task, ev.TaskComm, ev.TaskPrio, ev.State = prev.PID, prev.Comm, prev.prio, state
	ev.Next, ev.NextComm, ev.NextPrio = next.PID, next.Comm, next.prio
	s.host.Emit(c, ev)
}

// emitWaking is sched_waking: before placement, so target_cpu is where the task last was.
func (s *Sched) emitWaking(c event.CPU, p *Task) {
	if s.cfg.Quiet {
		return
	}
	ev := s.newEvent()
	ev.Kind = event.SchedWaking
	ev.Task, ev.TaskComm, ev.TaskPrio, ev.Target = p.PID, p.Comm, p.prio, p.cpu
	s.host.Emit(c, ev)
}

// emitWake is sched_wakeup or sched_wakeup_new: after the enqueue.
func (s *Sched) emitWake(c event.CPU, k event.Kind, p *Task) {
	if s.cfg.Quiet {
		return
	}
	ev := s.newEvent()
	ev.Kind = k
	ev.Task, ev.TaskComm, ev.TaskPrio, ev.Target, ev.Arg = p.PID, p.Comm, p.prio, p.cpu, 1
	s.host.Emit(c, ev)
}

func (s *Sched) emitMigrate(c event.CPU, p *Task, to event.CPU) {
	if s.cfg.Quiet {
		return
	}
	ev := s.newEvent()
	ev.Kind = event.SchedMigrateTask
	ev.Task, ev.TaskComm, ev.TaskPrio, ev.Orig, ev.Target = p.PID, p.Comm, p.prio, p.cpu, to
	s.host.Emit(c, ev)
}

func (s *Sched) emitSetprio(c event.CPU, p *Task, old, now event.Prio) {
	if s.cfg.Quiet {
		return
	}
	ev := s.newEvent()
	ev.Kind = event.SchedPISetprio
	ev.Task, ev.TaskComm, ev.TaskPrio, ev.NextPrio = p.PID, p.Comm, old, now
	s.host.Emit(c, ev)
}

// emitRuntime is sched_stat_runtime. vruntime is 0 for real-time tasks; up to 5.15, which
// the model takes for kernels without StatRuntimeRT, and from 6.8 on it is not told.
func (s *Sched) emitRuntime(c event.CPU, p *Task, ns event.Time, vruntime int64) {
	if s.cfg.Quiet {
		return
	}
	if !s.cfg.StatRuntimeRT || s.cfg.StatNoVruntime {
		vruntime = event.NoArg
	}
	ev := s.newEvent()
	ev.Kind = event.SchedStatRuntime
	ev.Task, ev.TaskComm, ev.TaskPrio, ev.Arg, ev.Arg2 = p.PID, p.Comm, p.prio, int64(ns), vruntime
	s.host.Emit(c, ev)
}

// emitSignal is signal_generate, of the kernel itself.
func (s *Sched) emitSignal(c event.CPU, p *Task, signal int64) {
	if s.cfg.Quiet {
		return
	}
	ev := s.newEvent()
	ev.Kind = event.SignalGenerate
	ev.Task, ev.TaskComm, ev.Arg = p.PID, p.Comm, signal
	s.host.Emit(c, ev)
}
