package report

import (
	"io"
	"testing"

	"github.com/whylate/whylate/result"
)

// TestCompare: a task in three variants with runs that differ, one variant without a
// difference, one with too few runs; and the same without anything random.
func TestCompare(t *testing.T) {
	smallest := int64(4_200)
	wait := machine().Late[0]
	waits := func(n, p50, p99, most int64) result.Waits {
		return result.Waits{Waits: n, P50NS: p50, P99NS: p99, MaxNS: most}
	}
	median := func(c, low, high int64, sure int) result.Estimate {
		return result.Estimate{Center: c, Low: low, High: high, Summary: "median", Confidence: sure}
	}
	random := &result.Compare{Comparison: result.Comparison{Scenario: "load.json", CPUs: 2, Random: true,
		Measures: []result.Measure{{Name: "restart_ns", Title: "restart of the service"}, {Name: "read_bytes_per_s", Title: "read"}, {Name: "share_ppm", Title: "share of it"}},
		Variants: []result.Variant{
			{Name: "as-is", Runs: 10, Measures: map[string]int64{"restart_ns": 11_000_000, "read_bytes_per_s": 2_600_000},
				Spread: map[string]result.Estimate{"restart_ns": median(11_000_000, 10_000_000, 12_000_000, 97)},
				Tasks:  []result.Varied{{Comm: "ctl", PID: 311, Class: "rt", Prio: 19, Wakeup: waits(2500, 1_200, 300_000, 2_003_000), Timer: waits(2500, 1_500, 310_000, 2_104_000), Misses: 3, RunMax: median(2_000_000, 1_900_000, 2_003_000, 97)}},
				Worst:  &result.Worst{Late: wait, Seed: 7}},
			{Name: "A", Runs: 10, Measures: map[string]int64{"restart_ns": 12_000_000, "share_ppm": 974_012},
				Spread:  map[string]result.Estimate{"restart_ns": median(12_000_000, 10_000_000, 12_000_000, 0)},
				Against: map[string]result.Difference{"restart_ns": {Verdict: "none_shown", P: 0.2}},
				Tasks: []result.Varied{{Comm: "ctl", PID: 311, Class: "rt", Prio: 19, Wakeup: waits(2500, 1_200, 4_000, 5_000), RunMax: median(4_800, 4_700, 5_000, 97),
					AgainstP99: &result.Difference{Verdict: "lower", Delta: -296_000, P: 0.00002}, AgainstMax: &result.Difference{Verdict: "none_shown", Test: "Mann-Whitney U", P: 0.43, Delta: 12, Smallest: &smallest}}},
				Worst: &result.Worst{Late: wait, Seed: 0, Trace: "A.dat"}},
			{Name: "B", Runs: 2, Tasks: []result.Varied{{Comm: "ctl", PID: 311, Class: "rt", Prio: 9, Wakeup: waits(500, 1_200, 4_000, 5_000), RunMax: median(4_800, 4_700, 5_000, 0),
				AgainstP99: &result.Difference{Verdict: "higher", Delta: 296_000, P: 0.031}, AgainstMax: &result.Difference{Verdict: "none_shown", Note: "too few runs"}}}},
		}},
		Diagnostics: []result.Diagnostic{{Kind: "not_modelled", Count: 1, Text: "the fair class"}}}
	exact := &result.Compare{Comparison: result.Comparison{Scenario: "load.json", CPUs: 1, Variants: []result.Variant{
		{Name: "as-is", Runs: 1, Tasks: []result.Varied{{Comm: "ctl", PID: 311, Class: "rt", Prio: 19, Wakeup: waits(250, 1, 2, 3)}}},
		{Name: "A", Runs: 1, Tasks: []result.Varied{{Comm: "ctl", PID: 311, Class: "rt", Prio: 19, Wakeup: waits(250, 1, 2, 300),
			AgainstP99: &result.Difference{Verdict: "exact_same"}, AgainstMax: &result.Difference{Verdict: "exact_higher", Delta: 297}}}}}}}
	for _, c := range []struct {
		name string
		in   *result.Compare
		o    Options
	}{{"compare", random, Options{}}, {"compare-nano", random, Options{Nano: true}}, {"compare-exact", exact, Options{}}} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name, func(w io.Writer) error { return Compare(w, c.in, c.o) })
		})
	}
}

func TestPercentagesBelowZero(t *testing.T) {
	for ppm, want := range map[int64]string{0: "0.00", 99: "0.00", -99: "0.00", 100: "0.01", -100: "-0.01", -32_900: "-3.29", 107_900: "10.79", -1_000_000: "-100.00"} {
		if got := hundredthsOfPercent(ppm); got != want {
			t.Errorf("%d ppm is %q, not %q", ppm, got, want)
		}
	}
}
