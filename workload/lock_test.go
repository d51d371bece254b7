package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

func sleep(ns event.Time) workload.Op { return workload.Op{Kind: workload.OpSleep, NS: ns} }

func lock(n int) workload.Op   { return workload.Op{Kind: workload.OpLock, Ref: n} }
func unlock(n int) workload.Op { return workload.Op{Kind: workload.OpUnlock, Ref: n} }

// once is a task of one round.
func once(name string, prio int, ops ...workload.Op) workload.Task {
	t := task(name, prio, ops...)
	t.Loop = 1
	return t
}

// boosts lists the sched_pi_setprio events as "at name old>new", real-time priorities as
// users write them.
func (r *record) boosts() []string {
	var list []string
	for i := range r.events {
		if ev := &r.events[i]; ev.Kind == event.SchedPISetprio {
			list = append(list, fmt.Sprintf("%d %s %d>%d", ev.Time/us, r.names.String(ev.TaskComm), 99-ev.TaskPrio, 99-ev.NextPrio))
		}
	}
	return list
}

// A task takes its policy when it runs first; in these tests all sleep first, so that
// everybody has it from 0 on.

// inversion is the classic: lo holds the lock, hi wants it, mid needs neither.
func inversion(pi bool) *workload.Spec {
	return &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{PI: pi}}, Tasks: []workload.Task{
		once("lo", 10, sleep(1*ms), lock(0), runFor(4*ms), unlock(0)),
		once("mid", 20, sleep(3*ms), runFor(5*ms)),
		once("hi", 30, sleep(2*ms), lock(0), runFor(1*ms), unlock(0)),
	}}
}

func TestPriorityInheritanceKeepsTheMiddleOut(t *testing.T) {
	r := play(t, 1, 50*ms, inversion(true))
	r.wantRan(t, `0 idle
		1000 lo-0
		5000 hi-2
		6000 mid-1`)
	if diff := cmp.Diff([]string{"2000 lo-0 10>30", "5000 lo-0 30>10"}, r.boosts()); diff != "" {
		t.Errorf("boosts (-want +got):\n%s", diff)
	}
}

func TestWithoutInheritanceTheMiddleGoesFirst(t *testing.T) {
	r := play(t, 1, 50*ms, inversion(false))
	r.wantRan(t, `0 idle
		1000 lo-0
		3000 mid-1
		8000 lo-0
		10000 hi-2`)
	if b := r.boosts(); len(b) > 0 {
		t.Errorf("boosted: %v", b)
	}
}

// TestChainsAreBoostedAndUnwound: c waits for b, b waits for a; each unlock takes back what
// belonged to its lock.
func TestChainsAreBoostedAndUnwound(t *testing.T) {
	r := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{PI: true}, {PI: true}}, Tasks: []workload.Task{
		once("a", 10, sleep(1*ms), lock(0), runFor(6*ms), unlock(0)),
		once("b", 20, sleep(2*ms), lock(1), lock(0), runFor(1*ms), unlock(0), runFor(1*ms), unlock(1)),
		once("mid", 25, sleep(4*ms), runFor(2*ms)),
		once("c", 30, sleep(3*ms), lock(1), runFor(1*ms), unlock(1)),
	}})
	r.wantRan(t, `0 idle
		1000 a-0
		7000 b-1
		9000 c-3
		10000 mid-2`)
	want := []string{"2000 a-0 10>20", "3000 b-1 20>30", "3000 a-0 20>30", "7000 a-0 30>10", "9000 b-1 30>20"}
	if diff := cmp.Diff(want, r.boosts()); diff != "" {
		t.Errorf("boosts (-want +got):\n%s", diff)
	}
}

