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

// on runs spec on a machine with a preemption model.
func on(t *testing.T, model sched.PreemptModel, cpus int, until event.Time, spec *workload.Spec) *record {
	t.Helper()
	c := sched.DefaultConfig(cpus)
	c.Preempt = model
	return playOn(t, machine.Config{Sched: c, NoTick: true}, until, spec)
}

func deadline(runtime, period event.Time) *sched.Attr {
	return &sched.Attr{Policy: sched.Deadline, Runtime: runtime, Deadline: period, Period: period}
}

// TestDeadlineWaitersByDeadline: of two deadline tasks that wait for a PI mutex the one with
// the earlier deadline goes first, though it came later; the holder has its deadline then.
// A plain futex keeps them in the order of arrival.
func TestDeadlineWaitersByDeadline(t *testing.T) {
	for _, c := range []struct {
		pi    bool
		order string
	}{{true, "holder soon late"}, {false, "holder late soon"}} {
		use := func(name string, at event.Time, period event.Time) workload.Task {
			w := once(name, 1, sleep(at), lock(0), runFor(1*ms), unlock(0))
			w.Comm, w.Attr = name, deadline(3*ms, period)
			return w
		}
		holder := once("holder", 10, sleep(1*ms), lock(0), runFor(4*ms), unlock(0))
		holder.Comm = "holder"
		r := play(t, 1, 60*ms, &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{PI: c.pi}}, Tasks: []workload.Task{
			holder, use("late", 2*ms, 100*ms), use("soon", 3*ms, 20*ms)}})
		var order []string
		for _, line := range strings.Split(strings.TrimSpace(r.ran.String()), "\n") {
			if _, name, _ := strings.Cut(line, " "); name != "idle" {
				order = append(order, name)
			}
		}
		if got := strings.Join(order, " "); got != c.order {
			t.Errorf("inheritance %v: %s ran, want %s", c.pi, got, c.order)
		}
	}
}

// TestPriorityCeiling: the holder has the ceiling from its lock on, without waiting for
// somebody who wants it; who is in the middle never comes between.
func TestPriorityCeiling(t *testing.T) {
	r := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{Ceiling: 30}}, Tasks: []workload.Task{
		once("lo", 10, sleep(1*ms), lock(0), runFor(4*ms), unlock(0), runFor(1*ms)),
		once("mid", 20, sleep(2*ms), runFor(2*ms)),
		once("hi", 30, sleep(3*ms), lock(0), runFor(1*ms), unlock(0)),
	}})
	r.wantRan(t, `0 idle
		1000 lo-0
		5000 hi-2
		6000 mid-1
		8000 lo-0`)
	if b := r.boosts(); len(b) > 0 {
		t.Errorf("a ceiling is set by sched_setscheduler(2), which has no event: %v", b)
	}
	if len(r.said) > 0 {
		t.Errorf("refused: %v", r.said)
	}
}

// TestCeilingsNest: the highest of those held counts, and each unlock gives its own back.
func TestCeilingsNest(t *testing.T) {
	r := play(t, 1, 50*ms, &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{Ceiling: 20}, {Ceiling: 40}}, Tasks: []workload.Task{
		once("a", 10, sleep(1*ms), lock(0), runFor(1*ms), lock(1), runFor(2*ms), unlock(1), runFor(1*ms), unlock(0), runFor(1*ms)),
		once("b", 15, sleep(2*ms), runFor(1*ms)),
		once("c", 30, sleep(3*ms), runFor(1*ms)),
	}})
	r.wantRan(t, `0 idle
		1000 a-0
		4000 c-2
		5000 a-0
		6000 b-1
		7000 a-0`)
}

// TestCeilingThatIsTooLow is EINVAL, and so is one for a task without a priority.
func TestCeilingThatIsTooLow(t *testing.T) {
	fair := once("fair", 1, lock(0))
	fair.Attr = &sched.Attr{Policy: sched.Normal}
	for _, task := range []workload.Task{once("high", 31, lock(0)), fair} {
		r := play(t, 1, 10*ms, &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{Ceiling: 30}}, Tasks: []workload.Task{task}})
		if len(r.said) != 1 || !strings.Contains(r.said[0].Error(), "EINVAL") {
			t.Errorf("%s: %v, want EINVAL", task.Name, r.said)
		}
	}
}

// TestRobustMutex: the owner ends with the lock; the waiter gets a robust one with
// EOWNERDEAD, of whatever protocol, and one that is not robust never. A PI mutex that
// somebody waits for is handed over all the same.
func TestRobustMutex(t *testing.T) {
	for _, c := range []struct {
		mutex        workload.Mutex
		waits, later bool // whether who waits, and who comes later, gets it
		deaths       int
	}{
		{workload.Mutex{}, false, false, 0},
		{workload.Mutex{Robust: true}, true, true, 1},
		{workload.Mutex{PI: true}, true, true, 0},
		{workload.Mutex{PI: true, Robust: true}, true, true, 1},
		{workload.Mutex{Ceiling: 50, Robust: true}, true, true, 1},
	} {
		r := play(t, 1, 50*ms, &workload.Spec{Duration: 20 * ms, Mutexes: []workload.Mutex{c.mutex}, Tasks: []workload.Task{
			once("owner", 10, sleep(1*ms), lock(0), runFor(2*ms)),
			once("waits", 20, sleep(2*ms), lock(0), runFor(1*ms), unlock(0)),
			once("later", 20, sleep(5*ms), lock(0), runFor(1*ms), unlock(0)),
		}})
		ran := r.ran.String()
		if strings.Contains(ran, "waits-1") != c.waits || strings.Contains(ran, "later-2") != c.later || r.run.OwnerDeaths() != c.deaths {
			t.Errorf("%+v: %d deaths of owners, ran\n%s", c.mutex, r.run.OwnerDeaths(), ran)
		}
	}
}

