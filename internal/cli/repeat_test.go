package cli

import "testing"

// TestMedianInterval: the usual table of confidence intervals of a median.
func TestMedianInterval(t *testing.T) {
	for _, c := range []struct{ n, low, high, percent int }{
		{1, 1, 1, 0},
		{5, 1, 5, 93}, // 1 − 2/32: not sure enough
		{6, 1, 6, 96}, // 1 − 2/64
		{8, 1, 8, 99}, // the second and seventh would be 92.9 %
		{9, 2, 8, 96}, // 1 − 2·10/512
		{20, 6, 15, 95},
		{30, 10, 21, 95},
	} {
		values := make([]int64, c.n)
		for i := range values {
			values[i] = int64(c.n - i)
		}
		got := medianOf(values)
		want := interval{int64((c.n + 1) / 2), int64(c.low), int64(c.high), c.percent}
		if got != want {
			t.Errorf("%d values: %+v, want %+v", c.n, got, want)
		}
	}
}
