package workload_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// spans are the jobs of a run in µs: released, done.
func spans(jobs []workload.Job) [][2]event.Time {
	var list [][2]event.Time
	for _, j := range jobs {
		list = append(list, [2]event.Time{j.Released / us, j.Done / us})
	}
	return list
}

func loner(later []event.Time, ops ...workload.Op) *workload.Spec {
	return &workload.Spec{Duration: 60 * ms, Sems: 1, Tasks: []workload.Task{{Name: "t", Instances: 1, Loop: -1, Timers: 1, Later: later,
		Attr: &sched.Attr{Policy: sched.FIFO, Priority: 50}, Phases: []workload.Phase{{Loop: 1, Ops: ops}}}}}
}

// TestJobsBeginWhereTheTimerWasDue, not where the task came to run; a sleep that is longer moves
// all behind it, and the work before the first sleep is no job.
func TestJobsBeginWhereTheTimerWasDue(t *testing.T) {
	run := workload.Op{Kind: workload.OpRun, NS: 2 * ms}
	timer := workload.Op{Kind: workload.OpUnique, NS: 10 * ms, Timer: workload.TimerAbsolute}
	r := play(t, 1, 50*ms, loner([]event.Time{0, 3 * ms}, run, timer))
	want := [][2]event.Time{{10_000, 12_000}, {23_000, 25_000}, {33_000, 35_000}, {43_000, 45_000}}
	if d := cmp.Diff(want, spans(r.jobs)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for i, j := range r.jobs {
		if j.Sleep != i || j.Expires != j.Released {
			t.Errorf("job %d: sleep %d, due %d, expires %d", i, j.Sleep, j.Released, j.Expires)
		}
	}
}

// TestJobsOfMissedTimersBeginWhereTheTimerStood: 25 ms of work every 10 ms; on a grid the
// backlog grows, else each job begins when the one before it is done.
func TestJobsOfMissedTimersBeginWhereTheTimerStood(t *testing.T) {
	run := workload.Op{Kind: workload.OpRun, NS: 25 * ms}
	timer := workload.Op{Kind: workload.OpUnique, NS: 10 * ms, Timer: workload.TimerAbsolute}
	r := play(t, 1, 90*ms, loner(nil, run, timer))
	if d := cmp.Diff([][2]event.Time{{10_000, 50_000}, {20_000, 75_000}}, spans(r.jobs)); d != "" {
		t.Errorf("absolute (-want +got)\n%s", d)
	}
	timer.Timer = workload.TimerRelative
	r = play(t, 1, 90*ms, loner(nil, run, timer))
	if d := cmp.Diff([][2]event.Time{{25_000, 50_000}, {50_000, 75_000}}, spans(r.jobs)); d != "" {
		t.Errorf("relative (-want +got)\n%s", d)
	}
}

// TestJobsOfSleepsAndSemaphores: a sleep ends when its time is over; a semaphore when it is
// raised, if the task was there before.
func TestJobsOfSleepsAndSemaphores(t *testing.T) {
	run := workload.Op{Kind: workload.OpRun, NS: 2 * ms}
	r := play(t, 1, 30*ms, loner([]event.Time{1 * ms}, run, workload.Op{Kind: workload.OpSleep, NS: 5 * ms}))
	if d := cmp.Diff([][2]event.Time{{8_000, 10_000}, {15_000, 17_000}, {22_000, 24_000}}, spans(r.jobs)); d != "" {
		t.Errorf("sleep (-want +got)\n%s", d)
	}
	spec := loner(nil, workload.Op{Kind: workload.OpSemWait}, run)
	spec.Tasks = append(spec.Tasks, workload.Task{Name: "p", Instances: 1, Loop: -1, Delay: 1 * ms, Attr: &sched.Attr{Policy: sched.FIFO, Priority: 90},
		Phases: []workload.Phase{{Loop: 1, Ops: []workload.Op{{Kind: workload.OpSemPost}, {Kind: workload.OpRun, NS: 1 * ms}, {Kind: workload.OpSleep, NS: 9 * ms}}}}})
	r = play(t, 1, 30*ms, spec)
	var of []workload.Job
	for _, j := range r.jobs {
		if j.Task == 0 {
			of = append(of, j)
		}
	}
	if d := cmp.Diff([][2]event.Time{{1_000, 4_000}, {11_000, 14_000}, {21_000, 24_000}}, spans(of)); d != "" {
		t.Errorf("semaphore (-want +got)\n%s", d)
	}
	for _, j := range of {
		if j.Sleep != -1 {
			t.Errorf("a job after a semaphore has sleep %d", j.Sleep)
		}
	}
}

// TestJobsThatAreNotDoneArePending at any time.
func TestJobsThatAreNotDoneArePending(t *testing.T) {
	r := play(t, 1, 11*ms, loner(nil, workload.Op{Kind: workload.OpRun, NS: 2 * ms}, workload.Op{Kind: workload.OpUnique, NS: 10 * ms}))
	var got []workload.Job
	r.run.Pending(func(j workload.Job) { got = append(got, j) })
	if len(got) != 1 || got[0].Released != 10*ms || got[0].Done != event.NoTime || got[0].Response(r.m.Now()) != 1*ms || r.run.Begun() != 2*ms {
		t.Errorf("pending %+v, all begun at %d", got, r.run.Begun())
	}
}
