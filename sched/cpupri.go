package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// cpupri finds the CPUs with the lowest real-time priority; struct cpupri. Idle and fair
// CPUs are one level, as in the kernel since 5.10.
type cpupri struct {
	prio  []event.Prio          // by CPU: its priority, MaxRTPrio without
	level [noRTPrio + 1]cpuMask // level[p]: the CPUs whose highest priority is p
	count [noRTPrio + 1]int     // how many they are
	some  [2]uint64             // levels that are not empty
}

func (c *cpupri) init(span cpuMask, cpus int) {
	c.prio = make([]event.Prio, cpus)
	words := len(newMask(cpus))
	all := make(cpuMask, len(c.level)*words) // side by side: a search walks over levels
	for p := range c.level {
		c.level[p] = all[p*words : (p+1)*words : (p+1)*words]
	}
	for i := range c.prio {
		c.prio[i] = noRTPrio
		if span.has(event.CPU(i)) {
			c.add(event.CPU(i), noRTPrio)
		}
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
		rq.rd.cpupri.set(rq.cpu, event.PrioDeadline)
		return
	}
	rq.rd.cpupri.set(rq.cpu, rq.rt.highest())
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

// overload knows where real-time tasks wait that could run elsewhere, and how important
// the first of them is; rto_mask with rt_rq->highest_prio.next.
type overload struct {
	prio  []event.Prio      // by CPU: of its first pushable task, MaxRTPrio without
	count [noRTPrio + 1]int // CPUs of each priority
	some  [2]uint64         // priorities that a CPU has, MaxRTPrio not among them
}

func (o *overload) init(span cpuMask, cpus int) {
	o.prio = make([]event.Prio, cpus)
	for c := range o.prio {
		o.prio[c] = noRTPrio
	}
	o.count[noRTPrio] = span.count()
}

func (o *overload) set(cpu event.CPU, p event.Prio) {
	old := o.prio[cpu]
	if old == p {
		return
	}
	if o.count[old]--; o.count[old] == 0 {
		o.some[old/64] &^= 1 << (old % 64)
	}
	if o.count[p]++; p < noRTPrio {
		o.some[p/64] |= 1 << (p % 64)
	}
	o.prio[cpu] = p
}

// someBefore reports whether a task of a higher priority than p waits anywhere.
func (o *overload) someBefore(p event.Prio) bool {
	if p <= 64 {
		return o.some[0]<<(64-p) != 0
	}
	return o.some[0] != 0 || o.some[1]<<(128-p) != 0
}

// next returns the first CPU from cpu on where a task of a higher priority than p waits,
// NoCPU if there is none.
func (o *overload) next(cpu event.CPU, p event.Prio) event.CPU {
	for ; int(cpu) < len(o.prio); cpu++ {
		if o.prio[cpu] < p {
			return cpu
		}
	}
	return event.NoCPU
}
