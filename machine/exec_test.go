package machine_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// TestExecMovesFairTasks: one that begins another program beside another that is pinned goes to an idle CPU at once, a
// real-time one stays.
func TestExecMovesFairTasks(t *testing.T) {
	for _, c := range []struct {
		attr sched.Attr
		want event.CPU
	}{{sched.Attr{}, 1}, {sched.Attr{Policy: sched.FIFO, Priority: 1}, 0}} {
		m := machine.New(machine.Config{Sched: sched.DefaultConfig(2)}, event.NewNames(), nil)
		hog := machine.ProgramFunc(func(*machine.Machine, *machine.Thread) machine.Step {
			return machine.Step{Kind: machine.StepRun, NS: 100_000_000}
		})
		pinned, err := m.Spawn(0, "pinned", sched.Attr{}, []event.CPU{0}, hog)
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		other, err := m.Spawn(0, "exec", c.attr, []event.CPU{0}, machine.ProgramFunc(func(m *machine.Machine, th *machine.Thread) machine.Step {
			if steps++; steps == 2 {
				if _, _, err := m.Sched.SetAffinity(0, th.Task, nil); err != nil {
					t.Fatal(err)
				}
				m.Exec(th)
			}
			return machine.Step{Kind: machine.StepRun, NS: 1_000_000}
		}))
		if err != nil {
			t.Fatal(err)
		}
		m.Start(0, other)
		m.Start(0, pinned)
		for steps < 2 && m.Step(50_000_000) {
		}
		at := m.Now()
		m.RunUntil(at + 1000)
		if got := other.Task.CPU(); got != c.want || steps < 2 {
			t.Errorf("%+v: on CPU %d after %d steps, want %d", c.attr, got, steps, c.want)
		}
	}
}
