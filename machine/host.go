package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// The methods that make Machine a sched.Host.

// Resched asks c to schedule: at once for the CPU that says so, else by an interrupt.
func (m *Machine) Resched(from, c event.CPU, _ bool) {
	if from == c || m.cfg.Costs.IPI == 0 {
		m.ask(c)
		return
	}
	m.queue.Push(engine.Item{At: m.now + m.cfg.Costs.IPI, Rank: rankIPI, What: itemIPI, Arg: int64(c)})
}

// SetTimer starts or moves a timer of the scheduler.
func (m *Machine) SetTimer(t sched.Timer, at event.Time) {
	m.CancelTimer(t)
	n := len(m.timerOf)
	if free := len(m.freeT); free > 0 {
		n = m.freeT[free-1]
		m.freeT = m.freeT[:free-1]
		m.timerOf[n] = t
	} else {
		m.timerOf = append(m.timerOf, t)
	}
	h := m.queue.Push(engine.Item{At: max(at, m.now), Rank: rankTimer, What: itemTimer, Arg: int64(n)})
	m.timers[key(t)] = pending{h, n}
}

// CancelTimer stops a timer of the scheduler.
func (m *Machine) CancelTimer(t sched.Timer) {
	if p, ok := m.timers[key(t)]; ok {
		m.queue.Cancel(p.handle)
		m.forget(t)
	}
}

// forget frees what belongs to a timer that no longer runs.
func (m *Machine) forget(t sched.Timer) {
	m.freeT = append(m.freeT, m.timers[key(t)].n)
	delete(m.timers, key(t))
}

// key names a timer: that of a task is the same on whichever CPU it was started.
func key(t sched.Timer) sched.Timer {
	if t.Task != nil {
		t.CPU = 0
	}
	return t
}

// Kick interrupts c so that it pushes real-time tasks away.
func (m *Machine) Kick(_, c event.CPU) {
	m.queue.Push(engine.Item{At: m.now + m.cfg.Costs.IPI, Rank: rankIPI, What: itemKick, Arg: int64(c)})
}

// Emit completes an event and hands it to the sink.
func (m *Machine) Emit(c event.CPU, ev *event.Event) {
	if m.sink == nil {
		return
	}
	ev.Time, ev.CPU = m.now, c
	cur := m.Sched.Curr(c)
	ev.PID, ev.Comm = cur.PID, cur.Comm
	ev.Flags |= event.FlagsKnown
	if m.irq == c {
		ev.Flags |= event.HardIRQ | event.IRQsOff
	}
	if m.Sched.NeedResched(c) {
		ev.Flags |= event.NeedResched | event.PreemptResched
	}
	m.sink(ev)
}
