package machine_test

import (
	"fmt"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// napFor sleeps until a time, or later by the slack.
func napFor(until, slack event.Time) machine.Step {
	return machine.Step{Kind: machine.StepSleep, NS: until, Slack: slack}
}

// TestTimerSlack: a timer expires with the first timer interrupt of its CPU in its window,
// alone at its end; not with other interrupts, and not past one in front of it that may not
// expire yet.
func TestTimerSlack(t *testing.T) {
	wakings := func(preempt sched.PreemptModel, rt bool, steps ...func(*stage)) []string {
		cfg := kernelWith(2, preempt)
		cfg.Interrupts.KTimers, cfg.Interrupts.SleepersInSoftirq = rt, rt
		st := newStage(t, cfg)
		for _, s := range steps {
			s(st)
		}
		st.play(ms)
		var list []string
		for i := range st.events {
			if ev := &st.events[i]; ev.Kind == event.SchedWaking && ev.TaskPrio >= 100 {
				list = append(list, fmt.Sprintf("%d %s", ev.Time/1000, st.names.String(ev.TaskComm)))
			}
		}
		return list
	}
	sleeper := func(name string, cpu event.CPU, until, slack event.Time) func(*stage) {
		return func(st *stage) { st.add(name, sched.Attr{}, []event.CPU{cpu}, napFor(until, slack), work(us)) }
	}
	alone := sleeper("a", 0, 100*us, 50*us)
	compare(t, "alone", wakings(sched.PreemptFull, false, alone), `150 a`)
	compare(t, "with another", wakings(sched.PreemptFull, false, alone, sleeper("b", 0, 120*us, 0)), `120 b
		120 a`)
	compare(t, "another CPU", wakings(sched.PreemptFull, false, alone, sleeper("b", 1, 120*us, 0)), `120 b
		150 a`)
	compare(t, "too early", wakings(sched.PreemptFull, false, alone, sleeper("b", 0, 99*us, 0)), `99 b
		150 a`)
	compare(t, "one in front", wakings(sched.PreemptFull, false, alone, sleeper("b", 0, 140*us, 0), sleeper("c", 0, 110*us, 10*us)), `120 c
		140 b
		140 a`)
	compare(t, "an interrupt that is no timer's", wakings(sched.PreemptFull, false, alone, func(st *stage) {
		st.irq(machine.IRQ{Name: "dev", Every: s, Offset: 120 * us})
	}), `150 a`)
	// In the softirq on PREEMPT_RT the list is one of its own: a real-time task's timer does
	// not serve it.
	compare(t, "PREEMPT_RT", wakings(sched.PreemptRT, true, alone, sleeper("b", 0, 130*us, 5*us), func(st *stage) {
		st.add("rt", fifo(5), []event.CPU{0}, napFor(110*us, 0), work(us))
	}), `135 b
		135 a`)
}

// TestLowResolutionWithSoftirqs: without high-resolution timers all of them wait for the
// tick; those of fair tasks on PREEMPT_RT then wait for ktimers, behind real-time tasks.
func TestLowResolutionWithSoftirqs(t *testing.T) {
	cfg := kernelWith(1, sched.PreemptRT)
	cfg.NoTick, cfg.LowRes, cfg.Sched.Tick = false, true, ms
	cfg.Interrupts = machine.Interrupts{KTimers: true, SleepersInSoftirq: true}
	st := newStage(t, cfg)
	st.add("fair", sched.Attr{}, nil, napFor(1100*us, 50*us), work(100*us))
	st.add("rt", fifo(9), nil, napFor(1200*us, 0), work(500*us))
	st.play(4 * ms)
	compare(t, "events", st.irqEvents(), `0 0 sched_switch swapper/0 > rt
		0 0 sched_switch rt > fair
		0 0 sched_switch fair > swapper/0
		2000 0 softirq_raise 8 hard
		2000 0 sched_waking rt hard
		2000 0 sched_waking ktimers/0
		2000 0 sched_switch swapper/0 > rt
		2500 0 sched_switch rt > ktimers/0
		2500 0 softirq_entry 8
		2500 0 sched_waking fair
		2500 0 softirq_exit 8
		2500 0 sched_switch ktimers/0 > fair
		2600 0 sched_switch fair > swapper/0`)
}

// TestIdleStates: the deepest state that pays until the next timer, its latency in front of
// what wakes the CPU, and no interrupt for one that polls.
func TestIdleStates(t *testing.T) {
	cfg := kernelWith(2, sched.PreemptFull)
	cfg.Costs = machine.Costs{IPI: 10 * us}
	cfg.IdleStates = []machine.IdleState{{Name: "POLL", Poll: true}, {Name: "C1", Latency: 2 * us, Residency: 20 * us}, {Name: "C6", Latency: 50 * us, Residency: 200 * us}}
	st := newStage(t, cfg)
	st.add("a", fifo(5), []event.CPU{0}, nap(10*us), work(100*us), nap(100*us), work(100*us), nap(300*us), work(100*us), wake("b"), work(10*us))
	st.add("b", fifo(5), []event.CPU{1}, work(5*us), block, work(10*us))
	st.play(2 * ms)
	var list []string
	for i := range st.events {
		switch ev := &st.events[i]; ev.Kind {
		case event.CPUIdle:
			list = append(list, fmt.Sprintf("%d cpu %d state %d", ev.Time/1000, ev.Target, ev.Arg))
		case event.SchedSwitch:
			list = append(list, fmt.Sprintf("%d cpu %d %s", ev.Time/1000, ev.CPU, st.names.String(ev.NextComm)))
		}
	}
	// b's CPU knows of no timer: the deepest state, 10 µs to send the interrupt, 50 to leave.
	compare(t, "events", list, `0 cpu 0 a
		0 cpu 0 swapper/0
		0 cpu 0 state 0
		0 cpu 1 b
		5 cpu 1 swapper/1
		5 cpu 1 state 2
		10 cpu 0 state 4294967295
		10 cpu 0 a
		110 cpu 0 swapper/0
		110 cpu 0 state 1
		212 cpu 0 state 4294967295
		212 cpu 0 a
		312 cpu 0 swapper/0
		312 cpu 0 state 2
		662 cpu 0 state 4294967295
		662 cpu 0 a
		772 cpu 0 swapper/0
		772 cpu 0 state 2
		822 cpu 1 state 4294967295
		822 cpu 1 b
		832 cpu 1 swapper/1
		832 cpu 1 state 2`)
}

// TestStolenTime: the CPU does nothing, its timers and interrupts come late, and a section
// with interrupts off goes on before they are served.
func TestStolenTime(t *testing.T) {
	for _, mode := range []machine.Mode{machine.User, machine.IRQsOff} {
		cfg := kernelWith(1, sched.PreemptFull)
		cfg.Steals = []machine.Steal{{Every: exactly(100 * us), Length: exactly(300 * us)}, {CPUs: []event.CPU{0}, Every: exactly(s), Length: exactly(us)}}
		st := newStage(t, cfg)
		st.add("hi", fifo(5), nil, nap(150*us), work(10*us))
		st.add("lo", fifo(4), nil, in(mode, 150*us), work(10*us))
		st.play(600 * us)
		want := `0 0 hi
			0 0 lo
			400 0 hi
			410 0 lo`
		if mode == machine.IRQsOff {
			want = `0 0 hi
				0 0 lo
				450 0 hi
				460 0 lo`
		}
		var list []string
		for i := range st.events {
			if ev := &st.events[i]; ev.Kind == event.SchedSwitch && ev.Time < 465*us && ev.Next != 0 {
				list = append(list, fmt.Sprintf("%d %d %s", ev.Time/1000, ev.CPU, st.names.String(ev.NextComm)))
			}
		}
		compare(t, "turns", list, want)
	}
}

// TestTicksLeaveEvents as a recorded kernel's do: the timer of the tick expires and is
// started again at its end; it is cancelled when the CPU goes idle and started before it
// leaves that.
func TestTicksLeaveEvents(t *testing.T) {
	cfg := kernelWith(1, sched.PreemptFull)
	cfg.NoTick, cfg.TickEvents, cfg.Sched.Tick = false, true, ms
	st := newStage(t, cfg)
	st.add("a", fifo(5), nil, work(1500*us), nap(2*ms), work(10*us))
	st.play(5 * ms)
	var list []string
	for i := range st.events {
		ev := &st.events[i]
		switch name := st.names.String(ev.Func); {
		case ev.Kind == event.SchedSwitch:
			list = append(list, fmt.Sprintf("%d %s", ev.Time/1000, st.names.String(ev.NextComm)))
		case ev.Kind == event.HrtimerStart && name == "tick_sched_timer":
			list = append(list, fmt.Sprintf("%d %s for %d", ev.Time/1000, ev.Kind, ev.Arg3/1000))
		case ev.Kind == event.HrtimerExpireEntry && name == "tick_sched_timer", ev.Kind == event.HrtimerCancel:
			list = append(list, fmt.Sprintf("%d %s", ev.Time/1000, ev.Kind))
		}
	}
	compare(t, "events", list, `0 hrtimer_start for 1000
		0 a
		1000 hrtimer_expire_entry
		1000 hrtimer_start for 2000
		1500 swapper/0
		1500 hrtimer_cancel
		3500 hrtimer_start for 4000
		3500 a
		3510 swapper/0
		3510 hrtimer_cancel`)
	cfg.Without = event.Kinds(event.HrtimerStart)
	quiet := newStage(t, cfg)
	quiet.add("a", fifo(5), nil, work(1500*us), nap(2*ms), work(10*us))
	quiet.play(5 * ms)
	if seen := quiet.seen(event.HrtimerStart); len(seen) > 0 {
		t.Errorf("events that nobody wants: %v", seen)
	}
	if len(quiet.turns()) != len(st.turns()) {
		t.Error("without some events the run is another one")
	}
}
