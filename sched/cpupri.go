package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// cpupri sorts the CPUs by a real-time priority; struct cpupri. It serves two ends: to find
// the CPUs that run the least important tasks (idle and fair ones are one level, as in the
// kernel since 5.10), and to find those where the most important ones wait, which the
// kernel does with a mask alone (rto_mask).
type cpupri struct {
	prio  []event.Prio          // by CPU: its priority, MaxRTPrio without
	level [noRTPrio + 1]cpuMask // level[p]: the CPUs whose highest priority is p
	count [noRTPrio + 1]int     // how many they are
	some  [2]uint64             // levels that are not empty
}

func (c *cpupri) init(cpus int) {
	c.prio = make([]event.Prio, cpus)
	words := len(newMask(cpus))
	all := make(cpuMask, len(c.level)*words) // side by side: a search walks over levels
	for p := range c.level {
		c.level[p] = all[p*words : (p+1)*words : (p+1)*words]
	}
	for i := range c.prio {
		c.prio[i] = noRTPrio
		c.add(event.CPU(i), noRTPrio)
	}
}

func (c *cpupri) add(cpu event.CPU, p event.Prio) {
	c.level[p].set(cpu)
	c.count[p]++
	c.some[p/64] |= 1 << (p % 64)
}

// updateCPUPri tells the map what rq runs at best. A CPU with deadline tasks is no place
// for real-time ones (CPUPRI_HIGHER). The kernel forgets that when another real-time task
// is queued there; then it can send tasks to and fro.
func (s *Sched) updateCPUPri(rq *RQ) {
	if rq.dl.nrRunning > 0 {
		s.cpupri.set(rq.cpu, event.PrioDeadline)
		return
	}
	s.cpupri.set(rq.cpu, rq.rt.highest())
}

// set is cpupri_set(); with PrioDeadline the CPU is in no level.
func (c *cpupri) set(cpu event.CPU, p event.Prio) {
	old := c.prio[cpu]
	if old == p {
		return
	}
	if old >= 0 {
		c.level[old].clear(cpu)
		if c.count[old]--; c.count[old] == 0 {
			c.some[old/64] &^= 1 << (old % 64)
		}
	}
	if p >= 0 {
		c.add(cpu, p)
	}
	c.prio[cpu] = p
}

// someBefore reports whether a CPU has a higher priority than p.
func (c *cpupri) someBefore(p event.Prio) bool {
	if p <= 64 {
		return c.some[0]<<(64-p) != 0
	}
	return c.some[0] != 0 || c.some[1]<<(128-p) != 0
}

// before puts into found the CPUs that have a higher priority than p.
func (c *cpupri) before(p event.Prio, found cpuMask) {
	clear(found)
	for w := range event.Prio(2) {
		word := c.some[w]
		for ; word != 0; word &= word - 1 {
			level := w*64 + event.Prio(bits.TrailingZeros64(word))
			if level >= p {
				return
			}
			for i, m := range c.level[level] {
				found[i] |= m
			}
		}
	}
}

// nextWith returns the first CPU from cpu on that has any priority, NoCPU if there is none.
func (c *cpupri) nextWith(cpu event.CPU) event.CPU {
	for ; int(cpu) < len(c.prio); cpu++ {
		if c.prio[cpu] < noRTPrio {
			return cpu
		}
	}
	return event.NoCPU
}

// find puts into found the CPUs of the lowest level on which p could run at once, and
// reports whether there are any; cpupri_find(). It asks for the affinity alone. found may
// be nil.
func (c *cpupri) find(p *Task, found cpuMask) bool {
	above := max(p.prio, 0) + 1 // the levels that p goes before
	for w := event.Prio(1); w >= 0; w-- {
		word := c.some[w]
		if above > w*64 {
			word &= ^uint64(0) << min(above-w*64, 64)
		}
		for word != 0 {
			level := w*64 + 63 - event.Prio(bits.LeadingZeros64(word))
			switch {
			case found == nil && c.level[level].intersects(p.mask):
				return true
			case found != nil && found.and(c.level[level], p.mask):
				return true
			}
			word &^= 1 << (level % 64)
		}
	}
	return false
}
