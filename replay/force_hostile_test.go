package replay

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/whylate/whylate/event"
)

// inventedTrace is a source of events that no kernel recorded.
type inventedTrace struct {
	info   event.Info
	names  *event.Names
	events []event.Event
	at     int
}

func (m *inventedTrace) Info() *event.Info                          { return &m.info }
func (m *inventedTrace) Names() *event.Names                        { return m.names }
func (m *inventedTrace) Close() error                               { return nil }
func (m *inventedTrace) Diagnostics() []event.Diagnostic            { return nil }
func (m *inventedTrace) Events(event.Options) (event.Stream, error) { m.at = 0; return m, nil }

func (m *inventedTrace) Next() (*event.Event, error) {
	if m.at == len(m.events) {
		return nil, io.EOF
	}
	m.at++
	return &m.events[m.at-1], nil
}

// nonsense draws events of few tasks and CPUs, so that they meet, with fields of any value.
func nonsense(r *rand.Rand, n int) *inventedTrace {
	m := &inventedTrace{names: event.NewNames()}
	m.info.Kernel = []string{"6.1.0-50-rt-amd64", "6.12.0", "", "3.4-rt", "bogus"}[r.IntN(5)]
	m.info.CPUs = r.IntN(5) - 1
	comms := []event.Name{0, m.names.Intern("a"), m.names.Intern("migration/0"), m.names.Intern("migration/7")}
	funcs := []event.Name{0, m.names.Intern("tick_sched_timer"), m.names.Intern("sched_rt_period_timer"), m.names.Intern("dl_task_timer"), m.names.Intern("hrtick")}
	prios := []event.Prio{-1, -1, 0, 10, 10, 49, 98, 99, 100, 120, 120, 139, 140, event.NoPrio, -5, 1 << 30}
	cpu := func() event.CPU {
		if r.IntN(40) == 0 {
			return []event.CPU{-1, 1000, 1 << 30, -1 << 31}[r.IntN(4)]
		}
		return event.CPU(r.IntN(3))
	}
	pid := func() event.PID {
		if r.IntN(60) == 0 {
			return []event.PID{-1, 1 << 30, -1 << 31}[r.IntN(3)]
		}
		return event.PID(r.IntN(9))
	}
	now := event.Time(r.Int64N(1 << 40))
	for range n {
		var ev event.Event
		ev.Reset()
		now += event.Time(r.Int64N(3_000_000))
		if r.IntN(200) == 0 {
			now += event.Time(r.Int64N(1 << 45))
		}
		ev.Time, ev.CPU, ev.PID = now, cpu(), pid()
		ev.Kind = []event.Kind{event.SchedSwitch, event.SchedSwitch, event.SchedSwitch, event.SchedWaking, event.SchedWaking, event.SchedWakeup,
			event.SchedWakeup, event.Kind(r.IntN(int(event.NumKinds)))}[r.IntN(8)]
		ev.Task, ev.TaskComm, ev.TaskPrio = pid(), comms[r.IntN(len(comms))], prios[r.IntN(len(prios))]
		ev.Next, ev.NextComm, ev.NextPrio = pid(), comms[r.IntN(len(comms))], prios[r.IntN(len(prios))]
		ev.State = []event.State{event.StateRunnable, event.StatePreempted, event.StateSleeping, event.StateDead, event.StateUnknown, event.StateNew, event.StateWaking, event.State(r.IntN(1 << 15))}[r.IntN(8)]
		ev.Orig, ev.Target, ev.Func = cpu(), cpu(), funcs[r.IntN(len(funcs))]
		ev.Flags = event.Flags(r.IntN(1 << 10))
		ev.Arg, ev.Arg2, ev.Arg3 = r.Int64N(4_000_000), r.Int64N(2), r.Int64()
		if r.IntN(30) == 0 {
			ev.Arg, ev.Arg2 = -r.Int64(), r.Int64()
		}
		m.events = append(m.events, ev)
	}
	return m
}

// TestForceTakesAnyEvents: whatever a trace says, Force ends and answers.
func TestForceTakesAnyEvents(t *testing.T) {
	for seed := range uint64(100) {
		func() {
			defer func() {
				if e := recover(); e != nil {
					t.Errorf("seed %d: %v", seed, e)
					panic(e)
				}
			}()
			d, err := Force(nonsense(rand.New(rand.NewPCG(seed, 3)), 400), Options{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for _, r := range d.Rows {
				if r.Agree > r.N || r.Baseline > r.N || r.N < 0 || r.Undecided < 0 {
					t.Errorf("seed %d: %+v", seed, r)
				}
			}
		}()
	}
}
