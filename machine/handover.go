package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// handsOver reports whether a wake takes time until the switch.
func (m *Machine) handsOver() bool { return m.cfg.HandOver > 0 || m.cfg.IdleHandOver > 0 }

// beginHandOver notes that th was woken and takes the CPU HandOver later, if it goes first
// there. One that is on its way already takes whoever is woken meanwhile along.
// A remote wake may be finished by the CPU that it is for, so nothing is asked there yet.
func (m *Machine) beginHandOver(from event.CPU, th *Thread) {
	c := th.Task.CPU()
	if cp := &m.cpus[c]; cp.handAt <= m.now && (c != from || m.Sched.NeedResched(c) || m.Sched.NeedReschedLazy(c)) {
		cp.handAt = m.now + m.cfg.HandOver
		if m.Sched.IsIdle(c) {
			cp.handAt = m.now + m.cfg.IdleHandOver
		}
	}
}

// handOverFrom notes that an interrupt of c asked it to schedule, without a wake: a tick at which
// a budget has run out, or a timer that brings a new one.
func (m *Machine) handOverFrom(c event.CPU) {
	if cp := &m.cpus[c]; cp.handAt <= m.now && m.Sched.NeedResched(c) {
		cp.handAt = m.now + m.cfg.HandOver
	}
}

// handOver lets c do nothing but interrupts until a woken task may have it.
func (m *Machine) handOver(c event.CPU) {
	m.pause(c)
	cp := &m.cpus[c]
	m.queue.Cancel(cp.ready)
	cp.ready = m.queue.Push(engine.Item{At: cp.handAt, Rank: rankWork, What: itemReady, Arg: int64(c)})
}
