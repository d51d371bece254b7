package machine_test

import (
	"errors"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// TestAffinityOfARunningTask: the stopper of its CPU takes it away.
func TestAffinityOfARunningTask(t *testing.T) {
	st := newStage(t, quiet(2))
	st.add("boss", fifo(50), []event.CPU{1}, nap(1*ms), setAffinity("a", 1), work(1*ms))
	st.play(0)
	st.add("a", fifo(10), []event.CPU{0}, work(4*ms))
	st.play(10 * ms).want(`0 0 a
		1000 1 boss
		1000 0 idle
		2000 1 a
		5000 1 idle`)
	var at1000 []string
	for _, l := range st.seen(event.SchedWaking, event.SchedWakeup, event.SchedSwitch, event.SchedMigrateTask) {
		if len(l) > 4 && l[:5] == "1000 " {
			at1000 = append(at1000, l[5:])
		}
	}
	compare(t, "how it was moved", at1000, `1 sched_waking boss >1
		1 sched_wakeup boss >1
		1 sched_switch swapper/1 R > boss
		1 sched_waking migration/0 >0
		1 sched_wakeup migration/0 >0
		0 sched_switch a R > migration/0
		0 sched_migrate_task a 0>1
		0 sched_switch migration/0 S > swapper/0`)
}

// TestAffinityOfOneself: the stopper preempts the caller and moves it.
func TestAffinityOfOneself(t *testing.T) {
	st := newStage(t, quiet(2))
	st.add("a", fifo(10), nil, work(1*ms), setAffinity("a", 1), work(1*ms))
	st.play(10 * ms).want(`0 0 a
		1000 0 idle
		1000 1 a
		2000 1 idle`)
}

// TestAffinityOfOthers: a waiting task moves at once, a sleeping one when it wakes.
func TestAffinityOfOthers(t *testing.T) {
	st := newStage(t, quiet(2))
	st.add("sleeps", fifo(10), []event.CPU{0}, nap(3*ms), work(1*ms))
	st.play(0)
	st.add("boss", fifo(50), []event.CPU{0}, work(1*ms), setAffinity("waits", 1), setAffinity("sleeps", 1), work(1*ms))
	st.add("waits", fifo(10), []event.CPU{0}, work(1*ms))
	st.play(10 * ms).want(`0 0 boss
		1000 1 waits
		2000 0 idle
		2000 1 idle
		3000 1 sleeps
		4000 1 idle`)
}

// TestPreemptionModels: a real-time task is woken while a task is in the kernel for 5 ms,
// and then in user mode.
func TestPreemptionModels(t *testing.T) {
	const at = 1 * ms
	kernel := []any{in(machine.Kernel, 3*ms), in(machine.Kernel, 2*ms), work(1 * ms)}
	points := []any{machine.Step{Kind: machine.StepRun, Mode: machine.Kernel, NS: 5 * ms, CondResched: 1500 * us}, work(1 * ms)}
	off := []any{in(machine.PreemptOff, 5*ms), in(machine.Kernel, 1*ms), work(1 * ms)}
	for _, c := range []struct {
		name  string
		model sched.PreemptModel
		steps []any
		want  event.Time
		state event.State
	}{
		{"none waits for user mode", sched.PreemptNone, kernel, 5 * ms, event.StateRunnable},
		{"voluntary for might_sleep", sched.PreemptVoluntary, kernel, 3 * ms, event.StatePreempted},
		{"full does not", sched.PreemptFull, kernel, 1 * ms, event.StatePreempted},
		{"lazy neither", sched.PreemptLazy, kernel, 1 * ms, event.StatePreempted},
		{"rt neither", sched.PreemptRT, kernel, 1 * ms, event.StatePreempted},
		{"none at cond_resched", sched.PreemptNone, points, 1500 * us, event.StatePreempted},
		{"voluntary at cond_resched", sched.PreemptVoluntary, points, 1500 * us, event.StatePreempted},
		{"full anywhere", sched.PreemptFull, points, 1 * ms, event.StatePreempted},
		{"full with preemption off", sched.PreemptFull, off, 5 * ms, event.StatePreempted},
		{"rt with preemption off", sched.PreemptRT, off, 5 * ms, event.StatePreempted},
		{"none with preemption off", sched.PreemptNone, off, 6 * ms, event.StateRunnable},
		{"none in user mode", sched.PreemptNone, []any{work(5 * ms)}, 1 * ms, event.StateRunnable},
		{"full in user mode", sched.PreemptFull, []any{work(5 * ms)}, 1 * ms, event.StateRunnable},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := quiet(1)
			cfg.Sched.Preempt = c.model
			st := newStage(t, cfg)
			st.add("hi", fifo(10), nil, nap(at), work(1*ms))
			st.play(0)
			st.add("low", sched.Attr{}, nil, c.steps...)
			st.play(20 * ms)
			for _, ev := range st.events {
				if ev.Kind == event.SchedSwitch && st.names.String(ev.NextComm) == "hi" && ev.Time > 0 {
					if ev.Time != c.want || ev.State != c.state {
						t.Errorf("preempted at %d with %s, want %d with %s", ev.Time, ev.State, c.want, c.state)
					}
					return
				}
			}
			t.Error("hi never ran")
		})
	}
}

