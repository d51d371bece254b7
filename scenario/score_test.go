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

// judge is what the causes of a wait must be: by kind, from who held the CPU.
func judge(l *truth.Log, w *result.Late, prio event.Prio, from, to event.Time) map[string]int64 {
	want := map[string]int64{}
	for s := range l.On(event.CPU(w.CPU), from, to) {
		dark := l.ThrottledNS(event.PID(w.PID), s.From, s.To)
		want["dl_throttled"] += int64(dark)
		if prio.RealTime() && s.Rule != truth.RealTime {
			// Whoever runs while real-time tasks are throttled: that is why they wait.
			for span := range l.RTThrottled(event.CPU(w.CPU), s.From, s.To) {
				want["rt_throttled"] += int64(span.To - span.From)
				dark += span.To - span.From
			}
		}
		if prio.RealTime() && s.Rule == truth.Fair {
			for span := range l.FairServed(event.CPU(w.CPU), s.From, s.To) {
				want["fair_server"] += int64(span.To - span.From)
				dark += span.To - span.From
			}
		}
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
// against what the model knows: each cause of each wait to the nanosecond. Some sorts of
// waits are counted only, with how many are wrong: the analysis is known not to have them.
func TestCausesAgreeWithTheTruth(t *testing.T) {
	s := score{t: t}
	for seed := range uint64(400) {
		s.run(seed)
	}
	t.Logf("waits of 400 random loads: %d compared, %d differ", s.all.n, s.all.wrong)
	t.Logf("only counted: %d of deadline tasks among several (%d differ), %d behind real-time throttling (%d), %d behind a fair server (%d), %d of deadline tasks woken while throttled (%d), %d of tasks that were boosted (%d), %d behind an exit whose beginning is likely (%d), %d of tasks that were moved",
		s.several.n, s.several.wrong, s.dark.n, s.dark.wrong, s.served.n, s.served.wrong, s.asleep.n, s.asleep.wrong, s.boosted.n, s.boosted.wrong, s.exits.n, s.exits.wrong, s.moved)
	if s.all.n < 10_000 {
		t.Errorf("only %d waits were compared", s.all.n)
	}
}

// score counts the waits by sort.
type score struct {
	t                                                  *testing.T
	all, several, dark, served, asleep, boosted, exits tally
	moved                                              int
}

type tally struct{ n, wrong int }

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
	boosts, moves := changesOf(t, src)
	deadlines := 0
	for i := range setup.Load.Tasks {
		if setup.Load.Tasks[i].Attr.Policy == sched.Deadline {
			deadlines++
		}
	}
	for i := range x.Late {
		w := &x.Late[i]
		got, sum := map[string]int64{}, int64(0)
		for _, c := range w.Causes {
			got[c.Kind] += c.NS
			sum += c.NS
		}
		if sum != w.LatenessNS {
			t.Fatalf("seed %d wait %s: causes sum to %d of %d", seed, w.ID, sum, w.LatenessNS)
		}
		from := event.Time(x.Input.StartNS + w.WokenNS)
		to := from + event.Time(w.WaitNS)
		while := func(c change) bool { return c.pid == event.PID(w.PID) && c.at >= from && c.at <= to }
		if slices.ContainsFunc(moves, while) {
			s.moved++ // the result names the CPU where it ended only
			continue
		}
		want := judge(l, w, event.Prio(w.Prio), from, to)
		sort := &s.all
		switch {
		case slices.ContainsFunc(w.Causes, func(c result.Cause) bool { return c.Kind == "exit_teardown" && c.Verdict == "likely" }):
			// Where an exit begins in the last run of a task no event of the model says.
			sort = &s.exits
		case w.Class == "dl" && deadlines > 1:
			// Whose timer expired is not always told: with a fair server there are others.
			sort = &s.several
		case want["rt_throttled"] > 0:
			// Throttling that begins as a task goes to sleep, or with a deadline task, has
			// no switch from a task that could have gone on.
			sort = &s.dark
		case got["fair_server"] > 0:
			// Deadline tasks that run while the server has the CPU count as its time.
			sort = &s.served
		case want["dl_throttled"] > 0 && w.WaitKind == "wakeup":
			// A task that is throttled as it goes to sleep is told by its timer only, too.
			sort = &s.asleep
		case slices.ContainsFunc(boosts, while) || prioAt(boosts, w, from) != event.Prio(w.Prio):
			// The truth is asked for the priority of the wait, which such a task does not keep.
			sort = &s.boosted
		}
		sort.n++
		if slices.ContainsFunc(scored, func(k string) bool { return got[k] != want[k] }) {
			if sort.wrong++; sort == &s.all {
				t.Errorf("seed %d on %s, wait %s (%s, prio %d): %v, the truth is %v", seed, setup.Kernel.Release, w.ID, w.Comm, w.Prio, got, want)
			}
		}
	}
}

// change is a moment at which something about a task changed.
type change struct {
	at   event.Time
	pid  event.PID
	prio event.Prio // that it has from then on
}

// prioAt is the priority with which the waiter begins to wait: lent or its own.
func prioAt(boosts []change, w *result.Late, from event.Time) event.Prio {
	prio := event.Prio(w.Prio)
	for _, c := range boosts {
		if c.pid == event.PID(w.PID) && c.at < from {
			prio = c.prio
		}
	}
	return prio
}

// changesOf lists the changes of inherited priorities and the moves between CPUs.
func changesOf(t *testing.T, src *scenario.Source) (boosts, moves []change) {
	st, err := src.Events(event.Options{Want: event.Kinds(event.SchedPISetprio, event.SchedMigrateTask)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for {
		ev, err := st.Next()
		if errors.Is(err, io.EOF) {
			return boosts, moves
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == event.SchedPISetprio {
			boosts = append(boosts, change{ev.Time, ev.Task, ev.NextPrio})
		} else {
			moves = append(moves, change{ev.Time, ev.Task, ev.TaskPrio})
		}
	}
}
