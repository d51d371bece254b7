package experiment_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/scenario"
)

// periodic is a task of a generated set, in µs.
type periodic struct{ delay, period, work, prio int }

// set is n periodic tasks on one CPU, the last one with the lowest priority.
func set(r *rand.Rand, n int) []periodic {
	for {
		list, load := make([]periodic, n), 0.0
		for i := range list {
			p := 2_000 + 100*r.IntN(80)
			list[i] = periodic{period: p, work: 100 + r.IntN(p/n), prio: 90 - 7*i}
			load += float64(list[i].work) / float64(p)
		}
		if load < 0.85 {
			return list
		}
	}
}

// plan is a scenario of them without costs: each sleeps to its timer, then works.
func plan(t testing.TB, list []periodic, more string) *scenario.Plan {
	t.Helper()
	p, err := scenario.Read("set.json", []byte(text(list, more)), scenario.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text(list, more), err)
	}
	p.Load.Duration = 300_000_000
	return p
}

func text(list []periodic, more string) string {
	var tasks []string
	for i, p := range list {
		tasks = append(tasks, fmt.Sprintf(`"t%d": {"policy":"SCHED_FIFO","priority":%d,"delay":%d,"timer":{"ref":"unique","period":%d,"mode":"absolute"},"run":%d}`,
			i, p.prio, p.delay, p.period, p.work))
	}
	return `{"global":{"duration":1},"tasks":{` + strings.Join(tasks, ",") + more + `},"whylate":{"kernel":"6.1","cost_table":"zero","settings":{"sched_rt_runtime_us":-1}}}`
}

// response is what response-time analysis says of the last task of list: R = C + Σ ⌈R/T⌉·C.
// ok is false where a job may be released before the last one is done.
func response(list []periodic, blocked int) (r int, ok bool) {
	last := list[len(list)-1]
	r = last.work + blocked
	for {
		next := last.work + blocked
		for _, h := range list[:len(list)-1] {
			next += (r + h.period - 1) / h.period * h.work
		}
		if next == r || next > last.period {
			return r, next <= last.period
		}
		r = next
	}
}

