package scenario_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// randomPlan is a load of real-time, deadline and fair tasks with locks: on one CPU, or
// without deadline tasks on two, each task bound to one of them.
func randomPlan(seed uint64) *scenario.Plan {
	r := rand.New(rand.NewPCG(seed, 77))
	p := &scenario.Plan{Kernel: []string{"6.1", "6.1-rt", "6.12", "6.12-rt"}[r.IntN(4)], CPUs: 1 + r.IntN(2)}
	p.Load.Comm, p.Load.Duration, p.Load.Seed = "random", 200*ms, seed
	p.Load.Mutexes = []workload.Mutex{{PI: true}, {PI: true}, {PI: false}}
	random := func(low, high int) event.Time { return event.Time(low+r.IntN(high-low+1)) * us }
	for i := range 3 + r.IntN(6) {
		t := workload.Task{Name: fmt.Sprintf("t%d", i), Instances: 1, Loop: -1, Timers: 1}
		period := random(2000, 20_000)
		work := period / event.Time(3+r.IntN(8))
		ops := []workload.Op{{Kind: workload.OpRun, NS: work}}
		if p.CPUs > 1 {
			t.CPUs = []event.CPU{event.CPU(r.IntN(p.CPUs))}
		}
		switch kind := r.IntN(10); {
		case kind < 2 && p.CPUs == 1:
			t.Attr = &sched.Attr{Policy: sched.Deadline, Runtime: max(work-random(0, 300), 20*us), Deadline: period, Period: period}
		case kind < 8:
			t.Attr = &sched.Attr{Policy: []sched.Policy{sched.FIFO, sched.RR}[r.IntN(2)], Priority: 1 + r.IntN(12)}
			if r.IntN(2) == 0 {
				n := r.IntN(3)
				ops = []workload.Op{{Kind: workload.OpLock, Ref: n}, ops[0], {Kind: workload.OpUnlock, Ref: n}}
				if r.IntN(2) == 0 {
					inner := (n + 1) % 3
					ops = append([]workload.Op{{Kind: workload.OpLock, Ref: min(n, inner)}, {Kind: workload.OpLock, Ref: max(n, inner)}, ops[1]},
						workload.Op{Kind: workload.OpUnlock, Ref: max(n, inner)}, workload.Op{Kind: workload.OpRun, NS: random(10, 300)}, workload.Op{Kind: workload.OpUnlock, Ref: min(n, inner)})
				}
			}
		default:
			t.Attr = &sched.Attr{Nice: r.IntN(10) - 5}
		}
		t.Phases = []workload.Phase{{Loop: 1, Ops: append(ops, workload.Op{Kind: workload.OpUnique, NS: period})}}
		p.Load.Tasks = append(p.Load.Tasks, t)
	}
	return p
}
