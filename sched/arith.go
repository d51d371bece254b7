package sched

import "math/bits"

func mul64(a, b uint64) (hi, lo uint64) { return bits.Mul64(a, b) }

func div64(hi, lo, c uint64) uint64 {
	q, _ := bits.Div64(hi, lo, c)
	return q
}

func abs(a int64) uint64 {
	if a < 0 {
		return uint64(-a)
	}
	return uint64(a)
}
