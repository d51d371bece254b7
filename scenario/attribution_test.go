package scenario_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/whylate/whylate/scenario"
)

var (
	long = flag.Bool("long", false, "score the attribution over 2,000 random scenarios")
	from = flag.Uint64("seed", 0, "the first seed of the attribution")
)

// TestAttribution scores the analysis, which sees events only, against the truth.
func TestAttribution(t *testing.T) {
	n := uint64(300)
	if *long {
		n = 2000
	}
	s := newScore()
	for seed := *from; seed < *from+n; seed++ {
		src, err := sourceOf(mixedPlan(seed))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		l, err := src.Truth()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r, err := record(src)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		o := newOracle(l)
		s.run(fmt.Sprintf("seed %d on %s", seed, src.Info().Kernel), src, o, r.analyse(0))
	}
	t.Logf("%d scenarios\n%s%s", n, s.table("all events"), s.byKind()+s.mistakes())
	for _, w := range s.wrong {
		t.Error(w)
	}
}

func sourceOf(p *scenario.Plan) (*scenario.Source, error) {
	setup, err := p.Setup()
	if err != nil {
		return nil, err
	}
	return scenario.NewSource(setup)
}
