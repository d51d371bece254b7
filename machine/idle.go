package machine

import "github.com/whylate/whylate/event"

// IdleState is a state that an idle CPU may enter. Times are ns.
type IdleState struct {
	Name string
	// Latency is what it takes to leave it, Residency how long a stay has to be to pay.
	Latency, Residency event.Time
	// Poll: the CPU looks for work itself and needs no interrupt to notice it.
	Poll bool
}

// idles lets c, which has nothing to do, tell the scheduler and enter a state. It says false while
// that has something to do first.
func (m *Machine) idles(c event.CPU) bool {
	w, did := m.Sched.EnterIdle(c, !m.cpus[c].ticks)
	if did {
		if m.charge(c, &w); m.cpus[c].busy > m.now {
			return false
		}
	}
	m.enterIdle(c)
	return true
}

// enterIdle lets c, which has nothing to do, enter a state: the deepest that pays until the
// next timer that it knows, else the lightest. A kernel's governor (menu) corrects that by
// what it has seen before; here nothing is learned.
func (m *Machine) enterIdle(c event.CPU) {
	cp := &m.cpus[c]
	states := m.cfg.IdleStates
	if len(states) == 0 || cp.idle > 0 {
		return
	}
	next := event.Time(1 << 62)
	if len(cp.timers) > 0 {
		next = min(next, cp.timers[0].due)
	}
	if len(cp.laters) > 0 {
		next = min(next, cp.laters[0].due)
	}
	if cp.ticks {
		next = min(next, cp.tickAt)
	}
	deepest := 0
	for i := range states {
		if states[i].Residency <= next-m.now {
			deepest = i
		}
	}
	cp.idle = deepest + 1
	m.emitIdle(c, int64(deepest))
}

// leaveIdle brings c out of its idle state; it says false while that takes time.
func (m *Machine) leaveIdle(c event.CPU) bool {
	cp := &m.cpus[c]
	if cp.idle == 0 {
		return true
	}
	if latency := m.cfg.IdleStates[cp.idle-1].Latency; latency > 0 && !cp.leaving {
		cp.leaving = true
		m.spendFor(c, LayerIdleExit, latency)
		return false
	}
	cp.leaving, cp.idle = false, 0
	m.emitIdle(c, event.IdleExit)
	return true
}

// polls reports whether c is idle and looks for work itself.
func (m *Machine) polls(c event.CPU) bool {
	i := m.cpus[c].idle
	return i > 0 && m.cfg.IdleStates[i-1].Poll
}

func (m *Machine) emitIdle(c event.CPU, state int64) {
	if !m.listens(event.CPUIdle) {
		return
	}
	ev := &m.ev
	ev.Reset()
	ev.Kind, ev.Arg, ev.Target = event.CPUIdle, state, c
	m.Emit(c, ev)
}

// emitWakeIdle is sched_wake_idle_without_ipi, which the CPU from says.
func (m *Machine) emitWakeIdle(from, c event.CPU) {
	if !m.listens(event.SchedWakeIdle) {
		return
	}
	ev := &m.ev
	ev.Reset()
	ev.Kind, ev.Target = event.SchedWakeIdle, c
	m.Emit(from, ev)
}
