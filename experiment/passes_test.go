package experiment

import (
	"context"
	"errors"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/truth"
	"github.com/whylate/whylate/workload"
)

// crowded is a load of fair tasks that four CPUs are too few for now and then.
func crowded(t *testing.T) *scenario.Source {
	t.Helper()
	src, err := scenario.NewSource(setupOf(t))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func setupOf(t *testing.T) *scenario.Setup {
	t.Helper()
	p := &scenario.Plan{Kernel: "6.1", CPUs: 4}
	p.Load.Comm, p.Load.Duration, p.Load.Seed = "crowd", 500_000_000, 1
	for i := range event.Time(7) {
		p.Load.Tasks = append(p.Load.Tasks, workload.Task{Name: "t", Instances: 1, Loop: -1, Timers: 1, Attr: &sched.Attr{},
			Phases: []workload.Phase{{Loop: 1, Ops: []workload.Op{{Kind: workload.OpRun, NS: 7_000_000 + 300_000*i}, {Kind: workload.OpSleep, NS: 2_000_000}}}}})
	}
	p.Load.Tasks[0].CPUs = []event.CPU{0}
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	return setup
}

// TestPassesAreThoseOfTheTruth: what is told of the waits that somebody asks for is what the log of
// everything has of them.
func TestPassesAreThoseOfTheTruth(t *testing.T) {
	src := crowded(t)
	r, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime, Over: scenario.KeepPasses})
	if err != nil {
		t.Fatal(err)
	}
	if err := TellPasses(src, r, context.Background().Err); err != nil {
		t.Fatal(err)
	}
	log, err := src.Truth()
	if err != nil {
		t.Fatal(err)
	}
	waits := map[[2]int64]*truth.Wait{}
	for w := range log.Waits() {
		waits[[2]int64{int64(w.PID), int64(w.From)}] = w
	}
	n, taken := 0, 0
	for i := range r.Late {
		l := &r.Late[i]
		w := waits[[2]int64{int64(l.PID), r.Input.StartNS + l.WokenNS}]
		if w == nil {
			continue // the program's own beginning: explain counts from the fork
		}
		var want []result.BalancePass
		for p := range log.PassesFor(w) {
			want = append(want, passOf(&p, r.Input.StartNS))
		}
		if len(want) != len(l.BalancePasses) || l.PassesN != len(want) {
			t.Fatalf("wait %s: %d passes, the truth has %d", l.ID, len(l.BalancePasses), len(want))
		}
		for j := range want {
			if got := &l.BalancePasses[j]; got.AtNS != want[j].AtNS || got.CPU != want[j].CPU || got.Missed != want[j].Missed || got.WaitedOn != want[j].WaitedOn {
				t.Errorf("wait %s: pass %+v, the truth is %+v", l.ID, got, want[j])
			}
			if n++; want[j].Missed == "taken" {
				taken++
			}
		}
	}
	if n < 50 || taken < 5 {
		t.Errorf("only %d passes, %d of which took the task", n, taken)
	}
	stop := errors.New("stop")
	if err := TellPasses(src, r, func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("interrupted it says %v", err)
	}
}