// TestRobustMutexWithoutWaiter: who comes after the owner's death finds it open.
func TestRobustMutexWithoutWaiter(t *testing.T) {
	for _, c := range []struct {
		mutex workload.Mutex
		opens bool
	}{{workload.Mutex{}, false}, {workload.Mutex{PI: true}, false}, {workload.Mutex{Robust: true}, true}, {workload.Mutex{PI: true, Robust: true}, true}} {
		r := play(t, 1, 50*ms, &workload.Spec{Duration: 20 * ms, Mutexes: []workload.Mutex{c.mutex}, Tasks: []workload.Task{
			once("owner", 10, sleep(1*ms), lock(0), runFor(2*ms)),
			once("later", 20, sleep(5*ms), lock(0), runFor(1*ms), unlock(0)),
		}})
		if got := strings.Contains(r.ran.String(), "later-1"); got != c.opens {
			t.Errorf("%+v: opened %v\n%s", c.mutex, got, r.ran.String())
		}
	}
}

// spinning: lo holds the spinlock from 1 to 5 ms, on CPU 0 with hi, which wakes at 2 ms and
// does not want it; other wants it from 3 ms on, on CPU 1.
func spinning() *workload.Spec {
	lo := once("lo", 10, sleep(1*ms), lock(0), runFor(4*ms), unlock(0), runFor(1*ms))
	hi := once("hi", 30, sleep(2*ms), runFor(2*ms))
	other := once("other", 20, sleep(3*ms), lock(0), runFor(1*ms), unlock(0))
	lo.CPUs, hi.CPUs, other.CPUs = []event.CPU{0}, []event.CPU{0}, []event.CPU{1}
	return &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{Spin: true}}, Tasks: []workload.Task{lo, hi, other}}
}

// TestSpinlockHoldsPreemptionOff without PREEMPT_RT: hi waits for the end of the section,
// and other spins on its CPU; nobody is boosted.
func TestSpinlockHoldsPreemptionOff(t *testing.T) {
	for _, model := range []sched.PreemptModel{sched.PreemptFull, sched.PreemptNone, sched.PreemptVoluntary} {
		r := on(t, model, 2, 50*ms, spinning())
		r.wantRan(t, `0 idle
			1000 lo-0
			5000 hi-1
			7000 lo-0`)
		if b := r.boosts(); len(b) > 0 {
			t.Errorf("boosted: %v", b)
		}
		if diff := cmp.Diff([]event.Time{3 * ms, 6 * ms}, r.stays("other-2")); diff != "" {
			t.Errorf("other on CPU 1 (-want +got):\n%s", diff)
		}
	}
}

// TestSpinlockSleepsOnPreemptRT: there hi preempts the holder, and other sleeps, which
// boosts the holder to 20, below hi.
func TestSpinlockSleepsOnPreemptRT(t *testing.T) {
	r := on(t, sched.PreemptRT, 2, 50*ms, spinning())
	r.wantRan(t, `0 idle
		1000 lo-0
		2000 hi-1
		4000 lo-0`)
	if diff := cmp.Diff([]string{"3000 lo-0 10>20", "7000 lo-0 20>10"}, r.boosts()); diff != "" {
		t.Errorf("boosts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]event.Time{3 * ms, 3 * ms, 7 * ms, 8 * ms}, r.stays("other-2")); diff != "" {
		t.Errorf("other on CPU 1 (-want +got):\n%s", diff)
	}
}

// TestSleepingInASpinlock is what the kernel complains of.
func TestSleepingInASpinlock(t *testing.T) {
	r := play(t, 1, 10*ms, &workload.Spec{Duration: -1, Mutexes: []workload.Mutex{{Spin: true}}, Tasks: []workload.Task{once("a", 5, lock(0), sleep(ms), unlock(0))}})
	if len(r.said) != 1 || !strings.Contains(r.said[0].Error(), "atomic") {
		t.Errorf("%v, want a word about sleeping in a spinlock", r.said)
	}
}

// stays lists when comm came to a CPU and left, beginning with the last sleep of its life
// that was longer than its start.
func (r *record) stays(comm string) []event.Time {
	var list []event.Time
	for i := range r.events {
		ev := &r.events[i]
		switch {
		case ev.Kind != event.SchedSwitch || ev.Time == 0:
		case r.names.String(ev.NextComm) == comm, r.names.String(ev.TaskComm) == comm:
			list = append(list, ev.Time)
		}
	}
	return list
}
