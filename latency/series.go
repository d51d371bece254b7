package latency

import (
	"math"
	"math/bits"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// exactWaits is the number of waits up to which percentiles are exact; as the
	// definitions promise. 10⁶ waits take 8 MB.
	exactWaits = 1_000_000
	// figures are the significant decimal digits of the histogram beyond that: each
	// bucket is at most 1/1024 of its values wide. Two digits would keep the promised 1 %
	// as well, but only a series of a million waits pays for the third (450 kB).
	figures = 3
)

// Series is one series of wait lengths in ns. The zero value is empty and ready.
//
// Up to 10⁶ waits it keeps every one and its percentiles are exact; beyond that it
// counts them in an HdrHistogram. Min, Max, Count and Total are always exact. What it
// answers depends on the set of waits alone, never on the order of Add and Merge.
//
// A Series is not safe for concurrent use: asking for a percentile sorts it.
type Series struct {
	waits  []int64 // every wait, while hist is nil
	hist   *hdrhistogram.Histogram
	sorted bool // waits are in ascending order
	count  int64
	min    int64
	max    int64
	total  int64
}

// Add counts one wait of ns. A wait is never negative; should a broken clock make one
// so, it counts as 0.
func (s *Series) Add(ns int64) {
	ns = max(ns, 0)
	if s.count == 0 {
		s.min = ns
	}
	s.min, s.max = min(s.min, ns), max(s.max, ns)
	s.count++
	s.total = addSaturated(s.total, ns)
	if s.hist != nil {
		record(s.hist, ns, 1)
		return
	}
	s.waits = append(s.waits, ns)
	s.sorted = false
	if len(s.waits) > exactWaits {
		s.spill()
	}
}

// Merge adds all waits of other, which keeps its own; nil counts as empty.
func (s *Series) Merge(other *Series) {
	if other == nil || other.count == 0 {
		return
	}
	if s.count == 0 {
		s.min = other.min
	}
	s.min, s.max = min(s.min, other.min), max(s.max, other.max)
	s.total = addSaturated(s.total, other.total)
	s.count += other.count
	if s.hist == nil && (other.hist != nil || s.count > exactWaits) {
		s.spill()
	}
	switch {
	case other.hist != nil:
		for _, bar := range other.hist.Distribution() {
			record(s.hist, bar.From, bar.Count)
		}
	case s.hist != nil:
		for _, ns := range other.waits {
			record(s.hist, ns, 1)
		}
	default:
		s.waits = append(s.waits, other.waits...)
		s.sorted = false
	}
}

// spill moves the waits into a histogram that covers every int64, so that no wait is
// ever too long for it.
func (s *Series) spill() {
	s.hist = hdrhistogram.New(1, math.MaxInt64, figures)
	for _, ns := range s.waits {
		record(s.hist, ns, 1)
	}
	s.waits = nil
}

// record counts n waits of ns. The library fails only for negative or too large values
// and for more than 2^63 of them; none of these can be here.
func record(h *hdrhistogram.Histogram, ns, n int64) { _ = h.RecordValues(ns, n) }

// Count is the number of waits.
func (s *Series) Count() int64 { return s.count }

// Min is the shortest wait in ns, 0 for an empty series.
func (s *Series) Min() int64 { return s.min }

// Max is the longest wait in ns, 0 for an empty series.
func (s *Series) Max() int64 { return s.max }

// Total is the sum of all waits in ns. It stops at the largest int64 (292 years).
func (s *Series) Total() int64 { return s.total }

// Percentile returns the wait in ns at the quantile q = num/den: of n waits in ascending
// order the one of rank ⌈q·n⌉, counted from 1 (nearest rank). q is a ratio of integers
// (999/1000), so that no rounding can move the rank.
//
// Beyond 10⁶ waits the answer is the upper edge of the histogram's bucket, but not above
// Max: never below the true wait, at most 1 % above it, and approximate is true.
//
// An empty series answers 0; q is taken as 0 below 0 (the shortest wait) and as 1 above
// 1 (the longest).
func (s *Series) Percentile(num, den int64) (ns int64, approximate bool) {
	if s.count == 0 {
		return 0, false
	}
	r := Rank(num, den, s.count)
	if s.hist == nil {
		if !s.sorted {
			slices.Sort(s.waits)
			s.sorted = true
		}
		return s.waits[r-1], false
	}
	for _, bar := range s.hist.Distribution() {
		if r -= bar.Count; r <= 0 {
			return min(bar.To, s.max), true
		}
	}
	return s.max, true
}

// Rank is the nearest rank of the quantile num/den among n values in order of size, counted from
// 1: ⌈num/den·n⌉ for n ≥ 1, held between 1 and n. The product can be larger than 64 bits.
func Rank(num, den, n int64) int64 {
	switch {
	case num <= 0:
		return 1
	case num >= den:
		return n
	}
	hi, lo := bits.Mul64(uint64(num), uint64(n))
	// num < den, so the quotient is at most n and Div64 cannot overflow.
	quo, rem := bits.Div64(hi, lo, uint64(den))
	if rem > 0 {
		quo++
	}
	return max(int64(quo), 1)
}

// addSaturated returns a + b for numbers ≥ 0, the largest int64 where that is too large.
func addSaturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
