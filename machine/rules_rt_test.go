package machine_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

func setAttr(name string, a sched.Attr) do {
	return func(st *stage, th *machine.Thread) {
		if _, err := st.m.Sched.SetAttr(th.Task.CPU(), st.threads[name].Task, a); err != nil {
			st.t.Errorf("sched_setattr of %s: %v", name, err)
		}
	}
}

func setAffinity(name string, cpus ...event.CPU) do {
	return func(st *stage, th *machine.Thread) {
		if _, _, err := st.m.Sched.SetAffinity(th.Task.CPU(), st.threads[name].Task, cpus); err != nil {
			st.t.Errorf("sched_setaffinity of %s: %v", name, err)
		}
	}
}

func boost(name, donor string) do {
	return func(st *stage, th *machine.Thread) {
		var d *sched.Task
		if donor != "" {
			d = st.threads[donor].Task
		}
		st.m.Sched.Boost(th.Task.CPU(), st.threads[name].Task, d)
	}
}

func TestPreemptedTaskStaysInFrontOfItsEquals(t *testing.T) {
	st := newStage(t, quiet(1))
	st.add("a", fifo(10), nil, work(3*ms))
	st.add("b", fifo(10), nil, work(1*ms))
	st.add("high", fifo(20), nil, nap(1*ms), work(1*ms))
	st.play(10 * ms).want(`0 0 a
		1000 0 high
		2000 0 a
		4000 0 b
		5000 0 idle`)
}

func TestYieldGoesBehindEquals(t *testing.T) {
	st := newStage(t, quiet(1))
	st.add("a", fifo(10), nil, work(1*ms), yield, work(1*ms))
	st.add("b", fifo(10), nil, work(1*ms), yield, work(1*ms))
	st.add("low", fifo(5), nil, work(1*ms))
	st.play(10 * ms).want(`0 0 a
		1000 0 b
		2000 0 a
		3000 0 b
		4000 0 low
		5000 0 idle`)
}

func TestYieldOfWhoIsAloneChangesNothing(t *testing.T) {
	st := newStage(t, quiet(1))
	st.add("a", fifo(10), nil, work(1*ms), yield, work(1*ms))
	st.add("low", fifo(5), nil, work(1*ms))
	st.play(10 * ms)
	compare(t, "switches", st.seen(event.SchedSwitch), `0 0 sched_switch swapper/0 R > a
		2000 0 sched_switch a X > low
		3000 0 sched_switch low X > swapper/0`)
}

// TestNewPriority: who is raised goes behind its new equals, who is lowered in front of
// them, and who gets what it has keeps its place.
func TestNewPriority(t *testing.T) {
	st := newStage(t, quiet(1))
	st.add("hog", fifo(50), nil, work(1*ms), setAttr("up", fifo(20)), setAttr("down", fifo(20)), setAttr("same", fifo(20)),
		setAttr("rr", sched.Attr{Policy: sched.RR, Priority: 20}), setAffinity("a", 0), work(1*ms))
	st.add("a", fifo(20), nil, work(1*ms))
	st.add("same", fifo(20), nil, work(1*ms))
	st.add("rr", fifo(20), nil, work(1*ms))
	st.add("up", fifo(10), nil, work(1*ms))
	st.add("down", fifo(30), nil, work(1*ms))
	st.play(10 * ms).want(`0 0 hog
		2000 0 down
		3000 0 a
		4000 0 same
		5000 0 rr
		6000 0 up
		7000 0 idle`)
}

func TestAffinityKeepsThePlace(t *testing.T) {
	st := newStage(t, quiet(2))
	st.add("other", fifo(90), []event.CPU{1}, work(20*ms))
	st.add("hog", fifo(50), []event.CPU{0}, work(1*ms), setAffinity("a", 0), setAffinity("b", 0), work(1*ms))
	for _, name := range []string{"a", "b", "c"} {
		st.add(name, fifo(20), []event.CPU{0, 1}, work(1*ms))
	}
	st.play(10 * ms).want(`0 1 other
		0 0 hog
		2000 0 a
		3000 0 b
		4000 0 c
		5000 0 idle`)
}