// TestLazyPreemption: a fair task that should make way for another does so on its way to
// user mode, and in the kernel only after the next tick.
func TestLazyPreemption(t *testing.T) {
	for _, c := range []struct {
		name  string
		model sched.PreemptModel
		mode  machine.Mode
		want  event.Time
	}{
		{"full in the kernel", sched.PreemptFull, machine.Kernel, 6 * ms},
		{"lazy in the kernel", sched.PreemptLazy, machine.Kernel, 8 * ms},
		{"lazy in user mode", sched.PreemptLazy, machine.User, 6 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := machine.Config{Sched: sched.DefaultConfig(1)}
			cfg.Sched.Preempt = c.model
			st := newStage(t, cfg)
			st.add("other", sched.Attr{}, nil, nap(6*ms), work(1*ms))
			st.play(0)
			st.add("hog", sched.Attr{}, nil, in(c.mode, 20*ms))
			st.play(20 * ms)
			if got := st.turns(); len(got) < 2 || got[1] != itoa(c.want/us)+" 0 other" {
				t.Errorf("%v, want other at %d", got, c.want)
			}
		})
	}
}

func itoa(n event.Time) string {
	if n >= 10 {
		return itoa(n/10) + itoa(n%10)
	}
	return string(rune('0' + n))
}

// TestInterruptsOff: timers of this CPU and wakes from others wait for the end of the
// section; those of other CPUs do not.
func TestInterruptsOff(t *testing.T) {
	st := newStage(t, quiet(2))
	st.add("here", fifo(20), []event.CPU{0}, nap(1*ms), work(1*ms))
	st.add("there", fifo(20), []event.CPU{1}, nap(2*ms), wake("both"), work(1*ms))
	st.add("both", fifo(30), []event.CPU{0}, block, work(1*ms))
	st.play(0)
	st.add("dark", fifo(10), []event.CPU{0}, in(machine.IRQsOff, 5*ms), work(1*ms))
	st.m.Interrupt(3*ms, 0, func() { st.m.Wake(0, st.threads["late"]) })
	st.add("late", fifo(25), []event.CPU{0}, block, work(1*ms))
	st.play(20 * ms).want(`0 0 dark
		2000 1 there
		3000 1 idle
		5000 0 both
		6000 0 late
		7000 0 here
		8000 0 dark
		9000 0 idle`)
	compare(t, "wakes", st.seen(event.SchedWakeup), `2000 1 sched_wakeup there >1
		2000 1 sched_wakeup both >0
		5000 0 sched_wakeup here >0
		5000 0 sched_wakeup late >0`)
}

