package latency

// Series is one series of wait lengths in ns. The zero value is empty.
type Series struct{}

// Add counts one wait of ns.
func (s *Series) Add(ns int64) {}

// Merge adds all waits of other.
func (s *Series) Merge(other *Series) {}

// Count is the number of waits.
func (s *Series) Count() int64 { return 0 }

// Min is the shortest wait in ns, 0 for an empty series.
func (s *Series) Min() int64 { return 0 }

// Max is the longest wait in ns, 0 for an empty series.
func (s *Series) Max() int64 { return 0 }

// Total is the sum of all waits in ns.
func (s *Series) Total() int64 { return 0 }

// Percentile returns the wait of rank ⌈num/den·n⌉, and whether it is approximate.
func (s *Series) Percentile(num, den int64) (ns int64, approximate bool) { return 0, false }
