package stats

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/whylate/whylate/result"
)

// draw is a sample as latencies are: skewed, with a long tail.
func draw(r *rand.Rand, n int, add int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(r.ExpFloat64()*100_000) + add
	}
	return list
}

// TestIntervalsHoldTheMedian: of intervals with 95 %, 95 in a hundred hold the true median,
// whatever the distribution. The median of this one is ln 2 of its mean.
func TestIntervalsHoldTheMedian(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const trials = 2000
	held := 0
	for range trials {
		e := Estimate(draw(r, 10, 0), Nothing, true)
		if e.Confidence < 95 {
			t.Fatalf("a confidence of %d %%", e.Confidence)
		}
		if e.Low <= 69_314 && 69_315 <= e.High {
			held++
		}
	}
	// Ten values give 97.8 %; three standard errors below 95.
	if held < trials*935/1000 {
		t.Errorf("%d of %d intervals held the median", held, trials)
	}
}

// TestEqualVariantsSeldomDiffer: the level of the tests is 5 %.
func TestEqualVariantsSeldomDiffer(t *testing.T) {
	for _, a := range []Assumption{Nothing, Normal} {
		r := rand.New(rand.NewPCG(3, 4))
		const trials = 2000
		wrong := 0
		for range trials {
			p, err := pValue(draw(r, 10, 0), draw(r, 10, 0), a)
			if err != nil {
				t.Fatal(err)
			}
			if p <= level {
				wrong++
			}
		}
		if wrong > trials*65/1000 {
			t.Errorf("%s: %d of %d pairs of equal variants differ", a.test(), wrong, trials)
		}
	}
}

// TestVerdicts: what is far apart differs in the right direction, equal runs do not, and too
// few runs never do.
func TestVerdicts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	low, high := draw(r, 10, 0), draw(r, 10, 1_000_000)
	constant := []int64{7, 7, 7, 7, 7, 7}
	for _, c := range []struct {
		name          string
		first, values []int64
		random        bool
		want          string
		smallest      bool
	}{
		{"above", low, high, true, "higher", false},
		{"below", high, low, true, "lower", false},
		{"the same runs", low, low, true, "none_shown", true},
		{"three runs", []int64{1, 2, 3}, []int64{101, 102, 103}, true, "none_shown", false},
		{"one run", []int64{1}, []int64{2}, true, "none_shown", false},
		{"constants", constant, []int64{9, 9, 9, 9, 9, 9}, true, "exact_higher", false},
		{"equal constants", constant, constant, true, "exact_same", false},
		{"not random", []int64{5}, []int64{3}, false, "exact_lower", false},
		{"not random and equal", []int64{5}, []int64{5}, false, "exact_same", false},
	} {
		for _, a := range []Assumption{Nothing, Normal} {
			d := Differ(c.first, c.values, a, c.random)
			if a == Normal && c.name == "three runs" {
				continue // three may be enough where normality is taken for granted
			}
			if d.Verdict != c.want || (d.Smallest != nil) != c.smallest {
				t.Errorf("%s, %s: %+v, want %s", c.name, a.test(), *d, c.want)
			}
		}
	}
	if d := Differ(nil, low, Nothing, true); d != nil {
		t.Errorf("nothing to compare with: %+v", d)
	}
}

// TestSmallestIsWhereTheTestTurns: runs moved so far that the centers differ by the smallest
// difference are shown to differ, in both directions; a tenth less is not, in at least one.
func TestSmallestIsWhereTheTestTurns(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, a := range []Assumption{Nothing, Normal} {
		for range 50 {
			first, values := draw(r, 8, 0), draw(r, 8, 0)
			d := Differ(first, values, a, true)
			if d.Verdict != "none_shown" {
				continue
			}
			if d.Smallest == nil {
				t.Fatalf("%s: no smallest difference of eight runs", a.test())
			}
			shown := func(target int64) bool {
				moved := slices.Clone(values)
				for i := range moved {
					moved[i] += target - d.Delta
				}
				return Differ(first, moved, a, true).Verdict != "none_shown"
			}
			if s := *d.Smallest + 2; !shown(s) || !shown(-s) { // the mean rounds
				t.Errorf("%s: a difference of %d is not shown", a.test(), s)
			}
			if s := *d.Smallest * 9 / 10; shown(s) && shown(-s) {
				t.Errorf("%s: a difference of %d is shown already", a.test(), s)
			}
		}
	}
}

// TestFewRunsHaveARangeOnly: five runs cannot hold a median with 95 %.
func TestFewRunsHaveARangeOnly(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 0, 5: 0, 6: 96, 10: 97} {
		values := make([]int64, n)
		for i := range values {
			values[i] = int64(10 * i)
		}
		e := Estimate(values, Nothing, true)
		if e.Confidence != want || e.Low < 0 || e.High > int64(10*n) || e.Center < e.Low || e.Center > e.High {
			t.Errorf("%d runs: %+v, want %d %%", n, e, want)
		}
	}
	if e := Estimate([]int64{4, 4}, Nothing, false); e != (result.Estimate{Center: 4, Low: 4, High: 4, Summary: "exact"}) {
		t.Errorf("not random: %+v", e)
	}
}

// TestHolm: the adjusted chances of a textbook example (0.01, 0.04, 0.03, 0.005), worked out by
// hand: 4·0.005, 3·0.01, 2·0.03, and 0.04 that may not be below the one before.
func TestHolm(t *testing.T) {
	var list []*result.Difference
	for _, p := range []float64{0.01, 0.04, 0.03, 0.005} {
		list = append(list, &result.Difference{Test: "t", P: p, Verdict: "higher"})
	}
	list = append(list, nil, &result.Difference{Verdict: "none_shown", Note: "too few"})
	tests, shown := Holm(list)
	if tests != 4 || shown != 2 {
		t.Errorf("%d tests, %d shown", tests, shown)
	}
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if d := list[i]; d.P != want || (d.Verdict == "higher") != (want <= 0.05) {
			t.Errorf("test %d: %g, %s; want %g", i, d.P, d.Verdict, want)
		}
	}
}

func TestTestFindsTheDirection(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	a, b := draw(r, 10, 0), draw(r, 10, 1_000_000)
	if d := Test(a, b, Nothing); d.Verdict != "higher" || d.Delta < 900_000 {
		t.Errorf("%+v", d)
	}
	if d := Test(b, a, Nothing); d.Verdict != "lower" || d.Delta > -900_000 {
		t.Errorf("%+v", d)
	}
	if d := Test(a, slices.Clone(a), Nothing); d.Verdict != "none_shown" || d.Delta != 0 {
		t.Errorf("%+v", d)
	}
	if d := Test(a, b[:1], Nothing); d.Verdict != "none_shown" || d.Note == "" {
		t.Errorf("%+v", d)
	}
	if Test(a, nil, Nothing) != nil {
		t.Error("a test of nothing")
	}
}
