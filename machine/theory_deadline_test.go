package machine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// grain is the smallest time in these tests: shorter hrticks are not set (hrtick_start()),
// and of runtimes the kernel compares microseconds (DL_SCALE).
const grain = 10 * us

// reserved is a periodic task with a reservation.
type reserved struct {
	offset, period, deadline, runtime event.Time
	work                              func() event.Time // of a job

	release event.Time
	begun   bool
	busy    bool
	jobs    int
	missed  int
}

func (p *reserved) Next(m *machine.Machine, _ *machine.Thread) machine.Step {
	if !p.begun {
		p.begun, p.release = true, p.offset
	}
	if p.busy {
		p.busy = false
		p.jobs++
		if m.Now() > p.release+p.deadline {
			p.missed++
		}
		p.release += p.period
	}
	if m.Now() < p.release {
		return machine.Step{Kind: machine.StepSleep, NS: p.release}
	}
	p.busy = true
	return machine.Step{Kind: machine.StepRun, NS: p.work()}
}

func (p *reserved) attr() sched.Attr {
	return sched.Attr{Policy: sched.Deadline, Runtime: p.runtime, Deadline: p.deadline, Period: p.period}
}

// exact is a machine that enforces runtimes to the ns and admits everything that fits.
func exact(cpus int) machine.Config {
	cfg := quiet(cpus)
	cfg.Sched.HRTickDL = true
	cfg.Sched.DLBandwidth = 1 << 20
	return cfg
}

// randomReservations fill part of a CPU; with a part of 1 they fill it to the last grain.
// A job of them uses all of its runtime or less.
func randomReservations(r *rand.Rand, full bool) []*reserved {
	const hyper = 2520 // grains: periods divide it, so that sums are exact
	divisors := []int{20, 21, 24, 28, 30, 35, 36, 40, 42, 45, 56, 60, 63, 70, 72, 84, 90, 105, 120, 126}
	left := hyper // of the CPU, in grains of one hyperperiod
	if !full {
		left = hyper/3 + r.IntN(hyper*2/3)
	}
	var list []*reserved
	for n := 2 + r.IntN(7); len(list) < n && left > 0; {
		d := divisors[r.IntN(len(divisors))]
		most := left / (hyper / d)
		if most == 0 {
			break
		}
		c := 1 + r.IntN(most)
		if n > 2 {
			c = 1 + r.IntN((most+1)/2)
		}
		left -= c * (hyper / d)
		p := &reserved{period: event.Time(d) * grain, runtime: event.Time(c) * grain, offset: event.Time(r.IntN(d)) * grain}
		if r.IntN(2) == 0 {
			p.offset = 0
		}
		p.deadline = p.period
		p.work = func() event.Time { return p.runtime }
		if r.IntN(3) == 0 {
			p.work = func() event.Time { return event.Time(1+r.IntN(c)) * grain }
		}
		list = append(list, p)
	}
	if full && left > 0 { // one that takes the rest
		p := &reserved{period: hyper * grain, deadline: hyper * grain, runtime: event.Time(left) * grain}
		p.work = func() event.Time { return p.runtime }
		list = append(list, p)
	}
	return list
}

// TestEDFMeetsAllDeadlines: on one CPU, deadline tasks with U ≤ 1 never miss (Liu and
// Layland 1973), whatever their offsets, also if jobs need less than they may.
func TestEDFMeetsAllDeadlines(t *testing.T) {
	jobs := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 4))
		tasks := randomReservations(r, seed%2 == 0)
		m := machine.New(exact(1), event.NewNames(), nil)
		for _, p := range tasks {
			spawn(t, m, p.attr(), p)
		}
		run(t, m, 60*ms)
		for i, p := range tasks {
			jobs += p.jobs
			if p.missed > 0 {
				t.Fatalf("seed %d: task %d of %d missed %d deadlines of %d", seed, i, len(tasks), p.missed, p.jobs)
			}
		}
	}
	if jobs < 100_000 {
		t.Errorf("only %d jobs", jobs)
	}
}

