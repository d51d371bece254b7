package report

import (
	"io"
	"testing"

	"github.com/whylate/whylate/result"
)

// TestCase: the main part with its tasks, a part with measures only, an objection that a quick
// run does not answer.
func TestCase(t *testing.T) {
	waits := func(most int64) result.Waits {
		return result.Waits{Waits: 250, P50NS: 1_000, P99NS: most, MaxNS: most}
	}
	wait := machine().Late[0]
	main := result.Comparison{ID: "main", Question: "By how much does a dying task delay others, and what would help? The answer is longer than a line of a terminal usually is, so it is wrapped.",
		Scenario: "main.json", CPUs: 4, Answer: "none 11 ms, A 20 µs.", Variants: []result.Variant{
			{Name: "none", Runs: 1, Tasks: []result.Varied{{Comm: "ctl", PID: 311, Class: "rt", Prio: 19, Wakeup: waits(11_020_000)}}, Worst: &result.Worst{Late: wait}},
			{Name: "A", Runs: 1, Tasks: []result.Varied{{Comm: "ctl", PID: 311, Class: "rt", Prio: 19, Wakeup: waits(20_000), AgainstMax: &result.Difference{Verdict: "exact_lower", Delta: -11_000_000}}}}}}
	part := result.Comparison{ID: "sizes", Question: "What does each MB cost?", Scenario: "sizes.json", CPUs: 2, Answer: "104 µs.",
		Measures: []result.Measure{{Name: "death_ns_per_mb", Title: "death for each MB"}}, Variants: []result.Variant{
			{Name: "none", Runs: 1, Measures: map[string]int64{"death_ns_per_mb": 104_000}, Worst: &result.Worst{Late: wait}},
			{Name: "A", Runs: 1, Measures: map[string]int64{"death_ns_per_mb": 105_000}}}}
	c := &result.Case{Case: "exit", Title: "a dying task", Symptom: "2016: 11 ms.", Conclusion: "Both changes take 11 ms away.", Quick: true, Comparison: main, Parts: []result.Comparison{part},
		Objections: []result.Objection{{Text: "Why?", Answer: "So: 104 µs.", Parts: []string{"sizes"}}, {Text: "And then?", Parts: []string{"vmas"}}},
		Limits:     []string{"The machine is a model."}, Diagnostics: []result.Diagnostic{{Kind: "not_modelled", Count: 1, Text: "the fair class"}}}
	golden(t, "case", func(w io.Writer) error { return Case(w, c, Options{}) })
	golden(t, "case-narrow", func(w io.Writer) error { return Case(w, c, Options{Width: 60, Verbose: true}) })
	golden(t, "case-part", func(w io.Writer) error { return Part(w, &part, Options{}) })
}
