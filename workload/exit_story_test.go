package workload_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

func rr(prio int) *sched.Attr { return &sched.Attr{Policy: sched.RR, Priority: prio} }
func nice(n int) *sched.Attr  { return &sched.Attr{Policy: sched.Normal, Nice: n} }

func killed(after event.Time, signal, core int64) *workload.Exit {
	return &workload.Exit{After: after, Signal: signal, Core: core, Post: -1}
}

// TestCoreDumpComesBeforeTheExit: it is written where the signal is handled, at the
// priority that the task has there, so exit_normalize changes nothing of it: the cyclic task
// waits from 6 to 7 ms for the rest of the dump, and only without exit_normalize for the exit.
func TestCoreDumpComesBeforeTheExit(t *testing.T) {
	for _, c := range []struct {
		normalize workload.Normalize
		wait      event.Time
	}{{workload.NormalizeOff, 1*ms + 1680*us}, {workload.NormalizeRT, 1 * ms}, {workload.NormalizeAll, 1 * ms}} {
		r := play(t, 1, 20*ms, &workload.Spec{Duration: 9 * ms, Costs: onPaper, Normalize: c.normalize,
			Tasks: []workload.Task{cyclic(10), victim(rr(11), killed(5*ms, 11, 2<<20))}})
		if diff := cmp.Diff([]event.Time{c.wait}, r.waits("cyclic")); diff != "" {
			t.Errorf("normalize %d: waits (-want +got):\n%s", c.normalize, diff)
		}
		story := r.story("victim")
		if all := strings.Join(story, "\n"); !strings.Contains(all, "5000.000 signal_generate victim 11\n") || !strings.Contains(all, "5000.000 signal_deliver 11\n") {
			t.Errorf("no SIGSEGV at 5 ms:\n%s", all)
		}
	}
}

// TestASignalActsWhenItIsHandled: the victim is preempted when it comes, and handles it at
// its own priority, when the hog is done. SIGTERM is a SIGKILL then.
func TestASignalActsWhenItIsHandled(t *testing.T) {
	v := victim(rr(11), killed(5*ms, 15, 0))
	v.Phases[0].Ops = []workload.Op{sleep(1 * ms), runFor(100 * ms)}
	hog := once("hog", 20, sleep(4*ms), runFor(3*ms))
	r := play(t, 1, 20*ms, &workload.Spec{Duration: 15 * ms, Costs: onPaper, Tasks: []workload.Task{hog, v}})
	r.wantStory(t, "victim", `5000.000 signal_generate victim 15
		7000.000 comes [88]
		7000.000 signal_deliver 9
		8650.000 sched_process_exit victim -1
		8680.000 signal_generate main 17
		8680.000 leaves [88] Z`)
}

// TestAKernelSectionIsFinishedFirst: a signal, and the end of its time, find a task in the
// kernel; it goes on to the end of that, and no further.
func TestAKernelSectionIsFinishedFirst(t *testing.T) {
	for _, exit := range []*workload.Exit{killed(5*ms, 9, 0), ended(5 * ms)} {
		v := victim(rr(11), exit)
		v.Phases[0].Ops = []workload.Op{runFor(100 * ms)}
		v.Sections = []workload.Section{{Mode: machine.Kernel, Length: workload.Span{Min: 2 * ms, Max: 2 * ms}, Every: workload.Span{Min: 4 * ms, Max: 4 * ms}}}
		r := play(t, 1, 20*ms, &workload.Spec{Duration: 15 * ms, Costs: onPaper, Tasks: []workload.Task{v}})
		if all := strings.Join(r.story("victim"), "\n"); !strings.Contains(all, "6000.000 s") || !strings.Contains(all, "7650.000 sched_process_exit") {
			t.Errorf("after %+v:\n%s", exit, all)
		}
	}
}

