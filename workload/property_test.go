package workload

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// drawSpec is a load of tasks that take nested locks, always in the same order, sleep,
// post and wait, and end.
func drawSpec(t *rapid.T, cpus int) *Spec {
	s := &Spec{Comm: "main", PID: 100, Duration: -1, Conds: 1, Sems: 2, Timers: 1}
	for i := range rapid.IntRange(1, 4).Draw(t, "mutexes") {
		s.Mutexes = append(s.Mutexes, Mutex{PI: rapid.Bool().Draw(t, fmt.Sprint("pi", i))})
	}
	s.OpCost = event.Time(rapid.SampledFrom([]int{0, 200}).Draw(t, "cost"))
	if rapid.Bool().Draw(t, "cancel") {
		s.Duration = event.Time(rapid.IntRange(0, 20).Draw(t, "duration")) * 1_000_000
	}
	for i := range rapid.IntRange(1, 7).Draw(t, "tasks") {
		s.Tasks = append(s.Tasks, drawTask(t, s, i, cpus))
	}
	return s
}

func drawTask(t *rapid.T, s *Spec, i, cpus int) Task {
	ns := func(what string, most int) event.Time {
		return event.Time(rapid.IntRange(0, most).Draw(t, what)) * 1000
	}
	k := Task{Name: fmt.Sprint("t", i), Instances: rapid.IntRange(1, 2).Draw(t, "instances"), Timers: 1,
		Loop: rapid.IntRange(1, 4).Draw(t, "loop")}
	switch rapid.IntRange(0, 4).Draw(t, "policy") {
	case 0:
		k.Attr = &sched.Attr{Nice: rapid.IntRange(-20, 19).Draw(t, "nice")}
	case 1:
		k.Attr = &sched.Attr{Policy: sched.RR, Priority: rapid.IntRange(1, 99).Draw(t, "prio")}
	default:
		k.Attr = &sched.Attr{Policy: sched.FIFO, Priority: rapid.IntRange(1, 99).Draw(t, "prio")}
	}
	if rapid.Bool().Draw(t, "pinned") {
		k.CPUs = []event.CPU{event.CPU(rapid.IntRange(0, cpus-1).Draw(t, "cpu"))}
	}
	ops := []Op{{Kind: OpRun, NS: ns("run", 500)}}
	for m := range s.Mutexes {
		if !rapid.Bool().Draw(t, fmt.Sprint("takes", m)) {
			continue
		}
		ops = append([]Op{{Kind: OpLock, Ref: m}}, ops...)
		// Locks are taken from the last to the first: without rings.
		ops = append(ops, Op{Kind: OpRun, NS: ns("held", 300)}, Op{Kind: OpUnlock, Ref: m})
	}
	if rapid.Bool().Draw(t, "posts") {
		ops = append(ops, Op{Kind: OpSemPost, Ref: 0}, Op{Kind: OpSignal})
	}
	switch rapid.IntRange(0, 2).Draw(t, "rest") {
	case 0:
		ops = append(ops, Op{Kind: OpSleep, NS: ns("sleep", 2000)})
	case 1:
		ops = append(ops, Op{Kind: OpUnique, NS: ns("period", 3000), Timer: TimerMode(rapid.IntRange(0, 2).Draw(t, "mode"))})
	}
	k.Phases = []Phase{{Loop: rapid.IntRange(1, 3).Draw(t, "phase loop"), Ops: ops}}
	return k
}

// TestLocksUnderAnyLoad: whatever runs, at every switch each lock is consistent, who holds
// a PI lock goes at least as early as the first of those who wait for it, and at the end
// all have done all their rounds and are gone.
func TestLocksUnderAnyLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.IntRange(1, 3).Draw(t, "cpus")
		spec := drawSpec(t, cpus)
		var r *Run
		var last event.Time
		m := machine.New(machine.Config{Sched: sched.DefaultConfig(cpus)}, event.NewNames(), func(ev *event.Event) {
			if ev.Time < last {
				t.Fatalf("time goes back from %d to %d", last, ev.Time)
			}
			last = ev.Time
			if ev.Kind == event.SchedSwitch && r != nil {
				r.checkLocks(t)
			}
		})
		var err error
		if r, err = Load(m, spec); err != nil {
			t.Fatal(err)
		}
		rounds := 0
		r.OnLoop = func(Loop) { rounds++ }
		r.OnVerdict = func(err error) { t.Fatal(err) }
		if err := m.RunUntil(10_000_000_000); err != nil {
			t.Fatal(err)
		}
		if !r.Done() {
			t.Fatal("somebody never ended")
		}
		want := 0
		for i := range spec.Tasks {
			k := &spec.Tasks[i]
			want += k.Instances * k.Loop * k.Phases[0].Loop
		}
		if spec.Duration < 0 && rounds != want {
			t.Fatalf("%d rounds, want %d", rounds, want)
		}
	})
}

func (r *Run) checkLocks(t *rapid.T) {
	for i, mu := range r.mutexes {
		if !mu.pi {
			continue
		}
		if mu.owner == nil && len(mu.waiters) > 0 {
			t.Fatalf("lock %d is open and %s waits for it", i, mu.waiters[0].name)
		}
		if mu.owner != nil && !slices.Contains(mu.owner.held, mu) {
			t.Fatalf("%s holds lock %d and does not know it", mu.owner.name, i)
		}
		for j, w := range mu.waiters {
			if w.waits != mu {
				t.Fatalf("%s is in the queue of lock %d and does not know it", w.name, i)
			}
			if j > 0 && mu.waiters[j-1].key > w.key {
				t.Fatalf("the queue of lock %d is out of order", i)
			}
			if w.key < event.MaxRTPrio && !mu.owner.over && mu.owner.th.Task.Prio() > w.key {
				t.Fatalf("%s holds lock %d at priority %d, %s waits at %d", mu.owner.name, i, mu.owner.th.Task.Prio(), w.name, w.key)
			}
		}
	}
}