// TestBoostAndBack: who loses a boost stays in front of those that have its own priority.
func TestBoostAndBack(t *testing.T) {
	st := newStage(t, quiet(1))
	st.add("low", fifo(10), nil, work(1*ms), boost("low", "waits"), work(2*ms), boost("low", ""), work(1*ms))
	st.add("equal", fifo(10), nil, work(1*ms))
	st.add("waits", fifo(40), nil, nap(1*s))
	st.add("mid", fifo(20), nil, nap(2*ms), work(1*ms))
	st.play(10 * ms).want(`0 0 low
		3000 0 mid
		4000 0 low
		5000 0 equal
		6000 0 idle`)
	compare(t, "sched_pi_setprio", st.seen(event.SchedPISetprio), `1000 0 sched_pi_setprio low
		3000 0 sched_pi_setprio low`)
}

// TestBoostToDeadline: a task that a deadline task waits for runs with its parameters, goes
// before all real-time tasks, and is not throttled.
func TestBoostToDeadline(t *testing.T) {
	cfg := quiet(1)
	cfg.Sched.HRTickDL = true
	st := newStage(t, cfg)
	st.add("low", fifo(10), nil, work(1*ms), boost("low", "dl"), work(3*ms), boost("low", ""), wake("dl"), work(1*ms))
	st.add("dl", sched.Attr{Policy: sched.Deadline, Runtime: 1 * ms, Deadline: 10 * ms}, nil, nap(1*s), work(1*ms))
	st.add("high", fifo(90), nil, nap(2*ms), work(1*ms))
	st.play(20 * ms).want(`0 0 low
		4000 0 dl
		5000 0 high
		6000 0 low
		7000 0 idle`)
}

func TestPushMakesRoom(t *testing.T) {
	for _, c := range []struct {
		name  string
		b     int
		steps string
	}{
		{"for a higher one that cannot move", 60, `0 0 a
			1000 0 b
			1000 1 a
			2000 0 idle
			3000 1 idle`},
		{"for an equal one that cannot move", 50, `0 0 a
			1000 0 b
			1000 1 a
			2000 0 idle
			3000 1 idle`},
		{"not for a lower one", 40, `0 0 a
			3000 0 b
			4000 0 idle`},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := newStage(t, quiet(2))
			st.add("b", fifo(c.b), []event.CPU{0}, nap(1*ms), work(1*ms))
			st.play(0)
			st.add("a", fifo(50), nil, work(3*ms))
			st.play(10 * ms).want(c.steps)
		})
	}
}

func TestAWokenTaskGoesWhereItRuns(t *testing.T) {
	st := newStage(t, quiet(3))
	st.add("a", fifo(50), []event.CPU{0}, work(5*ms))
	st.add("b", fifo(50), []event.CPU{1}, work(5*ms))
	st.add("c", fifo(10), []event.CPU{2}, work(5*ms))
	st.add("w", fifo(30), nil, nap(1*ms), work(1*ms))
	st.play(10 * ms).want(`0 0 a
		0 1 b
		0 2 c
		1000 2 w
		2000 2 c
		5000 0 idle
		5000 1 idle
		6000 2 idle`)
}

func TestPullTakesTheMostImportantThatMayCome(t *testing.T) {
	st := newStage(t, quiet(2))
	st.add("hog", fifo(50), []event.CPU{0}, work(5*ms))
	st.add("busy", fifo(45), []event.CPU{1}, work(2*ms))
	st.add("pinned", fifo(40), []event.CPU{0}, work(1*ms))
	st.add("first", fifo(30), nil, work(1*ms))
	st.add("second", fifo(20), nil, work(1*ms))
	st.play(10 * ms).want(`0 0 hog
		0 1 busy
		2000 1 first
		3000 1 second
		4000 1 idle
		5000 0 pinned
		6000 0 idle`)
}

