package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
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
	return !m.cpus[c].noHZFull || !m.Sched.CanStopTick(c)
}

// startTick lets c tick from the next tick of the machine on, where it should and does not
// yet. A tick that is not needed any more when it comes is as good as stopped.
func (m *Machine) startTick(c event.CPU) {
	cp := &m.cpus[c]
	if cp.ticks {
		if !m.needsTick(c) {
			cp.ticks = false
			m.emitTick(c, event.HrtimerCancel, event.NoTime)
		}
		return
	}
	if !m.needsTick(c) {
		return
	}
	cp.ticks = true
	if !m.queue.Pending(cp.tick) {
		cp.tickAt = m.nextTick(m.now + 1)
		cp.tick = m.queue.Push(engine.Item{At: cp.tickAt, Rank: rankTick, What: itemTick, Arg: int64(c)})
	}
	m.emitTick(c, event.HrtimerStart, cp.tickAt)
}

// tick is the interrupt of the tick; its timer is started again when its function has
// returned.
func (m *Machine) tick(c event.CPU) sched.Work {
	m.emitTick(c, event.HrtimerExpireEntry, m.now)
	w := m.Sched.SchedulerTick(c)
	m.emitTick(c, event.HrtimerExpireExit, event.NoTime)
	m.cpus[c].ticks = false
	m.startTick(c)
	return w
}

// Where the timers of a CPU would lie: in its own data.
const (
	tickAddress   int64 = -(1 << 47) + 0x7d82_35c0
	hrtickAddress int64 = -(1 << 47) + 0x7d82_0a40
)

// emitTick says what happens to the timer of the tick. Without high-resolution timers the
// tick is none.
func (m *Machine) emitTick(c event.CPU, kind event.Kind, at event.Time) {
	if !m.cfg.LowRes {
		m.emitCPUTimer(c, kind, m.words.tick, tickAddress, at)
	}
}

// emitHRTick says what happens to the hrtick of c.
func (m *Machine) emitHRTick(c event.CPU, kind event.Kind, at event.Time) {
	m.emitCPUTimer(c, kind, m.words.hrtick, hrtickAddress, at)
}

func (m *Machine) emitCPUTimer(c event.CPU, kind event.Kind, function event.Name, address int64, at event.Time) {
	if !m.listens(kind) || !m.cfg.TickEvents {
		return
	}
	ev := &m.ev
	ev.Reset()
	ev.Kind, ev.Arg = kind, address+int64(c)<<19
	switch kind {
	case event.HrtimerStart:
		ev.Func, ev.Arg2, ev.Arg3 = function, int64(at), int64(at)
	case event.HrtimerExpireEntry:
		ev.Func, ev.Arg2 = function, int64(at)
	}
	m.Emit(c, ev)
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