// TestAnExpiryThatWaitsCanBeTooLate: the interrupt of a timer waits, meanwhile the thread is
// woken, runs elsewhere and sleeps anew. The old expiry is none any more.
func TestAnExpiryThatWaitsCanBeTooLate(t *testing.T) {
	st := newStage(t, quiet(2))
	st.add("s", fifo(20), nil, nap(1*ms), work(1*ms), nap(9*ms), work(1*ms))
	st.add("boss", fifo(50), []event.CPU{1}, nap(2*ms), wake("s"))
	st.play(0)
	st.add("dark", fifo(30), []event.CPU{0}, in(machine.IRQsOff, 5*ms))
	st.play(20 * ms).want(`0 0 dark
		2000 1 s
		3000 1 idle
		5000 0 idle
		12000 1 s
		13000 1 idle`)
}

// TestHZPeriodicTicksWhenIdleToo.
func TestHZPeriodicTicksWhenIdleToo(t *testing.T) {
	m := machine.New(machine.Config{Sched: sched.DefaultConfig(3), NoHZ: machine.HZPeriodic}, event.NewNames(), nil)
	run(t, m, 1*s)
	if m.QueueLen() != 3 {
		t.Errorf("%d ticks are to come on 3 idle CPUs", m.QueueLen())
	}
}

// TestHRTickEndsAFairTurn at its end, not at the next tick. The second task is new while the
// first waits, so its slice is 3 ms and it begins that much nearer than the first, whose slice
// was 6 ms: it goes first. A slice is 2 ns short of 3 ms, by the inverse of the weights, so
// that the first hrtick finds nobody behind; the next one comes after the least delay, 10 µs.
func TestHRTickEndsAFairTurn(t *testing.T) {
	for _, on := range []bool{false, true} {
		cfg := machine.Config{Sched: sched.DefaultConfig(1)}
		cfg.Sched.HRTick = on
		st := newStage(t, cfg)
		st.add("a", sched.Attr{}, nil, work(20*ms))
		st.add("b", sched.Attr{}, nil, work(20*ms))
		want := "4000 0 a"
		if on {
			want = "3009 0 a"
		}
		if got := st.play(10 * ms).turns(); got[1] != want {
			t.Errorf("HRTICK %v: %v, want %s", on, got, want)
		}
	}
}

// ticks counts the ticks of a CPU by the run time that they charge.
func (st *stage) ticks(c event.CPU) int {
	n := 0
	for i := range st.events {
		if ev := &st.events[i]; ev.Kind == event.SchedStatRuntime && ev.CPU == c && ev.Flags.Has(event.HardIRQ) {
			n++
		}
	}
	return n
}

// TestTicks: an idle CPU has none, and with NO_HZ_FULL neither has one whose task would not
// be changed by it.
func TestTicks(t *testing.T) {
	rr := sched.Attr{Policy: sched.RR, Priority: 10}
	for _, c := range []struct {
		name string
		nohz machine.NoHZ
		a, b sched.Attr
		want int
	}{
		{"NO_HZ_IDLE", machine.NoHZIdle, fifo(10), fifo(5), 10},
		{"NO_HZ_FULL with FIFO tasks", machine.NoHZFull, fifo(10), fifo(5), 0},
		{"NO_HZ_FULL with RR tasks", machine.NoHZFull, rr, rr, 10},
		{"NO_HZ_FULL with fair tasks", machine.NoHZFull, sched.Attr{}, sched.Attr{}, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := machine.Config{Sched: sched.DefaultConfig(2), NoHZ: c.nohz}
			cfg.Sched.Tick, cfg.Sched.RRTimeslice, cfg.Sched.StatRuntimeRT = 1*ms, 100, true
			st := newStage(t, cfg)
			st.add("a", c.a, []event.CPU{0}, work(100*ms))
			st.add("b", c.b, []event.CPU{0}, work(100*ms))
			st.play(10 * ms)
			if n := st.ticks(0); n != c.want {
				t.Errorf("%d ticks, want %d", n, c.want)
			}
			if n := st.ticks(1); n != 0 {
				t.Errorf("the idle CPU ticks: %d", n)
			}
		})
	}
}

