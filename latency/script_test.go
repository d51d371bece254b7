package latency_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// names are those of all tests of this package.
var names = event.NewNames()

// ev makes an event of kind k about task, recorded on cpu in the context of current.
func ev(k event.Kind, cpu event.CPU, at event.Time, current, task event.PID) event.Event {
	var e event.Event
	e.Reset()
	e.Kind, e.CPU, e.Time, e.PID, e.Flags = k, cpu, at, current, event.FlagsKnown
	e.Task, e.Arg = task, 1
	return e
}

// sw is a sched_switch between tasks of priority 120.
func sw(cpu event.CPU, at event.Time, prev event.PID, state event.State, next event.PID) event.Event {
	e := ev(event.SchedSwitch, cpu, at, prev, prev)
	e.TaskPrio, e.State = 120, state
	e.Next, e.NextPrio = next, 120
	return e
}

// waking and wakeup are the events of a wake to the CPU target.
func waking(cpu event.CPU, at event.Time, current, task event.PID, target event.CPU) event.Event {
	e := ev(event.SchedWaking, cpu, at, current, task)
	e.TaskPrio, e.Target = 120, target
	return e
}

func wakeup(cpu event.CPU, at event.Time, current, task event.PID, target event.CPU) event.Event {
	e := waking(cpu, at, current, task, target)
	e.Kind = event.SchedWakeup
	return e
}

func migrate(cpu event.CPU, at event.Time, current, task event.PID, from, to event.CPU) event.Event {
	e := ev(event.SchedMigrateTask, cpu, at, current, task)
	e.Orig, e.Target = from, to
	return e
}

// gap is a loss of events on cpu.
func gap(cpu event.CPU, from, to event.Time) event.Event {
	e := ev(event.Gap, cpu, to, event.NoPID, event.NoPID)
	e.From = from
	return e
}

// w is what the tests below look at in a wait.
type w struct {
	PID       event.PID
	Kind      latency.Kind
	From, To  event.Time
	CPU       event.CPU   // where it was queued first
	Moves     []event.CPU // and then
	Open, Gap bool
}

// track pushes events and returns the waits in the order in which they ended.
func track(events []event.Event) ([]w, *latency.Tracker) {
	var list []w
	state := timeline.NewTracker("x86_64", names)
	tr := latency.NewTracker(state, func(l *latency.Wait) {
		one := w{l.Task.PID, l.Kind, l.Woken, l.End, l.CPU, nil, l.Open(), l.GapFrom != event.NoTime}
		for _, m := range l.Moves {
			one.Moves = append(one.Moves, m.To)
		}
		list = append(list, one)
	})
	for i := range events {
		tr.Push(&events[i], state.Push(&events[i]))
	}
	tr.Finish()
	return list, tr
}

// want holds the waits of one task against the right ones.
func want(t *testing.T, pid event.PID, events []event.Event, right ...w) {
	t.Helper()
	got, _ := track(events)
	got = slices.DeleteFunc(got, func(l w) bool { return l.PID != pid })
	for i := range right {
		right[i].PID = pid
	}
	if diff := cmp.Diff(right, got); diff != "" {
		t.Errorf("waits of task %d (-want +got):\n%s", pid, diff)
	}
}

const (
	r = event.StateRunnable
	s = event.StateSleeping
)

// wakerOf returns the waker of the last wait.
func wakerOf(events []event.Event) (last latency.Waker) {
	state := timeline.NewTracker("x86_64", names)
	tr := latency.NewTracker(state, func(l *latency.Wait) { last = l.Waker })
	for i := range events {
		tr.Push(&events[i], state.Push(&events[i]))
	}
	return last
}