// TestThreadsOfOneMemory: the second of two threads to go gives it back, whoever that is;
// a signal to one ends both.
func TestThreadsOfOneMemory(t *testing.T) {
	v := victim(rr(11), killed(5*ms, 9, 0))
	v.Instances = 2
	r := play(t, 1, 20*ms, &workload.Spec{Duration: 15 * ms, Costs: onPaper, Tasks: []workload.Task{v}})
	// The first gives up its use of the memory and is done after 30 µs. The second needs
	// 1,650 and 30.
	r.wantStory(t, "victim", `5000.000 signal_generate victim 9
		5000.000 comes [88]
		5000.000 signal_deliver 9
		5000.000 sched_process_exit victim -1
		5030.000 leaves [88] Z
		5030.000 signal_deliver 9
		6680.000 sched_process_exit victim -1
		6710.000 signal_generate main 17
		6710.000 leaves [88] X`)
}

// TestNiceTasks: with exit_normalize=all a dying task of nice −20 is an ordinary one.
func TestNiceTasks(t *testing.T) {
	for normalize, want := range map[workload.Normalize]string{workload.NormalizeOff: "6680.000 leaves [100] Z",
		workload.NormalizeRT: "6680.000 leaves [100] Z", workload.NormalizeAll: "6680.000 leaves [120] Z"} {
		r := play(t, 1, 20*ms, &workload.Spec{Duration: 9 * ms, Costs: onPaper, Normalize: normalize, Tasks: []workload.Task{victim(nice(-20), ended(5*ms))}})
		if all := strings.Join(r.story("victim"), "\n"); !strings.Contains(all, want) {
			t.Errorf("normalize %d: want %s in\n%s", normalize, want, all)
		}
	}
}

// TestADeadlineTaskIsThrottledInItsExit: with 1 ms in each 10 ms its exit of 1.68 ms takes
// two periods. A timer ends its runtime (HRTICK_DL), to the ns.
func TestADeadlineTaskIsThrottledInItsExit(t *testing.T) {
	c := sched.DefaultConfig(1)
	c.HRTickDL = true
	r := playOn(t, machine.Config{Sched: c, NoTick: true}, 60*ms, &workload.Spec{Duration: 40 * ms, Costs: onPaper,
		Tasks: []workload.Task{victim(deadline(1*ms, 10*ms), ended(5*ms))}})
	// It takes its policy at 0 and sleeps at once: its timer wakes it at 5 ms, with the
	// whole runtime for the deadline at 10 ms, of which half is left: a new one of 15 ms.
	r.wantStory(t, "victim", `5000.000 sys_enter 231
		6000.000 leaves [-1] R+
		15000.000 comes [-1]
		15650.000 sched_process_exit victim -1
		15680.000 signal_generate main 17
		15680.000 leaves [-1] Z`)
	if err := r.m.Sched.Check(r.run.Tasks(nil)); err != nil {
		t.Error(err)
	}
}

// lockedVictim holds mutex 0 from 1 ms on until it is killed at 5 ms. wants wants it from
// 2 ms on; busy runs from 4.5 to 12 ms, at a priority between them.
func lockedVictim(mutex workload.Mutex, normalize workload.Normalize) *workload.Spec {
	v := victim(rr(11), killed(5*ms, 9, 0))
	v.Phases[0].Ops = []workload.Op{sleep(1 * ms), lock(0), sleep(100 * ms)}
	return &workload.Spec{Duration: 40 * ms, Costs: onPaper, Normalize: normalize, Mutexes: []workload.Mutex{mutex}, Tasks: []workload.Task{
		v, once("wants", 30, sleep(2*ms), lock(0), runFor(100*us), unlock(0)), once("busy", 5, sleep(4500*us), runFor(7500*us))}}
}