// TestHandOver: a PI lock goes to the waiter with the highest priority, equal ones in the
// order of their arrival. Whoever gave it up and goes before that waiter takes it back, as
// long as the waiter has not run; rt_mutex_steal(). An equal one does not.
func TestHandOver(t *testing.T) {
	use := func(name string, prio int, after event.Time) workload.Task {
		return once(name, prio, sleep(after), lock(0), runFor(1*ms), unlock(0))
	}
	r := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{PI: true}}, Tasks: []workload.Task{
		once("owner", 50, sleep(1*ms), lock(0), sleep(4*ms), runFor(1*ms), unlock(0), lock(0), runFor(1*ms), unlock(0)),
		use("first", 20, 2*ms), use("second", 20, 3*ms), use("high", 40, 4*ms),
	}})
	r.wantRan(t, `0 idle
		5000 owner-0
		7000 high-3
		8000 first-1
		9000 second-2`)
	r = play(t, 1, 50*ms, &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{PI: true}}, Tasks: []workload.Task{
		once("owner", 20, sleep(1*ms), lock(0), sleep(4*ms), runFor(1*ms), unlock(0), lock(0), runFor(1*ms), unlock(0)),
		use("first", 20, 2*ms)}})
	r.wantRan(t, `0 idle
		5000 owner-0
		6000 first-1
		7000 owner-0`)
}

// TestPlainLocksCanBeSnatched: the waiter is woken, but the lock is open, and whoever runs
// takes it.
func TestPlainLocksCanBeSnatched(t *testing.T) {
	r := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{}}, Tasks: []workload.Task{
		once("owner", 50, lock(0), sleep(5*ms), unlock(0), runFor(1*ms), lock(0), runFor(1*ms), unlock(0)),
		once("waiter", 20, sleep(1*ms), lock(0), runFor(1*ms), unlock(0)),
	}})
	r.wantRan(t, `0 idle
		5000 owner-0
		7000 waiter-1`)
}

// TestWhoDiesHoldingAPILockHandsItOver as the kernel does at exit; a plain one is lost.
func TestWhoDiesHoldingALock(t *testing.T) {
	for _, pi := range []bool{true, false} {
		r := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{PI: pi}}, Tasks: []workload.Task{
			once("dies", 10, lock(0), runFor(3*ms)),
			once("waits", 20, sleep(1*ms), lock(0), runFor(1*ms), unlock(0)),
		}})
		if r.run.Done() != pi {
			t.Errorf("inheritance %v: the process ended: %v", pi, r.run.Done())
		}
	}
}

// TestConditions: signals go to the oldest group by priority, a lost one is lost, and the
// mutex is held again after the wait.
func TestConditions(t *testing.T) {
	wait := workload.Op{Kind: workload.OpWait}
	waiter := func(name string, prio int, after event.Time) workload.Task {
		return once(name, prio, sleep(after), lock(0), wait, runFor(1*ms), unlock(0))
	}
	signal, broadcast := op(workload.OpSignal), op(workload.OpBroadcast)
	r := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Conds: 1, Mutexes: []workload.Mutex{{PI: true}}, Tasks: []workload.Task{
		once("sig", 40, signal, sleep(4*ms), signal, sleep(4*ms), broadcast),
		waiter("low", 10, 1*ms), waiter("high", 20, 2*ms), waiter("late", 30, 5500*us),
	}})
	r.wantRan(t, `0 idle
		4000 high-2
		5000 idle
		8000 late-3
		9000 low-1`)
}

// TestSyncHandsTheTurnOver: signal and wait in one, as two tasks that take turns use it.
func TestSyncHandsTheTurnOver(t *testing.T) {
	sync := workload.Op{Kind: workload.OpSync}
	r := play(t, 1, 6*ms, &workload.Spec{Duration: -1, Conds: 1, Mutexes: []workload.Mutex{{}}, Tasks: []workload.Task{
		once("a", 10, lock(0), sleep(1*ms), sync, runFor(1*ms), sync, runFor(1*ms), unlock(0)),
		once("b", 20, sleep(500*us), lock(0), runFor(1*ms), sync, runFor(1*ms), sync, unlock(0)),
	}})
	r.wantRan(t, `0 idle
		1000 b-1
		2000 a-0
		3000 b-1
		4000 a-0`)
}

