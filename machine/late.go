package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// HoldTimers keeps the interrupts of c's timers away between from and to, while all else goes
// on: a hypervisor that is late with them, or hardware that is. They are served at to then.
func (m *Machine) HoldTimers(c event.CPU, from, to event.Time) {
	if to <= from {
		return
	}
	m.At(from, func() { m.cpus[c].noTimers = max(m.cpus[c].noTimers, to) })
	m.At(to, func() { m.releaseTimers(c) })
}

// hold keeps a timer's interrupt back, where those of c do not come now.
func (m *Machine) hold(c event.CPU, it *engine.Item) bool {
	cp := &m.cpus[c]
	if cp.noTimers <= m.now || !isTimer(it.What) {
		return false
	}
	cp.late = append(cp.late, *it)
	return true
}

// releaseTimers lets the interrupts come that were held back.
func (m *Machine) releaseTimers(c event.CPU) {
	cp := &m.cpus[c]
	if cp.noTimers > m.now || len(cp.late) == 0 {
		return
	}
	cp.irqs = append(cp.irqs, cp.late...)
	cp.late = cp.late[:0]
	m.ask(c)
}