// TestMigrateDisable: a task that is pinned for the moment cannot be pushed away; when
// another CPU gets free, it is the running one that is pushed there instead, by the
// stopper.
func TestMigrateDisable(t *testing.T) {
	for _, ipi := range []bool{false, true} {
		cfg := quiet(2)
		cfg.Sched.RTPushIPI = ipi
		st := newStage(t, cfg)
		pin := do(func(st *stage, th *machine.Thread) { st.m.Sched.MigrateDisable(th.Task.CPU()) })
		unpin := do(func(st *stage, th *machine.Thread) { st.m.Sched.MigrateEnable(th.Task.CPU()) })
		st.add("pinned", fifo(30), nil, pin, work(4*ms), unpin, work(1*ms))
		st.add("other", fifo(50), []event.CPU{1}, work(3*ms))
		st.add("high", fifo(40), nil, nap(1*ms), work(4*ms))
		st.play(10 * ms).want(`0 0 pinned
			0 1 other
			1000 0 high
			3000 0 pinned
			3000 1 high
			5000 1 idle
			7000 0 idle`)
		compare(t, "moves", st.seen(event.SchedMigrateTask), `3000 0 sched_migrate_task high 0>1`)
	}
}

// TestDeadlineYield gives up what is left of the runtime, until the next period.
func TestDeadlineYield(t *testing.T) {
	cfg := quiet(1)
	cfg.Sched.HRTickDL = true
	st := newStage(t, cfg)
	st.add("dl", sched.Attr{Policy: sched.Deadline, Runtime: 3 * ms, Deadline: 10 * ms}, nil, work(1*ms), yield, work(1*ms), nap(5*ms), work(1*ms))
	st.add("rt", fifo(10), nil, work(20*ms))
	st.play(30 * ms).want(`0 0 dl
		1000 0 rt
		10000 0 dl
		11000 0 rt
		16000 0 dl
		17000 0 rt
		23000 0 idle`)
}

// TestWakeUpRules are those of the CBS, as sched-deadline.rst has them: a task that wakes
// keeps deadline and runtime if they fit into its bandwidth, else it begins a new period;
// with a deadline shorter than the period it gets the runtime that fits, and after the
// deadline it waits for its next period.
func TestWakeUpRules(t *testing.T) {
	constrained := sched.Attr{Policy: sched.Deadline, Runtime: 2 * ms, Deadline: 5 * ms, Period: 10 * ms}
	implicit := sched.Attr{Policy: sched.Deadline, Runtime: 2 * ms, Deadline: 10 * ms}
	for _, c := range []struct {
		name           string
		a              sched.Attr
		sleep          event.Time
		want           string
		deadline, left event.Time // when it goes on
	}{
		{"it fits", implicit, 3 * ms, `0 0 dl
			1000 0 idle
			4000 0 dl
			4500 0 idle`, 10 * ms, 1 * ms},
		{"it does not fit", implicit, 5 * ms, `0 0 dl
			1000 0 idle
			6000 0 dl
			6500 0 idle`, 16 * ms, 2 * ms},
		{"constrained, it fits", constrained, 1 * ms, `0 0 dl
			1000 0 idle
			2000 0 dl
			2500 0 idle`, 5 * ms, 1 * ms},
		{"constrained, it does not fit", constrained, 3 * ms, `0 0 dl
			1000 0 idle
			4000 0 dl
			4399 0 idle
			10000 0 dl
			10100 0 idle`, 5 * ms, 399_999},
		{"constrained, after the deadline", constrained, 6 * ms, `0 0 dl
			1000 0 idle
			10000 0 dl
			10500 0 idle`, 15 * ms, 2 * ms},
		{"constrained, in the next period", constrained, 11 * ms, `0 0 dl
			1000 0 idle
			12000 0 dl
			12500 0 idle`, 17 * ms, 2 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := quiet(1)
			cfg.Sched.HRTickDL = true
			st := newStage(t, cfg)
			st.add("dl", c.a, nil, work(1*ms), nap(c.sleep), do(func(st *stage, th *machine.Thread) {
				if at, left := th.Task.Deadline(); at != c.deadline || left != c.left {
					t.Errorf("deadline %d, runtime %d, want %d, %d", at, left, c.deadline, c.left)
				}
			}), work(500*us))
			st.play(30 * ms).want(c.want)
		})
	}
}