// TestBarrierReleasesAllAtTheLast and can be used again in the next round.
func TestBarrierReleasesAllAtTheLast(t *testing.T) {
	meet := op(workload.OpBarrier)
	spec := &workload.Spec{Duration: -1, Barriers: []workload.Barrier{{Parties: 3, PI: true}}}
	for i, work := range []event.Time{1 * ms, 2 * ms, 3 * ms} {
		a := task(string(rune('a'+i)), 10+i, runFor(work), meet)
		a.Loop = 2
		// Where fork puts them beside their parent on CPU 0: a thread sets its affinity itself, and where it is
		// first another could be on its way to keep it from that.
		a.CPUs = []event.CPU{event.CPU((i + 1) % 3)}
		spec.Tasks = append(spec.Tasks, a)
	}
	r := play(t, 3, 50*ms, spec)
	for i := range 3 {
		r.wantRounds(t, i, "0 3000 0 0", "3000 6000 0 0")
	}
	if !r.run.Done() {
		t.Error("somebody still waits")
	}
}

// TestSuspendAndResume: who is suspended goes when another one resumes it, but waits for the
// mutex first; a resume that finds nobody is lost.
func TestSuspendAndResume(t *testing.T) {
	suspend, resume := op(workload.OpSuspend), op(workload.OpResume)
	r := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Conds: 1, Mutexes: []workload.Mutex{{}}, Tasks: []workload.Task{
		once("by", 10, resume, sleep(2*ms), resume, runFor(1*ms)),
		once("on", 20, sleep(1*ms), suspend, runFor(3*ms)),
	}})
	r.wantRan(t, `0 idle
		2000 on-1
		5000 by-0`)
	switches := 0
	for i := range r.events {
		if ev := &r.events[i]; ev.Kind == event.SchedSwitch && ev.Time == 2*ms {
			switches++
		}
	}
	// idle → by (its sleep is over), → on (woken), → by (has the mutex), → on.
	if switches != 4 {
		t.Errorf("%d switches at 2 ms, want 4", switches)
	}
}

// TestSemaphoresRemember what was posted before anybody waited.
func TestSemaphoresRemember(t *testing.T) {
	post, wait := op(workload.OpSemPost), op(workload.OpSemWait)
	r := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Sems: 1, Tasks: []workload.Task{
		once("post", 10, post, post, sleep(5*ms), post),
		once("wait", 20, sleep(1*ms), wait, runFor(1*ms), wait, runFor(1*ms), wait, runFor(1*ms)),
	}})
	r.wantRan(t, `0 idle
		1000 wait-1
		3000 idle
		5000 wait-1`)
}

// TestForkedThreads do not wait for the others and have names of their own.
func TestForkedThreads(t *testing.T) {
	child := once("kid", 30, runFor(1*ms))
	child.Instances = 0
	r := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Forks: 2, Tasks: []workload.Task{
		once("pa", 40, sleep(1*ms), workload.Op{Kind: workload.OpFork, Ref: 1}, runFor(1*ms), workload.Op{Kind: workload.OpFork, Ref: 1, Site: 1}),
		child,
	}})
	var forks []string
	for i := range r.events {
		if ev := &r.events[i]; ev.Kind == event.SchedProcessFork {
			forks = append(forks, fmt.Sprintf("%d %s>%d", ev.Time/us, r.names.String(ev.TaskComm), ev.Next))
		}
	}
	if diff := cmp.Diff([]string{"0 main>101", "1000 pa-0>102", "2000 pa-0>103"}, forks); diff != "" {
		t.Errorf("forks (-want +got):\n%s", diff)
	}
	// A kid is born with its parent's priority and does not preempt it. Once it lowers its
	// own, it stands in front of its new equals: so the second kid goes first.
	r.wantRan(t, `0 idle
		1000 pa-0
		2000 kid-2-0000
		3000 kid-1-0000`)
	if !r.run.Done() {
		t.Error("the main thread did not wait for the forked ones")
	}
}

