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

// steal takes c away. Whatever it was doing goes on later by as much; interrupts wait.
func (m *Machine) steal(c event.CPU, i int) {
	cp := &m.cpus[c]
	length := m.cfg.Steals[i].Length.draw(m.steals[i*len(m.cpus)+int(c)])
	if length > 0 {
		if cp.running != nil && cp.running.mode == IRQsOff {
			cp.held = true
		}
		m.pause(c)
		cp.stolen = max(cp.stolen, m.now) + length
		cp.busy = max(cp.busy, m.now) + length
		m.ask(c)
	}
	m.planSteal(c, i, length)
}