// TestACPUWithDeadlineTasksIsNoPlaceForRealTimeOnes.
func TestACPUWithDeadlineTasksIsNoPlaceForRealTimeOnes(t *testing.T) {
	st := newStage(t, quiet(2))
	st.add("w", fifo(30), []event.CPU{1, 0}, nap(1*ms), work(1*ms))
	st.play(0)
	st.add("hog", fifo(50), []event.CPU{1}, work(5*ms))
	st.add("dl", sched.Attr{Policy: sched.Deadline, Runtime: 9 * ms, Deadline: 10 * ms}, nil, work(20*ms))
	st.play(8 * ms).want(`0 1 hog
		0 0 dl
		5000 1 w
		6000 1 idle`)
	compare(t, "moves", st.seen(event.SchedMigrateTask), ``)
}

// TestATakenTargetPushesOn: a wake that is finished by its target finds that something
// better came first, and goes on to another CPU.
func TestATakenTargetPushesOn(t *testing.T) {
	cfg := quiet(3)
	cfg.Sched.TTWUQueue = true
	cfg.Costs.IPI = 10 * us
	st := newStage(t, cfg)
	st.add("w", fifo(20), []event.CPU{1, 2}, nap(3*ms), work(1*ms), block, work(1*ms))
	st.play(1 * ms)
	st.add("fast", fifo(40), []event.CPU{1}, nap(4005*us), work(1*ms))
	st.play(2 * ms)
	st.add("boss", fifo(50), []event.CPU{0}, nap(4*ms), wake("w"), work(1*ms))
	at := st.threads["w"].Task.CPU()
	st.play(10 * ms)
	if at != 1 {
		t.Fatalf("w was to sleep on CPU 1, not on %d", at)
	}
	compare(t, "moves", st.seen(event.SchedMigrateTask), `4010 1 sched_migrate_task w 1>2`)
}

// TestAPushThatComesTooLate: the stopper finds that the task which it should push is pinned
// by now; it is pushed when it is free again.
func TestAPushThatComesTooLate(t *testing.T) {
	cfg := quiet(2)
	cfg.Costs.IPI = 10 * us
	st := newStage(t, cfg)
	pin := do(func(st *stage, th *machine.Thread) { st.m.Sched.MigrateDisable(th.Task.CPU()) })
	unpin := do(func(st *stage, th *machine.Thread) { st.m.Sched.MigrateEnable(th.Task.CPU()) })
	st.add("pinned", fifo(30), nil, pin, work(4*ms), unpin)
	st.add("other", fifo(50), []event.CPU{1}, work(3*ms))
	st.add("high", fifo(40), nil, nap(1*ms), work(2005*us), pin, work(1*ms), unpin, work(1*ms))
	st.play(10 * ms).want(`0 0 pinned
		0 1 other
		1000 0 high
		3000 1 idle
		4005 0 pinned
		4015 1 high
		5015 1 idle
		7005 0 idle`)
}

// TestDeadlineOverrunIsSignalled where the task asked for it.
func TestDeadlineOverrunIsSignalled(t *testing.T) {
	cfg := machine.Config{Sched: sched.DefaultConfig(1)}
	cfg.Sched.Tick = 1 * ms
	st := newStage(t, cfg)
	st.add("dl", sched.Attr{Policy: sched.Deadline, Runtime: 1500 * us, Deadline: 10 * ms, Overrun: true}, nil, work(4*ms))
	st.add("quiet", sched.Attr{Policy: sched.Deadline, Runtime: 1500 * us, Deadline: 20 * ms}, nil, work(4*ms))
	st.play(9 * ms)
	compare(t, "signals", st.seen(event.SignalGenerate), `2000 0 signal_generate dl`)
}
