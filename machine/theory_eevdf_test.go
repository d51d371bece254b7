package machine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// eevdf are the rules of 6.6, 6.12 and 6.18, in this order; scale says how many CPUs there are.
func eevdf(n int) sched.FairConfig {
	old := sched.FeaturesOf(sched.PlaceLag, sched.PlaceDeadlineInitial, sched.RunToParity, sched.WakeupPreemption, sched.AttachAgeLoad)
	f := sched.FairConfig{EEVDF: true, BandwidthSlice: 5_000_000, BusyFactor: 16, ImbalancePct: 117, PreferSiblingInLLC: true,
		MigrationCost: 500_000, NrMigrate: 32, PerCPUKthreadsStay: true, BalanceIdleCores: true}
	if n == 0 {
		f.BaseSlice, f.Reweight, f.InitialAtFork, f.Features = 750_000, sched.ReweightDeadline, true, old
		return f
	}
	f.BaseSlice, f.CustomSlices, f.IdleByQueue, f.IdleUnprotected, f.YieldPays, f.PickFirst = 700_000, true, true, true, true, true
	f.Features = old | sched.FeaturesOf(sched.PlaceRelDeadline, sched.PreemptShort, sched.PickBuddy, sched.DelayDequeue, sched.DelayZero)
	if n == 2 {
		f.Reweight, f.ProtectShortest, f.TaskThrottle = sched.ReweightPlaces, true, true
	}
	return f
}

var eevdfNames = [...]string{"6.6", "6.12", "6.18"}

func eevdfMachine(n int, tick event.Time) machine.Config {
	cfg := sched.DefaultConfig(1)
	cfg.Fair, cfg.Tick = eevdf(n), tick
	return machine.Config{Sched: cfg}
}

// niceWeight is what a nice value weighs, as sched(7) has it: 1024 for 0, about a quarter more for each step.
// The exact numbers are those of the kernel's interface.
var niceWeight = map[int]int64{-10: 9548, -5: 3121, -1: 1277, 0: 1024, 1: 820, 5: 335, 10: 110, 19: 15}

var niceValues = []int{-10, -5, -1, 0, 1, 5, 10, 19}

// ranBy is how long p has run by now.
func ranBy(m *machine.Machine, p *sched.Task) event.Time {
	if p.Running() {
		return p.SumExecRuntime() + m.Now() - p.ExecStart()
	}
	return p.SumExecRuntime()
}

// TestEEVDFLagBound: of tasks that always want to run, none is ahead of its share by more than the longest slice and
// the tick that may pass until it is made to leave (Stoica and Abdel-Wahab 1995: the lag is between −r and max(r, q) for the longest
// request r and the quantum q). Each may take a tick more than it asked for, so who waits is behind by a slice at most and a tick for each of
// the others. In the long run each has its share to within that.
func TestEEVDFLagBound(t *testing.T) {
	for n, name := range eevdfNames {
		t.Run(name, func(t *testing.T) {
			looked, beyond, ahead, behind := 0, 0, 0.0, 0.0
			for seed := range uint64(60) {
				r := rand.New(rand.NewPCG(seed, 7))
				cfg := eevdfMachine(n, []event.Time{1 * ms, 4 * ms, 10 * ms}[r.IntN(3)])
				tick := cfg.Sched.Tick
				longest := cfg.Sched.Fair.BaseSlice
				m := machine.New(cfg, event.NewNames(), nil)
				var tasks []*sched.Task
				var weights []int64
				all := int64(0)
				for range 2 + r.IntN(6) {
					a := sched.Attr{Nice: niceValues[r.IntN(len(niceValues))]}
					if n > 0 && r.IntN(2) == 0 {
						a.Slice = event.Time(100_000 + r.Int64N(20_000_000))
						longest = max(longest, a.Slice)
					}
					th := spawn(t, m, a, machine.ProgramFunc(func(*machine.Machine, *machine.Thread) machine.Step { return work(1000 * ms) }))
					tasks = append(tasks, th.Task)
					weights = append(weights, niceWeight[a.Nice])
					all += niceWeight[a.Nice]
				}
				most := float64(longest + tick)
				late := float64(longest + event.Time(len(tasks)-1)*tick)
				for at := event.Time(0); at < 2000*ms; {
					at += event.Time(r.Int64N(int64(7 * ms)))
					run(t, m, at)
					for i, p := range tasks {
						looked++
						lag := float64(at)*float64(weights[i])/float64(all) - float64(ranBy(m, p))
						ahead, behind = max(ahead, -lag/most), max(behind, lag/late)
						if lag > most {
							beyond++
						}
						if -lag > most+10 || lag > late+10 {
							t.Fatalf("seed %d: at %d task %d of %d has a lag of %.0f ns; the longest slice is %d, a tick %d", seed, at, i, len(tasks), lag, longest, tick)
						}
					}
				}
			}
			t.Logf("%d lags; ahead %.0f %%, behind %.0f %% of the bound; %d behind by more than a slice and a tick", looked, 100*ahead, 100*behind, beyond)
			if ahead < 0.3 {
				t.Error("nothing came near the bound: what was compared is not lag")
			}
		})
	}
}

