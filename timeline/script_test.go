package timeline_test

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// names are those of all tests of this package.
var names = event.NewNames()

// ev makes an event of kind k, recorded on cpu in the context of current.
func ev(k event.Kind, cpu event.CPU, at event.Time, current event.PID) event.Event {
	var e event.Event
	e.Reset()
	e.Kind, e.CPU, e.Time, e.PID, e.Flags = k, cpu, at, current, event.FlagsKnown
	return e
}

// sw is a sched_switch between tasks of priority 120.
func sw(cpu event.CPU, at event.Time, prev event.PID, state event.State, next event.PID) event.Event {
	e := ev(event.SchedSwitch, cpu, at, prev)
	e.Task, e.TaskPrio, e.State = prev, 120, state
	e.Next, e.NextPrio = next, 120
	return e
}

// about is an event of kind k that is about task.
func about(k event.Kind, cpu event.CPU, at event.Time, current, task event.PID) event.Event {
	e := ev(k, cpu, at, current)
	e.Task, e.Arg = task, 1
	return e
}

// fork is a sched_process_fork.
func fork(cpu event.CPU, at event.Time, parent, child event.PID) event.Event {
	e := about(event.SchedProcessFork, cpu, at, parent, parent)
	e.Next = child
	return e
}

// track pushes events and returns the tracker with the last step.
func track(events ...event.Event) (tr *timeline.Tracker, last timeline.Step) {
	tr = timeline.NewTracker("x86_64", names)
	for i := range events {
		last = tr.Push(&events[i])
	}
	return tr, last
}

// build pushes events into an index.
func build(events ...event.Event) *timeline.Index {
	tr := timeline.NewTracker("x86_64", names)
	b := timeline.NewBuilder(tr, kernel.Of(""), names)
	for i := range events {
		b.Push(&events[i], tr.Push(&events[i]))
	}
	b.Finish()
	return b.Index()
}
