package latency_test

import (
	"fmt"

	"github.com/whylate/whylate/latency"
)

func ExampleSeries() {
	var s latency.Series
	for _, ns := range []int64{14_000, 9_000, 11_020_000, 12_000} {
		s.Add(ns)
	}
	p50, _ := s.Percentile(1, 2)
	p99, approximate := s.Percentile(99, 100)
	fmt.Println(s.Count(), p50, p99, approximate, s.Max())
	// Output: 4 12000 11020000 false 11020000
}

func ExampleBuckets() {
	b := latency.NewBuckets(1000, 3)
	for _, ns := range []int64{999, 1000, 2500, 2999, 50_000} {
		b.Add(ns)
	}
	fmt.Println(b.Counts(), b.Overflows(), b.Avg())
	// Output: [1 1 2] 1 11499
}
