package scenario_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/truth"
	"github.com/whylate/whylate/workload"
)

// randomPlan is a load of real-time and deadline tasks with locks, all on one CPU.
func randomPlan(seed uint64) *scenario.Plan {
	r := rand.New(rand.NewPCG(seed, 77))
	p := &scenario.Plan{Kernel: []string{"6.1", "6.1-rt", "6.12", "6.12-rt"}[r.IntN(4)], CPUs: 1}
	p.Load.Comm, p.Load.Duration, p.Load.Seed = "random", 200*ms, seed
	p.Load.Mutexes = []workload.Mutex{{PI: true}, {PI: true}, {PI: false}}
	random := func(low, high int) event.Time { return event.Time(low+r.IntN(high-low+1)) * us }
	for i := range 3 + r.IntN(6) {
		t := workload.Task{Name: fmt.Sprintf("t%d", i), Instances: 1, Loop: -1, Timers: 1}
		period := random(2000, 20_000)
		work := period / event.Time(3+r.IntN(8))
		ops := []workload.Op{{Kind: workload.OpRun, NS: work}}
		switch kind := r.IntN(10); {
		case kind < 2:
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

// judge is what the causes of a wait must be: by kind, from who held the CPU.
func judge(l *truth.Log, w *result.Late, prio event.Prio, from, to event.Time) map[string]int64 {
	want := map[string]int64{}
	for s := range l.On(event.CPU(w.CPU), from, to) {
		dark := l.ThrottledNS(event.PID(w.PID), s.From, s.To)
		want["dl_throttled"] += int64(dark)
		want[kindOf(&s.Holder, prio)] += int64(s.To - s.From - dark)
	}
	return want
}

// kindOf says by which kind the holder keeps out a waiter of the given priority.
func kindOf(h *truth.Holder, prio event.Prio) string {
	switch {
	case h.Rule == truth.Idle:
		return "idle"
	case h.Dying:
		return "exit_teardown"
	case h.Rule == truth.Fair && prio.Fair():
		return "fair_turn"
	case h.Boosted && h.Prio <= prio && h.Normal > prio:
		return "pi_boosted"
	case h.Prio < prio, h.Rule == truth.Deadline && h.Prio == prio:
		return "higher_prio"
	case h.Rule == truth.RealTime && h.Prio == prio:
		return "same_prio"
	}
	return "lower"
}

// scored are the kinds that a trace can always tell.
var scored = []string{"higher_prio", "same_prio", "pi_boosted", "dl_throttled", "fair_turn"}

// TestCausesAgreeWithTheTruth scores the analysis, which sees the events of the model only,
// against what the model knows: each cause of each wait to the nanosecond.
func TestCausesAgreeWithTheTruth(t *testing.T) {
	s := score{t: t}
	for seed := range uint64(200) {
		s.run(seed)
	}
	t.Logf("%d waits of 200 random loads: %d compared, %d differ; not compared: %d of throttled tasks without the events of their timer, %d of tasks that were boosted while they waited",
		s.waits, s.compared, s.wrong, s.dark, s.boosted)
	if s.compared < 10_000 {
		t.Errorf("only %d waits were compared", s.compared)
	}
}

// score counts the waits.
type score struct {
	t                                     *testing.T
	waits, compared, wrong, dark, boosted int
}

func (s *score) run(seed uint64) {
	t := s.t
	setup, err := randomPlan(seed).Setup()
	if err != nil {
		t.Fatal(err)
	}
	src, err := scenario.NewSource(setup)
	if err != nil {
		t.Fatal(err)
	}
	l, err := src.Truth()
	if err != nil {
		t.Fatal(err)
	}
	x, err := explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime, Over: 1})
	if err != nil {
		t.Fatal(err)
	}
	timers, boosts := inspect(t, src)
	for i := range x.Late {
		w := &x.Late[i]
		s.waits++
		got := map[string]int64{}
		sum := int64(0)
		for _, c := range w.Causes {
			got[c.Kind] += c.NS
			sum += c.NS
		}
		if sum != w.LatenessNS {
			t.Fatalf("seed %d wait %s: causes sum to %d of %d", seed, w.ID, sum, w.LatenessNS)
		}
		from := event.Time(x.Input.StartNS + w.WokenNS)
		to := from + event.Time(w.WaitNS)
		want := judge(l, w, event.Prio(w.Prio), from, to)
		switch {
		case want["dl_throttled"] > 0 && !timers:
			// The event of dl_task_timer is what proves it.
			s.dark++
			continue
		case slices.ContainsFunc(boosts, func(b boost) bool { return b.pid == event.PID(w.PID) && b.at >= from && b.at <= to }):
			// The analysis takes the priority with which such a task comes to run for all
			// of its wait.
			s.boosted++
			continue
		}
		s.compared++
		for _, k := range scored {
			if got[k] != want[k] {
				s.wrong++
				t.Errorf("seed %d on %s, wait %s (%s, prio %d): %v, the truth is %v", seed, setup.Kernel.Release, w.ID, w.Comm, w.Prio, got, want)
				break
			}
		}
	}
}

type boost struct {
	at  event.Time
	pid event.PID
}

// inspect reports whether expiries of the deadline class's own timers are among the
// events, and lists the changes of inherited priorities.
func inspect(t *testing.T, src *scenario.Source) (timers bool, boosts []boost) {
	st, err := src.Events(event.Options{Want: event.Kinds(event.HrtimerExpireEntry, event.SchedPISetprio)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			return timers, boosts
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == event.SchedPISetprio {
			boosts = append(boosts, boost{ev.Time, ev.Task})
		} else if src.Names().String(ev.Func) == "dl_task_timer" {
			timers = true
		}
	}
}
