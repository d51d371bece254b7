package timeline_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// TestTrapPrevState: what the letters of prev_state make of a task. The bits behind the
// letters moved between kernels; that is the readers' concern.
func TestTrapPrevState(t *testing.T) {
	for _, c := range []struct {
		letters string
		want    timeline.Status
	}{
		{"R", timeline.StatusReady},
		{"R+", timeline.StatusReady},
		{"S", timeline.StatusBlocked},
		{"D", timeline.StatusBlocked}, // also TASK_RTLOCK_WAIT and frozen tasks
		{"D|K", timeline.StatusBlocked},
		{"D|W", timeline.StatusBlocked},
		{"S+", timeline.StatusBlocked},
		{"T", timeline.StatusBlocked},
		{"t", timeline.StatusBlocked},
		{"P", timeline.StatusBlocked},
		{"I", timeline.StatusBlocked},
		{"D|N", timeline.StatusBlocked},
		{"X", timeline.StatusDead},
		{"Z", timeline.StatusDead},
		{"x", timeline.StatusDead},
		{"?", timeline.StatusUnknown},
	} {
		_, step := track(sw(0, 10, 7, event.ParseState([]byte(c.letters)), 8))
		if got := step.Task.Status; got != c.want {
			t.Errorf("a task that left with %s has status %d, want %d", c.letters, got, c.want)
		}
	}
}

// TestTrapRIsPreemption: R and R+ both leave a task that waits for the CPU.
func TestTrapRIsPreemption(t *testing.T) {
	for _, state := range []event.State{event.StateRunnable, event.StatePreempted} {
		if _, step := track(sw(0, 10, 7, state, 8)); step.Task.Status != timeline.StatusReady {
			t.Errorf("state %s: status %d", state, step.Task.Status)
		}
	}
}

// TestTrapCommRenamedOnCPU: a task leaves under another name than it came with. It is the
// same task, its chain is whole, and its run has the new name.
func TestTrapCommRenamedOnCPU(t *testing.T) {
	in, out := sw(0, 10, 0, event.StateRunnable, 7), sw(0, 90, 7, event.StateSleeping, 0)
	in.NextComm, out.TaskComm = names.Intern("sh"), names.Intern("burn22")
	x := build(in, out)
	if x.Tracker.Broken != 0 {
		t.Errorf("%d broken chains", x.Tracker.Broken)
	}
	run := x.CPUs[0].Runs[x.RunAt(0, 50)]
	if got := names.String(run.Comm); got != "burn22" {
		t.Errorf("the run is of %q", got)
	}
	if got := names.String(x.Tracker.Living(7).Comm); got != "burn22" {
		t.Errorf("the task is %q", got)
	}
}

// TestTrapExecWithOldPID: a thread that executes a program takes over the pid of its
// process's leader. It stays the same task, and its chain is whole.
func TestTrapExecWithOldPID(t *testing.T) {
	exec := about(event.SchedProcessExec, 0, 50, 70, 70)
	exec.Arg = 71 // old_pid
	tr, _ := track(sw(1, 5, 70, event.StateDead, 0), sw(0, 10, 0, 0, 71))
	thread := tr.Living(71)
	for _, e := range []event.Event{exec, about(event.SchedWaking, 0, 60, 70, 8), sw(0, 90, 70, event.StateSleeping, 0)} {
		tr.Push(&e)
	}
	if got := tr.Living(70); got != thread || thread.PID != 70 {
		t.Errorf("pid 70 is task %+v, the thread was %+v", got, thread)
	}
	if tr.Living(71) != nil {
		t.Error("the thread's old pid is still somebody")
	}
	if thread.Status != timeline.StatusBlocked || tr.Broken != 0 {
		t.Errorf("status %d, %d broken chains", thread.Status, tr.Broken)
	}
}

