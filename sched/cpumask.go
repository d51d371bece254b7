package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// cpuMask is a set of CPUs. All masks of a machine have the same length.
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

// put makes c a member or not.
func (m cpuMask) put(c event.CPU, in bool) {
	if in {
		m.set(c)
	} else {
		m.clear(c)
	}
}

func (m cpuMask) count() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

func (m cpuMask) empty() bool {
	for _, w := range m {
		if w != 0 {
			return false
		}
	}
	return true
}

func (m cpuMask) equal(o cpuMask) bool {
	for i, w := range m {
		if w != o[i] {
			return false
		}
	}
	return true
}

// next returns the first CPU of the set from c on, NoCPU if there is none.
func (m cpuMask) next(c event.CPU) event.CPU {
	w := int(c) / 64
	if w >= len(m) {
		return event.NoCPU
	}
	word := m[w] & (^uint64(0) << (c % 64))
	for word == 0 {
		if w++; w >= len(m) {
			return event.NoCPU
		}
		word = m[w]
	}
	return event.CPU(w*64 + bits.TrailingZeros64(word))
}

// first returns the lowest CPU of the set, NoCPU if it is empty.
func (m cpuMask) first() event.CPU { return m.next(0) }

// nextAnd returns the first CPU from c on that is in both sets, NoCPU if there is none.
func (m cpuMask) nextAnd(o cpuMask, c event.CPU) event.CPU {
	w := int(c) / 64
	if w >= len(m) {
		return event.NoCPU
	}
	word := m[w] & o[w] & (^uint64(0) << (c % 64))
	for word == 0 {
		if w++; w >= len(m) {
			return event.NoCPU
		}
		word = m[w] & o[w]
	}
	return event.CPU(w*64 + bits.TrailingZeros64(word))
}

// and makes m the CPUs that are in both a and b, and reports whether there are any.
func (m cpuMask) and(a, b cpuMask) bool {
	some := uint64(0)
	for i := range m {
		m[i] = a[i] & b[i]
		some |= m[i]
	}
	return some != 0
}

// without takes all CPUs of o out of m.
func (m cpuMask) without(o cpuMask) {
	for i := range m {
		m[i] &^= o[i]
	}
}

// intersects reports whether a CPU is in both sets.
func (m cpuMask) intersects(o cpuMask) bool {
	for i, w := range m {
		if w&o[i] != 0 {
			return true
		}
	}
	return false
}

// contains reports whether every CPU of o is in m.
func (m cpuMask) contains(o cpuMask) bool {
	for i, w := range o {
		if w&^m[i] != 0 {
			return false
		}
	}
	return true
}
