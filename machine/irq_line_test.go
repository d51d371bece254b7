package machine_test

import (
	"fmt"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// irqEvents lists what interrupts leave, with who runs: "µs cpu event what".
func (st *stage) irqEvents() []string {
	var list []string
	for i := range st.events {
		ev := &st.events[i]
		line := fmt.Sprintf("%d %d %s", ev.Time/1000, ev.CPU, ev.Kind)
		switch ev.Kind {
		case event.IRQHandlerEntry, event.IRQHandlerExit:
			line += fmt.Sprintf(" %d %s", ev.Arg, st.names.String(ev.Text))
		case event.SoftirqRaise, event.SoftirqEntry, event.SoftirqExit:
			line += fmt.Sprintf(" %d", ev.Arg)
		case event.SchedWaking:
			line += " " + st.names.String(ev.TaskComm)
		case event.SchedSwitch:
			line += " " + st.names.String(ev.TaskComm) + " > " + st.names.String(ev.NextComm)
		default:
			continue
		}
		if ev.Flags.Has(event.HardIRQ) {
			line += " hard"
		}
		list = append(list, line)
	}
	return list
}

func (st *stage) irq(cfg machine.IRQ) *machine.Line {
	st.t.Helper()
	l, err := st.m.AddIRQ(cfg)
	if err != nil {
		st.t.Fatal(err)
	}
	if th := l.Thread(); th != nil {
		st.tasks = append(st.tasks, th.Task)
	}
	return l
}

func exactly(ns event.Time) machine.Span { return machine.Span{Min: ns, Max: ns} }

// kernelWith is a machine without costs and ticks.
func kernelWith(cpus int, p sched.PreemptModel) machine.Config {
	cfg := sched.DefaultConfig(cpus)
	cfg.Preempt = p
	return machine.Config{Sched: cfg, NoTick: true}
}

// TestAHardHandlerTakesItsTime from the task that it hits, with interrupts off: a timer and
// another interrupt that come meanwhile wait for its end, and the task that they wake
// preempts then.
func TestAHardHandlerTakesItsTime(t *testing.T) {
	st := newStage(t, kernelWith(1, sched.PreemptVoluntary))
	st.irq(machine.IRQ{Number: 9, Name: "slow", Hard: exactly(30 * us), Work: exactly(70 * us), Every: s, Offset: 100 * us})
	st.irq(machine.IRQ{Number: 8, Name: "fast", Hard: exactly(10 * us), Every: s, Offset: 150 * us})
	st.add("lo", fifo(1), nil, work(500*us))
	st.add("hi", fifo(2), nil, nap(120*us), work(50*us))
	st.play(ms)
	compare(t, "events", st.irqEvents(), `0 0 sched_switch swapper/0 > hi
		0 0 sched_switch hi > lo
		100 0 irq_handler_entry 9 slow hard
		200 0 irq_handler_exit 9 slow hard
		200 0 sched_waking hi hard
		200 0 irq_handler_entry 8 fast hard
		210 0 irq_handler_exit 8 fast hard
		210 0 sched_switch lo > hi
		260 0 sched_switch hi > lo
		660 0 sched_switch lo > swapper/0`)
}

// TestAThreadedHandler on PREEMPT_RT: the hard part wakes the thread behind its exit, the
// thread preempts by its priority, and what the line says meanwhile waits until it is done.
func TestAThreadedHandler(t *testing.T) {
	st := newStage(t, kernelWith(1, sched.PreemptRT))
	l := st.irq(machine.IRQ{Number: 14, Name: "pata", Hard: exactly(10 * us), Work: exactly(100 * us), Every: 60 * us, Offset: 50 * us, Count: 3})
	st.add("lo", fifo(49), nil, work(300*us))
	st.play(ms)
	// The second and third arrival, at 110 and 170, find the line masked and wait until it is
	// opened: the thread is still there and runs again without having slept.
	compare(t, "events", st.irqEvents(), `0 0 sched_switch swapper/0 > lo
		50 0 irq_handler_entry 14 pata hard
		60 0 irq_handler_exit 14 pata hard
		60 0 sched_waking irq/14-pata hard
		60 0 sched_switch lo > irq/14-pata
		160 0 irq_handler_entry 14 pata hard
		170 0 irq_handler_exit 14 pata hard
		270 0 irq_handler_entry 14 pata hard
		280 0 irq_handler_exit 14 pata hard
		380 0 sched_switch irq/14-pata > lo
		630 0 sched_switch lo > swapper/0`)
	if served, merged := l.Served(); served != 3 || merged != 0 {
		t.Errorf("%d served, %d merged", served, merged)
	}
}

// TestAClosedLoopSaturatesTheCPU: a level-triggered device fires Gap after its handler is
// done, until all bytes are there. Its throughput is that of the loop alone while nothing is
// in front of its thread.
func TestAClosedLoopSaturatesTheCPU(t *testing.T) {
	for _, c := range []struct {
		name      string
		threading machine.Threading
		model     sched.PreemptModel
	}{{"in a thread", machine.ThreadAsKernel, sched.PreemptRT}, {"in interrupt context", machine.ThreadAsKernel, sched.PreemptVoluntary},
		{"in a thread of its own will", machine.ThreadAlways, sched.PreemptFull}, {"never in a thread", machine.ThreadNever, sched.PreemptRT}} {
		st := newStage(t, kernelWith(1, c.model))
		l := st.irq(machine.IRQ{Number: 14, Name: "pata", Hard: exactly(3 * us), Work: exactly(45 * us), Threading: c.threading})
		d, err := st.m.AddDevice(machine.DeviceConfig{Name: "cf", Line: l, BytesPerIRQ: 512, Gap: exactly(2 * us)})
		if err != nil {
			t.Fatal(err)
		}
		st.add("lo", fifo(10), nil, work(100*us))
		st.add("hi", fifo(60), nil, nap(60*us), work(5*us))
		done := event.NoTime
		st.m.At(100*us, func() {
			if err := d.Submit(1000*512+1, func(event.CPU) { done = st.m.Now() }); err != nil {
				t.Fatal(err)
			}
		})
		st.play(100 * ms)
		r := d.Requests()[0]
		// 1,001 rounds of 50 µs, the last one for a single byte.
		if want := 1001 * 50 * us; r.End-r.Begun != want || done != r.End {
			t.Errorf("%s: the request took %d ns, told at %d, want %d ns", c.name, r.End-r.Begun, done, want)
		}
		if d.Bytes() != 1000*512+1 {
			t.Errorf("%s: %d bytes", c.name, d.Bytes())
		}
		// lo still needs 5 µs at 100 µs: it gets the gaps of 2 µs, the first as the request comes.
		if ran := st.threads["lo"].Task.SumExecRuntime(); ran < 100*us {
			t.Errorf("%s: lo ran %d ns", c.name, ran)
		}
	}
}
