package machine_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// parts is a handler that works for some lengths; acts[i] is done before the length i, and
// the last behind all of them.
type parts struct {
	lengths []event.Time
	acts    map[int]func(c event.CPU)
	left    func(c event.CPU)
	n       int
}

func (p *parts) Next(_ *machine.Machine, c event.CPU) (event.Time, bool) {
	if act := p.acts[p.n]; act != nil {
		act(c)
	}
	if p.n == len(p.lengths) {
		return 0, false
	}
	p.n++
	return p.lengths[p.n-1], true
}

func (p *parts) Left(_ *machine.Machine, c event.CPU) {
	if p.left != nil {
		p.left(c)
	}
}

// TestAScriptedInterrupt takes its time from the current task, as one of a device does: a
// timer that expires meanwhile, and another interrupt, wait for its end. Who is woken in it
// comes when it is over, the thread of its handler behind its exit.
func TestAScriptedInterrupt(t *testing.T) {
	st := newStage(t, kernelWith(1, sched.PreemptVoluntary))
	wakeOf := func(name string) func(event.CPU) {
		return func(c event.CPU) { st.m.Wake(c, st.threads[name]) }
	}
	st.m.Raise(100*us, &machine.Scripted{Number: 9, Name: st.names.Intern("slow"),
		Handler: &parts{lengths: []event.Time{40 * us, 60 * us}, acts: map[int]func(event.CPU){1: wakeOf("mid")}, left: wakeOf("end")}})
	st.m.Raise(150*us, &machine.Scripted{Number: 8, Name: st.names.Intern("fast"), Handler: &parts{lengths: []event.Time{10 * us}}})
	st.add("end", fifo(4), nil, block, work(5*us))
	st.add("mid", fifo(3), nil, block, work(5*us))
	st.add("timer", fifo(2), nil, nap(120*us), work(50*us))
	st.add("lo", fifo(1), nil, work(500*us))
	st.play(ms)
	compare(t, "events", st.irqEvents()[4:], `100 0 irq_handler_entry 9 slow hard
		140 0 sched_waking mid hard
		200 0 irq_handler_exit 9 slow hard
		200 0 sched_waking end hard
		200 0 sched_waking timer hard
		200 0 irq_handler_entry 8 fast hard
		210 0 irq_handler_exit 8 fast hard
		210 0 sched_switch lo > end
		215 0 sched_switch end > mid
		220 0 sched_switch mid > timer
		270 0 sched_switch timer > lo
		670 0 sched_switch lo > swapper/0`)
}

// TestScriptedSoftirqs are done at the end of the interrupt that raised them, in front of who
// was woken there, and interrupts stop them.
func TestScriptedSoftirqs(t *testing.T) {
	st := newStage(t, kernelWith(2, sched.PreemptVoluntary))
	net := &machine.Scripted{Number: event.SoftirqNetRx, Softirq: true, Handler: &parts{lengths: []event.Time{50 * us, 50 * us},
		acts: map[int]func(event.CPU){1: func(c event.CPU) { st.m.Wake(c, st.threads["rx"]) }}}}
	st.m.Raise(100*us, &machine.Scripted{Number: 9, Name: st.names.Intern("nic"), Handler: &parts{lengths: []event.Time{10 * us},
		acts: map[int]func(event.CPU){1: func(event.CPU) { st.m.Raise(st.m.Now(), net) }}}})
	st.m.Raise(130*us, &machine.Scripted{Number: 8, Name: st.names.Intern("disk"), Handler: &parts{lengths: []event.Time{20 * us}}})
	st.m.Raise(400*us, &machine.Scripted{CPU: 1, Number: event.SoftirqTimer, Softirq: true, Handler: &parts{lengths: []event.Time{30 * us},
		acts: map[int]func(event.CPU){1: func(c event.CPU) { st.m.Wake(c, st.threads["rx"]) }}}})
	st.add("rx", fifo(2), nil, block, work(5*us), block, work(5*us))
	st.add("lo", fifo(1), []event.CPU{0}, work(200*us))
	st.play(ms)
	compare(t, "events", st.irqEvents()[2:], `100 0 irq_handler_entry 9 nic hard
		110 0 softirq_raise 3 hard
		110 0 irq_handler_exit 9 nic hard
		110 0 softirq_entry 3
		130 0 irq_handler_entry 8 disk hard
		150 0 irq_handler_exit 8 disk hard
		180 0 sched_waking rx
		180 1 sched_switch swapper/1 > rx
		185 1 sched_switch rx > swapper/1
		230 0 softirq_exit 3
		330 0 sched_switch lo > swapper/0
		400 1 softirq_raise 1 hard
		400 1 softirq_entry 1
		430 1 sched_waking rx
		430 1 softirq_exit 1
		430 1 sched_switch swapper/1 > rx
		435 1 sched_switch rx > swapper/1`)
}

// TestScriptedSteals: the CPU does nothing, what comes meanwhile waits, and a second one that
// overlaps takes only what is left of it.
func TestScriptedSteals(t *testing.T) {
	st := newStage(t, kernelWith(1, sched.PreemptFull))
	st.m.StealAt(0, 100*us, 200*us)
	st.m.StealAt(0, 150*us, 250*us)
	st.add("hi", fifo(2), nil, nap(120*us), work(50*us))
	st.add("lo", fifo(1), nil, work(200*us))
	st.play(ms)
	st.want(`0 0 lo
		250 0 hi
		300 0 lo
		400 0 idle`)
}

