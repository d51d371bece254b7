package machine_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// conservation watches that no CPU idles for long while another has fair tasks that wait.
type conservation struct {
	m     *machine.Machine
	tasks []*machine.Thread
	// idle is since when a CPU has had nothing to do, waits since when one has had at least two tasks that
	// may run anywhere; NoTime: it is not so.
	idle, waits []event.Time
	n           []int
	moved       event.Time // when a task last moved
	cpu         []event.CPU
	worst       event.Time
	what        string
}

func watchConservation(m *machine.Machine, tasks []*machine.Thread) *conservation {
	w := &conservation{m: m, tasks: tasks, idle: make([]event.Time, m.CPUs()), waits: make([]event.Time, m.CPUs()), n: make([]int, m.CPUs()), cpu: make([]event.CPU, len(tasks))}
	for c := range w.idle {
		w.idle[c], w.waits[c] = event.NoTime, event.NoTime
	}
	return w
}

// look is called after everything that happens, at its time, and says how long up to then a CPU has
// idled beside one that had too much.
func (w *conservation) look() {
	now := w.m.Now()
	for i, since := range w.idle {
		for b, waits := range w.waits {
			if since == event.NoTime || waits == event.NoTime {
				continue
			}
			if longest := now - max(since, waits, w.moved); longest > w.worst {
				w.worst = longest
				w.what = fmt.Sprintf("at %d CPU %d idled for %d beside CPU %d, which had %d tasks", now, i, longest, b, w.n[b])
			}
		}
	}
	clear(w.n)
	for i, th := range w.tasks {
		c := th.Task.CPU()
		if c != w.cpu[i] {
			w.cpu[i], w.moved = c, now
		}
		if th.Task.OnRQ() {
			w.n[c]++
		}
	}
	for i := range w.n {
		note(&w.idle[i], w.m.Sched.IsIdle(event.CPU(i)) && w.n[i] == 0, now)
		note(&w.waits[i], w.n[i] >= 2, now)
	}
}

func note(since *event.Time, is bool, now event.Time) {
	switch {
	case !is:
		*since = event.NoTime
	case *since == event.NoTime:
		*since = now
	}
}

// run lets the machine go on until then.
func (w *conservation) run(until event.Time) error {
	for w.m.Step(until) {
		w.look()
	}
	return w.m.Err()
}

// fair612 are the rules of 6.12 for n CPUs.
func fair612(n int) sched.FairConfig {
	f := sched.DefaultFair(n)
	f.EEVDF, f.CustomSlices, f.BaseSlice, f.PickFirst = true, true, 700*us*sched.FairScale(n), true
	f.UtilEstMerged, f.TGLoadEvery, f.GroupKeepsWeight = true, ms, true
	f.SiblingsByCores, f.SMTBalance, f.PreferSiblingBusiest, f.BusiestByRunnable, f.LaterMisfit = true, true, true, true, false
	f.BalanceIdleCores, f.MisfitKeepsInterval, f.GroupFlagsFollow, f.DomainDIE = true, true, true, false
	f.Features = sched.FeaturesOf(sched.PlaceLag, sched.PlaceDeadlineInitial, sched.PlaceRelDeadline, sched.RunToParity, sched.PreemptShort,
		sched.PickBuddy, sched.DelayDequeue, sched.DelayZero, sched.CacheHotBuddy, sched.WakeupPreemption, sched.NonTaskCapacity, sched.AttachAgeLoad,
		sched.SISUtil, sched.WAIdle, sched.WAWeight, sched.WABias, sched.UtilEst)
	return f
}

// fair411 are those of 4.11.
func fair411(n int) sched.FairConfig {
	f := sched.DefaultFair(n)
	f.PELT411, f.LoadBalance411, f.SMTGain, f.WeightsToZero, f.MinVruntimeOnSave = true, true, 1178, true, true
	f.BusyFactor, f.ImbalancePct, f.PreferSiblingInLLC, f.PerCPUKthreadsStay = 32, 125, false, false
	f.Features = sched.FeaturesOf(sched.GentleFairSleepers, sched.StartDebit, sched.LastBuddy, sched.CacheHotBuddy, sched.WakeupPreemption,
		sched.NonTaskCapacity, sched.AttachAgeLoad, sched.LBBias)
	return f
}

// shape is how a machine's CPUs share things.
type shape struct{ threads, cores, llcs, nodes int }

var shapes = []shape{{1, 2, 1, 1}, {1, 4, 1, 1}, {1, 8, 1, 1}, {1, 16, 1, 1}, {2, 2, 1, 1}, {2, 4, 1, 1}, {2, 8, 1, 1}, {2, 2, 2, 1},
	{1, 4, 2, 1}, {1, 4, 4, 1}, {1, 2, 1, 2}, {1, 4, 1, 2}, {2, 2, 1, 4}, {2, 2, 2, 2}, {2, 4, 1, 2}}

var eras = []string{"4.11", "6.1", "6.12"}

func (sh shape) cpus() int { return sh.threads * sh.cores * sh.llcs * sh.nodes }

