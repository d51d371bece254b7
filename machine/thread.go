package machine

import (
	"fmt"

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
	BHOff           // with softirqs off: so is preemption, but on PREEMPT_RT
)

// StepKind is what a task does next.
type StepKind uint8

// The steps.
const (
	StepRun   StepKind = iota // NS of work in Mode
	StepSleep                 // until the absolute time NS, in State (sleeping if 0)
	StepBlock                 // until somebody wakes it, in State
	StepYield                 // sched_yield
	StepExit                  // for good, in State (dead if it is none of an exit)
)

// Step is one step of a program.
//
// Between two steps a thread is where the first of them ran. So one that ran in kernel mode
// is still in there until its next User step, and makes way before only as the preemption
// model says: under PREEMPT_NONE not at all, else between any two steps.
type Step struct {
	Kind  StepKind
	NS    event.Time
	Mode  Mode
	State event.State
	// Slack of a StepSleep is how much later than NS it may end, where no other timer of the
	// CPU expires meanwhile.
	Slack event.Time
	// CondResched is the distance of the cond_resched() calls in Kernel work, in ns of that
	// work; 0: there are none. Only PREEMPT_NONE and PREEMPT_VOLUNTARY need them.
	CondResched event.Time
	// Point: the step ends with a cond_resched().
	Point bool
	// Hold: its mode goes on until the next step begins.
	Hold bool
	// By is when a StepRun is over at the latest, however little of it was done: who looks at the
	// clock all the time notices as soon as it has the CPU. 0: only when all is done.
	By event.Time
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
	mode      Mode       // where it is
	owed      bool       // its program is to be asked
	done      bool       // and at once: its work was over at this moment
	begun     bool       // next is to be executed
	next      Step       // the step that comes
	remaining event.Time // of the current stretch of work
	by        event.Time // when it is over at the latest; 0: only when it is done
	since     event.Time // when it last went on
	points    event.Time // distance of cond_resched() in it
	toPoint   event.Time // work until the next one
	atPoint   bool       // it is at one
	endPoint  bool       // its end is one
	hold      bool       // its mode goes on beyond its end
	notified  bool       // its program is to be asked before it goes on in user mode

	bhOff bool         // it has softirqs off
	pass  *softirqPass // its handling of softirqs, nil: it never did

	timers [numTimers]timer
	told   bool // sched_process_exit was emitted
	dead   bool
}

// Spawn creates a thread that is not yet runnable. pid 0 takes the next free number. The
// error is the kernel's verdict on attr and affinity.
func (m *Machine) Spawn(pid event.PID, comm string, attr sched.Attr, affinity []event.CPU, p Program) (*Thread, error) {
	if pid == 0 {
		pid = m.nextPID
	}
	m.nextPID = max(m.nextPID, pid+1)
	task, err := m.Sched.NewTask(pid, m.Names.Intern(comm), attr, affinity)
	if err != nil {
		return nil, fmt.Errorf("creating task %s: %w", comm, err)
	}
	return m.adopt(task, p), nil
}

// adopt makes a thread of a task.
func (m *Machine) adopt(task *sched.Task, p Program) *Thread {
	th := &Thread{Task: task, Program: p, id: len(m.threads), owed: true}
	if n := len(m.freeIDs); n > 0 {
		th.id = m.freeIDs[n-1]
		m.freeIDs = m.freeIDs[:n-1]
		m.threads[th.id] = th
	} else {
		m.threads = append(m.threads, th)
	}
	task.Data = th
	return th
}

// release forgets a thread that is dead, once no timer knows it any more.
func (m *Machine) release(th *Thread) {
	if m.threads[th.id] == th && !th.timers[inactiveTimer].armed {
		m.threads[th.id] = nil
		m.freeIDs = append(m.freeIDs, th.id)
	}
}

// Start makes a new thread runnable, as its parent on CPU from would.
func (m *Machine) Start(from event.CPU, th *Thread) {
	w := m.Sched.WakeUpNewTask(from, th.Task)
	if m.handsOver() {
		m.beginHandOver(from, th)
	}
	m.charge(from, &w)
	m.tickFor(th)
}

// Wake wakes th, executed on CPU from; false if it was awake.
func (m *Machine) Wake(from event.CPU, th *Thread) bool { return m.wake(from, th, 0) }

// WakeSync is Wake by a task that is about to sleep, as who reads or writes pipes and sockets; WF_SYNC.
func (m *Machine) WakeSync(from event.CPU, th *Thread) bool { return m.wake(from, th, sched.WakeSync) }