func arrivals(t testing.TB, p *scenario.Plan, task string, vary experiment.Vary) *experiment.Arrivals {
	t.Helper()
	a, err := experiment.NewArrivals(p, task, vary)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// search looks for the worst response of settled jobs.
func search(a *experiment.Arrivals, first [][]event.Time, budget int) experiment.Search {
	return experiment.Search{Axes: a.Axes(), First: first, Budget: budget, Near: a.Near, Seed: 1,
		Run: func(ctx context.Context, at []event.Time) (experiment.Measured, error) {
			s, err := a.Measure(ctx, at, experiment.Response, true)
			return experiment.Measured{Value: int64(s.Value), When: s.Job.Released}, err
		}}
}

// TestThePointsFindTheCriticalInstant: the worst response of a task is where it is released
// together with all higher ones (Liu and Layland 1973). Here they come together at one
// instant, which the points of the search have to meet with the start of the task alone.
func TestThePointsFindTheCriticalInstant(t *testing.T) {
	sets := 0
	for seed := uint64(1); sets < 8; seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		list := set(r, 2+r.IntN(4))
		want, ok := response(list, 0)
		if !ok {
			continue
		}
		sets++
		// The first release is a period after the start; all meet at 150 ms.
		for i := range list {
			list[i].delay = (150_000-r.IntN(3)*list[i].period)%list[i].period + list[i].period
		}
		list[len(list)-1].delay = r.IntN(5_000)
		a := arrivals(t, plan(t, list, ""), fmt.Sprintf("t%d", len(list)-1), experiment.VaryPhase)
		points, kinds, err := a.Points(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		s := search(a, points, len(points))
		s.Whole = true
		found, err := experiment.Worst(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := a.Bound(experiment.Response)
		if err != nil || bound != event.Time(want)*1000 {
			t.Errorf("seed %d: bound %d, %v; analysis says %d µs", seed, bound, err, want)
		}
		if found.Value != int64(want)*1000 || !found.Proven() {
			t.Errorf("seed %d, %d tasks: found %d ns in %d runs (%+v), analysis says %d µs", seed, len(list), found.Value, found.Runs, kinds, want)
		}
	}
}

// TestTheSwarmFindsTheCriticalInstant from one point only, with all starts anywhere: no two
// tasks ever meet where it begins.
func TestTheSwarmFindsTheCriticalInstant(t *testing.T) {
	sets, climbed := 0, 0
	for seed := uint64(100); sets < 6; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		list := set(r, 2+r.IntN(3))
		if _, ok := response(list, 0); !ok {
			continue
		}
		sets++
		for i := range list {
			list[i].period = list[i].period / 2000 * 2000
			list[i].delay = 100 + 300*i
		}
		want, ok := response(list, 0)
		if !ok {
			continue
		}
		a := arrivals(t, plan(t, list, ""), fmt.Sprintf("t%d", len(list)-1), experiment.VaryAll)
		found, err := experiment.Worst(context.Background(), search(a, [][]event.Time{a.Base()}, 1_500))
		if err != nil {
			t.Fatal(err)
		}
		if found.Improved[0].Value < found.Value {
			climbed++
		}
		if found.Value != int64(want)*1000 {
			t.Errorf("seed %d, %d tasks: found %d ns (%v), analysis says %d µs", seed, len(list), found.Value, found.Improved, want)
		}
	}
	if climbed < sets/2 {
		t.Errorf("%d of %d searches began at the answer", sets-climbed, sets)
	}
}

// TestNoArrivalIsWorseThanTheory, wherever all tasks start and however late each release of
// one of them comes.
func TestNoArrivalIsWorseThanTheory(t *testing.T) {
	exact, runs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		list := set(r, 2+r.IntN(4))
		at := rapid.IntRange(0, len(list)-1).Draw(t, "task")
		for i := range list {
			list[i].delay = r.IntN(list[i].period)
		}
		p, err := scenario.Read("set.json", []byte(text(list, "")), scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.Load.Duration = 200_000_000
		a, err := experiment.NewArrivals(p, fmt.Sprintf("t%d", at), experiment.VaryAll)
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range []experiment.What{experiment.Response, experiment.Lateness} {
			bound, err := a.Bound(what)
			if err != nil {
				continue // jobs overlap
			}
			point := a.Base()
			for range 6 {
				s, err := a.Measure(context.Background(), point, what, true)
				if err != nil {
					t.Fatal(err)
				}
				if runs++; s.Value > bound {
					t.Fatalf("%s of job %d of t%d at %v is %d ns; theory says at most %d", what, s.Number, at, a.Changes(point), s.Value, bound)
				}
				if s.Value == bound {
					exact++
				}
				near, err := a.Near(context.Background(), point, s.Job.Released)
				if err != nil {
					t.Fatal(err)
				}
				if len(near) > 0 {
					for _, step := range near[r.IntN(len(near))] {
						point[step.Axis] = min(max(point[step.Axis]+step.By, 0), a.Axes()[step.Axis].Max)
					}
				}
			}
		}
	})
	if exact < runs/20 {
		t.Errorf("only %d of %d runs came to what theory says", exact, runs)
	}
}

const locking = `{"global":{"duration":1,"default_policy":"SCHED_FIFO","pi_enabled":%v},"tasks":{
"hi": {"priority":90,"timer":{"ref":"unique","period":7000,"mode":"absolute"},"run":1000},
"ctl":{"priority":80,"timer":{"ref":"unique","period":20000,"mode":"absolute"},"lock":"m","run":500,"unlock":"m","run1":300},
"mid":{"priority":70,"timer":{"ref":"unique","period":13000,"mode":"absolute"},"run":3000},
"lo": {"priority":60,"timer":{"ref":"unique","period":31000,"mode":"absolute"},"run":1000,"lock":"m","run1":2000,"unlock":"m","run2":500}},
"whylate":{"kernel":"6.1","cost_table":"zero","settings":{"sched_rt_runtime_us":-1}}}`

