package machine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// periodic is a task with an implicit deadline that is released every period, from offset
// on, and works for cost. It notes its longest response.
type periodic struct {
	period, cost event.Time

	release event.Time
	busy    bool
	worst   event.Time
	jobs    int
}

func (p *periodic) Next(m *machine.Machine, th *machine.Thread) machine.Step {
	if p.busy {
		p.busy = false
		p.worst = max(p.worst, m.Now()-p.release)
		p.jobs++
		p.release += p.period
	}
	if m.Now() < p.release {
		return machine.Step{Kind: machine.StepSleep, NS: p.release}
	}
	p.busy = true
	return machine.Step{Kind: machine.StepRun, NS: p.cost}
}

// quiet is a machine without ticks on one CPU.
func quiet(cpus int) machine.Config {
	return machine.Config{Sched: sched.DefaultConfig(cpus), NoTick: true}
}

// TestResponseTimeAnalysis: with fixed priorities on one CPU, the longest response of a
// task is at the critical instant, when it is released together with all that go before it;
// R = C + Σ ⌈R/T⌉·C over the higher ones (Joseph and Pandya 1986).
func TestResponseTimeAnalysis(t *testing.T) {
	checked := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 2 + r.IntN(6)
		tasks := make([]*periodic, n)
		u := 0.0
		for i := range tasks {
			period := event.Time(1+r.IntN(50)) * 1000
			cost := 1 + event.Time(r.Int64N(int64(period)/int64(n)))
			tasks[i] = &periodic{period: period, cost: cost}
			u += float64(cost) / float64(period)
		}
		if u > 0.99 {
			continue
		}
		m := machine.New(quiet(1), event.NewNames(), nil)
		for i, p := range tasks {
			th, err := m.Spawn(0, "task", sched.Attr{Policy: sched.FIFO, Priority: 90 - i}, nil, p)
			if err != nil {
				t.Fatal(err)
			}
			m.Start(0, th)
		}
		if err := m.RunUntil(2_000_000); err != nil {
			t.Fatal(err)
		}
		for i, p := range tasks {
			want := response(tasks, i)
			if want > p.period {
				break // its next job waits for this one: the analysis ends here
			}
			checked++
			if p.worst != want {
				t.Fatalf("seed %d task %d of %d: longest response %d, analysis says %d", seed, i, n, p.worst, want)
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d tasks were compared", checked)
	}
}

func response(tasks []*periodic, i int) event.Time {
	r := tasks[i].cost
	for {
		next := tasks[i].cost
		for _, h := range tasks[:i] {
			next += (r + h.period - 1) / h.period * h.cost
		}
		if next == r || next > 1<<40 {
			return r
		}
		r = next
	}
}