func (m *Machine) wake(from event.CPU, th *Thread, how sched.WakeFlags) bool {
	if from >= 0 && (m.irq == from || m.cpus[from].soft != nil && m.cpus[from].soft.inIRQ.begun) {
		how |= sched.WakeIRQ
	}
	woken, w := m.Sched.WakeUp(from, th.Task, how)
	if woken && m.handsOver() {
		m.beginHandOver(from, th)
	}
	m.charge(from, &w)
	m.tickFor(th)
	return woken
}

// Exec is the beginning of execve(2) by th, which is current: as it leaves its memory behind it may be brought
// to another CPU. Its caller goes on at once, but not before it is there.
func (m *Machine) Exec(th *Thread) {
	c := th.Task.CPU()
	w := m.Sched.Exec(c)
	m.charge(c, &w)
}

// tickFor lets the CPU of a newly runnable thread tick again, where that did without.
func (m *Machine) tickFor(th *Thread) {
	if c := th.Task.CPU(); m.cpus[c].noHZFull {
		m.startTick(c)
	}
}

// execute begins the step that comes.
func (m *Machine) execute(c event.CPU, th *Thread) {
	s := &th.next
	th.owed = true
	switch s.Kind {
	case StepRun:
		th.mode, th.remaining, th.points, th.toPoint = s.Mode, max(s.NS, 0), 0, 0
		th.endPoint, th.hold, th.by = s.Point, s.Hold, s.By
		if s.Mode == BHOff {
			m.forbidSoftirqs(c, th)
		}
		// Where the kernel can be preempted anywhere its cond_resched() do nothing.
		if s.Mode == Kernel && !m.anywhere() {
			th.points = max(s.CondResched, 0)
		}
		if th.owed = s.NS <= 0; th.owed {
			th.atPoint = s.Point
		}
	case StepSleep, StepBlock:
		m.block(c, th, s)
	case StepYield:
		w := m.Sched.Yield(c)
		m.charge(c, &w)
		m.schedule(c, false)
	case StepExit:
		m.exit(c, th)
	}
}

// block lets the current thread of c sleep, unless somebody has woken it already.
func (m *Machine) block(c event.CPU, th *Thread, s *Step) {
	if th.Task.State == event.StateRunnable {
		return
	}
	if s.Kind == StepSleep {
		m.arm(c, th, sleepTimer, s.NS, s.Slack)
	}
	m.schedule(c, false)
}

// ProcessExit emits sched_process_exit of a current thread that is in do_exit(). One that
// exits without it says so with its StepExit.
func (m *Machine) ProcessExit(th *Thread) {
	th.told = true
	c := th.Task.CPU()
	if m.sink != nil {
		ev := &m.ev
		ev.Reset()
		ev.Kind = event.SchedProcessExit
		ev.Task, ev.TaskComm, ev.TaskPrio = th.Task.PID, th.Task.Comm, th.Task.Prio()
		m.Emit(c, ev)
	}
	m.Sched.AutogroupExit(c, th.Task)
}

// Notify lets th ask its program before it goes on in user mode, and brings it out of there
// if it is there; signal_wake_up() of one that is awake. from is the CPU that says so.
func (m *Machine) Notify(from event.CPU, th *Thread) {
	th.notified = true
	c := th.Task.CPU()
	switch {
	case !th.Task.Running() || th.mode != User:
	case from == c || m.free:
		m.ask(c)
	default:
		m.send(c, itemIPI)
	}
}

// Finish ends the stretch of work that a thread is at: what it waited for has come.
func (m *Machine) Finish(th *Thread) {
	c := th.Task.CPU()
	if m.cpus[c].running == th {
		m.pause(c)
	}
	th.remaining, th.owed = 0, true
	m.ask(c)
}

// Preempt is the preemption model of the machine's kernel.
func (m *Machine) Preempt() sched.PreemptModel { return m.cfg.Sched.Preempt }

func (m *Machine) exit(c event.CPU, th *Thread) {
	if !th.told {
		m.ProcessExit(th)
	}
	th.dead = true
	m.tell(probeSetState, c)
	state := th.next.State
	if !state.Dead() {
		state = event.StateDead
	}
	m.Sched.Exit(c, state)
	m.schedule(c, false)
	m.release(th)
}

// Dead reports whether the thread has exited.
func (th *Thread) Dead() bool { return th.dead }
