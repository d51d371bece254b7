package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// tick is the scheduler tick of c.
func (m *Machine) tick(c event.CPU) {
	if m.Sched.IsIdle(c) && m.Sched.NrRunning(c) == 0 {
		return // NO_HZ: an idle CPU has no tick; it starts again with its next task
	}
	m.inIRQ(c, func() { m.Sched.SchedulerTick(c) })
	m.pushTick(c)
	m.ask(c)
}

// startTick lets c tick from the next tick of the machine on, where it does not yet.
func (m *Machine) startTick(c event.CPU) {
	if m.cfg.NoTick || m.queue.Pending(m.cpus[c].tick) || m.Sched.IsIdle(c) {
		return
	}
	m.pushTick(c)
}

func (m *Machine) pushTick(c event.CPU) {
	if m.cfg.NoTick {
		return
	}
	t := m.cfg.Sched.Tick
	next := (m.now/t + 1) * t
	m.cpus[c].tick = m.queue.Push(engine.Item{At: next, Rank: rankTick, What: itemTick, Arg: int64(c)})
}
