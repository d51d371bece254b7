package stats

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/whylate/whylate/result"
)

// Assumption says what is believed of the numbers of several runs.
type Assumption uint8

// The assumptions.
const (
	// Nothing: medians, and the Mann-Whitney test. Right for percentiles and maxima.
	Nothing Assumption = iota
	// Normal: means, and Welch's t test. For sums over much of a run, such as shares of a
	// CPU, which have more power so.
	Normal
)

// The confidence of the intervals and the level of the tests.
const (
	confidence = 0.95
	level      = 0.05
)

func (a Assumption) math() benchmath.Assumption {
	if a == Normal {
		return benchmath.AssumeNormal
	}
	return benchmath.AssumeNothing
}

func (a Assumption) test() string {
	if a == Normal {
		return "Welch t"
	}
	return "Mann-Whitney U"
}

// sampleOf copies values: benchmath sorts its own.
func sampleOf(values []int64) *benchmath.Sample {
	floats := make([]float64, len(values))
	for i, v := range values {
		floats[i] = float64(v)
	}
	return benchmath.NewSample(floats, &benchmath.DefaultThresholds)
}

func allEqual(values []int64) bool {
	return !slices.ContainsFunc(values, func(v int64) bool { return v != values[0] })
}

// Estimate sums up what the runs of one variant gave. random says whether seeds change
// anything in this comparison: without that equal values are no evidence.
func Estimate(values []int64, a Assumption, random bool) result.Estimate {
	if len(values) == 0 {
		return result.Estimate{Summary: "none"}
	}
	// An interval without width would pass for great confidence.
	if !random || len(values) > 1 && allEqual(values) {
		return result.Estimate{Center: values[0], Low: values[0], High: values[0], Summary: "exact"}
	}
	m := a.math()
	low, high := slices.Min(values), slices.Max(values)
	e := result.Estimate{Low: low, High: high, Summary: m.SummaryLabel()}
	if len(values) < 2 {
		e.Center = values[0]
		return e
	}
	s := m.Summary(sampleOf(values), confidence)
	e.Center = round(s.Center)
	// With fewer than six runs no pair of them holds the median with 95 %: the range is
	// shown without a confidence.
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) || math.IsNaN(s.Lo) {
		return e
	}
	e.Low, e.High = round(s.Lo), round(s.Hi)
	e.Confidence = int(math.Floor(s.Confidence * 100))
	return e
}

func round(x float64) int64 { return int64(math.Round(x)) }

// Differ compares the runs of a variant with those of the first.
func Differ(first, values []int64, a Assumption, random bool) *result.Difference {
	if len(first) == 0 || len(values) == 0 {
		return nil
	}
	if !random || len(first) > 1 && len(values) > 1 && allEqual(first) && allEqual(values) {
		return exact(values[0] - first[0])
	}
	d := &result.Difference{Test: a.test(), Delta: center(values, a) - center(first, a)}
	p, err := pValue(first, values, a)
	if err != nil {
		d.Verdict, d.Test, d.Note = "none_shown", "", err.Error()
		return d
	}
	// Processors differ in the last digits of a floating-point number, answers may not.
	d.P = math.Round(p*1e6) / 1e6
	switch {
	case p > level:
		d.Verdict = "none_shown"
		if d.Smallest = smallest(first, values, a); d.Smallest == nil {
			d.Note = "too few runs to show any difference"
		}
	case higher(first, values, a):
		d.Verdict = "higher"
	default:
		d.Verdict = "lower"
	}
	return d
}

// Test compares two lists that came about by chance, as Differ does, without looking for the
// difference that it would have shown: for many comparisons, see Holm. Nil: one is empty.
func Test(first, values []int64, a Assumption) *result.Difference {
	if len(first) == 0 || len(values) == 0 {
		return nil
	}
	d := &result.Difference{Test: a.test(), Delta: center(values, a) - center(first, a), Verdict: "none_shown"}
	p, err := pValue(first, values, a)
	if err != nil {
		d.Test, d.Note = "", err.Error()
		return d
	}
	d.P = math.Round(p*1e6) / 1e6
	if p <= level {
		d.Verdict = "lower"
		if higher(first, values, a) {
			d.Verdict = "higher"
		}
	}
	return d
}

