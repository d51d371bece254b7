package machine

import (
	"strconv"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// The methods that make Machine a sched.Host.

// Resched asks c to schedule: at once for the CPU that says so, else by an interrupt. A
// lazy request to another CPU waits until that looks by itself.
func (m *Machine) Resched(from, c event.CPU, lazy bool) {
	m.tell(probeNeedResched, c)
	switch {
	case from == c || m.free && !lazy:
		m.ask(c)
	case !lazy && m.polls(c):
		m.emitWakeIdle(from, c)
		m.ask(c)
	case !lazy:
		m.send(c, itemIPI)
	}
}

// send interrupts another CPU.
func (m *Machine) send(c event.CPU, what uint32) {
	m.queue.Push(engine.Item{At: m.now + m.cfg.Costs.IPI, Rank: rankIPI, What: what, Arg: int64(c)})
}

// Kick interrupts c so that it pushes real-time tasks away.
func (m *Machine) Kick(_, c event.CPU) { m.send(c, itemKick) }

// KickWakeList interrupts c so that it finishes wakes.
func (m *Machine) KickWakeList(_, c event.CPU) { m.send(c, itemWakeList) }

// RaiseBalance raises the softirq in which c balances.
func (m *Machine) RaiseBalance(c event.CPU) { m.raiseSoftirq(c, event.SoftirqSched) }

// KickBalance interrupts c so that it balances for CPUs that do not tick.
func (m *Machine) KickBalance(_, c event.CPU) { m.send(c, itemKickBalance) }

// Price is what the scheduler's work costs here.
func (m *Machine) Price(w *sched.Work) event.Time {
	if m.free {
		return 0
	}
	return m.cfg.Costs.price(w)
}

// SetTimer starts or moves a timer of the scheduler.
func (m *Machine) SetTimer(t sched.Timer, at event.Time) {
	switch t.Kind {
	case sched.TimerRTPeriod, sched.TimerCFSPeriod, sched.TimerCFSSlack:
		m.armGroup(t, at)
		return
	case sched.TimerDL, sched.TimerInactive:
		th, k := ofTask(t)
		m.arm(t.CPU, th, k, at, 0)
		return
	}
	m.CancelTimer(t)
	m.emitHRTick(t.CPU, event.HrtimerStart, at)
	cp := &m.cpus[t.CPU]
	cp.hrtick = m.queue.Push(engine.Item{At: m.expiry(at), Rank: rankTimer, What: itemHRTick, Arg: int64(t.CPU) | int64(cp.hrtickTurn)<<32})
}

// CancelTimer stops a timer of the scheduler.
func (m *Machine) CancelTimer(t sched.Timer) {
	if t.Kind != sched.TimerHRTick {
		th, k := ofTask(t)
		if th.timers[k].armed {
			m.emitTimer(t.CPU, event.HrtimerCancel, th, k, m.now)
		}
		m.stopTimer(th, k)
		return
	}
	cp := &m.cpus[t.CPU]
	if m.queue.Cancel(cp.hrtick) {
		m.emitHRTick(t.CPU, event.HrtimerCancel, event.NoTime)
	}
	cp.hrtickTurn = (cp.hrtickTurn + 1) & (1<<31 - 1)
}

// ofTask finds the timer of a thread.
func ofTask(t sched.Timer) (*Thread, timerKind) {
	th := t.Task.Data.(*Thread)
	if t.Kind == sched.TimerInactive {
		return th, inactiveTimer
	}
	return th, dlTimer
}

// lastPID is the highest pid of Linux, PID_MAX_LIMIT - 1. The machine's own threads have
// pids from there downwards, so that they are never those of a scenario.
const lastPID event.PID = 1<<22 - 1

// Stopper returns migration/N, and makes it when it is needed for the first time.
func (m *Machine) Stopper(c event.CPU) *sched.Task {
	cp := &m.cpus[c]
	if cp.stopper == nil {
		m.AddStopper(c, lastPID-ownStopper*mostOwn-event.PID(c), nil)
	}
	return cp.stopper.Task
}

// AddStopper makes migration/N of c, asleep, which the scheduler makes itself where it needs
// it for the first time. A program that is not nil does other work of the stopper: it is
// asked when the scheduler has none left, its steps run with preemption off, and it blocks
// when there is nothing to do. There is one stopper for each CPU, so it must not be called
// twice, nor behind the first migration.
func (m *Machine) AddStopper(c event.CPU, pid event.PID, other Program) *Thread {
	task := m.Sched.NewStopper(c, pid, m.Names.Intern("migration/"+strconv.Itoa(int(c))))
	th := m.adopt(task, &stopper{other})
	m.cpus[c].stopper = th
	return th
}

// stopper is the program of migration/N.
type stopper struct{ other Program }

// Next does what there is to do; cpu_stopper_thread().
func (s *stopper) Next(m *Machine, th *Thread) Step {
	c := th.Task.CPU()
	if done, w := m.Sched.RunStopWork(c); done {
		m.charge(c, &w)
		return Step{Kind: StepRun, Mode: PreemptOff}
	}
	if s.other == nil {
		return Step{Kind: StepBlock}
	}
	step := s.other.Next(m, th)
	if step.Kind == StepRun {
		step.Mode = PreemptOff
	}
	return step
}

// shape is how the context of an event looks: in the kernel that says it the preemption
// count is some levels above that of the task, and interrupts are off.
type shape struct {
	depth   uint8
	irqsOff bool
}

// shapes are those of a recorded 6.1.
var shapes = [event.NumKinds]shape{
	event.SchedSwitch: {2, true}, event.SchedWaking: {2, true}, event.SchedWakeup: {3, true}, event.SchedWakeupNew: {2, true},
	event.SchedMigrateTask: {3, true}, event.SchedStatRuntime: {2, true}, event.SchedPISetprio: {3, true},
	event.IRQHandlerEntry: {0, true}, event.IRQHandlerExit: {0, true}, event.SoftirqRaise: {0, true},
	event.CPUIdle:      {0, true},
	event.HrtimerStart: {1, true}, event.HrtimerExpireEntry: {0, true}, event.HrtimerExpireExit: {0, true}, event.HrtimerCancel: {1, true},
}

// Emit completes an event and hands it to the sink.
func (m *Machine) Emit(c event.CPU, ev *event.Event) {
	if !m.listens(ev.Kind) {
		return
	}
	ev.Time, ev.CPU = m.now, c
	cur := m.Sched.Curr(c)
	ev.PID, ev.Comm = cur.PID, cur.Comm
	ev.Flags |= event.FlagsKnown
	s := &shapes[ev.Kind]
	ev.PreemptDepth = s.depth
	irqsOff := s.irqsOff
	th, _ := cur.Data.(*Thread)
	switch {
	case ev.Kind == event.SchedSwitch:
	case th == nil:
		ev.PreemptDepth++ // the idle task is never preemptible
	case m.cpus[c].running == th:
		if th.mode == PreemptOff {
			ev.PreemptDepth++
		}
		irqsOff = irqsOff || th.mode == IRQsOff
	}
	if s := m.cpus[c].script; s != nil && s.begun {
		ev.Flags |= event.SoftIRQ
	}
	if s := m.cpus[c].soft; s != nil && s.inIRQ.begun || th != nil && th.pass != nil && th.pass.begun {
		ev.Flags |= event.SoftIRQ
	}
	ev.MigrateDisable = uint8(min(cur.MigrateDisabled(), 255))
	if m.irq == c {
		ev.Flags |= event.HardIRQ
		irqsOff = true
	}
	if irqsOff {
		ev.Flags |= event.IRQsOff
	}
	if m.Sched.NeedResched(c) {
		ev.Flags |= event.NeedResched | event.PreemptResched
	}
	if m.Sched.NeedReschedLazy(c) {
		ev.Flags |= event.NeedReschedLazy
	}
	m.sink(ev)
}

// listens reports whether events of a kind are made.
func (m *Machine) listens(k event.Kind) bool { return m.sink != nil && m.cfg.Without&(1<<k) == 0 }

// probe is something that leaves no event.
type probe uint8

const (
	probeScheduleEntry probe = iota // the CPU enters __schedule()
	probeScheduleExit               // and leaves it
	probeNeedResched                // its current task gets TIF_NEED_RESCHED
	probeSetState                   // its current task says that it will sleep
)

// tell tells a test, if one listens.
func (m *Machine) tell(p probe, c event.CPU) {
	if m.probe != nil {
		m.probe(p, c)
	}
}
