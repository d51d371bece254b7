package replay

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// fairPlan is a random load of fair tasks on one CPU, in groups with weights and quotas or in none.
func fairPlan(seed uint64) *scenario.Plan {
	r := rand.New(rand.NewPCG(seed, 7))
	p := &scenario.Plan{Kernel: []string{"6.1", "6.12"}[r.IntN(2)], CPUs: 1}
	p.Values = append(p.Values, scenario.Value{Name: "HZ", To: []string{"100", "250", "1000"}[r.IntN(3)]})
	p.Load.Comm, p.Load.Duration, p.Load.Seed = "random", 300*ms, seed
	groups := r.IntN(3)
	for g := range groups {
		p.Load.Groups = append(p.Load.Groups, workload.Group{Path: fmt.Sprintf("/g%d", g), Parent: -1, Shares: int64(256 + 512*r.IntN(4))})
	}
	for i := range 3 + r.IntN(5) {
		t := workload.Task{Name: fmt.Sprintf("t%d", i), Instances: 1, Loop: -1, Timers: 1, Attr: &sched.Attr{Nice: r.IntN(20) - 10}}
		if groups > 0 && r.IntN(3) > 0 {
			t.Group = 1 + r.IntN(groups)
		}
		period := event.Time(2000+r.IntN(20_000)) * us
		t.Phases = []workload.Phase{{Loop: 1, Ops: []workload.Op{{Kind: workload.OpRun, NS: period / event.Time(1+r.IntN(8))}, {Kind: workload.OpUnique, NS: period}}}}
		p.Load.Tasks = append(p.Load.Tasks, t)
	}
	return p
}

// TestForceAgreesWithTheFairClassItself: a run of the model with fair tasks, followed by the model, is what it would
// have done: picks and preemptions all agree where there are no groups. With groups some few do not, which is told: not all
// charges of groups have an event.
func TestForceAgreesWithTheFairClassItself(t *testing.T) {
	n, misses := int64(0), int64(0)
	for seed := range uint64(100) {
		setup, err := fairPlan(seed).Setup()
		if err != nil {
			t.Fatal(err)
		}
		src, err := scenario.NewSource(setup)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Force(src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range d.Rows {
			if r.Class != "fair" || r.Type != Pick && r.Type != Preempt {
				continue
			}
			n += r.N
			if r.N != r.Agree {
				misses += r.N - r.Agree
				tell := t.Logf
				if len(setup.Load.Groups) == 0 {
					tell = t.Errorf
				}
				tell("seed %d, %d groups: %s: %d of %d", seed, len(setup.Load.Groups), r.Type, r.Agree, r.N)
			}
		}
	}
	if n < 30_000 {
		t.Errorf("%d decisions: too few to say anything", n)
	}
	t.Logf("%d decisions, %d missed", n, misses)
}