// TestNoHZFullTicksAgain once a second task comes.
func TestNoHZFullTicksAgain(t *testing.T) {
	cfg := machine.Config{Sched: sched.DefaultConfig(1), NoHZ: machine.NoHZFull}
	cfg.Sched.Tick, cfg.Sched.StatRuntimeRT = 1*ms, true
	st := newStage(t, cfg)
	st.add("later", sched.Attr{}, nil, nap(5500*us), work(20*ms))
	st.play(0)
	st.add("a", sched.Attr{Policy: sched.Batch}, nil, work(100*ms))
	st.play(5400 * us)
	if n := st.ticks(0); n != 0 {
		t.Errorf("%d ticks for one task", n)
	}
	st.play(10 * ms)
	if n := st.ticks(0); n < 4 {
		t.Errorf("%d ticks for two tasks", n)
	}
}

// TestLowResolution: timers expire at ticks.
func TestLowResolution(t *testing.T) {
	cfg := machine.Config{Sched: sched.DefaultConfig(1), LowRes: true}
	st := newStage(t, cfg)
	st.add("a", fifo(10), nil, nap(100*us), work(500*us), nap(3500*us), work(100*us), nap(4*ms))
	st.play(20 * ms).want(`4000 0 a
		4500 0 idle
		8000 0 a
		8100 0 idle`)
}

