package replay

import (
	"testing"

	"github.com/whylate/whylate/trace"
)

// TestDecisionsOf612: of the ten loads whose seeds were written down before (testdata/fair/loads.md), as 6.12
// ran them: what the model would have picked, and whom it would have preempted, agrees with the kernel in 98 % of the
// decisions, history-forced, and misses at most half as often as the baseline of docs/definitions.md.
func TestDecisionsOf612(t *testing.T) {
	n := map[string]int64{}
	agree := map[string]int64{}
	for _, load := range []string{"nice", "groups", "nested", "quota", "policy", "slices", "sleepers", "storm", "yield", "pingpong"} {
		t.Run(load, func(t *testing.T) {
			src, err := trace.Open("testdata/fair/v612-" + load + ".dat.xz")
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			d, err := Force(src, Options{})
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, r := range d.Rows {
				if r.Class != "fair" || r.Type != Pick && r.Type != Preempt {
					continue
				}
				seen++
				t.Logf("%s: %d of %d (%.2f %%), the baseline %d, undecided %d", r.Type, r.Agree, r.N, 100*float64(r.Agree)/float64(r.N), r.Baseline, r.Undecided)
				n[r.Type] += r.N
				agree[r.Type] += r.Agree
				if r.Agree*100 < r.N*98 || (r.N-r.Agree)*2 > r.N-r.Baseline {
					t.Errorf("%s: %d of %d agree, the baseline %d", r.Type, r.Agree, r.N, r.Baseline)
				}
			}
			if seen != 2 {
				t.Errorf("%d kinds of decisions were seen", seen)
			}
		})
	}
	for _, kind := range []string{Pick, Preempt} {
		t.Logf("%s: %d of %d", kind, agree[kind], n[kind])
	}
}
