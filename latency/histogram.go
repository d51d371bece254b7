package latency

import "slices"

// Buckets is a linear histogram of wait lengths, for --hist: n buckets of equal width
// from 0 on, and a count of the waits beyond the last one. Min, Avg and Max are over all
// waits, those beyond included.
type Buckets struct {
	bucketNS int64
	n        int
	counts   []int64 // as long as the highest bucket in use: most tasks wait briefly
	over     int64
	waits    int64
	min      int64
	max      int64
	total    int64
}

// NewBuckets returns an empty histogram of n buckets of bucketNS each. A width below
// 1 ns is taken as 1 ns, a negative n as 0: then every wait is an overflow.
func NewBuckets(bucketNS int64, n int) *Buckets {
	return &Buckets{bucketNS: max(bucketNS, 1), n: max(n, 0)}
}

// Add counts one wait of ns; a negative one as 0, as in Series.
func (b *Buckets) Add(ns int64) {
	ns = max(ns, 0)
	if b.waits == 0 {
		b.min = ns
	}
	b.min, b.max = min(b.min, ns), max(b.max, ns)
	b.waits++
	b.total = addSaturated(b.total, ns)
	i := ns / b.bucketNS
	if i >= int64(b.n) {
		b.over++
		return
	}
	b.grow(int(i) + 1)
	b.counts[i]++
}

// Merge adds all waits of other and reports whether it could: only histograms of the
// same width and number of buckets can be added, others are left alone. nil counts as
// empty.
func (b *Buckets) Merge(other *Buckets) bool {
	if other == nil || other.waits == 0 {
		return true
	}
	if b.bucketNS != other.bucketNS || b.n != other.n {
		return false
	}
	if b.waits == 0 {
		b.min = other.min
	}
	b.min, b.max = min(b.min, other.min), max(b.max, other.max)
	b.waits += other.waits
	b.over += other.over
	b.total = addSaturated(b.total, other.total)
	b.grow(len(other.counts))
	for i, c := range other.counts {
		b.counts[i] += c
	}
	return true
}

// grow makes counts at least n long.
func (b *Buckets) grow(n int) {
	if n > len(b.counts) {
		b.counts = append(b.counts, make([]int64, n-len(b.counts))...)
	}
}

// Counts returns a copy of all n buckets: element i counts the waits from i·BucketNS up
// to, but without, (i+1)·BucketNS.
func (b *Buckets) Counts() []int64 {
	counts := slices.Clone(b.counts)
	return append(counts, make([]int64, b.n-len(counts))...)
}

// BucketNS is the width of a bucket in ns.
func (b *Buckets) BucketNS() int64 { return b.bucketNS }

// Overflows is the number of waits beyond the last bucket.
func (b *Buckets) Overflows() int64 { return b.over }

// Waits is the number of all waits, overflows included.
func (b *Buckets) Waits() int64 { return b.waits }

// Min is the shortest wait in ns, 0 if there is none.
func (b *Buckets) Min() int64 { return b.min }

// Max is the longest wait in ns, 0 if there is none.
func (b *Buckets) Max() int64 { return b.max }

// Avg is the mean wait in ns, rounded down as cyclictest does; 0 if there is none.
func (b *Buckets) Avg() int64 {
	if b.waits == 0 {
		return 0
	}
	return b.total / b.waits
}
