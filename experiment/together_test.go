package experiment

import (
	"context"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/stats"
)

// rounds counts what a Watcher sees.
type rounds struct{ n, kinds int64 }

func (r *rounds) Event(ev *event.Event) {
	if ev.Kind != event.SchedSwitch && !waitKinds.Has(ev.Kind) {
		r.kinds++
	}
}
func (r *rounds) Round(*scenario.Round) { r.n++ }
func (r *rounds) Values(event.Time) map[string]int64 {
	return map[string]int64{"rounds_n": r.n, "others_n": r.kinds}
}

// TestLessToLookAtIsTheSameRun: with fewer kinds of events, one row for all tasks of a name and a short look
// at the longest wait everything that is left comes out as with all of them.
func TestLessToLookAtIsTheSameRun(t *testing.T) {
	x := func(less bool) *Experiment {
		e := &Experiment{Scenario: "random", Plan: random, Seeds: 3, Tasks: []string{"schbench"}, Variants: []Variant{{Name: "as-is"}},
			Measures: []Measure{{Name: "rounds_n", Assume: stats.Normal}, {Name: "others_n"}}, Watch: func(*Context) Watcher { return &rounds{} }}
		if less {
			e.Together, e.Brief, e.Kinds = true, true, event.Kinds(event.SchedMigrateTask)
		}
		return e
	}
	got, err := Run(context.Background(), []*Experiment{x(false), x(true)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, less := &got[0].Variants[0], &got[1].Variants[0]
	if all.Measures["rounds_n"] == 0 || all.Measures["rounds_n"] != less.Measures["rounds_n"] {
		t.Errorf("%d rounds, %d", all.Measures["rounds_n"], less.Measures["rounds_n"])
	}
	if all.Measures["others_n"] == 0 || less.Measures["others_n"] != 0 {
		t.Errorf("other events: %d, and with fewer kinds %d", all.Measures["others_n"], less.Measures["others_n"])
	}
	waits, most := int64(0), int64(0)
	for i := range all.Tasks {
		waits, most = waits+all.Tasks[i].Wakeup.Waits, max(most, all.Tasks[i].Wakeup.MaxNS)
	}
	// A keeper, four workers, and the thread that started them.
	if len(all.Tasks) != 6 || len(less.Tasks) != 1 || less.Tasks[0].Wakeup.Waits != waits || less.Tasks[0].Wakeup.MaxNS != most {
		t.Errorf("%d rows with %d waits up to %d, together %d: %+v", len(all.Tasks), waits, most, len(less.Tasks), less.Tasks[0])
	}
	if all.Worst == nil || less.Worst == nil || all.Worst.ID != less.Worst.ID || all.Worst.Causes[0].NS != less.Worst.Causes[0].NS {
		t.Errorf("the longest wait: %+v, %+v", all.Worst, less.Worst)
	}
}
