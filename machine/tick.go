package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// needsTick reports whether c should tick.
func (m *Machine) needsTick(c event.CPU) bool {
	switch {
	case m.cfg.NoTick:
		return false
	case m.cfg.NoHZ == HZPeriodic:
		return true
	case m.Sched.IsIdle(c):
		return m.Sched.NrRunning(c) > 0
	}
	return m.cfg.NoHZ != NoHZFull || !m.Sched.CanStopTick(c)
}

// startTick lets c tick from the next tick of the machine on, where it should and does not
// yet. A tick that is not needed any more when it comes is as good as stopped.
func (m *Machine) startTick(c event.CPU) {
	cp := &m.cpus[c]
	if m.queue.Pending(cp.tick) || !m.needsTick(c) {
		return
	}
	cp.tickAt = m.nextTick(m.now + 1)
	cp.tick = m.queue.Push(engine.Item{At: cp.tickAt, Rank: rankTick, What: itemTick, Arg: int64(c)})
}

// nextTick returns the first tick of the machine at t or later. All CPUs tick at the same
// time, as without skew_tick.
func (m *Machine) nextTick(t event.Time) event.Time {
	tick := m.cfg.Sched.Tick
	if tick <= 0 {
		return t
	}
	return (t + tick - 1) / tick * tick
}
