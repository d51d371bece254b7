package machine

import "github.com/whylate/whylate/event"

// Asleep lets a thread that was never started begin as one that sleeps on the CPU of its
// task, as where a machine is looked at in the middle of its life: until a timer that is due
// at until and was armed there, or with event.NoTime until somebody wakes it. Its program is
// asked when it wakes.
func (m *Machine) Asleep(th *Thread, state event.State, until event.Time) {
	if state == event.StateRunnable {
		state = event.StateSleeping
	}
	th.Task.State = state
	if until != event.NoTime {
		m.arm(th.Task.CPU(), th, sleepTimer, until, 0)
	}
}