// TestTrapPIDReuse: a pid is another task after its owner died, however the death shows.
func TestTrapPIDReuse(t *testing.T) {
	free := about(event.SchedProcessFree, 0, 60, 1, 7)
	for _, c := range []struct {
		name   string
		events []event.Event
		reused bool
	}{
		{"reaped by itself (X)", []event.Event{sw(0, 50, 7, event.StateDead, 1), fork(0, 70, 1, 7)}, true},
		{"dead on an old kernel (x)", []event.Event{sw(0, 50, 7, event.StateDeadOld, 1), fork(0, 70, 1, 7)}, true},
		{"zombie, freed", []event.Event{sw(0, 50, 7, event.StateZombie, 1), free, fork(0, 70, 1, 7)}, true},
		{"zombie, freed after the number was given out again",
			[]event.Event{sw(0, 50, 7, event.StateZombie, 1), fork(0, 55, 1, 7), free}, true},
		{"its death was not seen", []event.Event{sw(0, 50, 7, event.StateSleeping, 1), fork(0, 70, 1, 7)}, true},
		{"only slept", []event.Event{sw(0, 50, 7, event.StateSleeping, 1), about(event.SchedWaking, 0, 70, 1, 7)}, false},
		{"first wake of a new task without fork event",
			[]event.Event{sw(0, 50, 7, event.StateZombie, 1), about(event.SchedWakeupNew, 0, 70, 1, 7)}, true},
		{"task_newtask, then sched_process_fork: one new task",
			[]event.Event{sw(0, 50, 7, event.StateDead, 1), about(event.TaskNewtask, 0, 70, 1, 7), fork(0, 71, 1, 7)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, _ := track(sw(0, 10, 0, 0, 7))
			first := tr.Living(7)
			for i := range c.events {
				tr.Push(&c.events[i])
			}
			now := tr.Living(7)
			if now == nil || (now != first) != c.reused {
				t.Errorf("pid 7 is task %+v, was %+v", now, first)
			}
			if want := 3; c.reused && tr.Tasks() != want+1 || !c.reused && tr.Tasks() != want {
				t.Errorf("%d tasks", tr.Tasks())
			}
		})
	}
}

// TestTrapPidZeroPerCPU: the idle tasks of two CPUs are two tasks, and a wake of pid 0 is
// none of any.
func TestTrapPidZeroPerCPU(t *testing.T) {
	tr, _ := track(sw(0, 10, 7, event.StateSleeping, 0), sw(1, 11, 8, event.StateSleeping, 0))
	a, b := tr.CPU(0).Current, tr.CPU(1).Current
	if a == b || !a.Idle() || !b.Idle() {
		t.Errorf("idle tasks %+v and %+v", a, b)
	}
	wake := about(event.SchedWaking, 0, 20, 0, 0)
	if step := tr.Push(&wake); step.Task != nil {
		t.Errorf("a wake of pid 0 is about %+v", step.Task)
	}
}

// TestTrapPriorityInheritance: sched_pi_setprio moves the effective priority; the task's
// own stays, also where the end of a boost was lost or the own priority changed under it.
func TestTrapPriorityInheritance(t *testing.T) {
	pi := func(at event.Time, from, to event.Prio) event.Event {
		e := about(event.SchedPISetprio, 1, at, 9, 7)
		e.TaskPrio, e.NextPrio = from, to
		return e
	}
	leaves := func(at event.Time, p event.Prio) event.Event {
		e := sw(0, at, 7, event.StateSleeping, 0)
		e.TaskPrio = p
		return e
	}
	for _, c := range []struct {
		name       string
		events     []event.Event
		prio, base event.Prio
		boosted    bool
	}{
		{"raised", []event.Event{pi(20, 120, 9)}, 9, 120, true},
		{"raised to deadline", []event.Event{pi(20, 9, -1)}, -1, 9, true},
		{"raised twice", []event.Event{pi(20, 120, 9), pi(21, 9, 5)}, 5, 120, true},
		{"raised twice, half over", []event.Event{pi(20, 120, 9), pi(21, 9, 5), pi(22, 5, 9)}, 9, 120, true},
		{"over", []event.Event{pi(20, 120, 9), pi(21, 9, 120)}, 120, 120, false},
		{"the boost began before the trace", []event.Event{pi(20, 9, 120)}, 120, 120, false},
		{"the end was lost", []event.Event{pi(20, 120, 9), leaves(30, 120)}, 120, 120, false},
		{"seen while raised", []event.Event{pi(20, 120, 9), leaves(30, 9)}, 9, 120, true},
		{"its own priority changed meanwhile", []event.Event{pi(20, 89, 9), pi(21, 9, 120)}, 120, 120, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, _ := track(append([]event.Event{sw(0, 10, 0, 0, 7)}, c.events...)...)
			if got := tr.Living(7); got.Prio != c.prio || got.Base != c.base || got.Boosted != c.boosted {
				t.Errorf("prio %d base %d boosted %v, want %d %d %v", got.Prio, got.Base, got.Boosted, c.prio, c.base, c.boosted)
			}
		})
	}
}

// TestTrapPrioIsTheKernels: the number of the events is kept as it is.
func TestTrapPrioIsTheKernels(t *testing.T) {
	for _, p := range []event.Prio{-1, 0, 98, 100, 139} {
		e := sw(0, 10, 0, 0, 7)
		e.NextPrio = p
		if _, step := track(e); step.Next.Prio != p || step.Next.Base != p {
			t.Errorf("prio %d: effective %d, own %d", p, step.Next.Prio, step.Next.Base)
		}
	}
}

