package stats

import (
	"cmp"
	"slices"
)

// Drift is how much each of values, which are in order of time, resembles the one before: the
// correlation of their ranks, in thousandths. Numbers that came about without regard to each
// other have about 0, a little less if they are few; more than 500 of ten or more is a sign
// that they did not, and that a test of them takes a phase of the machine for a difference.
// With fewer than five values, or equal ones, it is 0.
func Drift(values []int64) int {
	n := len(values)
	if n < 5 {
		return 0
	}
	rank := ranks(values)
	mean, var2, cov := int64(n+1), int64(0), int64(0) // all doubled, to stay whole
	for i, r := range rank {
		d := r - mean
		var2 += d * d
		if i > 0 {
			cov += d * (rank[i-1] - mean)
		}
	}
	if var2 == 0 {
		return 0
	}
	return int(cov * 1000 / var2)
}

// ranks are twice the ranks of values from 1; equal ones share the middle of theirs.
func ranks(values []int64) []int64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	out := make([]int64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[order[k]] = int64(i + 1 + j)
		}
		i = j
	}
	return out
}