// TestWhoWaitsForALockOfADyingTask: the locks are given up in exit_mm(), behind
// exit_normalize. The victim is more important than the busy task, so without it, the
// waiter has the lock at once. With a PI lock the victim has inherited 30: exit_normalize=rt
// leaves it that, and the lock is handed over at once too; exit_normalize=all takes it away,
// and the waiter has to wait until the busy task is done. With a robust lock nothing is
// inherited, and both changes let the waiter wait for it.
func TestWhoWaitsForALockOfADyingTask(t *testing.T) {
	pi, robust := workload.Mutex{PI: true}, workload.Mutex{Robust: true}
	for _, c := range []struct {
		mutex     workload.Mutex
		normalize workload.Normalize
		gets      event.Time
	}{
		{pi, workload.NormalizeOff, 5 * ms}, {pi, workload.NormalizeRT, 5 * ms}, {pi, workload.NormalizeAll, 12 * ms},
		{robust, workload.NormalizeOff, 5 * ms}, {robust, workload.NormalizeRT, 12 * ms}, {robust, workload.NormalizeAll, 12 * ms},
	} {
		r := play(t, 1, 60*ms, lockedVictim(c.mutex, c.normalize))
		stays := r.stays("wants-1")
		if len(stays) < 4 || stays[2] != c.gets { // it comes, waits, comes again
			t.Errorf("%+v, normalize %d: the waiter has the lock at %v, want %d", c.mutex, c.normalize, stays, c.gets)
		}
	}
}

// TestDyingWhileItWaits: the victim waits for a lock when it is killed: what it lent to the
// owner is gone at once, and nobody hands the lock to a dead task.
func TestDyingWhileItWaits(t *testing.T) {
	v := victim(rr(40), killed(5*ms, 9, 0))
	v.Phases[0].Ops = []workload.Op{sleep(2 * ms), lock(0)}
	owner := once("owner", 10, sleep(1*ms), lock(0), runFor(10*ms), unlock(0), lock(0), runFor(1*ms), unlock(0))
	v.CPUs, owner.CPUs = []event.CPU{1}, []event.CPU{0}
	r := play(t, 2, 60*ms, &workload.Spec{Duration: 40 * ms, Costs: onPaper, Mutexes: []workload.Mutex{{PI: true}}, Tasks: []workload.Task{v, owner}})
	want := []string{"2000 owner-1 10>40", "5000 owner-1 40>10"}
	if diff := cmp.Diff(want, r.boosts()); diff != "" {
		t.Errorf("boosts (-want +got):\n%s", diff)
	}
	// 10 ms of work, one more, and its own exit.
	if stays := r.stays("owner-1"); stays[len(stays)-1] != 1*ms+11*ms+30*us {
		t.Errorf("the owner was done at %v", stays)
	}
}

// TestAKilledProcessIsRestarted: its supervisor waits for the semaphore of its death, forks
// (50 µs) and its child executes (150 µs), faults 1,000 locked pages in (2 ms) and lives.
func TestAKilledProcessIsRestarted(t *testing.T) {
	v := victim(rr(11), &workload.Exit{After: 5 * ms, Signal: 9, Post: 0})
	next := victim(rr(11), nil)
	next.Name, next.Comm, next.Instances = "next", "next", 0
	super := once("super", 5, op(workload.OpSemWait), workload.Op{Kind: workload.OpFork, Ref: 1}, sleep(30*ms))
	r := play(t, 1, 60*ms, &workload.Spec{Duration: 40 * ms, Sems: 1, Forks: 1, Costs: onPaper, Tasks: []workload.Task{v, next, super}})
	exec := event.NoTime
	for i := range r.events {
		if ev := &r.events[i]; ev.Kind == event.SchedProcessExec && r.names.String(ev.Text) == "next" {
			exec = ev.Time
		}
	}
	if want := 5*ms + 1680*us + 50*us + 150*us; exec != want {
		t.Errorf("exec at %d, want %d", exec, want)
	}
	// It takes the policy of its task when its memory is there.
	stays := r.stays("next")
	if want := 5*ms + 1680*us + 200*us + 2*ms; len(stays) == 0 || stays[0] != want {
		t.Errorf("the new process was ready at %v, want %d", stays, want)
	}
}

