package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// cpuMask is a set of CPUs.
type cpuMask []uint64

func newMask(cpus int) cpuMask { return make(cpuMask, (cpus+63)/64) }

// allCPUs returns the set of the first n CPUs.
func allCPUs(n int) cpuMask {
	m := newMask(n)
	for c := range n {
		m.set(event.CPU(c))
	}
	return m
}

func (m cpuMask) has(c event.CPU) bool {
	return c >= 0 && int(c) < len(m)*64 && m[c/64]&(1<<(c%64)) != 0
}

func (m cpuMask) set(c event.CPU)   { m[c/64] |= 1 << (c % 64) }
func (m cpuMask) clear(c event.CPU) { m[c/64] &^= 1 << (c % 64) }

func (m cpuMask) count() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// next returns the first CPU of the set from c on, NoCPU if there is none.
func (m cpuMask) next(c event.CPU) event.CPU {
	for w := int(c) / 64; w < len(m); w++ {
		word := m[w]
		if w == int(c)/64 {
			word &= ^uint64(0) << (c % 64)
		}
		if word != 0 {
			return event.CPU(w*64 + bits.TrailingZeros64(word))
		}
	}
	return event.NoCPU
}

// first returns the lowest CPU of the set, NoCPU if it is empty.
func (m cpuMask) first() event.CPU { return m.next(0) }

// contains reports whether every CPU of o is in m.
func (m cpuMask) contains(o cpuMask) bool {
	for i, w := range o {
		if i >= len(m) && w != 0 || i < len(m) && w&^m[i] != 0 {
			return false
		}
	}
	return true
}