// TestTrapBrokenChain: prev is not who was current. The CPU is not trusted from its last
// event that fitted, the tracker repairs itself, and nothing is invented.
func TestTrapBrokenChain(t *testing.T) {
	tr, step := track(sw(0, 10, 0, 0, 7), about(event.SchedWaking, 0, 20, 7, 9), sw(0, 50, 8, event.StateSleeping, 6))
	if step.BrokenFrom != 20 || tr.Broken != 1 {
		t.Errorf("broken from %d, %d times", step.BrokenFrom, tr.Broken)
	}
	if cur := tr.CPU(0).Current; cur.PID != 6 {
		t.Errorf("current is %d", cur.PID)
	}
	if lost := tr.Living(7); lost.Status != timeline.StatusUnknown {
		t.Errorf("task 7 has status %d; nobody knows how it left", lost.Status)
	}
	after := sw(0, 60, 6, event.StateSleeping, 0)
	if step := tr.Push(&after); step.BrokenFrom != event.NoTime || tr.Broken != 1 {
		t.Error("the chain is whole again, but counts as broken")
	}
}

// TestTrapSwitchesLostInPairs: two lost switches leave a chain that fits; an event in the
// context of another task shows them.
func TestTrapSwitchesLostInPairs(t *testing.T) {
	for _, k := range []event.Kind{event.SchedWaking, event.SchedWakeup, event.SchedStatRuntime, event.IRQHandlerEntry,
		event.SoftirqRaise, event.HrtimerStart, event.HrtimerExpireEntry, event.SchedProcessExit} {
		tr, step := track(sw(0, 10, 0, 0, 7), about(k, 0, 50, 8, 9))
		if step.BrokenFrom != 10 || tr.Broken != 1 || tr.CPU(0).Current.PID != 8 {
			t.Errorf("%s: broken from %d, current %d", k, step.BrokenFrom, tr.CPU(0).Current.PID)
		}
	}
	// The stamp of sched_switch lies before the switch, so a function may still show prev.
	tr, step := track(sw(0, 10, 0, 0, 7), ev(event.FuncEntry, 0, 11, 0))
	if step.BrokenFrom != event.NoTime || tr.Broken != 0 {
		t.Error("a function event just after sched_switch breaks the chain")
	}
}

// TestTrapLostEvents: after a gap nobody knows who is current, and there is no chain to be
// broken.
func TestTrapLostEvents(t *testing.T) {
	gap := ev(event.Gap, 0, 40, event.NoPID)
	gap.From = 20
	tr, step := track(sw(0, 10, 0, 0, 7), gap)
	if step.BrokenFrom != 20 || tr.CPU(0).Current != nil {
		t.Errorf("from %d, current %+v", step.BrokenFrom, tr.CPU(0).Current)
	}
	after := sw(0, 50, 8, event.StateSleeping, 0)
	if step = tr.Push(&after); step.BrokenFrom != event.NoTime || tr.Broken != 0 {
		t.Errorf("the first switch after a gap: broken from %d, %d times", step.BrokenFrom, tr.Broken)
	}
}

// TestTrapImpossibleCPU: a CPU number that no kernel has is passed over, and costs nothing.
func TestTrapImpossibleCPU(t *testing.T) {
	tr, _ := track(sw(1<<30, 10, 0, 0, 7), sw(-1, 11, 0, 0, 7))
	if tr.OddCPU != 2 || tr.CPUs() != 0 || tr.CPU(1<<30) != nil || tr.CPU(-1) != nil {
		t.Errorf("%d odd events, %d CPUs", tr.OddCPU, tr.CPUs())
	}
}

// TestYieldIsOverAtItsReturn: sched_yield that finds nobody else returns at once; a later
// preemption is none of its doing.
func TestYieldIsOverAtItsReturn(t *testing.T) {
	yield, ret := ev(event.SysEnter, 0, 20, 7), ev(event.SysExit, 0, 21, 7)
	yield.Arg, ret.Arg = 24, 24
	if _, step := track(sw(0, 10, 0, 0, 7), yield, sw(0, 30, 7, 0, 8)); !step.Task.Yielding {
		t.Error("a switch inside sched_yield is not seen as one")
	}
	if _, step := track(sw(0, 10, 0, 0, 7), yield, ret, sw(0, 30, 7, 0, 8)); step.Task.Yielding {
		t.Error("a preemption after sched_yield counts as a yield")
	}
}
