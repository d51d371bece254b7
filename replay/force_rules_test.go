package replay

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// story is a made-up trace whose right answers are known.
type story struct {
	*inventedTrace
	now event.Time
	// flagged: the current task was asked to leave, and what follows shows it.
	flagged bool
}

func newStory() *story {
	s := &story{inventedTrace: &inventedTrace{names: event.NewNames()}, now: 1_000_000_000}
	s.info.Kernel = "6.1.0-50-rt-amd64"
	return s
}

// add appends an event a microsecond later.
func (s *story) add(k event.Kind, c event.CPU, cur event.PID, set func(*event.Event)) {
	var ev event.Event
	ev.Reset()
	s.now += 1000
	ev.Time, ev.CPU, ev.PID, ev.Kind, ev.Flags = s.now, c, cur, k, event.FlagsKnown
	if s.flagged {
		ev.Flags |= event.NeedResched
	}
	set(&ev)
	s.events = append(s.events, ev)
}

// task is a task by pid with its priority.
type task struct {
	pid  event.PID
	prio event.Prio
}

func (s *story) swtch(c event.CPU, prev task, state event.State, next task) {
	s.add(event.SchedSwitch, c, prev.pid, func(ev *event.Event) {
		ev.Task, ev.TaskPrio, ev.State, ev.Next, ev.NextPrio = prev.pid, prev.prio, state, next.pid, next.prio
	})
}

// wake is a sched_waking with its sched_wakeup, executed by cur on CPU c; asked is the flag of the
// second.
func (s *story) wake(c event.CPU, cur, who task, last, to event.CPU, asked bool) {
	s.add(event.SchedWaking, c, cur.pid, func(ev *event.Event) { ev.Task, ev.TaskPrio, ev.Target = who.pid, who.prio, last })
	s.add(event.SchedWakeup, c, cur.pid, func(ev *event.Event) {
		ev.Task, ev.TaskPrio, ev.Target, ev.Arg = who.pid, who.prio, to, 1
		if asked {
			ev.Flags |= event.NeedResched
		}
	})
}

