package replay

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// forcedPlan is a random load of real-time, deadline and fair tasks with locks on 1–4 CPUs of
// several kernels, with budgets that run out.
func forcedPlan(seed uint64) *scenario.Plan {
	r := rand.New(rand.NewPCG(seed, 99))
	p := &scenario.Plan{Kernel: []string{"6.1", "6.1-rt", "6.12", "6.12-rt"}[r.IntN(4)], CPUs: 1 + r.IntN(4)}
	if r.IntN(2) == 0 {
		p.Costs = scenario.DefaultCosts()
	}
	set := func(name, value string) { p.Values = append(p.Values, scenario.Value{Name: name, To: value}) }
	if r.IntN(2) == 0 {
		period := []int{10_000, 50_000, 100_000}[r.IntN(3)]
		set("sched_rt_period_us", fmt.Sprint(period))
		set("sched_rt_runtime_us", fmt.Sprint(period*(30+r.IntN(66))/100))
	}
	set("RT_RUNTIME_SHARE", []string{"on", "off"}[r.IntN(2)])
	set("HRTICK_DL", []string{"on", "off"}[r.IntN(2)])
	set("HZ", []string{"100", "250", "1000"}[r.IntN(3)])
	if (p.Kernel == "6.12" || p.Kernel == "6.12-rt") && r.IntN(2) == 0 {
		set("fair_server_period_ns", []string{"200000000", "400000000"}[r.IntN(2)])
	}
	p.Load.Comm, p.Load.Duration, p.Load.Seed = "random", 300*ms, seed
	p.Load.Mutexes = []workload.Mutex{{PI: true}, {PI: true}, {}}
	random := func(low, high int) event.Time { return event.Time(low+r.IntN(high-low+1)) * us }
	for i := range 3 + r.IntN(7) {
		t := workload.Task{Name: fmt.Sprintf("t%d", i), Instances: 1, Loop: -1, Timers: 1}
		period := random(2000, 20_000)
		work := period / event.Time(2+r.IntN(8))
		ops := []workload.Op{{Kind: workload.OpRun, NS: work}}
		if r.IntN(3) > 0 {
			t.CPUs = []event.CPU{event.CPU(r.IntN(p.CPUs))}
		}
		switch kind := r.IntN(10); {
		case kind < 3 && i < 2*p.CPUs:
			t.CPUs = nil
			t.Attr = &sched.Attr{Policy: sched.Deadline, Runtime: max(work-random(0, 300), 20*us), Deadline: period * event.Time(3+r.IntN(2)) / 4, Period: period}
		case kind < 8:
			t.Attr = &sched.Attr{Policy: []sched.Policy{sched.FIFO, sched.RR}[r.IntN(2)], Priority: 1 + r.IntN(4)}
			if n := r.IntN(6); n < len(p.Load.Mutexes) {
				ops = []workload.Op{{Kind: workload.OpLock, Ref: n}, ops[0], {Kind: workload.OpUnlock, Ref: n}}
			}
		default:
			t.Attr = &sched.Attr{Nice: r.IntN(10) - 5}
		}
		t.Phases = []workload.Phase{{Loop: 1, Ops: append(ops, workload.Op{Kind: workload.OpUnique, NS: period})}}
		p.Load.Tasks = append(p.Load.Tasks, t)
	}
	return p
}

// TestForceAgreesWithTheModelItself: a run of the model, followed by the model, is what the
// model would have done: whatever Force gets wrong of the state shows here.
func TestForceAgreesWithTheModelItself(t *testing.T) {
	sums := map[string]*DecisionRow{}
	for seed := range uint64(300) {
		plan := forcedPlan(seed)
		setup, err := plan.Setup()
		if err != nil {
			t.Fatal(err)
		}
		src, err := scenario.NewSource(setup)
		if err != nil {
			t.Fatal(err)
		}
		first, err := lookAhead(src, Options{})
		if err != nil {
			continue // the model refused the load
		}
		cfg := setup.Machine.Sched
		if seed%2 == 0 { // told, or read from the run's own snapshot
			first.known = knownTasks{}
			for i, task := range plan.Load.Tasks {
				pid := setup.Load.PID + 1 + event.PID(i)
				first.known[pid] = knownTask{attr: *task.Attr, cpus: task.CPUs}
			}
			first.useKnown()
		} else {
			first.takeSnapshot(src, Options{})
			if cfg, err = first.config(src.Info(), Options{}); err != nil {
				t.Fatal(err)
			}
		}
		f := newForcer(src, first, cfg)
		f.begin()
		broken := false
		err = eachEvent(src, forceNeeds, nil, func(ev *event.Event) {
			f.push(ev)
			if err := f.check(); err != nil && !broken {
				broken = true
				t.Errorf("seed %d, %d: after %s on CPU %d: %v", seed, ev.Time, ev.Kind, ev.CPU, err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		f.end()
		d := f.result()
		bad := false
		for _, r := range d.Rows {
			sum := sums[r.Class+" "+r.Type]
			if sum == nil {
				sum = &DecisionRow{}
				sums[r.Class+" "+r.Type] = sum
			}
			sum.N, sum.Agree, sum.Undecided = sum.N+r.N, sum.Agree+r.Agree, sum.Undecided+r.Undecided
			for _, w := range r.Why {
				add(&sum.Why, w)
			}
			bad = bad || r.Class != "fair" && r.N != r.Agree
		}
		if !bad {
			continue
		}
		t.Errorf("seed %d: kernel %s, %d CPUs, %v", seed, plan.Kernel, plan.CPUs, plan.Values)
		n := 0
		for _, m := range d.Misses {
			if m.Class == "fair" {
				continue
			}
			if n++; n > 3 {
				break
			}
			t.Logf("%d.%09d CPU %d %s %s recorded %s model %s: %s", m.At/1e9, m.At%1e9, m.CPU, m.Class, m.Type, spell(src, m.Recorded), spell(src, m.Model), m.Reason)
			for _, c := range m.Candidates {
				t.Logf("     %s-%d %s %d", src.Names().String(c.Comm), c.PID, c.KeyName, c.Key)
			}
		}
	}
	for _, class := range []string{"dl", "rt"} {
		for _, typ := range []string{Pick, ClassPick, Preempt, Placement, Balance} {
			sum := sums[class+" "+typ]
			if sum == nil || sum.N < 1000 {
				t.Fatalf("%s %s: %+v: too few to say anything", class, typ, sum)
			}
			t.Logf("%s %-9s n %6d agree %6d undecided %d %v", class, typ, sum.N, sum.Agree, sum.Undecided, sum.Why)
		}
	}
}

// check looks for broken rules of the scheduler's state.
func (f *forcer) check() error {
	var tasks []*sched.Task
	for _, t := range f.tasks {
		if t != nil && !t.tl.Idle() && t.task.Rank() != sched.RankStop {
			tasks = append(tasks, t.task)
		}
	}
	for _, prio := range slices.Sorted(maps.Keys(f.donors)) {
		tasks = append(tasks, f.donors[prio])
	}
	return f.sched.Check(tasks)
}

func add(list *[]Reason, r Reason) {
	for i := range *list {
		if (*list)[i].Word == r.Word {
			(*list)[i].Count += r.Count
			return
		}
	}
	*list = append(*list, r)
}