// config is a machine of that shape with the rules of an era.
func (sh shape) config(era string) sched.Config {
	n := sh.cpus()
	cfg := sched.DefaultConfig(n)
	cfg.Topology = sched.UniformTopology(sh.threads, sh.cores, sh.llcs, sh.nodes)
	switch era {
	case "6.12":
		cfg.Fair = fair612(n)
	case "4.11":
		cfg.Fair = fair411(n)
	}
	return cfg
}

// patience is the documented interval (docs/model.md): in it a task moves to an idle CPU if any waits that
// may. An idle CPU looks over a domain of W CPUs every 2·W ms, rounded up to a tick, from the next tick of a busy
// one on; and a task whose caches are warm is passed over cache_nice_tries + 1 times. In 4.11 it is twice
// that: loads are averages over ticks there, which follow late.
func (sh shape) patience(era string) event.Time {
	tries := event.Time(1)
	if sh.nodes > 1 {
		tries = 2
	}
	if era == "4.11" {
		return 2 * (tries + 2) * (2*event.Time(sh.cpus())*ms + 2*4*ms)
	}
	return (tries + 2) * (2*event.Time(sh.cpus())*ms + 2*4*ms)
}

// letLoose makes tasks on some CPUs, more than these can run, which may go anywhere from 0.1 ms on.
func letLoose(tb testing.TB, t *rapid.T, sh shape, era string) *conservation {
	n := sh.cpus()
	mc := machine.Config{Sched: sh.config(era)}
	if rapid.Bool().Draw(t, "costs") {
		mc.Costs = machine.TypicalCosts()
	}
	m := machine.New(mc, event.NewNames(), nil)
	var tasks []*machine.Thread
	few := rapid.IntRange(1, n).Draw(t, "on CPUs")
	hogs := rapid.IntRange(0, 4).Draw(t, "hogs of 4")
	for i := range rapid.IntRange(2, 2*n).Draw(t, "tasks") {
		w := &worker{run: s}
		if rapid.IntRange(1, 4).Draw(t, "hog") > hogs {
			w.run = event.Time(rapid.IntRange(50, 30_000).Draw(t, "run")) * us
			w.sleep = event.Time(rapid.IntRange(50, 30_000).Draw(t, "sleep")) * us
		}
		c := event.CPU(i % few)
		tasks = append(tasks, loose(tb, m, c, w))
	}
	return watchConservation(m, tasks)
}

// check says how the rule was broken, "" if it was not.
func (w *conservation) check(sh shape, era string) string {
	if w.worst > sh.patience(era) {
		return fmt.Sprintf("%s, %+v: %s: more than %d without any move", era, sh, w.what, sh.patience(era))
	}
	return ""
}

// TestNoCPUIdlesForLongWhereTasksWait: whatever fair tasks do that may run anywhere, and wherever they were
// put, in the documented interval one moves to an idle CPU.
func TestNoCPUIdlesForLongWhereTasksWait(tb *testing.T) {
	waited := 0
	rapid.Check(tb, func(t *rapid.T) {
		sh := rapid.SampledFrom(shapes).Draw(t, "shape")
		era := rapid.SampledFrom(eras).Draw(t, "era")
		w := letLoose(tb, t, sh, era)
		if err := w.run(300 * ms); err != nil {
			t.Fatal(err)
		}
		if bad := w.check(sh, era); bad != "" {
			t.Fatal(bad)
		}
		if w.worst > 0 {
			waited++
		}
	})
	tb.Logf("in %d runs tasks waited beside an idle CPU", waited)
}

// TestTasksOnOneCPUSpreadOverAll: as many hogs as CPUs, all on the first at the beginning, have one each in
// the end, in a documented interval for every one of them.
func TestTasksOnOneCPUSpreadOverAll(t *testing.T) {
	for _, sh := range shapes {
		for _, era := range eras {
			n := sh.cpus()
			m := machine.New(machine.Config{Sched: sh.config(era), Costs: machine.TypicalCosts()}, event.NewNames(), nil)
			var tasks []*machine.Thread
			for range n {
				tasks = append(tasks, loose(t, m, 0, &worker{run: s}))
			}
			w := watchConservation(m, tasks)
			if err := w.run(event.Time(n) * sh.patience(era)); err != nil {
				t.Fatal(err)
			}
			if bad := w.check(sh, era); bad != "" || w.worst == 0 {
				t.Errorf("%s; the longest %d", bad, w.worst)
			}
			for c, k := range w.n {
				if k != 1 {
					t.Errorf("%s, %+v: in the end %d tasks are on CPU %d", era, sh, k, c)
				}
			}
		}
	}
}

// loose makes a task on CPU c which may leave it from 0.1 ms on.
func loose(t testing.TB, m *machine.Machine, c event.CPU, w *worker) *machine.Thread {
	t.Helper()
	th, err := m.Spawn(0, "task", sched.Attr{}, []event.CPU{c}, w)
	if err != nil {
		t.Fatal(err)
	}
	m.Start(c, th)
	var all []event.CPU
	for c := range m.CPUs() {
		all = append(all, event.CPU(c))
	}
	m.At(100*us, func() {
		if _, _, err := m.Sched.SetAffinity(c, th.Task, all); err != nil {
			t.Error(err)
		}
	})
	return th
}
