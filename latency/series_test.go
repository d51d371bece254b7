package latency

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// nearestRank is the definition, written the slow way: the smallest wait w such that at
// least num/den of all waits are ≤ w.
func nearestRank(waits []int64, num, den int64) int64 {
	sorted := slices.Sorted(slices.Values(waits))
	for i, w := range sorted {
		if int64(i+1)*den >= num*int64(len(sorted)) {
			return w
		}
	}
	return sorted[len(sorted)-1]
}

var quantiles = [][2]int64{{0, 1}, {1, 2}, {9, 10}, {99, 100}, {999, 1000}, {1, 1}}

func drawWaits(t *rapid.T, label string) []int64 {
	// Waits of real traces spread over many orders of magnitude: draw the size first.
	wait := rapid.Custom(func(t *rapid.T) int64 {
		return rapid.Int64Range(0, 1<<rapid.IntRange(0, 62).Draw(t, "bits")).Draw(t, "ns")
	})
	return rapid.SliceOfN(wait, 1, 300).Draw(t, label)
}

func seriesOf(waits []int64) *Series {
	var s Series
	for _, ns := range waits {
		s.Add(ns)
	}
	return &s
}

func TestPercentileIsNearestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		waits := drawWaits(t, "waits")
		s := seriesOf(waits)
		den := rapid.Int64Range(1, 100_000).Draw(t, "den")
		num := rapid.Int64Range(0, den).Draw(t, "num")
		for _, q := range append(quantiles, [2]int64{num, den}) {
			got, approximate := s.Percentile(q[0], q[1])
			if want := nearestRank(waits, q[0], q[1]); got != want || approximate {
				t.Fatalf("Percentile(%d, %d) = %d, approximate %v; want %d, exact", q[0], q[1], got, approximate, want)
			}
		}
	})
}

func TestHistogramIsAtMostOnePercentAboveAndNeverBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		waits := drawWaits(t, "waits")
		s := seriesOf(waits)
		s.spill()
		for _, ns := range drawWaits(t, "after the switch") {
			waits = append(waits, ns)
			s.Add(ns)
		}
		for _, q := range quantiles {
			got, approximate := s.Percentile(q[0], q[1])
			want := nearestRank(waits, q[0], q[1])
			if !approximate {
				t.Fatal("a histogram's percentile is not marked approximate")
			}
			if got < want || float64(got-want) > 0.01*float64(want) {
				t.Fatalf("Percentile(%d, %d) = %d, true value %d", q[0], q[1], got, want)
			}
		}
	})
}

// summary is everything that a Series tells.
type summary struct {
	Count, Min, Max, Total int64
	Percentiles            [6]int64
	Approximate            bool
}

func summarise(s *Series) summary {
	sum := summary{Count: s.Count(), Min: s.Min(), Max: s.Max(), Total: s.Total()}
	for i, q := range quantiles {
		sum.Percentiles[i], sum.Approximate = s.Percentile(q[0], q[1])
	}
	return sum
}

func TestMergeEqualsAddingAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawWaits(t, "a"), drawWaits(t, "b")
		if rapid.Bool().Draw(t, "a is empty") {
			a = nil
		}
		whole, left, right := seriesOf(append(slices.Clone(a), b...)), seriesOf(a), seriesOf(b)
		if rapid.Bool().Draw(t, "left is a histogram") {
			left.spill()
			whole.spill()
		}
		if rapid.Bool().Draw(t, "right is a histogram") {
			right.spill()
			if whole.hist == nil {
				whole.spill()
			}
		}
		if rapid.Bool().Draw(t, "sorted before") {
			left.Percentile(1, 2)
		}
		before := summarise(right)
		left.Merge(right)
		if diff := cmp.Diff(summarise(whole), summarise(left)); diff != "" {
			t.Fatalf("merged differs from added (-added +merged):\n%s", diff)
		}
		if diff := cmp.Diff(before, summarise(right)); diff != "" {
			t.Fatalf("Merge changed its argument:\n%s", diff)
		}
	})
}

func TestMergeWithItselfDoubles(t *testing.T) {
	for _, spilled := range []bool{false, true} {
		s := seriesOf([]int64{1, 2, 300})
		if spilled {
			s.spill()
		}
		s.Merge(s)
		if p, _ := s.Percentile(2, 3); s.Count() != 6 || s.Total() != 606 || p != 2 {
			t.Errorf("spilled %v: count %d, total %d, p67 %d; want 6, 606, 2", spilled, s.Count(), s.Total(), p)
		}
	}
}