// force returns the row of a class and type, the zero row where there is none.
func (s *story) force(t *testing.T, class, typ string) (DecisionRow, *Decisions) {
	t.Helper()
	d, err := Force(s.inventedTrace, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Rows {
		if r.Class == class && r.Type == typ {
			return r, d
		}
	}
	return DecisionRow{}, d
}

var (
	idle   = task{0, 120}
	hog    = task{10, 49}
	first  = task{11, 69}
	second = task{12, 69}
	best   = task{13, 9}
	fairly = task{14, 120}
)

const (
	asleep  = event.StateSleeping
	running = event.StateRunnable
)

// wait makes a CPU on which hog runs and first and second wait, woken in this order.
func (s *story) wait() {
	s.swtch(0, idle, running, hog)
	s.wake(0, hog, first, 0, 0, false)
	s.wake(0, hog, second, 0, 0, false)
}

// TestForcedPicks: of two equal real-time tasks the first in the queue is next; a kernel that takes
// the second disagrees with the model. With one runnable task of the class there is no choice.
func TestForcedPicks(t *testing.T) {
	s := newStory()
	s.wait()
	s.swtch(0, hog, asleep, first)
	s.swtch(0, first, asleep, second)
	s.swtch(0, second, asleep, idle)
	if r, d := s.force(t, "rt", Pick); r.N != 1 || r.Agree != 1 || r.Baseline != 1 || d.Missed != 0 {
		t.Errorf("in the order of the queue: %+v", r)
	}
	s = newStory()
	s.wait()
	s.swtch(0, hog, asleep, second)
	s.swtch(0, second, asleep, first)
	r, d := s.force(t, "rt", Pick)
	if r.N != 1 || r.Agree != 0 || r.Baseline != 0 || len(d.Misses) != 1 {
		t.Fatalf("the other way round: %+v", d)
	}
	if m := d.Misses[0]; m.Recorded.PID != second.pid || m.Model.PID != first.pid || len(m.Candidates) != 2 || m.Candidates[0].Key != int64(first.prio) {
		t.Errorf("miss: %+v", m)
	}
	// Longest-waiting-first is not the model's rule.
	s = newStory()
	s.wait()
	s.wake(0, hog, best, 0, 0, true)
	s.swtch(0, hog, event.StatePreempted, best)
	if r, _ := s.force(t, "rt", Pick); r.N != 1 || r.Agree != 1 || r.Baseline != 0 {
		t.Errorf("a better one that came last: %+v", r)
	}
}

// TestForcedYieldIsNotTold: who leaves runnable to an equal, without a tick, gave its turn away or
// had one that ended; without system calls that is not known, and not counted.
func TestForcedYieldIsNotTold(t *testing.T) {
	s := newStory()
	s.swtch(0, idle, running, first)
	s.wake(0, first, second, 0, 0, false)
	s.swtch(0, first, running, second)
	if r, _ := s.force(t, "rt", Pick); r.N != 0 || r.Undecided != 1 || r.Why[0].Word != "yield_unseen" {
		t.Errorf("%+v", r)
	}
}

// TestForcedPreempts: the kernel's answer to a wake is the flag of the sched_wakeup where that was
// recorded on the CPU itself, of the next event there where it was not, or the switch to the
// woken task. Where the flag was set before, or the current task goes to sleep first, there is none.
func TestForcedPreempts(t *testing.T) {
	check := func(what string, s *story, n, agree, undecided int64) {
		t.Helper()
		if r, _ := s.force(t, "rt", Preempt); r.N != n || r.Agree != agree || r.Undecided != undecided {
			t.Errorf("%s: %+v", what, r)
		}
	}
	begin := func() *story {
		s := newStory()
		s.swtch(0, idle, running, hog)
		return s
	}
	s := begin()
	s.wake(0, hog, best, 0, 0, true)
	check("a better one, and the flag", s, 1, 1, 0)
	s = begin()
	s.wake(0, hog, best, 0, 0, false)
	check("a better one, no flag", s, 1, 0, 0)
	s = begin()
	s.wake(0, hog, first, 0, 0, false)
	check("a worse one, no flag", s, 1, 1, 0)
	s = begin()
	s.wake(1, idle, best, 0, 0, false)
	s.swtch(0, hog, event.StatePreempted, best)
	check("from afar, and the switch to it", s, 1, 1, 0)
	s = begin()
	s.wake(1, idle, best, 0, 0, false)
	s.swtch(0, hog, asleep, best)
	check("from afar, and the current one sleeps", s, 0, 0, 1)
	s = begin()
	s.wake(1, idle, best, 0, 0, false)
	s.add(event.IRQHandlerEntry, 0, hog.pid, func(ev *event.Event) { ev.Flags |= event.NeedResched | event.HardIRQ })
	check("from afar, and the flag of the next event", s, 1, 1, 0)
	s = begin()
	s.wake(0, hog, best, 0, 0, true)
	s.flagged = true
	s.wake(0, hog, task{15, 5}, 0, 0, true)
	check("asked before", s, 1, 1, 1)
	s = begin()
	s.wake(0, hog, fairly, 0, 0, false)
	check("of another class", s, 0, 0, 0)
}

// TestForcedPlacement: a real-time task whose CPU is taken by a better one goes to an idle CPU. One
// that was only ever seen on one CPU has no choice.
func TestForcedPlacement(t *testing.T) {
	s := newStory()
	s.swtch(1, first, asleep, idle) // it was there
	s.swtch(0, idle, running, best)
	s.wake(1, idle, first, 0, 1, false)
	s.swtch(1, idle, running, first)
	if r, _ := s.force(t, "rt", Placement); r.N != 0 {
		t.Errorf("seen on one CPU: %+v", r)
	}
	s = newStory()
	s.swtch(0, first, asleep, idle)
	s.swtch(0, idle, running, best)
	s.wake(1, idle, first, 0, 1, false)
	s.swtch(1, idle, running, first)
	if r, _ := s.force(t, "rt", Placement); r.N != 1 || r.Agree != 1 || r.Baseline != 0 {
		t.Errorf("to the idle CPU: %+v", r)
	}
}

// TestUnseenChangesOfClassAreFound: a task that is fair when it comes and real-time when it leaves
// has changed where it was charged out of turn: what it was charged for before counts for the fair
// class, what comes after for the real-time one.
func TestUnseenChangesOfClassAreFound(t *testing.T) {
	charge := func(s *story, ns, vruntime int64) {
		s.add(event.SchedStatRuntime, 0, fairly.pid, func(ev *event.Event) { ev.Task, ev.Arg, ev.Arg2 = fairly.pid, ns, vruntime })
	}
	for _, vruntime := range []int64{77, event.NoArg} { // as 6.1 tells it, and as 6.12 does
		s := newStory()
		s.swtch(0, idle, running, fairly)
		charge(s, 100, vruntime)
		if vruntime == event.NoArg {
			charge(s, 900, vruntime)
		} else {
			charge(s, 900, 0)
		}
		s.swtch(0, task{fairly.pid, 49}, asleep, idle)
		l, err := lookAhead(s.inventedTrace, Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := follow(s.inventedTrace, Options{}, l, sched.Config{CPUs: 1, Tick: 4 * ms, RRTimeslice: 25, RTRuntime: 950 * ms, RTPeriod: 1000 * ms, Quiet: true})
		if err != nil {
			t.Fatal(err)
		}
		if used, _ := f.sched.RTUsed(0); used != 900 {
			t.Errorf("vruntime %d: real-time tasks were charged %d ns, not 900", vruntime, used)
		}
	}
}

// TestBudgetThatFits: the usual runtime if the windows allow it, else the roundest that they do, no
// limit where more than the usual was used at once, and no guess by chance.
func TestBudgetThatFits(t *testing.T) {
	for _, c := range []struct{ low, high, want event.Time }{
		{940 * ms, 951 * ms, 950 * ms}, {955 * ms, 962 * ms, 960 * ms}, {955 * ms, 956*ms + 1, 955 * ms}, {2000 * ms, 0, -1}, {900 * ms, 0, 950 * ms},
		{955*ms + 100, 955*ms + 300, 950 * ms}, {96 * ms, 301 * ms, 100 * ms},
	} {
		b := budget{low: c.low, high: c.high, windows: 1}
		if got := b.guess(950*ms, 1000*ms); got != c.want {
			t.Errorf("between %d and %d: %d, want %d", c.low, c.high, got, c.want)
		}
	}
}

// TestForcedWithoutWakes: where wakes are not recorded nobody is known to wait, so a real-time task
// that comes late was not passed over.
func TestForcedWithoutWakes(t *testing.T) {
	s := newStory()
	for range 100 {
		s.swtch(0, idle, running, fairly)
		s.swtch(0, fairly, asleep, idle)
	}
	s.swtch(0, idle, running, best)
	s.swtch(0, best, asleep, first)
	if r, _ := s.force(t, "rt", ClassPick); r.N != 0 {
		t.Errorf("class: %+v", r)
	}
	if r, _ := s.force(t, "rt", Pick); r.N != 0 {
		t.Errorf("pick: %+v", r)
	}
}

// TestTheKernelOfATextTrace: without a release, the timer of the budget of real-time tasks tells
// that the kernel has one, ktimers that it is PREEMPT_RT; else it is taken for 6.12.
func TestTheKernelOfATextTrace(t *testing.T) {
	config := func(s *story, kernel string) sched.Config {
		t.Helper()
		s.info.Kernel = kernel
		f, err := lookAhead(s.inventedTrace, Options{})
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := f.config(&s.info, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f.kernelUnknown != (kernel == "" || kernel == "5.15.0") {
			t.Errorf("%q: unknown is %v", kernel, f.kernelUnknown)
		}
		return cfg
	}
	s := newStory()
	s.swtch(0, idle, running, task{20, 98})
	if c := config(s, ""); c.FairServerPeriod == 0 || c.RTPeriod != 0 || c.Preempt == sched.PreemptRT {
		t.Errorf("nothing known: %+v", c)
	}
	s.events[0].NextComm = s.names.Intern("ktimers/0")
	s.add(event.HrtimerExpireEntry, 0, 20, func(ev *event.Event) { ev.Func = s.names.Intern("sched_rt_period_timer") })
	if c := config(s, ""); c.FairServerPeriod != 0 || c.RTPeriod != 1000*ms || c.Preempt != sched.PreemptRT {
		t.Errorf("with the timer and ktimers: %+v", c)
	}
	if c := config(s, "5.15.0"); c.FairServerPeriod != 0 || c.RTPeriod != 1000*ms {
		t.Errorf("5.15: %+v", c)
	}
	if c := config(s, "6.12.1"); c.FairServerPeriod == 0 {
		t.Errorf("6.12: %+v", c)
	}
}
