package replay

import (
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
)

// written is a trace of one CPU, written event by event.
type written struct{ memory }

func newWritten(release string) *written {
	w := &written{memory{names: event.NewNames()}}
	w.info = event.Info{Kernel: release, Machine: "x86_64", CPUs: 1}
	return w
}

func (w *written) event(at event.Time, kind event.Kind, pid event.PID, comm string) *event.Event {
	var ev event.Event
	ev.Reset()
	ev.Kind, ev.Time, ev.PID, ev.Comm = kind, at, pid, w.names.Intern(comm)
	ev.Flags |= event.FlagsKnown
	w.events = append(w.events, ev)
	return &w.events[len(w.events)-1]
}

// irq writes the handler of an interrupt that hits the task pid.
func (w *written) irq(number int64, name string, from, to event.Time, pid event.PID, comm string) {
	for _, kind := range []event.Kind{event.IRQHandlerEntry, event.IRQHandlerExit} {
		ev := w.event(from, kind, pid, comm)
		ev.Arg, ev.Text = number, w.names.Intern(name)
		ev.Flags |= event.HardIRQ
		from = to
	}
}

// change writes a sched_switch.
func (w *written) change(at event.Time, pid event.PID, comm string, state event.State, next event.PID, nextComm string) {
	ev := w.event(at, event.SchedSwitch, pid, comm)
	ev.Task, ev.TaskComm, ev.TaskPrio, ev.State = pid, ev.Comm, event.DefaultPrio, state
	ev.Next, ev.NextComm, ev.NextPrio = next, w.names.Intern(nextComm), event.DefaultPrio
}

// TestClosedLoopsAndTheirLookAlikes: handlers without threads, whose service varies between 100
// and 180 µs.
func TestClosedLoopsAndTheirLookAlikes(t *testing.T) {
	for _, c := range []struct {
		name   string
		n      int
		next   func(i int, from, to event.Time) event.Time
		closed bool
		first  int // arrivals that are of no loop
	}{
		{"each comes 40 µs after the one before was served", 40, func(_ int, _, to event.Time) event.Time { return to + 40*us }, true, 1},
		{"each comes 30 to 50 µs after that", 40, func(i int, _, to event.Time) event.Time { return to + 30*us + event.Time(i%3)*10*us }, true, 1},
		{"with a pause before every twentieth", 60, func(i int, _, to event.Time) event.Time {
			if i%20 == 19 {
				return to + 5*ms
			}
			return to + 40*us
		}, true, 3},
		{"a clock of 250 µs", 40, func(_ int, from, _ event.Time) event.Time { return from + 250*us }, false, 40},
		{"too far away from the service", 40, func(_ int, _, to event.Time) event.Time { return to + 210*us }, false, 40},
		{"with a pause before every fifth", 60, func(i int, _, to event.Time) event.Time {
			if i%5 == 4 {
				return to + 5*ms
			}
			return to + 40*us
		}, false, 60},
		{"too few", 20, func(_ int, _, to event.Time) event.Time { return to + 40*us }, false, 20},
		{"irregular", 40, func(i int, _, to event.Time) event.Time { return to + event.Time(i*37%40)*4*us + us }, false, 40},
	} {
		w := newWritten("6.1.0")
		w.change(0, 0, "swapper/0", event.StateRunnable, 100, "task")
		from := event.Time(1 * ms)
		for i := range c.n {
			to := from + 100*us + event.Time(i*7%9)*10*us
			w.irq(14, "disk", from, to, 100, "task")
			from = c.next(i, from, to)
		}
		w.change(from+ms, 100, "task", event.StateSleeping, 0, "swapper/0")
		l, err := Read(w, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Lines) != 1 || len(l.Lines[0].Arrivals) != c.n {
			t.Fatalf("%s: lines %+v", c.name, l.Lines)
		}
		first := 0
		for i := range l.Lines[0].Arrivals {
			if a := &l.Lines[0].Arrivals[i]; !a.Loop {
				first++
			}
		}
		if l.Lines[0].Loop != c.closed || first != c.first {
			t.Errorf("%s: a closed loop: %v, %d arrivals of none", c.name, l.Lines[0].Loop, first)
		}
	}
}

// TestWakesAndSoftirqsOfAnInterrupt: a wake belongs to the interrupt around it, or just behind
// its exit; a softirq that was raised in it follows, one that comes after a task had the CPU
// does not; an interrupt in front of a softirq is not its work.
func TestWakesAndSoftirqsOfAnInterrupt(t *testing.T) {
	w := newWritten("6.1.0")
	soft := func(at event.Time, kind event.Kind, vec int64) {
		ev := w.event(at, kind, 100, "task")
		ev.Arg = vec
	}
	wake := func(at event.Time, pid event.PID, flags event.Flags) {
		ev := w.event(at, event.SchedWaking, 100, "task")
		ev.Task, ev.TaskComm, ev.TaskPrio, ev.Target = pid, w.names.Intern("sleeper"), event.DefaultPrio, 0
		ev.Flags |= flags
	}
	w.change(0, 201, "sleeper", event.StateSleeping, 202, "sleeper")
	w.change(10*us, 202, "sleeper", event.StateSleeping, 203, "sleeper")
	w.change(20*us, 203, "sleeper", event.StateSleeping, 100, "task")
	w.irq(14, "disk", 1000*us, 1050*us, 100, "task")
	last := w.events[len(w.events)-1]
	w.events = w.events[:len(w.events)-1]
	wake(1020*us, 201, event.HardIRQ)
	soft(1030*us, event.SoftirqRaise, event.SoftirqNetRx)
	w.events = append(w.events, last)
	wake(1052*us, 202, event.HardIRQ)
	soft(1060*us, event.SoftirqEntry, event.SoftirqNetRx)
	w.irq(9, "other", 1100*us, 1130*us, 100, "task")
	wake(1150*us, 203, event.SoftIRQ)
	soft(1200*us, event.SoftirqExit, event.SoftirqNetRx)
	soft(1900*us, event.SoftirqRaise, event.SoftirqTimer)
	soft(1902*us, event.SoftirqEntry, event.SoftirqTimer)
	soft(1910*us, event.SoftirqExit, event.SoftirqTimer)
	w.change(3*ms, 100, "task", event.StateSleeping, 201, "sleeper")
	l, err := Read(w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	task := map[event.PID]int{}
	for i := range l.Tasks {
		task[l.Tasks[i].PID] = i
	}
	type seen struct {
		number  int64
		ns      event.Time
		follows bool
		wakes   []int
		wakeAt  []event.Time
	}
	want := map[event.Time]seen{
		1000 * us: {14, 50 * us, false, []int{task[201], task[202]}, []event.Time{20 * us, 50*us + 1}},
		1060 * us: {event.SoftirqNetRx, 110 * us, true, []int{task[203]}, []event.Time{60 * us}},
		1100 * us: {9, 30 * us, false, nil, nil},
		1902 * us: {event.SoftirqTimer, 8 * us, false, nil, nil},
	}
	n := 0
	for i := range l.Lines {
		for _, a := range l.Lines[i].Arrivals {
			n++
			got := seen{l.Lines[i].Number, a.NS, a.Follows, a.Wakes, a.WakeAt}
			if w, ok := want[a.At]; !ok || !slices.Equal(w.wakes, got.wakes) || !slices.Equal(w.wakeAt, got.wakeAt) || w.number != got.number || w.ns != got.ns || w.follows != got.follows {
				t.Errorf("at %d: %+v, want %+v", a.At, got, w)
			}
		}
	}
	if n != len(want) {
		t.Errorf("%d arrivals", n)
	}
}