// TestOtherStopWork of migration/N goes before everything, and its own work goes on beside it.
func TestOtherStopWork(t *testing.T) {
	st := newStage(t, kernelWith(2, sched.PreemptFull))
	var wanted []event.Time
	stopper := st.m.AddStopper(0, 17, machine.ProgramFunc(func(*machine.Machine, *machine.Thread) machine.Step {
		if len(wanted) == 0 {
			return block
		}
		next := in(machine.User, wanted[0])
		wanted = wanted[1:]
		return next
	}))
	want := func(ns event.Time) func() {
		return func() {
			wanted = append(wanted, ns)
			st.m.Wake(1, stopper)
		}
	}
	st.m.At(50*us, want(30*us))
	th := st.add("lo", fifo(99), nil, work(200*us))
	st.m.At(100*us, func() {
		if _, _, err := st.m.Sched.SetAffinity(1, th.Task, []event.CPU{1}); err != nil {
			t.Error(err)
		}
	})
	st.m.At(150*us, want(10*us))
	st.play(ms)
	st.want(`0 0 lo
		50 0 migration/0
		80 0 lo
		100 0 idle
		100 1 lo
		150 0 migration/0
		160 0 idle
		230 1 idle`)
	if stopper.Task.PID != 17 {
		t.Errorf("migration/0 has pid %d", stopper.Task.PID)
	}
}

// TestHandOver: whoever is woken and goes first gets the CPU that much later, and nobody's
// work goes on meanwhile; on an idle CPU too. Who does not go first costs nothing, nor does a
// task that leaves by itself, and one that is woken meanwhile is taken along.
func TestHandOver(t *testing.T) {
	cfg := kernelWith(1, sched.PreemptFull)
	cfg.HandOver, cfg.IdleHandOver = 8*us, 5*us
	st := newStage(t, cfg)
	st.add("hi", fifo(3), nil, nap(100*us), work(50*us), nap(500*us), work(50*us))
	st.add("higher", fifo(4), nil, nap(105*us), work(10*us))
	st.add("same", fifo(2), nil, nap(30*us), work(5*us))
	st.add("lo", fifo(2), nil, work(300*us))
	st.play(ms)
	// hi began to sleep at 5, as the first task that was new here, so it is due at 105; lo has
	// worked for 100 µs then, and goes on with the other 200 at 173.
	st.want(`5 0 lo
		113 0 higher
		123 0 hi
		173 0 lo
		373 0 same
		378 0 idle
		678 0 hi
		728 0 idle`)
}

// TestTheRTPeriodBeginsWhenTold: the timer runs from the beginning, what had been used before
// counts, and from its first expiry on the window is that of a machine that began there.
func TestTheRTPeriodBeginsWhenTold(t *testing.T) {
	cfg := kernelWith(1, sched.PreemptFull)
	cfg.NoTick = false
	cfg.Sched.Tick = ms
	cfg.Sched.RTRuntime, cfg.Sched.RTPeriod = 60*ms, 100*ms
	st := newStage(t, cfg)
	st.m.Sched.StartRTPeriod(0, 40*ms)
	st.m.Sched.SetRTUsed(0, 40*ms)
	st.add("hog", fifo(1), nil, work(s))
	st.play(250 * ms)
	// 20 ms are left, and the tick that finds more used is the one after: a debt of 1 ms, so
	// that in the next period the 60 ms and that tick are over after 60.
	st.want(`0 0 hog
		21000 0 idle
		40000 0 hog
		100000 0 idle
		140000 0 hog
		200000 0 idle
		240000 0 hog`)
}

// TestATurnUsesMoreThanItsTime of the budget of real-time tasks: 100 turns of 100 µs and 10 µs each
// use 11 ms of it, which a tick finds out.
func TestATurnUsesMoreThanItsTime(t *testing.T) {
	throttled := func(extra event.Time) event.Time {
		cfg := kernelWith(1, sched.PreemptFull)
		cfg.NoTick = false
		cfg.Sched.Tick = ms
		cfg.Sched.RTRuntime, cfg.Sched.RTPeriod, cfg.Sched.RTSwitchCharge = 11*ms, 100*ms, extra
		st := newStage(t, cfg)
		var steps script
		for range 200 {
			steps = append(steps, work(100*us), nap(100*us))
		}
		st.add("often", fifo(1), nil, steps...)
		st.play(150 * ms)
		last := event.Time(0)
		for i := range st.events {
			ev := &st.events[i]
			if ev.Kind != event.SchedSwitch || ev.Next == 0 {
				continue
			}
			if ev.Time-last > 10*ms {
				return last // the next turn is that of the next period
			}
			last = ev.Time
		}
		return event.NoTime
	}
	// Half of the time it works: 11 ms are used after 22 ms, with 10 µs for each turn after 20.
	if got := throttled(0); got < 22*ms || got > 24*ms {
		t.Errorf("throttled at %d ns", got)
	}
	if got := throttled(10 * us); got < 20*ms || got > 21*ms+200*us {
		t.Errorf("with a little more for each turn throttled at %d ns", got)
	}
}