// TestVerdictsEndTheProcess: what the kernel refuses is told with its errno.
func TestVerdictsEndTheProcess(t *testing.T) {
	dl := once("dl", 0, runFor(1*ms))
	dl.Attr = &sched.Attr{Policy: sched.Deadline, Runtime: 10 * ms, Deadline: 10 * ms}
	over := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Tasks: []workload.Task{dl}})
	bad := once("bad", 100, runFor(1*ms))
	none := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Tasks: []workload.Task{bad}})
	for _, c := range []struct {
		r    *record
		want string
	}{{over, "EBUSY"}, {none, "EINVAL"}} {
		if len(c.r.said) != 1 || !strings.Contains(c.r.said[0].Error(), c.want) {
			t.Errorf("verdicts %v, want one %s", c.r.said, c.want)
		}
	}
}

// TestQueuesReleaseAllThatWait, as a message thread wakes its workers: one after the
// other, the last who came first, and each goes at once where it may.
func TestQueuesReleaseAllThatWait(t *testing.T) {
	worker := func(n string) workload.Task { return task(n, 10, op(workload.OpEnqueue), runFor(2*ms)) }
	r := play(t, 1, 19*ms, &workload.Spec{Duration: -1, Queues: 1, Tasks: []workload.Task{
		task("msg", 20, sleep(10*ms), op(workload.OpRelease)), worker("x"), worker("y"),
	}})
	r.wantRan(t, `0 idle
		10000 x-1
		12000 y-2`)
}

// TestSchbenchLoop: the keeper sleeps only once somebody has queued itself, however long that takes;
// a latency counts from the keeper's stamp before its first wake.
func TestSchbenchLoop(t *testing.T) {
	worker := task("w", 10, workload.Op{Kind: workload.OpSpin, NS: 5 * ms}, op(workload.OpEnqueue))
	worker.Instances, worker.Delay = 2, 1*ms // the keeper begins in front of them
	r := play(t, 1, 20*ms, &workload.Spec{Duration: -1, Queues: 1, Tasks: []workload.Task{
		task("msg", 20, op(workload.OpRelease), op(workload.OpAwait), sleep(3*ms)), worker,
	}})
	// one is in the queue at 6 ms, the keeper wakes and sleeps until 9; the other has the CPU until 11, so the
	// first is 2 ms late. The second is queued at 11, which ends the keeper's second wait, and released at 14.
	r.wantRan(t, `0 idle
		1000 w-2
		6000 w-1
		11000 w-2
		16000 w-1`)
	var got []event.Time
	for _, l := range r.loops {
		if l.Thread > 0 {
			got = append(got, l.End/us, l.WakeupLatency/us)
		}
	}
	if d := cmp.Diff([]event.Time{11000, 2000, 16000, 2000}, got); d != "" {
		t.Errorf("ends and latencies of rounds (-want +got):%s", d)
	}
}

// TestSpinEndsByTheClock: whoever had the CPU meanwhile; a task that comes back too late notices as soon
// as it looks.
func TestSpinEndsByTheClock(t *testing.T) {
	for _, c := range []struct{ at, length, end event.Time }{{2 * ms, 2 * ms, 5 * ms}, {2 * ms, 7 * ms, 9 * ms}, {6 * ms, ms, 5 * ms}} {
		r := play(t, 1, 19*ms, &workload.Spec{Duration: -1, Tasks: []workload.Task{
			once("spin", 10, workload.Op{Kind: workload.OpSpin, NS: 5 * ms}), once("hi", 20, sleep(c.at), runFor(c.length))}})
		for _, l := range r.loops {
			if l.Thread == 0 && l.End != c.end {
				t.Errorf("taken away from %d for %d: the spin ends at %d, want %d", c.at, c.length, l.End, c.end)
			}
		}
	}
}