// demandFits is the processor demand criterion (Baruah, Rosier and Howell 1990): deadline
// tasks with D ≤ T meet all deadlines exactly if in every interval the jobs that must be
// done in it fit.
func demandFits(tasks []*reserved, until event.Time) bool {
	for at := grain; at <= until; at += grain {
		demand := event.Time(0)
		for _, p := range tasks {
			if at >= p.deadline {
				demand += ((at-p.deadline)/p.period + 1) * p.runtime
			}
		}
		if demand > at {
			return false
		}
	}
	return true
}

// TestConstrainedDeadlines: where the demand fits, no deadline is missed, and where it does
// not, one is at the critical instant.
func TestConstrainedDeadlines(t *testing.T) {
	fit, unfit := 0, 0
	for seed := uint64(0); (fit < 1000 || unfit < 500) && seed < 20_000; seed++ {
		r := rand.New(rand.NewPCG(seed, 5))
		tasks := randomReservations(r, seed%2 == 0)
		for _, p := range tasks {
			room := int((p.period - p.runtime) / grain)
			p.deadline -= event.Time(r.IntN(room*2/3+1)) * grain
			p.offset = 0
			p.work = func() event.Time { return p.runtime }
		}
		fits := demandFits(tasks, 2520*grain)
		m := machine.New(exact(1), event.NewNames(), nil)
		for _, p := range tasks {
			spawn(t, m, p.attr(), p)
		}
		run(t, m, 2*2520*grain)
		missed := 0
		for i, p := range tasks {
			missed += p.missed
			if fits && p.missed > 0 {
				t.Fatalf("seed %d: task %d of %d missed %d deadlines of %d", seed, i, len(tasks), p.missed, p.jobs)
			}
		}
		if !fits && missed == 0 {
			t.Fatalf("seed %d: no deadline was missed, but the demand does not fit", seed)
		}
		if fits {
			fit++
		} else {
			unfit++
		}
	}
	if fit < 1000 || unfit < 500 {
		t.Errorf("only %d sets that fit and %d that do not", fit, unfit)
	}
}

// TestIsolation: tasks that want more than they have reserved do not make others miss, and
// get what they have reserved and not more.
func TestIsolation(t *testing.T) {
	for seed := range uint64(1200) {
		r := rand.New(rand.NewPCG(seed, 6))
		tasks := randomReservations(r, seed%2 == 0)
		greedy := make([]bool, len(tasks))
		m := machine.New(exact(1), event.NewNames(), nil)
		threads := make([]*machine.Thread, len(tasks))
		for i, p := range tasks {
			if greedy[i] = r.IntN(2) == 0 || i == 0; greedy[i] {
				p.work = func() event.Time { return 1 * s } // it never sleeps
				if r.IntN(2) == 0 {
					p.work = func() event.Time { return p.runtime + event.Time(1+r.IntN(500))*grain }
				}
			} else if r.IntN(2) == 0 {
				p.work = func() event.Time { return p.runtime }
			}
			threads[i] = spawn(t, m, p.attr(), p)
		}
		run(t, m, 60*ms)
		for i, p := range tasks {
			if !greedy[i] {
				if p.missed > 0 {
					t.Fatalf("seed %d: task %d of %d missed %d deadlines of %d", seed, i, len(tasks), p.missed, p.jobs)
				}
				continue
			}
			periods := 60*ms/p.period + 1 // from its creation on
			// One that sleeps begins its periods when it likes: the last may overlap.
			if ran := threads[i].Task.SumExecRuntime(); ran > (periods+1)*p.runtime || p.jobs == 0 && ran > periods*p.runtime {
				t.Fatalf("seed %d: greedy task %d ran %d in %d periods of %d", seed, i, ran, periods, p.runtime)
			}
		}
	}
}