// TestWakeListIsFinishedByTheTarget: with TTWU_QUEUE a wake of an idle CPU, or of one with
// another cache, is finished there; its sched_wakeup is stamped on the target.
func TestWakeListIsFinishedByTheTarget(t *testing.T) {
	for _, c := range []struct {
		name string
		llc  int
		busy bool
		want string
	}{
		{"idle", 0, false, `900 0 sched_waking w >1
			902 1 sched_wakeup w >1`},
		{"busy, same cache", 0, true, `900 0 sched_waking w >1
			900 0 sched_wakeup w >1`},
		{"busy, another cache", 1, true, `900 0 sched_waking w >1
			902 1 sched_wakeup w >1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := quiet(2)
			cfg.Sched.TTWUQueue, cfg.Sched.Topology = true, sched.CacheTopology(2, c.llc)
			cfg.Costs.IPI = 2 * us
			st := newStage(t, cfg)
			st.add("w", fifo(20), []event.CPU{1}, block, work(1*ms))
			st.play(100 * us)
			if c.busy {
				st.add("busy", fifo(10), []event.CPU{1}, work(5*ms))
			}
			st.add("boss", fifo(10), []event.CPU{0}, work(900*us), wake("w"), work(1*ms))
			st.play(10 * ms)
			compare(t, "the wake", st.seen(event.SchedWaking, event.SchedWakeup), c.want)
			if at := st.threads["w"].Task.SumExecRuntime(); at != 1*ms {
				t.Errorf("w ran %d", at)
			}
		})
	}
}

// TestCostsAddUp: each piece of the machine's own work delays what follows it, and nothing
// else.
func TestCostsAddUp(t *testing.T) {
	const timer, idleExit, irq, wakeCost, pick, switchCost, enqueue = 100_000, 7000, 500, 300, 40, 900, 20
	cfg := quiet(1)
	cfg.Costs = machine.Costs{Switch: switchCost, Wake: wakeCost, IRQ: irq, IdleExit: idleExit, Pick: pick, Enqueue: enqueue}
	st := newStage(t, cfg)
	var began event.Time
	st.add("a", fifo(10), nil, nap(timer), do(func(st *stage, _ *machine.Thread) { began = st.m.Now() }), work(10*us))
	st.play(1 * ms)
	var woken, switched, armed event.Time
	for _, ev := range st.events {
		switch {
		case ev.Kind == event.HrtimerStart:
			armed = event.Time(ev.Arg3)
		case ev.Kind == event.SchedWaking:
			woken = ev.Time
		case ev.Kind == event.SchedSwitch && ev.Next != 0:
			switched = ev.Time
		}
	}
	if want := armed + idleExit + irq + wakeCost; woken != want {
		t.Errorf("woken at %d, want %d", woken, want)
	}
	if want := woken + enqueue; switched != want {
		t.Errorf("switched to at %d, want %d", switched, want)
	}
	if want := switched + pick + switchCost; began != want {
		t.Errorf("its program went on at %d, want %d", began, want)
	}
}

// TestAnInterruptStealsTime from the work of the task that it hits.
func TestAnInterruptStealsTime(t *testing.T) {
	cfg := quiet(1)
	cfg.Costs.IRQ = 50 * us
	st := newStage(t, cfg)
	var end event.Time
	st.add("a", fifo(10), nil, work(1*ms), do(func(st *stage, _ *machine.Thread) { end = st.m.Now() }))
	for i := range event.Time(4) {
		st.m.Interrupt(100*us+i*10*us, 0, func() {}) // three arrive while one is served
	}
	st.play(10 * ms)
	if end != 1200*us {
		t.Errorf("a was done at %d, want 1.2 ms", end)
	}
}

// TestTimersOfOneMomentAreOneInterrupt: the entry is paid once, and the CPU schedules when
// all are served.
func TestTimersOfOneMomentAreOneInterrupt(t *testing.T) {
	cfg := quiet(1)
	cfg.Costs = machine.Costs{IRQ: 10 * us, Wake: 1 * us}
	st := newStage(t, cfg)
	for i, name := range []string{"low", "mid", "high"} {
		st.add(name, fifo(10+i), nil, machine.Step{Kind: machine.StepSleep, NS: 1 * ms}, work(100*us))
	}
	st.play(10 * ms).want(`1013 0 high
		1113 0 mid
		1213 0 low
		1313 0 idle`)
	compare(t, "wakes", st.seen(event.SchedWaking), `1011 0 sched_waking high >0
		1012 0 sched_waking mid >0
		1013 0 sched_waking low >0`)
}

// TestStuckProgramsAreFound, and timers that are always due.
func TestStuckProgramsAreFound(t *testing.T) {
	m := machine.New(quiet(1), event.NewNames(), nil)
	spawn(t, m, fifo(1), machine.ProgramFunc(func(*machine.Machine, *machine.Thread) machine.Step { return machine.Step{} }))
	if err := m.RunUntil(1 * ms); !errors.Is(err, machine.ErrStuck) {
		t.Errorf("a program that takes no time: %v", err)
	}
	m = machine.New(quiet(1), event.NewNames(), nil)
	var again func()
	again = func() { m.Interrupt(m.Now(), 0, again) }
	again()
	if err := m.RunUntil(1 * ms); !errors.Is(err, machine.ErrStuck) {
		t.Errorf("an interrupt that calls itself: %v", err)
	}
}

// TestDeadThreadsLeaveNothing: a machine that makes and loses threads for ever stays small.
func TestDeadThreadsLeaveNothing(t *testing.T) {
	m := machine.New(quiet(2), event.NewNames(), nil)
	made := 0
	spawn(t, m, sched.Attr{}, machine.ProgramFunc(func(m *machine.Machine, th *machine.Thread) machine.Step {
		a := []sched.Attr{{}, fifo(5), {Policy: sched.Deadline, Runtime: 10 * us, Deadline: 1 * ms}}[made%3]
		made++
		child, err := m.Spawn(0, "child", a, nil, &player{steps: script{work(10 * us), nap(10 * us)}})
		if err != nil {
			t.Fatal(err)
		}
		m.Start(th.Task.CPU(), child)
		return machine.Step{Kind: machine.StepSleep, NS: m.Now() + 100*us}
	}))
	run(t, m, 1*s)
	if n := len(m.Threads()); made < 9_000 || n > 20 {
		t.Errorf("%d threads of %d are left", n, made)
	}
}