// TestShortSlicesAreServedSoon: a task that uses less than its share is eligible when it wakes. With a shorter slice
// than that of a hog its deadline is mostly the earlier one, and it has the CPU at once (PREEMPT_SHORT); with the same
// slice it may have to wait until the turn of the hog is over.
func TestShortSlicesAreServedSoon(t *testing.T) {
	wait := func(n, hogs int, slice event.Time) event.Time {
		m := machine.New(eevdfMachine(n, 4*ms), event.NewNames(), nil)
		for range hogs {
			spawn(t, m, sched.Attr{Slice: 3 * ms}, machine.ProgramFunc(func(*machine.Machine, *machine.Thread) machine.Step { return work(1000 * ms) }))
		}
		sum, jobs, release := event.Time(0), event.Time(0), event.NoTime
		spawn(t, m, sched.Attr{Slice: slice}, machine.ProgramFunc(func(m *machine.Machine, _ *machine.Thread) machine.Step {
			if release != event.NoTime {
				if m.Now() < release {
					return machine.Step{Kind: machine.StepSleep, NS: release}
				}
				sum += m.Now() - release
				jobs++
				release = event.NoTime
				return work(80_000)
			}
			release = m.Now() + 17_100_000
			return machine.Step{Kind: machine.StepSleep, NS: release}
		}))
		run(t, m, 4000*ms)
		if jobs < 150 {
			t.Fatalf("only %d jobs", jobs)
		}
		return sum / jobs
	}
	for n := 1; n < len(eevdfNames); n++ {
		one, same := wait(n, 1, 100_000), wait(n, 1, 3*ms)
		many, sameMany := wait(n, 3, 100_000), wait(n, 3, 3*ms)
		t.Logf("%s: beside one hog it waits %d ns with a short slice, %d with the same; beside three %d and %d", eevdfNames[n], one, same, many, sameMany)
		if one*2 > same || many*2 > sameMany {
			t.Errorf("%s: a short slice does not help", eevdfNames[n])
		}
	}
}

// TestSleepersAreNotFavoured: who sleeps keeps its lag and gets no credit for it, so that however tasks
// sleep none gets more than its share while it runs, by more than slice and tick.
func TestSleepersAreNotFavoured(t *testing.T) {
	for n, name := range eevdfNames {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 8))
			m := machine.New(eevdfMachine(n, 1*ms), event.NewNames(), nil)
			hog := spawn(t, m, sched.Attr{}, machine.ProgramFunc(func(*machine.Machine, *machine.Thread) machine.Step { return work(1000 * ms) })).Task
			sleeper := spawn(t, m, sched.Attr{}, machine.ProgramFunc(func(m *machine.Machine, _ *machine.Thread) machine.Step {
				if r.IntN(2) == 0 {
					return machine.Step{Kind: machine.StepSleep, NS: m.Now() + event.Time(1+r.Int64N(3_000_000))}
				}
				return work(event.Time(1 + r.Int64N(3_000_000)))
			})).Task
			run(t, m, 3000*ms)
			if s, h := ranBy(m, sleeper), ranBy(m, hog); s > h+2*ms {
				t.Errorf("%s, seed %d: who sleeps has run %d ns, who does not %d", name, seed, s, h)
			}
		}
	}
}