// TestOverrunsLastATickAtMost: without HRTICK_DL a runtime is enforced by ticks. An
// instance overruns by one of them at most, and the next instances pay it back.
func TestOverrunsLastATickAtMost(t *testing.T) {
	overran := 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 7))
		cfg := machine.Config{Sched: sched.DefaultConfig(1)}
		cfg.Sched.Tick = []event.Time{1 * ms, 4 * ms}[r.IntN(2)]
		cfg.Sched.DLBandwidth = 1 << 20
		m := machine.New(cfg, event.NewNames(), nil)
		tasks := randomReservations(r, false)
		threads := make([]*machine.Thread, len(tasks))
		for i, p := range tasks {
			p.work = func() event.Time { return 1 * s }
			threads[i] = spawn(t, m, p.attr(), p)
		}
		spawn(t, m, sched.Attr{Policy: sched.FIFO, Priority: 5}, &worker{run: 300 * us, sleep: 700 * us})
		const until = 100 * ms
		for m.Step(until) {
			for i, th := range threads {
				if _, left := th.Task.Deadline(); left < -cfg.Sched.Tick {
					t.Fatalf("seed %d: at %d task %d overran by %d", seed, m.Now(), i, -left)
				} else if left < 0 {
					overran++
				}
			}
		}
		for i, p := range tasks {
			// One tick that is not paid back yet, and one that is overrun just now.
			periods := (until-p.offset)/p.period + 1
			if ran := threads[i].Task.SumExecRuntime(); ran > periods*p.runtime+2*cfg.Sched.Tick {
				t.Fatalf("seed %d: task %d ran %d in %d periods of %d", seed, i, ran, periods, p.runtime)
			}
		}
	}
	if overran == 0 {
		t.Error("nothing ever overran")
	}
}

// TestReclaiming: tasks that never sleep and reclaim (GRUB, Lipari and Baruah 2000) share
// what deadline tasks may have together in the ratio of their bandwidths, and those that
// keep to what they reserved do not notice. Up to 6.4 what is left over counts as used:
// there the runtime runs at 1 − (uMax − U), and they get less.
func TestReclaiming(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 8))
		cfg := exact(1)
		cfg.Sched.DLBandwidth = 950_000 * (1 << 20) / 1_000_000
		cfg.Sched.GRUBBeforeMax = seed%4 == 3
		m := machine.New(cfg, event.NewNames(), nil)
		type greedy struct {
			th *machine.Thread
			u  float64
		}
		var hogs []greedy
		sum, kept := 0.0, 0.0
		for n := 1 + r.IntN(4); len(hogs) < n; {
			period := event.Time(50+r.IntN(100)) * 100 * us
			runtime := period / event.Time(5+r.IntN(20))
			u := float64(runtime) / float64(period)
			if sum+u > 0.9 {
				break
			}
			sum += u
			th := spawn(t, m, sched.Attr{Policy: sched.Deadline, Runtime: runtime, Deadline: period, Reclaim: true}, &worker{run: s})
			hogs = append(hogs, greedy{th, u})
		}
		var good *reserved
		if sum < 0.7 && r.IntN(2) == 0 {
			good = &reserved{period: 10 * ms, deadline: 10 * ms, runtime: 2 * ms, work: func() event.Time { return 2 * ms }}
			spawn(t, m, good.attr(), good)
			kept = 0.2
		}
		const until = 2 * s
		run(t, m, until)
		for i, h := range hogs {
			share := float64(h.th.Task.SumExecRuntime()) / float64(until)
			want := 0.95 * h.u / sum
			if cfg.Sched.GRUBBeforeMax {
				want = h.u / (1 - (0.95 - sum))
			}
			if kept > 0 {
				want = h.u // at least: while the good one is active nothing of its is lent
			}
			if share < want*0.98 || kept == 0 && share > want*1.02+0.002 || share > 0.953 { // 1/uMax has 8 bits
				t.Fatalf("seed %d: hog %d of %d with u=%.3f of %.3f got %.3f of the CPU, want %.3f", seed, i, len(hogs), h.u, sum, share, want)
			}
		}
		if good != nil && good.missed > 0 {
			t.Fatalf("seed %d: %d of %d deadlines missed", seed, good.missed, good.jobs)
		}
	}
}
