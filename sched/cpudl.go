package sched

import (
	"slices"

	"github.com/whylate/whylate/event"
)

// cpudl finds the CPU with the latest deadline; struct cpudl. It is a heap of the CPUs
// that have deadline tasks, the latest first, and the set of those that have none.
type cpudl struct {
	free     cpuMask
	earliest []event.Time // by CPU
	heap     []event.CPU
	place    []int // by CPU: where it is in the heap, -1: nowhere
}

// noDeadline is the earliest deadline of a CPU without deadline tasks.
const noDeadline event.Time = -1 << 63

func (c *cpudl) init(span cpuMask, cpus int) {
	c.free = slices.Clone(span)
	c.earliest = make([]event.Time, cpus)
	c.heap = make([]event.CPU, 0, cpus)
	c.place = make([]int, cpus)
	for i := range c.place {
		c.earliest[i], c.place[i] = noDeadline, -1
	}
}

// set is cpudl_set(), with noDeadline cpudl_clear().
func (c *cpudl) set(cpu event.CPU, deadline event.Time) {
	if c.earliest[cpu] == deadline {
		return
	}
	c.earliest[cpu] = deadline
	i := c.place[cpu]
	if deadline == noDeadline {
		c.free.set(cpu)
		last := len(c.heap) - 1
		c.swap(i, last)
		c.heap, c.place[cpu] = c.heap[:last], -1
		if i < last {
			c.settle(i)
		}
		return
	}
	if i < 0 {
		c.free.clear(cpu)
		i = len(c.heap)
		c.heap = append(c.heap, cpu)
		c.place[cpu] = i
	}
	c.settle(i)
}

func (c *cpudl) swap(i, j int) {
	c.heap[i], c.heap[j] = c.heap[j], c.heap[i]
	c.place[c.heap[i]], c.place[c.heap[j]] = i, j
}

// above reports whether the CPU at i has the later deadline; of equal ones the lower
// number is above.
func (c *cpudl) above(i, j int) bool {
	a, b := c.heap[i], c.heap[j]
	return c.earliest[a] > c.earliest[b] || c.earliest[a] == c.earliest[b] && a < b
}

// settle moves the CPU at i up or down to its place.
func (c *cpudl) settle(i int) {
	for ; i > 0 && c.above(i, (i-1)/2); i = (i - 1) / 2 {
		c.swap(i, (i-1)/2)
	}
	for {
		child := 2*i + 1
		if child >= len(c.heap) {
			return
		}
		if child+1 < len(c.heap) && c.above(child+1, child) {
			child++
		}
		if !c.above(child, i) {
			return
		}
		c.swap(i, child)
		i = child
	}
}

// find puts into found the CPUs without deadline tasks that p may use, else the CPU with
// the latest deadline of all, if p may use it and is earlier; cpudl_find(). It asks for
// the affinity alone.
func (c *cpudl) find(p *Task, found cpuMask) bool {
	if found.and(c.free, p.mask) {
		return true
	}
	if !c.later(p) {
		return false
	}
	found.set(c.heap[0])
	return true
}

// later reports whether the CPU with the latest deadline would do for p; cpudl_find()
// without a mask.
func (c *cpudl) later(p *Task) bool {
	return len(c.heap) > 0 && p.mask.has(c.heap[0]) && p.dl.deadline < c.earliest[c.heap[0]]
}
