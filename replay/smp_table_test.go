package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/trace"
)

// smpLoads are those of testdata/smp/loads.md; of each the recording with the seed to score.
var smpLoads = []string{"schbench", "hackbench", "sleepers", "hogs", "forkstorm"}

// TestPlacementOnFourCPUs scores on which CPU fair tasks are woken and started, and from where the balancer takes
// them, history-forced, on a real kernel: of all placements 90 % have to agree and at most half as many may be missed as
// staying on the previous CPU misses, of all migrations 80 % have to come from where the model would have taken
// something.
func TestPlacementOnFourCPUs(t *testing.T) {
	var b strings.Builder
	b.WriteString("| recording | placements | agree | previous CPU | not told | migrations | agree | longest queue | not told |\n|---|---|---|---|---|---|---|---|---|\n")
	var place, balance replay.DecisionRow
	for _, load := range smpLoads {
		name := "testdata/smp/score-" + load + ".dat.xz"
		src, err := trace.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := replay.Force(src, replay.Options{})
		src.Close()
		if err != nil {
			t.Fatal(err)
		}
		var p, m replay.DecisionRow
		for _, r := range d.Rows {
			switch {
			case r.Class == "fair" && r.Type == replay.Placement:
				p = r
			case r.Class == "fair" && r.Type == replay.Balance:
				m = r
			}
		}
		b.WriteString(placementLine(load, &p, &m))
		addRow(&place, &p)
		addRow(&balance, &m)
	}
	b.WriteString(placementLine("**all**", &place, &balance))
	if place.N < 500 || place.Agree*100 < place.N*90 || (place.N-place.Agree)*2 > place.N-place.Baseline {
		t.Errorf("placement: %d of %d agree, of the previous CPU %d", place.Agree, place.N, place.Baseline)
	}
	if balance.N < 30 || balance.Agree*100 < balance.N*80 {
		t.Errorf("balance: %d of %d agree", balance.Agree, balance.N)
	}
	inDocument(t, "placement", b.String())
}

func addRow(sum, r *replay.DecisionRow) {
	sum.N, sum.Agree, sum.Baseline, sum.Undecided = sum.N+r.N, sum.Agree+r.Agree, sum.Baseline+r.Baseline, sum.Undecided+r.Undecided
}

func placementLine(name string, rows ...*replay.DecisionRow) string {
	line := "| " + name
	for _, r := range rows {
		line += fmt.Sprintf(" | %s | %s, %.1f %% | %s | %d", grouped(r.N), grouped(r.Agree), 100*float64(r.Agree)/float64(max(r.N, 1)), grouped(r.Baseline), r.Undecided)
	}
	return line + " |\n"
}
