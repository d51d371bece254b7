package scenario_test

import (
	"fmt"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// busyPlan is a load of real-time tasks that run 0.9 ms and sleep 1.1 ms, with fair ones
// that never sleep.
func busyPlan(cpus, sleepers, spinners int) *scenario.Plan {
	p := &scenario.Plan{Kernel: "6.12", CPUs: cpus, Costs: scenario.DefaultCosts()}
	p.Load.Comm, p.Load.Duration = "busy", 10_000*ms
	add := func(name string, n int, a sched.Attr, ops ...workload.Op) {
		p.Load.Tasks = append(p.Load.Tasks, workload.Task{Name: name, Instances: n, Loop: -1, Attr: &a, Phases: []workload.Phase{{Loop: 1, Ops: ops}}})
	}
	add("rt", sleepers, sched.Attr{Policy: sched.FIFO, Priority: 20}, workload.Op{Kind: workload.OpRun, NS: 900 * us}, workload.Op{Kind: workload.OpSleep, NS: 1100 * us})
	add("spin", spinners, sched.Attr{}, workload.Op{Kind: workload.OpRun, NS: 1000 * ms})
	return p
}

// BenchmarkSixteenCPUs runs ten seconds of 16 CPUs with 48 tasks without writing events
// out; the goal is 100 times as fast as real time, 100 ms a run.
func BenchmarkSixteenCPUs(b *testing.B) {
	for _, c := range []struct {
		name  string
		costs scenario.Costs
	}{{"zero", scenario.Costs{}}, {"typical", scenario.DefaultCosts()}} {
		b.Run("costs="+c.name, func(b *testing.B) {
			plan := busyPlan(16, 40, 8)
			plan.Costs = c.costs
			setup, err := plan.Setup()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				runQuietly(b, setup, 10_000*ms)
			}
			b.ReportMetric(10*float64(b.N)/b.Elapsed().Seconds(), "×realtime")
		})
	}
}

// BenchmarkEvents hands all events of the same run out.
func BenchmarkEvents(b *testing.B) {
	setup, err := busyPlan(16, 40, 8).Setup()
	if err != nil {
		b.Fatal(err)
	}
	src, err := scenario.NewSource(setup)
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		st, err := src.Events(event.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := st.Next(); err != nil {
				break
			}
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
}

// TestAThousandCPUs with twenty thousand tasks run.
func TestAThousandCPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	setup, err := busyPlan(1024, 19_000, 1000).Setup()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := runQuietly(t, setup, 20*ms)
	if n := m.Now(); n != 20*ms {
		t.Errorf("the run ended at %d", n)
	}
}

func runQuietly(tb testing.TB, setup *scenario.Setup, until event.Time) (*machine.Machine, *workload.Run) {
	tb.Helper()
	m := machine.New(setup.Machine, event.NewNames(), nil)
	run, err := workload.Load(m, setup.Load)
	if err != nil {
		tb.Fatal(err)
	}
	if err := m.RunUntil(until); err != nil {
		tb.Fatal(fmt.Errorf("running: %w", err))
	}
	return m, run
}
