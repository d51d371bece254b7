package latency

// Buckets is a linear histogram of waits.
type Buckets struct{}

// NewBuckets returns a histogram of n buckets of bucketNS each.
func NewBuckets(bucketNS int64, n int) *Buckets { return &Buckets{} }

// Add counts one wait of ns.
func (b *Buckets) Add(ns int64) {}

// Merge adds all waits of other, which must have the same buckets.
func (b *Buckets) Merge(other *Buckets) {}

// Counts has the n buckets; Counts()[i] counts waits from i·bucketNS up to the next.
func (b *Buckets) Counts() []int64 { return nil }

// Overflows is the number of waits beyond the last bucket.
func (b *Buckets) Overflows() int64 { return 0 }

// Waits is the number of all waits, with overflows.
func (b *Buckets) Waits() int64 { return 0 }

// Min, Avg and Max are over all waits, in ns; 0 for none.
func (b *Buckets) Min() int64 { return 0 }

// Avg is the mean in ns, rounded down.
func (b *Buckets) Avg() int64 { return 0 }

// Max is the longest wait in ns.
func (b *Buckets) Max() int64 { return 0 }

// BucketNS is the width of a bucket in ns.
func (b *Buckets) BucketNS() int64 { return 0 }