// TestPageFaults: memory that is not locked comes page by page, 2 µs after every 8 µs of
// work, and only what came is given back.
func TestPageFaults(t *testing.T) {
	v := victim(rr(11), nil)
	v.Memory.Locked = false
	v.Loop, v.Phases[0].Ops = 1, []workload.Op{sleep(1 * ms), runFor(80 * us)}
	r := play(t, 1, 20*ms, &workload.Spec{Duration: 9 * ms, Costs: onPaper, Tasks: []workload.Task{v}})
	// 80 + 10·2 µs, then 100 + 10 + 5 + 50 and 30 µs.
	r.wantStory(t, "victim", `1100.000 sys_enter 231
		1265.000 sched_process_exit victim -1
		1295.000 signal_generate main 17
		1295.000 leaves [88] Z`)
}

// TestWhereATeardownMakesWay: a FIFO 50 task wakes in the middle of unmapping, at 5.500500
// ms, and in the middle of giving back, at 6.205250 ms. A kernel that can be preempted makes
// way at once while it unmaps, the others after the page; while it gives back, after the
// batch of 32 pages (16 µs), of 512 (256 µs), or on PREEMPT_RT at once.
func TestWhereATeardownMakesWay(t *testing.T) {
	for _, c := range []struct {
		model         sched.PreemptModel
		unmaps, frees event.Time
	}{
		{sched.PreemptFull, 0, 6212*us - 6205250}, {sched.PreemptRT, 0, 0},
		{sched.PreemptNone, 500, 6356*us - 6205250}, {sched.PreemptVoluntary, 500, 6356*us - 6205250},
	} {
		for at, want := range map[event.Time]event.Time{5500500: c.unmaps, 6205250: c.frees} {
			w := once("urgent", 50, sleep(at), runFor(10*us))
			r := on(t, c.model, 1, 20*ms, &workload.Spec{Duration: 9 * ms, Costs: onPaper, Tasks: []workload.Task{w, victim(rr(11), ended(5*ms))}})
			got := event.Time(0)
			if list := r.waits("urgent-0"); len(list) > 0 {
				got = list[len(list)-1]
			}
			if got != want {
				t.Errorf("model %d: who wakes at %d ns waits %d ns, want %d", c.model, at, got, want)
			}
		}
	}
}

// TestChargedAtMigrateEnable: on PREEMPT_RT the lock of a page table is held for 512 pages, 512
// µs here. A tick of 4 ms throttles the deadline task in there; when it comes back it is charged
// at the unlock, too.
func TestChargedAtMigrateEnable(t *testing.T) {
	for _, model := range []sched.PreemptModel{sched.PreemptFull, sched.PreemptRT} {
		c := sched.DefaultConfig(1)
		c.Preempt, c.StatRuntimeRT = model, true
		v := victim(deadline(2*ms, 10*ms), ended(5*ms))
		v.Memory.Pages = 8000
		r := playOn(t, machine.Config{Sched: c}, 90*ms, &workload.Spec{Duration: 80 * ms, Costs: onPaper, Tasks: []workload.Task{v}})
		in, charged := event.NoTime, 0
		for i := range r.events {
			ev := &r.events[i]
			switch {
			case ev.Kind == event.SchedSwitch && r.names.String(ev.NextComm) == "victim" && ev.Time > 5*ms:
				in = ev.Time
			case ev.Kind == event.SchedStatRuntime && r.names.String(ev.TaskComm) == "victim" && in != event.NoTime:
				// Neither at a tick, nor when it leaves: at the first unlock after it came back.
				if since := ev.Time - in; ev.Time%(4*ms) != 0 && since > 0 && since <= 512*us && ev.Flags&event.HardIRQ == 0 &&
					r.events[i+1].Kind != event.SchedSwitch {
					charged++
				}
				in = event.NoTime
			}
		}
		if (charged > 0) != (model == sched.PreemptRT) {
			t.Errorf("model %d: charged %d times at an unlock", model, charged)
		}
	}
}
