package scenario_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/truth"
	"github.com/whylate/whylate/workload"
)

// fairPlan is a random load of fair tasks on 2–8 CPUs, more than there is room for now and then:
// free ones, some bound to one CPU or several, in groups, with nice values, and a few real-time
// ones.
func fairPlan(seed uint64) *scenario.Plan {
	r := rand.New(rand.NewPCG(seed, 31))
	random := func(low, high int) event.Time { return event.Time(low+r.IntN(high-low+1)) * us }
	p := &scenario.Plan{Kernel: []string{"4.11", "6.1", "6.12", "6.12-rt", "6.18"}[r.IntN(5)], CPUs: 2 + r.IntN(7)}
	if r.IntN(2) == 0 {
		p.Costs = scenario.DefaultCosts()
	}
	p.Load.Comm, p.Load.Duration, p.Load.Seed = "random", 1000*ms, seed
	for i := range p.CPUs + r.IntN(2*p.CPUs) {
		t := workload.Task{Name: fmt.Sprintf("t%d", i), Instances: 1, Loop: -1, Timers: 1, Attr: &sched.Attr{Nice: r.IntN(10) - 5}}
		work, sleep := random(300, 12_000), random(500, 20_000)
		switch r.IntN(8) {
		case 0:
			t.CPUs = []event.CPU{event.CPU(r.IntN(p.CPUs))}
		case 1:
			first := r.IntN(p.CPUs)
			t.CPUs = []event.CPU{event.CPU(first), event.CPU((first + 1) % p.CPUs)}
		case 2:
			t.Attr, work = &sched.Attr{Policy: sched.FIFO, Priority: 1 + r.IntN(20)}, random(100, 3000)
		}
		t.Phases = []workload.Phase{{Loop: 1, Ops: []workload.Op{{Kind: workload.OpRun, NS: work}, {Kind: workload.OpSleep, NS: sleep}}}}
		p.Load.Tasks = append(p.Load.Tasks, t)
	}
	return p
}

// idleScore counts the waits of at least 1 ms by whether their idle CPUs are those of the truth.
type idleScore struct {
	waits, some, right int // some: with a CPU that idled
	cpus, proven       int // told; proven
	provenWrong        int // proven, and the task may not run there
	open, openAllowed  int // told, and unknown whether the task may run there; it may
	// looks counts the idle CPUs that balanced for themselves, by the truth; seen those of which
	// that shows, false those of which it is said and not so. pulls, seenPulls and falsePulls are the
	// tasks that such CPUs took.
	looks, seen, wrongLooks      int
	pulls, seenPulls, wrongPulls int
	wrong                        []string
}

// idleCPU is a CPU that stood idle for ns of a wait.
type idleCPU struct {
	cpu event.CPU
	ns  event.Time
}

// idleTruth has the CPUs, by number, that stood idle from from to to while pid was not queued
// there, and which it might use.
func (o *oracle) idleTruth(pid event.PID, from, to event.Time) (list []idleCPU) {
	to = min(to, o.log.Ended())
	for c := range event.CPU(o.log.CPUs()) {
		if !o.log.Allowed(pid, c, to) {
			continue
		}
		ns := event.Time(0)
		for s := range o.log.On(c, from, to) {
			if s.Rule == truth.Idle {
				ns += s.To - s.From - o.queuedOn(pid, c, s.From, s.To)
			}
		}
		if ns > 0 {
			list = append(list, idleCPU{c, ns})
		}
	}
	return list
}

// queuedOn is for how long of [from, to) pid waited on c.
func (o *oracle) queuedOn(pid event.PID, c event.CPU, from, to event.Time) (ns event.Time) {
	for _, w := range o.waits[pid] {
		for _, q := range w.Parts {
			if q.CPU == c {
				ns += max(0, min(q.To, to)-max(q.From, from))
			}
		}
	}
	return ns
}

// balancing scores what is said of the balancer of idle CPUs during one wait.
func (s *idleScore) balancing(o *oracle, w *answer) {
	looked, took := map[event.CPU]int{}, map[event.CPU]int{}
	for _, x := range o.waits[w.pid] {
		if x.From > w.to || x.To < w.from {
			continue
		}
		for p := range o.log.PassesFor(x) {
			if h, _ := o.log.At(p.CPU, p.At); h.Rule == truth.Idle && p.By == p.CPU && (p.Kind == truth.Periodic || p.Kind == truth.NoHZIdle) {
				looked[p.CPU]++
			}
			if p.Kind != truth.ActivePush {
				took[p.CPU] += len(p.Moved)
			}
		}
	}
	for i := range w.elsewhere {
		e := &w.elsewhere[i]
		if e.Balancing == nil || !o.log.Allowed(w.pid, e.CPU, w.to) {
			continue
		}
		seen := e.Balancing.Softirqs > 0
		switch looks := looked[e.CPU] > 0; {
		case looks:
			s.looks++
			if seen {
				s.seen++
			}
		case seen:
			s.wrongLooks++
		}
		said := 0
		for _, p := range e.Balancing.Pulled {
			if !p.Stopper {
				said++
			}
		}
		s.pulls += took[e.CPU]
		s.seenPulls += min(said, took[e.CPU])
		s.wrongPulls += max(0, said-took[e.CPU])
	}
}

