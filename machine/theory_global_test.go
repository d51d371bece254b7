package machine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// restless sleeps and runs for random times.
type restless struct {
	r       *rand.Rand
	act     func(m *machine.Machine, th *machine.Thread)
	asleep  bool
	longest event.Time
}

func (p *restless) Next(m *machine.Machine, th *machine.Thread) machine.Step {
	if p.act != nil {
		p.act(m, th)
	}
	p.asleep = !p.asleep
	ns := 1 + event.Time(p.r.Int64N(int64(p.longest)))
	if p.asleep {
		return machine.Step{Kind: machine.StepSleep, NS: m.Now() + ns}
	}
	return machine.Step{Kind: machine.StepRun, NS: ns}
}

// whenSettled calls look at every moment after all has happened that happens then.
func whenSettled(t *testing.T, m *machine.Machine, until event.Time, look func() error) {
	t.Helper()
	for m.Step(until) {
		if at, ok := m.NextAt(); ok && at <= m.Now() {
			continue
		}
		if err := look(); err != nil {
			t.Fatalf("at %d: %v", m.Now(), err)
		}
	}
	if err := m.Err(); err != nil {
		t.Fatal(err)
	}
}

// mostImportant reports whether the CPUs run the most important of the ready tasks, by a
// key of which less is more.
func mostImportant(m *machine.Machine, tasks []*sched.Task, key func(*sched.Task) int64) error {
	var ready, running []int64
	for _, p := range tasks {
		if p.OnRQ() && !p.Throttled() {
			ready = append(ready, key(p))
		}
		if p.Running() {
			running = append(running, key(p))
		}
	}
	slices.Sort(ready)
	slices.Sort(running)
	if want := ready[:min(len(ready), m.CPUs())]; !slices.Equal(running, want) {
		return fmt.Errorf("%v run of %v", running, ready)
	}
	return nil
}

// TestGlobalFixedPriorities: on m CPUs the m highest of the ready real-time tasks run, at
// every moment, if they may run anywhere and can be preempted; by pulling as by RT_PUSH_IPI,
// and while priorities change.
func TestGlobalFixedPriorities(t *testing.T) {
	moments := 0
	for seed := range uint64(1200) {
		r := rand.New(rand.NewPCG(seed, 9))
		cfg := quiet(2 + r.IntN(7))
		cfg.Sched.RTPushIPI = seed%2 == 1
		cfg.Sched.TTWUQueue = seed%3 == 1
		cfg.Sched.Topology = sched.CacheTopology(cfg.Sched.CPUs, r.IntN(4))
		cfg.Sched.Preempt = []sched.PreemptModel{sched.PreemptFull, sched.PreemptNone, sched.PreemptRT}[r.IntN(3)]
		m := machine.New(cfg, event.NewNames(), nil)
		var tasks []*sched.Task
		random := func() sched.Attr { return sched.Attr{Policy: sched.FIFO, Priority: 1 + r.IntN(20)} }
		var change func(m *machine.Machine, th *machine.Thread)
		if seed%4 >= 2 {
			change = func(m *machine.Machine, th *machine.Thread) {
				if r.IntN(3) > 0 {
					return
				}
				p := tasks[r.IntN(len(tasks))]
				if p.OnRQ() && !p.Running() {
					return // the kernel does not push a waiting task that becomes more important
				}
				if _, err := m.Sched.SetAttr(th.Task.CPU(), p, random()); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range m.CPUs() + r.IntN(15) {
			th := spawn(t, m, random(), &restless{r: r, longest: 500 * us, act: change})
			tasks = append(tasks, th.Task)
		}
		whenSettled(t, m, 10*ms, func() error {
			moments++
			if err := m.Sched.Check(tasks); err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
			if err := mostImportant(m, tasks, func(p *sched.Task) int64 { return int64(p.Prio()) }); err != nil {
				return fmt.Errorf("seed %d, %d CPUs, %+v: %w", seed, m.CPUs(), cfg.Sched, err)
			}
			return nil
		})
	}
	if moments < 400_000 {
		t.Errorf("only %d moments", moments)
	}
}

// TestGlobalEDF: on m CPUs the tasks with the m earliest deadlines run, at every moment,
// and if U ≤ m·(1 − uMax) + uMax no deadline is missed (Goossens, Funk and Baruah 2003).
func TestGlobalEDF(t *testing.T) {
	moments, jobs := 0, 0
	for seed := range uint64(1200) {
		r := rand.New(rand.NewPCG(seed, 10))
		cfg := exact(2 + r.IntN(7))
		cfg.Sched.DLBandwidth = -1
		cfg.Sched.Topology = sched.CacheTopology(cfg.Sched.CPUs, r.IntN(4))
		m := machine.New(cfg, event.NewNames(), nil)
		var tasks []*sched.Task
		var programs []*reserved
		most := 0.1 + 0.6*r.Float64()
		for left := float64(m.CPUs())*(1-most) + most; left > 0.02; {
			period := event.Time(20+r.IntN(200)) * grain
			runtime := max(event.Time(most*float64(period)*(0.2+0.8*r.Float64()))/grain*grain, grain)
			if float64(runtime)/float64(period) > min(left, most) {
				if left -= 0.01; runtime > grain {
					continue
				}
				break
			}
			left -= float64(runtime) / float64(period)
			p := &reserved{period: period, deadline: period, runtime: runtime, offset: event.Time(r.IntN(200)) * grain, work: func() event.Time { return runtime }}
			th := spawn(t, m, p.attr(), p)
			tasks, programs = append(tasks, th.Task), append(programs, p)
		}
		whenSettled(t, m, 10*ms, func() error {
			moments++
			if err := m.Sched.Check(tasks); err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
			err := mostImportant(m, tasks, func(p *sched.Task) int64 { at, _ := p.Deadline(); return int64(at) })
			if err != nil {
				return fmt.Errorf("seed %d, %d CPUs: %w", seed, m.CPUs(), err)
			}
			return nil
		})
		for i, p := range programs {
			if jobs += p.jobs; p.missed > 0 {
				t.Fatalf("seed %d: task %d of %d missed %d deadlines of %d", seed, i, len(tasks), p.missed, p.jobs)
			}
		}
	}
	if moments < 200_000 || jobs < 100_000 {
		t.Errorf("only %d moments, %d jobs", moments, jobs)
	}
}

// TestPushIPIEqualsPull: where priorities differ, who runs at each moment is fixed, so
// every response is the same whether CPUs pull or ask others to push.
func TestPushIPIEqualsPull(t *testing.T) {
	for seed := range uint64(1000) {
		var worst [2][]event.Time
		for ipi := range 2 {
			r := rand.New(rand.NewPCG(seed, 11))
			cfg := quiet(2 + r.IntN(7))
			cfg.Sched.RTPushIPI = ipi == 1
			m := machine.New(cfg, event.NewNames(), nil)
			n := m.CPUs() + r.IntN(15)
			var tasks []*periodic
			for i := range n {
				period := event.Time(100+r.IntN(900)) * us
				p := &periodic{period: period, offset: event.Time(r.Int64N(int64(period))), cost: 1 + event.Time(r.Int64N(int64(period))), prio: 1 + i}
				tasks = append(tasks, p)
				spawn(t, m, p.attr(), p)
			}
			run(t, m, 10*ms)
			for _, p := range tasks {
				worst[ipi] = append(worst[ipi], p.worst)
			}
		}
		if !slices.Equal(worst[0], worst[1]) {
			t.Fatalf("seed %d: longest responses by pulling %v, by pushing %v", seed, worst[0], worst[1])
		}
	}
}