// TestTheWorstBlocking: ctl is released 1 ns after lo has taken the lock, and together with
// hi: 0.8 ms of its own, 2 ms of lo's section, 1 ms of hi. A release at the very ns at which
// the lock is taken comes before it or after it; theory does not know of ns.
func TestTheWorstBlocking(t *testing.T) {
	p, err := scenario.Read("lock.json", fmt.Appendf(nil, locking, true), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := arrivals(t, p, "ctl", experiment.VaryAll)
	bound, err := a.Bound(experiment.Response)
	if err != nil || bound != 3_800_000 {
		t.Fatalf("bound %d, %v", bound, err)
	}
	points, _, err := a.Points(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	found, err := experiment.Worst(context.Background(), search(a, points[:200], 1_200))
	if err != nil {
		t.Fatal(err)
	}
	if found.Value < int64(bound)-1 || found.Value > int64(bound) {
		t.Errorf("found %d ns in %d runs at %v (%v), theory says at most %d", found.Value, found.Runs, a.Changes(found.At), found.Improved, bound)
	}
}

// TestTheWorstInversion: without inheritance mid gets in between, and theory has no bound.
func TestTheWorstInversion(t *testing.T) {
	p, err := scenario.Read("lock.json", fmt.Appendf(nil, locking, false), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := arrivals(t, p, "ctl", experiment.VaryAll)
	if bound, err := a.Bound(experiment.Response); err == nil {
		t.Errorf("bound %d of an inversion without an end", bound)
	}
	found, err := experiment.Worst(context.Background(), search(a, [][]event.Time{a.Base()}, 1_200))
	if err != nil {
		t.Fatal(err)
	}
	if found.Value < 3_800_000+3_000_000-2 {
		t.Errorf("found %d ns at %v (%v): less than with mid in between once", found.Value, a.Changes(found.At), found.Improved)
	}
}

// TestTheGridFindsWhatAllPhasesFind: no start of a cycle is worse than those of the grid, without
// costs and with them, whatever the priority of the task.
func TestTheGridFindsWhatAllPhasesFind(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		r := rand.New(rand.NewPCG(seed, 9))
		list := set(r, 2+r.IntN(3))
		for i := range list {
			list[i].delay = r.IntN(list[i].period)
		}
		for _, costs := range []string{"zero", "typical"} {
			p := plan(t, list, "")
			if err := p.UseCosts(costs); err != nil {
				t.Fatal(err)
			}
			p.Load.Duration = 40_000_000
			task := r.IntN(len(list))
			a := arrivals(t, p, fmt.Sprintf("t%d", task), experiment.VaryPhase)
			points, _, err := a.Points(context.Background(), 0)
			if err != nil {
				t.Fatal(err)
			}
			worst := func(points [][]event.Time) experiment.Found {
				s := search(a, points, len(points))
				s.Whole = true
				s.Run = func(ctx context.Context, at []event.Time) (experiment.Measured, error) {
					x, err := a.Measure(ctx, at, experiment.Response, false)
					return experiment.Measured{Value: int64(x.Value)}, err
				}
				found, err := experiment.Worst(context.Background(), s)
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			var all [][]event.Time
			for d := event.Time(0); d < event.Time(list[task].period)*1000; d += 7_777 {
				all = append(all, []event.Time{d})
			}
			if grid, every := worst(points), worst(all); grid.Value < every.Value {
				t.Errorf("seed %d, costs %s: %d ns on the grid of %d points, %d ns with %v", seed, costs, grid.Value, len(points), every.Value, a.Changes(every.At))
			}
		}
	}
}

// TestTheoryOfOneCPUOfSeveral: tasks of other CPUs do not matter, nor does it how much they do; one
// that may run on both has no theory.
func TestTheoryOfOneCPUOfSeveral(t *testing.T) {
	const body = `{"global":{"duration":1,"default_policy":"SCHED_FIFO"},"tasks":{
"hi": {"priority":90,"cpus":[1],"timer":{"ref":"unique","period":7000,"mode":"absolute"},"run":1000},
"away":{"priority":95,"cpus":[0],"timer":{"ref":"unique","period":5000,"mode":"absolute"},"run":4000},
"ctl":{"priority":80,"cpus":[1],"delay":300,"timer":{"ref":"unique","period":20000,"mode":"absolute"},"run":6500}%s},
"whylate":{"kernel":"6.1","cpus":2,"cost_table":"zero","settings":{"sched_rt_runtime_us":-1}}}`
	read := func(more string) *experiment.Arrivals {
		p, err := scenario.Read("two.json", fmt.Appendf(nil, body, more), scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.Load.Duration = 200_000_000
		return arrivals(t, p, "ctl", experiment.VaryAll)
	}
	a := read("")
	// 6.5 ms of its own, and hi twice: 7 ms after the first it is not done.
	if bound, err := a.Bound(experiment.Response); err != nil || bound != 8_500_000 {
		t.Errorf("bound %d, %v", bound, err)
	}
	if bound, err := a.Bound(experiment.Lateness); err != nil || bound != 1_000_000 {
		t.Errorf("bound of the lateness %d, %v", bound, err)
	}
	found, err := experiment.Worst(context.Background(), search(a, [][]event.Time{a.Base()}, 600))
	if err != nil || found.Value != 8_500_000 {
		t.Errorf("found %d ns (%v), %v", found.Value, found.Improved, err)
	}
	if _, err := read(`,"both":{"priority":85,"run":100,"sleep":5000}`).Bound(experiment.Response); err == nil || !strings.Contains(err.Error(), "task both: it may run on several CPUs") {
		t.Errorf("a task on both CPUs: %v", err)
	}
}