// idle scores the answers of one run.
func (s *idleScore) idle(name string, o *oracle, list []answer) {
	for i := range list {
		w := &list[i]
		if w.to-w.from < longWait {
			continue
		}
		s.balancing(o, w)
		is := o.idleTruth(w.pid, w.from, w.to)
		s.waits++
		if len(is) > 0 || len(w.elsewhere) > 0 {
			s.some++
		}
		var said []idleCPU
		for _, e := range w.elsewhere {
			s.cpus++
			allowed := slices.ContainsFunc(is, func(x idleCPU) bool { return x.cpu == e.CPU })
			if e.Verdict == cause.Unknown { // no claim, so none is wrong
				s.open++
				if allowed {
					s.openAllowed++
				}
				is = slices.DeleteFunc(is, func(x idleCPU) bool { return x.cpu == e.CPU })
				continue
			}
			said = append(said, idleCPU{e.CPU, event.Time(e.NS)})
			if e.Verdict == cause.Proven {
				s.proven++
				if !allowed {
					s.provenWrong++
				}
			}
		}
		slices.SortFunc(said, func(a, b idleCPU) int { return int(a.cpu - b.cpu) })
		if slices.Equal(said, is) {
			s.right++
		} else if len(s.wrong) < 8 {
			s.wrong = append(s.wrong, fmt.Sprintf("%s: wait of %d from %d to %d: said %v, is %v", name, w.pid, w.from, w.to, said, is))
		}
	}
}

func (s *idleScore) String() string {
	return fmt.Sprintf("%6d waits ≥ 1 ms, %6d with an idle CPU: %s right; %6d CPUs told, %s proven, %d of these wrong; %d left open, %d of which it may use; of CPUs that balanced %d of %d show by softirqs, %d do that did not; %d of %d pulls seen, %d said that were none", s.waits, s.some,
		percent(event.Time(s.right), event.Time(s.waits)), s.cpus, percent(event.Time(s.proven), event.Time(s.cpus)), s.provenWrong, s.open, s.openAllowed,
		s.seen, s.looks, s.wrongLooks, s.seenPulls, s.pulls, s.wrongPulls)
}

// TestIdleElsewhere holds the CPUs that stood idle while a task waited to the truth: which, and for
// how long, whether they balanced and what they took. Wrong are also waits of tasks that had not bound
// themselves yet, of which the snapshot knows no better; a CPU that is left open is neither.
func TestIdleElsewhere(t *testing.T) {
	n := uint64(20)
	if *long {
		n = 600
	}
	few := classes[len(classes)-1].off
	scores := []struct {
		name     string
		off      event.KindSet
		snapshot bool
		least    int // in a thousand waits must be right
		idleScore
	}{
		{name: "with the snapshot", snapshot: true, least: 990}, {name: "scheduler events and the snapshot", off: few, snapshot: true, least: 990},
		{name: "no wakeup, and the snapshot", off: few | event.Kinds(event.SchedWakeup), snapshot: true, least: 990},
		{name: "no waking, and the snapshot", off: few | event.Kinds(event.SchedWaking), snapshot: true, least: 990},
		// A task that was moved unseen was, for all that shows, where it was until it ran.
		{name: "no migrations, and the snapshot", off: few | event.Kinds(event.SchedMigrateTask), snapshot: true},
		// Without the snapshot who is bound to which CPUs shows only in where tasks are put.
		{name: "all events", least: 985}, {name: "scheduler events", off: few, least: 985}, {name: "no wakeup", off: few | event.Kinds(event.SchedWakeup)},
		{name: "no waking", off: few | event.Kinds(event.SchedWaking), least: 985}, {name: "no migrations", off: few | event.Kinds(event.SchedMigrateTask)},
	}
	for seed := *from; seed < *from+n; seed++ {
		plan := fairPlan
		if seed%4 == 0 {
			plan = mixedPlan
		}
		src, err := sourceOf(plan(seed))
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
		for i := range scores {
			s := &scores[i]
			snap := src.Snapshot()
			if !s.snapshot {
				snap = nil
			}
			s.idle(fmt.Sprintf("seed %d on %s, %s", seed, src.Info().Kernel, s.name), o, r.analyse(s.off, snap))
		}
	}
	var b strings.Builder
	for i := range scores {
		s := &scores[i]
		fmt.Fprintf(&b, "%-34s %s\n", s.name, s)
		if right := s.right * 1000; right < s.least*s.waits || s.snapshot && s.provenWrong > 0 {
			t.Errorf("%s: %d of %d waits are right, %d proven CPUs wrong", s.name, s.right, s.waits, s.provenWrong)
			for _, w := range s.wrong {
				fmt.Fprintf(&b, "    %s\n", w)
			}
		}
		if s.waits < 2000 || s.some < 500 {
			t.Errorf("%s: only %d waits, %d with an idle CPU", s.name, s.waits, s.some)
		}
	}
	t.Log("\n" + b.String())
	all := &scores[0]
	if all.seen < all.looks || all.looks < 50 {
		t.Errorf("%d of %d idle CPUs that balanced show", all.seen, all.looks)
	}
	if all.seenPulls*100 < all.pulls*98 || all.wrongPulls > 0 || all.pulls < 50 {
		t.Errorf("%d of %d pulls show, %d do that were none", all.seenPulls, all.pulls, all.wrongPulls)
	}
}
