package latency

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestBucketsCountByLowerEdge(t *testing.T) {
	b := NewBuckets(1000, 4)
	for _, ns := range []int64{0, 999, 1000, 3999, 4000, 1_000_000, -3} {
		b.Add(ns)
	}
	if diff := cmp.Diff([]int64{3, 1, 0, 1}, b.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	got := []int64{b.BucketNS(), b.Overflows(), b.Waits(), b.Min(), b.Avg(), b.Max()}
	want := []int64{1000, 2, 7, 0, (999 + 1000 + 3999 + 4000 + 1_000_000) / 7, 1_000_000}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("width, overflows, waits, min, avg, max (-want +got):\n%s", diff)
	}
}

func TestBucketsWithoutWaitsAreZeros(t *testing.T) {
	b := NewBuckets(1000, 3)
	if diff := cmp.Diff([]int64{0, 0, 0}, b.Counts()); diff != "" {
		t.Error(diff)
	}
	if b.Min() != 0 || b.Avg() != 0 || b.Max() != 0 {
		t.Error("no waits, but a min, avg or max")
	}
}

func TestBucketsOfSenselessShape(t *testing.T) {
	b := NewBuckets(0, -1)
	b.Add(7)
	if b.BucketNS() != 1 || len(b.Counts()) != 0 || b.Overflows() != 1 {
		t.Errorf("width %d, %d buckets, %d overflows; want 1, 0, 1", b.BucketNS(), len(b.Counts()), b.Overflows())
	}
}

func TestBucketsMergeEqualsAddingAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		waits := rapid.SliceOf(rapid.Int64Range(0, 20_000))
		whole, left, right := NewBuckets(1000, 10), NewBuckets(1000, 10), NewBuckets(1000, 10)
		for _, ns := range waits.Draw(t, "left") {
			left.Add(ns)
			whole.Add(ns)
		}
		for _, ns := range waits.Draw(t, "right") {
			right.Add(ns)
			whole.Add(ns)
		}
		if !left.Merge(right) {
			t.Fatal("refused")
		}
		var sum int64
		for _, c := range left.Counts() {
			sum += c
		}
		if sum+left.Overflows() != left.Waits() {
			t.Fatalf("%d in buckets and %d beyond, but %d waits", sum, left.Overflows(), left.Waits())
		}
		if diff := cmp.Diff(whole.Counts(), left.Counts()); diff != "" {
			t.Fatalf("(-added +merged):\n%s", diff)
		}
		if whole.Min() != left.Min() || whole.Avg() != left.Avg() || whole.Max() != left.Max() || whole.Overflows() != left.Overflows() {
			t.Fatal("min, avg, max or overflows differ")
		}
	})
}

func TestBucketsOfOtherShapeDoNotMerge(t *testing.T) {
	b, other := NewBuckets(1000, 4), NewBuckets(1000, 5)
	other.Add(1)
	if b.Merge(other) || b.Waits() != 0 {
		t.Error("histograms of different shape were added")
	}
}