func TestExactUpToAMillionWaits(t *testing.T) {
	var s Series
	// 7 is coprime to 10⁶: every value from 0 to 999,999 once, in mixed order.
	for i := int64(0); i < 1_000_000; i++ {
		s.Add(i * 7 % 1_000_000 * 1000)
	}
	if got, approximate := s.Percentile(999, 1000); got != 998_999_000 || approximate {
		t.Errorf("of 10⁶ waits: p99.9 = %d, approximate %v; want 998999000, exact", got, approximate)
	}
	s.Add(5_000_000_000)
	got, approximate := s.Percentile(999, 1000)
	// Rank ⌈0.999 · 1,000,001⌉ = 999,001: the value 999,000 µs.
	if !approximate || got < 999_000_000 || got > 999_000_000*101/100 {
		t.Errorf("of 10⁶+1 waits: p99.9 = %d, approximate %v; want 999000000 to +1 %%, approximate", got, approximate)
	}
	if s.Max() != 5_000_000_000 || s.Min() != 0 || s.Count() != 1_000_001 || s.Total() != 499_999_500_000_000+5_000_000_000 {
		t.Errorf("min %d, max %d, count %d, total %d are not exact", s.Min(), s.Max(), s.Count(), s.Total())
	}
	if len(s.waits) != 0 {
		t.Error("the single waits are still kept")
	}
}

func TestMergeSwitchesAboveAMillionWaits(t *testing.T) {
	var a, b Series
	for i := int64(0); i < 600_000; i++ {
		a.Add(i)
		b.Add(i)
	}
	a.Merge(&b)
	if _, approximate := a.Percentile(1, 2); !approximate || a.Count() != 1_200_000 {
		t.Errorf("count %d, approximate %v; want 1200000 in a histogram", a.Count(), approximate)
	}
}

func TestPercentileOfFewWaits(t *testing.T) {
	tests := []struct {
		name     string
		waits    []int64
		num, den int64
		want     int64
	}{
		{"no waits answer 0", nil, 99, 100, 0},
		{"q·n below 1 is the shortest", []int64{30, 10, 20}, 1, 1000, 10},
		{"one wait is every percentile", []int64{42}, 1, 2, 42},
		{"the median of two is the first", []int64{20, 10}, 1, 2, 10},
		{"0.99 of 100 is rank 99, not 100", hundred(), 99, 100, 99},
		{"0.999 of 100 is rank 100", hundred(), 999, 1000, 100},
		{"q below 0 is the shortest", []int64{1, 2}, -1, 2, 1},
		{"q above 1 is the longest", []int64{1, 2}, 3, 2, 2},
		{"negative waits count as 0", []int64{-5, 7}, 1, 2, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := seriesOf(test.waits)
			if got, approximate := s.Percentile(test.num, test.den); got != test.want || approximate {
				t.Errorf("got %d (approximate %v), want %d", got, approximate, test.want)
			}
			if s.Count() != int64(len(test.waits)) {
				t.Errorf("count %d, want %d", s.Count(), len(test.waits))
			}
		})
	}
}

func hundred() []int64 {
	waits := make([]int64, 100)
	for i := range waits {
		waits[i] = int64(i + 1)
	}
	return waits
}

func TestRankOfProductsBeyond64Bits(t *testing.T) {
	// ⌈(2^63−1)·999999999999 / 10¹²⌉, worked out with Python's integers.
	const want = 9223372036845552435
	if got := Rank(999_999_999_999, 1_000_000_000_000, math.MaxInt64); got != want {
		t.Errorf("rank = %d, want %d", got, want)
	}
}

func TestLongestWaitsAndTotalsAreHeld(t *testing.T) {
	s := seriesOf([]int64{math.MaxInt64, math.MaxInt64, 5})
	s.spill()
	if got, _ := s.Percentile(1, 1); got != math.MaxInt64 || s.Total() != math.MaxInt64 {
		t.Errorf("max %d, total %d; both must stop at the largest int64", got, s.Total())
	}
	if got, _ := s.Percentile(1, 3); got != 5 {
		t.Errorf("shortest %d, want 5", got)
	}
}

func BenchmarkSeriesAdd(b *testing.B) {
	var s Series
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Add(int64(i) & 0xffffff)
	}
}
