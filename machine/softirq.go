package machine

import (
	"math/bits"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// numVectors is how many softirqs there are.
const numVectors = 10

// What bounds softirqs in front of a task; kernel/softirq.c.
const (
	mostSoftirqTime     = event.Time(2_000_000) // MAX_SOFTIRQ_TIME, counted in ticks
	mostSoftirqRestarts = 10                    // MAX_SOFTIRQ_RESTART
)

// softirqs is what a CPU has to do in softirqs. It is made when the first one is raised
// there, or when softirqs are turned off.
type softirqs struct {
	pending uint16              // raised and not begun; local_softirq_pending()
	timers  uint16              // raised for ktimers/N
	work    [numVectors][]*Line // whose softirq work a vector has to do

	inIRQ   softirqPass   // in interrupt context, over the current task
	working bool          // the work of its vector goes on
	end     engine.Handle // of that
	left    event.Time    // of that
	since   event.Time    // when it last went on

	off      int  // tasks that have softirqs off here (PREEMPT_RT); softirq_ctrl.cnt
	sleepers bool // HRTIMER was raised for them and not served; softirq_activated
	exit     bool // an interrupt has ended since they were looked at

	daemon, timerDaemon *Thread // ksoftirqd/N, ktimers/N
}

// softirqPass handles what is pending, vector by vector; handle_softirqs().
type softirqPass struct {
	active   bool
	todo     uint16 // taken and not begun
	vec      int64  // in hand
	begun    bool   // vec is one
	restarts int
	until    event.Time // the tick from which on it does not start again
	lines    []*Line    // whose work vec does
}

// softirqs returns those of c.
func (m *Machine) softirqs(c event.CPU) *softirqs {
	cp := &m.cpus[c]
	if cp.soft == nil {
		cp.soft = &softirqs{}
	}
	return cp.soft
}

// raiseSoftirq is raise_softirq() on c. Whoever has to act on it is told when the interrupt,
// or the section with softirqs off, ends.
func (m *Machine) raiseSoftirq(c event.CPU, vec int64) {
	s := m.softirqs(c)
	m.emitSoftirq(c, event.SoftirqRaise, vec)
	bit := uint16(1) << vec
	if m.forcesThreads() && m.cfg.Interrupts.KTimers && m.irq == c && (vec == event.SoftirqTimer || vec == event.SoftirqHrtimer) {
		s.timers |= bit
	} else {
		s.pending |= bit
	}
}

// exitIRQ does what follows when no interrupt is waiting any more, in front of the current
// task: softirqs in interrupt context, or waking whoever does them; irq_exit_rcu(). more says
// that the CPU should look again, busy that it works now.
func (m *Machine) exitIRQ(c event.CPU, s *softirqs) (more, busy bool) {
	if s.inIRQ.active {
		return m.softirqsGoOn(c, s)
	}
	if !s.exit {
		return false, false
	}
	s.exit = false
	if !m.forcesThreads() {
		if s.pending == 0 || m.softirqsOff(c) || m.leftToDaemon(s) {
			return false, false
		}
		m.beginPass(&s.inIRQ, s, false)
		m.pause(c)
		return m.nextInIRQ(c, s)
	}
	if balance := uint16(1) << event.SoftirqSched; m.cfg.Interrupts.BalanceInIRQ && s.pending&balance != 0 {
		s.pending &^= balance
		w := m.Sched.Rebalance(c)
		m.charge(c, &w)
		more = true
	}
	// On PREEMPT_RT a task that has softirqs off here, waiting or not, does them itself.
	if s.pending != 0 && s.off == 0 {
		m.Wake(c, m.daemon(c))
		more = true
	}
	if s.timers != 0 {
		m.Wake(c, m.timerDaemon(c))
		more = true
	}
	return more, false
}

// softirqsOff reports whether the current task of c has softirqs off, or handles them.
func (m *Machine) softirqsOff(c event.CPU) bool {
	th, _ := m.Sched.Curr(c).Data.(*Thread)
	return th != nil && (th.bhOff || th.pass != nil && th.pass.active)
}

// leftToDaemon reports whether what is pending waits for ksoftirqd, since that is runnable;
// ksoftirqd_running() of kernels up to 6.4.
func (m *Machine) leftToDaemon(s *softirqs) bool {
	const now = 1<<event.SoftirqHi | 1<<event.SoftirqTasklet
	return m.cfg.Interrupts.DaemonFirst && s.pending&now == 0 && s.daemon != nil && s.daemon.Task.State == event.StateRunnable
}

// softirqsGoOn lets the softirqs in interrupt context go on that an interrupt has stopped.
func (m *Machine) softirqsGoOn(c event.CPU, s *softirqs) (more, busy bool) {
	if s.left <= 0 {
		return m.nextInIRQ(c, s)
	}
	if !s.working {
		s.working, s.since = true, m.now
		s.end = m.queue.Push(engine.Item{At: m.now + s.left, Rank: rankWork, What: itemSoftirq, Arg: int64(c)})
	}
	return false, true
}

// nextInIRQ begins the next vector in interrupt context.
func (m *Machine) nextInIRQ(c event.CPU, s *softirqs) (more, busy bool) {
	s.left, _ = m.nextVector(c, &s.inIRQ, s)
	return true, false
}

// softirqDone ends the work of a vector in interrupt context.
func (m *Machine) softirqDone(c event.CPU) {
	s := m.cpus[c].soft
	s.working, s.left = false, 0
	m.ask(c)
}

// stop stops the work in interrupt context, for an interrupt.
func (s *softirqs) stop(m *Machine) {
	if s.working {
		m.queue.Cancel(s.end)
		s.working = false
		s.left -= m.now - s.since
	}
}

// beginPass takes all that is pending. ktimers/N adds what was raised for it.
func (m *Machine) beginPass(r *softirqPass, s *softirqs, timers bool) {
	if timers {
		s.pending |= s.timers
		s.timers = 0
	}
	r.active, r.begun, r.restarts = true, false, mostSoftirqRestarts
	r.todo, s.pending = s.pending, 0
	tick := max(m.cfg.Sched.Tick, 1)
	r.until = m.now/tick + (mostSoftirqTime+tick-1)/tick
}

// nextVector ends the vector in hand and begins the next one. It returns how long that
// works; more is false when the pass is over.
func (m *Machine) nextVector(c event.CPU, r *softirqPass, s *softirqs) (length event.Time, more bool) {
	if r.begun {
		m.endVector(c, r)
	}
	if r.todo == 0 && s.pending != 0 {
		r.restarts--
		if m.now/max(m.cfg.Sched.Tick, 1) < r.until && !m.Sched.NeedResched(c) && r.restarts > 0 {
			r.todo, s.pending = s.pending, 0
		} else {
			m.Wake(c, m.daemon(c))
		}
	}
	if r.todo == 0 {
		r.active = false
		return 0, false
	}
	r.vec, r.begun = int64(bits.TrailingZeros16(r.todo)), true
	r.todo &= r.todo - 1
	m.emitSoftirq(c, event.SoftirqEntry, r.vec)
	r.lines, s.work[r.vec] = s.work[r.vec], r.lines[:0]
	for _, l := range r.lines {
		l.softRaised = false
		length += l.irq.SoftirqWork.draw(l.random)
	}
	if r.vec == event.SoftirqHrtimer {
		length += m.cfg.Costs.Wake * event.Time(m.sleepersDue(c))
	}
	return length, true
}

// endVector is the end of a vector's action, where it acts.
func (m *Machine) endVector(c event.CPU, r *softirqPass) {
	if r.vec == event.SoftirqHrtimer {
		m.wakeSleepers(c)
	}
	if r.vec == event.SoftirqSched {
		w := m.Sched.Rebalance(c)
		m.charge(c, &w)
	}
	for _, l := range r.lines {
		if l.irq.Done != nil {
			l.irq.Done(c)
		}
	}
	m.emitSoftirq(c, event.SoftirqExit, r.vec)
	r.begun = false
}

// softirqStep is the next step of a thread that handles softirqs; false when it is done.
func (m *Machine) softirqStep(c event.CPU, th *Thread) (Step, bool) {
	s := m.softirqs(c)
	length, more := m.nextVector(c, th.pass, s)
	if !more {
		m.allowSoftirqs(c, th)
		return Step{}, false
	}
	return Step{Kind: StepRun, NS: length, Mode: BHOff, Hold: true}, true
}

// handleSoftirqs lets th, which is current on c, handle what is pending in its next steps.
func (m *Machine) handleSoftirqs(c event.CPU, th *Thread, timers bool) Step {
	if th.pass == nil {
		th.pass = &softirqPass{}
	}
	m.forbidSoftirqs(c, th)
	m.beginPass(th.pass, m.softirqs(c), timers)
	step, _ := m.softirqStep(c, th)
	return step
}

// forbidSoftirqs is local_bh_disable() of the current task of c: on PREEMPT_RT it may be
// preempted then, and stays on its CPU.
func (m *Machine) forbidSoftirqs(c event.CPU, th *Thread) {
	if th.bhOff {
		return
	}
	th.bhOff = true
	if m.rt() {
		m.softirqs(c).off++
		m.Sched.MigrateDisable(c)
	}
}

// allowSoftirqs is local_bh_enable(), without what is pending.
func (m *Machine) allowSoftirqs(c event.CPU, th *Thread) {
	if !th.bhOff {
		return
	}
	th.bhOff = false
	if m.rt() {
		m.softirqs(c).off--
		m.Sched.MigrateEnable(c)
	}
}

// betweenSteps is what a thread does before its program is asked: go on with softirqs, or
// turn them on again and handle what has come meanwhile. Then that is its next step.
func (m *Machine) betweenSteps(c event.CPU, th *Thread) bool {
	if th.pass != nil && th.pass.active {
		step, more := m.softirqStep(c, th)
		if !more {
			step = Step{Kind: StepRun, Mode: Kernel}
		}
		th.next = step
		return true
	}
	if !th.bhOff || th.hold {
		return false
	}
	m.allowSoftirqs(c, th)
	if m.softirqs(c).pending == 0 {
		return false
	}
	th.next = m.handleSoftirqs(c, th, false)
	return true
}

// rt reports whether the kernel is PREEMPT_RT.
func (m *Machine) rt() bool { return m.cfg.Sched.Preempt == sched.PreemptRT }

// emitSoftirq says that a softirq is raised, begins or ends.
func (m *Machine) emitSoftirq(c event.CPU, kind event.Kind, vec int64) {
	if !m.listens(kind) {
		return
	}
	ev := &m.ev
	ev.Reset()
	ev.Kind, ev.Arg = kind, vec
	m.Emit(c, ev)
}
