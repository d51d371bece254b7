package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// Scripted is an interrupt, or a softirq in interrupt context, whose times are given: it was
// recorded. It belongs to no Line, so it is never masked, is sent to its CPU each time, and
// is none with another one: what comes while its CPU is at another interrupt waits.
type Scripted struct {
	CPU event.CPU
	// Number is that of the interrupt, or the vector of a Softirq; below 0 it leaves no events.
	Number  int64
	Name    event.Name // of the handler; an interrupt's only
	Softirq bool
	Handler Handler
}

// Handler is what a Scripted does.
type Handler interface {
	// Next is asked at the entry on c, and whenever the work before is over: it acts on the
	// machine, and says how many ns of work come next. With more false the handler is left.
	Next(m *Machine, c event.CPU) (ns event.Time, more bool)
	// Left is called behind the event of its exit, where a kernel wakes the thread of a
	// handler; still in interrupt context.
	Left(m *Machine, c event.CPU)
}

// scripts are those of a CPU.
type scripts struct {
	hard *Scripted // in service

	soft    []*Scripted   // that wait, the first of them in service if it has begun
	begun   bool          // it has
	working bool          // its work goes on
	end     engine.Handle // of that
	left    event.Time    // of that
	since   event.Time    // when it last went on
}

// scripted returns those of c.
func (m *Machine) scripted(c event.CPU) *scripts {
	cp := &m.cpus[c]
	if cp.script == nil {
		cp.script = &scripts{}
	}
	return cp.script
}

// Raise lets an interrupt come at the given time, or at once if that has passed. A softirq is
// then done when no interrupt is left to be served, in front of whatever task is current;
// called from a Handler, it is done at the end of that, before any other task gets the CPU.
func (m *Machine) Raise(at event.Time, s *Scripted) {
	switch {
	case s.Softirq && at <= m.now && (m.irq == s.CPU || m.scripted(s.CPU).begun):
		m.pend(s)
	case s.Softirq:
		m.Interrupt(at, s.CPU, func() { m.pend(s) })
	default:
		m.Interrupt(at, s.CPU, func() { m.enter(s) })
	}
}

// enter enters the handler, in interrupt context.
func (m *Machine) enter(s *Scripted) {
	m.emitScripted(event.IRQHandlerEntry, s)
	m.pause(s.CPU)
	sc := m.scripted(s.CPU)
	sc.hard = s
	m.workOn(s.CPU, sc)
}

// workOn asks the handler in service what comes and lets c do it, or leaves it.
func (m *Machine) workOn(c event.CPU, sc *scripts) {
	s := sc.hard
	if ns, more := s.Handler.Next(m, c); more {
		cp := &m.cpus[c]
		cp.busy = max(cp.busy, m.now) + max(ns, 0)
		m.ask(c)
		return
	}
	m.emitScripted(event.IRQHandlerExit, s)
	sc.hard = nil
	s.Handler.Left(m, c)
	m.leaveIRQ(c)
}

// inHandler reports whether the CPU serves an interrupt that takes time.
func (cp *cpu) inHandler() bool { return cp.hard != nil || cp.script != nil && cp.script.hard != nil }

// workedOn ends what the handler in service on c was doing.
func (m *Machine) workedOn(c event.CPU) {
	if m.cpus[c].hard != nil {
		m.endHard(c)
		return
	}
	before := m.irq
	m.irq = c
	m.workOn(c, m.cpus[c].script)
	m.irq = before
}

// pend raises a softirq. It was asked for in an interrupt, at whose end it is done.
func (m *Machine) pend(s *Scripted) {
	m.emitScripted(event.SoftirqRaise, s)
	sc := m.scripted(s.CPU)
	sc.soft = append(sc.soft, s)
	m.ask(s.CPU)
}

// inSoftirq reports whether softirqs wait or are in service.
func (sc *scripts) inSoftirq() bool { return len(sc.soft) > 0 }

// scriptedSoftirqs lets the softirqs of c go on, and reports whether that takes time.
func (m *Machine) scriptedSoftirqs(c event.CPU, sc *scripts) (busy bool) {
	if sc.working {
		return true
	}
	s := sc.soft[0]
	if !sc.begun {
		m.pause(c)
		sc.begun = true
		m.emitScripted(event.SoftirqEntry, s)
	}
	if sc.left > 0 {
		sc.working, sc.since = true, m.now
		sc.end = m.queue.Push(engine.Item{At: m.now + sc.left, Rank: rankWork, What: itemScript, Arg: int64(c)})
		return true
	}
	ns, more := s.Handler.Next(m, c)
	if sc.left = max(ns, 0); more {
		return false
	}
	m.emitScripted(event.SoftirqExit, s)
	sc.left, sc.begun = 0, false
	s.Handler.Left(m, c)
	sc.soft = sc.soft[:copy(sc.soft, sc.soft[1:])]
	return false
}

// scriptedDone ends a piece of work of a softirq.
func (m *Machine) scriptedDone(c event.CPU) {
	sc := m.cpus[c].script
	sc.working, sc.left = false, 0
	m.ask(c)
}

// stop stops the work of a softirq, for an interrupt.
func (sc *scripts) stop(m *Machine) {
	if sc.working {
		m.queue.Cancel(sc.end)
		sc.working = false
		sc.left -= m.now - sc.since
	}
}

// emitScripted says that a handler or a softirq is raised, begins or ends.
func (m *Machine) emitScripted(kind event.Kind, s *Scripted) {
	if s.Number < 0 || !m.listens(kind) {
		return
	}
	ev := &m.ev
	ev.Reset()
	ev.Kind, ev.Arg = kind, s.Number
	if !s.Softirq {
		ev.Text = s.Name
	}
	m.Emit(s.CPU, ev)
}
