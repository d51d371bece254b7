package machine

import (
	"strconv"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// Steal are times in which a hypervisor runs something else on a CPU: that does nothing at
// all, and the guest does not know. Its clock goes on, so whoever was current is charged.
type Steal struct {
	CPUs []event.CPU // nil: all, each at times of its own
	// Every is from the end of one to the beginning of the next, Length how long one is.
	Every, Length Span
}

// planSteals plans the first of each.
func (m *Machine) planSteals() {
	n := len(m.cpus)
	m.steals = make([]*engine.Stream, n*len(m.cfg.Steals))
	for i := range m.cfg.Steals {
		s := &m.cfg.Steals[i]
		for c := range n {
			if len(s.CPUs) == 0 {
				m.planSteal(event.CPU(c), i, 0)
			}
		}
		for _, c := range s.CPUs {
			if c >= 0 && int(c) < n {
				m.planSteal(c, i, 0)
			}
		}
	}
}

// planSteal plans the next one, which comes after the one of the length given.
func (m *Machine) planSteal(c event.CPU, i int, length event.Time) {
	r := &m.steals[i*len(m.cpus)+int(c)]
	if *r == nil {
		*r = engine.NewStream(m.cfg.Seed, "machine/steal/"+strconv.Itoa(i)+"/"+strconv.Itoa(int(c)))
	}
	at := m.now + length + max(1, m.cfg.Steals[i].Every.draw(*r))
	m.queue.Push(engine.Item{At: at, Rank: rankTimer, What: itemSteal, Arg: int64(c) | int64(i)<<32})
}

// steal takes c away for a drawn length. Whatever it was doing goes on later by as much; interrupts wait.
func (m *Machine) steal(c event.CPU, i int) {
	length := m.cfg.Steals[i].Length.draw(m.steals[i*len(m.cpus)+int(c)])
	if length > 0 {
		m.takeAway(c, length)
	}
	m.planSteal(c, i, length)
}

// takeAway takes c away for so long.
func (m *Machine) takeAway(c event.CPU, length event.Time) {
	cp := &m.cpus[c]
	if cp.running != nil && cp.running.mode == IRQsOff {
		cp.held = true
	}
	m.pause(c)
	cp.stolen = max(cp.stolen, m.now) + length
	cp.busy = max(cp.busy, m.now) + length
	m.ask(c)
}

// StealAt takes c away from the time from on until to, as a Steal does whose times are given.
// What of it has passed, or lies in another one, is not taken again.
func (m *Machine) StealAt(c event.CPU, from, to event.Time) {
	m.At(from, func() {
		if length := to - max(m.now, m.cpus[c].stolen); length > 0 {
			m.takeAway(c, length)
		}
	})
}
