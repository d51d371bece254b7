package machine

import (
	"fmt"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// Mode says where a stretch of work runs.
type Mode uint8

// The modes.
const (
	User       Mode = iota
	Kernel          // in kernel mode, preemptible where the kernel preempts itself
	PreemptOff      // with preemption off
	IRQsOff         // with interrupts off: timers and interrupts of this CPU wait
)

// preemptible reports whether work of this mode makes way under the preemption model.
func (md Mode) preemptible(p sched.PreemptModel) bool {
	switch md {
	case User:
		return true
	case Kernel:
		return p == sched.PreemptFull || p == sched.PreemptRT || p == sched.PreemptLazy
	}
	return false
}

// StepKind is what a task does next.
type StepKind uint8

// The steps.
const (
	StepRun   StepKind = iota // NS of work in Mode
	StepSleep                 // until the absolute time NS, in State (sleeping if 0)
	StepBlock                 // until somebody wakes it, in State
	StepYield                 // sched_yield
	StepExit                  // for good
)

// Step is one step of a program.
type Step struct {
	Kind  StepKind
	NS    event.Time
	Mode  Mode
	State event.State
}

// Program says what a thread does. Next is asked when the step before is over, while the
// thread is current; it may act on the machine through th.
type Program interface {
	Next(m *Machine, th *Thread) Step
}

// ProgramFunc is a Program without state of its own.
type ProgramFunc func(m *Machine, th *Thread) Step

// Next calls f.
func (f ProgramFunc) Next(m *Machine, th *Thread) Step { return f(m, th) }

// Thread is a task together with what it does.
type Thread struct {
	Task    *sched.Task
	Program Program

	id        int
	mode      Mode
	remaining event.Time // of the current stretch of work
	since     event.Time // when it last went on
	sleep     engine.Handle
	dead      bool
	asleep    bool
	owed      bool // its program is to be asked when it is current again
}

// Spawn creates a thread that is not yet runnable. pid 0 takes the next free number.
func (m *Machine) Spawn(pid event.PID, comm string, attr sched.Attr, affinity []event.CPU, p Program) (*Thread, error) {
	if pid == 0 {
		pid = m.nextPID
	}
	m.nextPID = max(m.nextPID, pid+1)
	task, err := m.Sched.NewTask(pid, m.Names.Intern(comm), attr, affinity)
	if err != nil {
		return nil, fmt.Errorf("creating task %s: %w", comm, err)
	}
	th := &Thread{Task: task, Program: p, id: len(m.threads), owed: true}
	task.Data = th
	m.threads = append(m.threads, th)
	return th, nil
}

// Start makes a new thread runnable, as its parent on CPU from would.
func (m *Machine) Start(from event.CPU, th *Thread) {
	m.Sched.WakeUpNewTask(from, th.Task)
	m.ask(th.Task.CPU())
}

// At calls f at the given time, in no task's name.
func (m *Machine) At(t event.Time, f func()) {
	m.calls = append(m.calls, f)
	m.queue.Push(engine.Item{At: max(t, m.now), Rank: rankTimer, What: itemCall, Arg: int64(len(m.calls) - 1)})
}

// Wake wakes th, executed on CPU from; false if it was awake.
func (m *Machine) Wake(from event.CPU, th *Thread) bool {
	woken, _ := m.Sched.TryToWakeUp(from, th.Task)
	if woken {
		th.asleep = false
		m.queue.Cancel(th.sleep)
		m.ask(th.Task.CPU())
	}
	return woken
}

// sleepOver is the expiry of a sleep timer, in an interrupt of the CPU that armed it.
func (m *Machine) sleepOver(th *Thread) {
	c := th.Task.CPU()
	m.inIRQ(c, func() {
		m.emitTimer(c, event.HrtimerExpireEntry, th)
		m.Wake(c, th)
	})
	m.ask(c)
}

// pause stops the work that goes on on c and keeps what is left of it.
func (m *Machine) pause(c event.CPU) {
	cp := &m.cpus[c]
	th := cp.running
	if th == nil {
		return
	}
	m.queue.Cancel(cp.work)
	th.remaining -= m.now - th.since
	cp.running = nil
}

// goOn lets c work on for its current task, asking its program for steps until one takes
// time.
func (m *Machine) goOn(c event.CPU) {
	for steps := 0; m.err == nil; steps++ {
		cp := &m.cpus[c]
		cur := m.Sched.Curr(c)
		th, _ := cur.Data.(*Thread)
		if cp.running == th {
			return
		}
		if th == nil {
			cp.running = nil
			return
		}
		if !th.owed {
			th.since, cp.running = m.now, th
			cp.work = m.queue.Push(engine.Item{At: m.now + th.remaining, Rank: rankWork, What: itemWork, Arg: int64(c)})
			return
		}
		if steps > mostRounds {
			m.Fail(fmt.Errorf("%s/%d at %d ns: %w", m.Names.String(cur.Comm), cur.PID, m.now, ErrStuck))
			return
		}
		m.step(c, th)
		if m.Sched.NeedResched(c) {
			m.schedule(c, true)
		}
	}
}

// workDone ends the stretch of work of c.
func (m *Machine) workDone(c event.CPU) {
	cp := &m.cpus[c]
	th := cp.running
	th.remaining, th.owed = 0, true
	cp.running = nil
	m.ask(c)
}

// step asks the program of the current thread for its next step and begins it.
func (m *Machine) step(c event.CPU, th *Thread) {
	th.owed = false
	s := th.Program.Next(m, th)
	switch s.Kind {
	case StepRun:
		th.mode, th.remaining = s.Mode, max(s.NS, 0)
		if s.NS <= 0 {
			th.owed = true
		}
	case StepSleep, StepBlock:
		th.owed = true
		m.block(c, th, &s)
	case StepYield:
		th.owed = true
		m.Sched.Yield(c)
		m.schedule(c, false)
	case StepExit:
		m.exit(c, th)
	}
}

func (m *Machine) block(c event.CPU, th *Thread, s *Step) {
	state := s.State
	if state == event.StateRunnable {
		state = event.StateSleeping
	}
	if s.Kind == StepSleep {
		if s.NS <= m.now {
			return // its time has come: it does not sleep at all
		}
		th.sleep = m.queue.Push(engine.Item{At: s.NS, Rank: rankTimer, What: itemSleep, Arg: int64(th.id)})
		m.emitSleep(c, th, s.NS)
	}
	th.asleep = true
	m.Sched.Block(c, state)
	m.schedule(c, false)
}

func (m *Machine) exit(c event.CPU, th *Thread) {
	th.dead = true
	var ev event.Event
	ev.Reset()
	ev.Kind = event.SchedProcessExit
	ev.Task, ev.TaskComm, ev.TaskPrio = th.Task.PID, th.Task.Comm, th.Task.Prio()
	m.Emit(c, &ev)
	m.Sched.Exit(c, event.StateDead)
	m.schedule(c, false)
}

// Dead reports whether the thread has exited.
func (th *Thread) Dead() bool { return th.dead }

func (m *Machine) emitSleep(c event.CPU, th *Thread, at event.Time) {
	var ev event.Event
	ev.Reset()
	ev.Kind = event.HrtimerStart
	ev.Func, ev.Arg, ev.Arg2, ev.Arg3 = m.Names.Intern("hrtimer_wakeup"), timerAddress(th), int64(at), int64(at)
	m.Emit(c, &ev)
}

func (m *Machine) emitTimer(c event.CPU, k event.Kind, th *Thread) {
	var ev event.Event
	ev.Reset()
	ev.Kind = k
	ev.Func, ev.Arg, ev.Arg2 = m.Names.Intern("hrtimer_wakeup"), timerAddress(th), int64(m.now)
	m.Emit(c, &ev)
}

// timerAddress is where the sleep timer of a thread would lie: on its stack.
func timerAddress(th *Thread) int64 { return -(1 << 46) + int64(th.id)<<14 + 0xcb8 }
