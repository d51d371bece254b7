package timeline

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// TestPassedOver: a fair task that is chosen with a real-time task in the queue is told from one
// that is chosen when none is left there.
func TestPassedOver(t *testing.T) {
	rt, fair, dl := &Task{ID: 0, PID: 1}, &Task{ID: 1, PID: 2}, &Task{ID: 2, PID: 3}
	var q queues
	wakeup := func(task *Task, prio event.Prio, cpu event.CPU) {
		q.enqueue(&event.Event{TaskPrio: prio, Target: cpu}, Step{Task: task})
	}
	change := func(prev, next *Task, prevPrio, nextPrio event.Prio, state event.State) bool {
		ev := &event.Event{TaskPrio: prevPrio, NextPrio: nextPrio, State: state}
		q.leave(ev, Step{Task: prev, Next: next})
		return q.passed(ev, Step{Next: next})
	}
	wakeup(rt, 50, 0)
	if change(fair, dl, 120, -1, event.StateRunnable) {
		t.Error("a deadline task passes nobody over")
	}
	if !change(dl, fair, -1, 120, event.StateSleeping) {
		t.Error("the real-time task was passed over")
	}
	q.move(&event.Event{Target: 1}, Step{Task: rt})
	if change(dl, fair, -1, 120, event.StateSleeping) {
		t.Error("the real-time task is on another CPU")
	}
	wakeup(rt, 50, 0)
	if change(fair, rt, 120, 50, event.StateRunnable) || change(rt, fair, 50, 120, event.StateSleeping) {
		t.Error("the real-time task has run and sleeps")
	}
	if !change(rt, fair, 50, 120, event.StateRunnable) {
		t.Error("a real-time task that could go on was passed over")
	}
	q.setprio(&event.Event{NextPrio: 120}, rt)
	if change(fair, fair, 120, 120, event.StateRunnable) {
		t.Error("it has lost its boost and is no real-time task any more")
	}
}