// Holm adjusts the chances of many tests, so that one that shows a difference where there is
// none is as rare among all of them as the level says, and takes back what is no longer shown.
// It returns how many still show one. Tests that are nil or could not be made do not count.
func Holm(list []*result.Difference) (tests, shown int) {
	var made []*result.Difference
	for _, d := range list {
		if d != nil && d.Test != "" {
			made = append(made, d)
		}
	}
	slices.SortStableFunc(made, func(a, b *result.Difference) int { return cmp.Compare(a.P, b.P) })
	least := 0.0
	for i, d := range made {
		least = max(least, min(1, d.P*float64(len(made)-i)))
		d.P = math.Round(least*1e6) / 1e6
		switch {
		case d.Verdict == "none_shown":
		case d.P > level:
			d.Verdict = "none_shown"
		default:
			shown++
		}
	}
	return len(made), shown
}

func exact(delta int64) *result.Difference {
	d := &result.Difference{Delta: delta, Verdict: "exact_same"}
	switch {
	case delta < 0:
		d.Verdict = "exact_lower"
	case delta > 0:
		d.Verdict = "exact_higher"
	}
	return d
}

var errFewRuns = errors.New("one run of each variant: nothing can be tested")

// pValue is the chance of runs as different as these if the variants did not differ.
func pValue(first, values []int64, a Assumption) (float64, error) {
	if len(first) < 2 || len(values) < 2 {
		return 1, errFewRuns
	}
	// Without any spread the t test has nothing to divide by.
	if allEqual(first) && allEqual(values) {
		a = Nothing
	}
	c := a.math().Compare(sampleOf(first), sampleOf(values))
	if math.IsNaN(c.P) {
		return 1, nil
	}
	return c.P, nil
}

func center(values []int64, a Assumption) int64 {
	return round(a.math().Summary(sampleOf(values), confidence).Center)
}

// higher reports on which side of first the runs lie, once they are known to differ. It
// counts pairs, since two medians can be equal where the runs around them are not.
func higher(first, values []int64, a Assumption) bool {
	if a == Normal {
		return center(values, a) > center(first, a)
	}
	balance := 0
	for _, x := range first {
		for _, y := range values {
			switch {
			case y > x:
				balance++
			case y < x:
				balance--
			}
		}
	}
	return balance > 0
}

// smallest returns how far apart the centers would have had to be for the test to show it,
// with runs that scatter as these do: the larger of the two directions. Nil: even runs that
// do not overlap at all would not have shown.
func smallest(first, values []int64, a Assumption) *int64 {
	span := max(slices.Max(first), slices.Max(values)) - min(slices.Min(first), slices.Min(values)) + 1
	base := center(values, a) - center(first, a)
	worst := int64(0)
	for _, sign := range []int64{1, -1} {
		shown := func(shift int64) bool {
			moved := make([]int64, len(values))
			for i, v := range values {
				moved[i] = v + sign*shift
			}
			p, err := pValue(first, moved, a)
			return err == nil && p <= level
		}
		low, high := int64(0), span
		// The t test looks at the spread and not at the order: it may need more than that.
		for n := 0; n < 20 && !shown(high); n++ {
			high *= 2
			if a == Nothing {
				break
			}
		}
		if !shown(high) {
			return nil
		}
		for high-low > 1 {
			if mid := low + (high-low)/2; shown(mid) {
				high = mid
			} else {
				low = mid
			}
		}
		worst = max(worst, abs(base+sign*high))
	}
	return &worst
}

func abs(n int64) int64 { return max(n, -n) }
