package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

const us, ms event.Time = 1_000, 1_000_000

// record runs spec on a machine without ticks and costs and returns what happened.
type record struct {
	names *event.Names
	m     *machine.Machine
	run   *workload.Run
	ran   strings.Builder // "at name" of every switch to a thread that then took time
	loops []workload.Loop
	jobs  []workload.Job
	said  []error

	last   string // on CPU 0, since lastAt
	told   string // the last one in ran
	lastAt event.Time
	events []event.Event
}

func play(t *testing.T, cpus int, until event.Time, spec *workload.Spec) *record {
	t.Helper()
	return playOn(t, machine.Config{Sched: sched.DefaultConfig(cpus), NoTick: true}, until, spec)
}

// playOn is play on any machine.
func playOn(t *testing.T, config machine.Config, until event.Time, spec *workload.Spec) *record {
	t.Helper()
	r := &record{names: event.NewNames(), last: "idle"}
	spec.Comm, spec.PID = "main", 100
	r.m = machine.New(config, r.names, r.see)
	var err error
	if r.run, err = workload.Load(r.m, spec); err != nil {
		t.Fatal(err)
	}
	r.run.OnLoop = func(l workload.Loop) { r.loops = append(r.loops, l) }
	r.run.OnJob = func(j workload.Job) { r.jobs = append(r.jobs, j) }
	r.run.OnVerdict = func(err error) { r.said = append(r.said, err) }
	if err := r.m.RunUntil(until); err != nil {
		t.Fatal(err)
	}
	return r
}

// see follows who runs on CPU 0.
func (r *record) see(ev *event.Event) {
	r.events = append(r.events, *ev)
	if ev.Kind == event.TaskRename && ev.CPU == 0 {
		r.last = r.names.String(ev.NextComm)
	}
	if ev.Kind != event.SchedSwitch || ev.CPU != 0 {
		return
	}
	next := r.names.String(ev.NextComm)
	if ev.Next == 0 {
		next = "idle"
	}
	if ev.Time > r.lastAt && r.last != r.told {
		fmt.Fprintf(&r.ran, "%d %s\n", r.lastAt/us, r.last)
		r.told = r.last
	}
	r.last, r.lastAt = next, ev.Time
}

// wantRan compares who ran on CPU 0, from which µs on, with the lines of want.
func (r *record) wantRan(t *testing.T, want string) {
	t.Helper()
	want = strings.ReplaceAll(strings.TrimSpace(want), "\t", "")
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(strings.TrimSpace(r.ran.String()), "\n")); diff != "" {
		t.Errorf("who ran (-want +got):\n%s", diff)
	}
}

// rounds returns the log lines of thread n as "start end slack wu_lat" in µs.
func (r *record) rounds(n int) []string {
	var list []string
	for _, l := range r.loops {
		if l.Thread == n {
			list = append(list, fmt.Sprintf("%d %d %d %d", l.Start/us, l.End/us, l.Slack/us, l.WakeupLatency/us))
		}
	}
	return list
}

func (r *record) wantRounds(t *testing.T, thread int, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.rounds(thread)); diff != "" {
		t.Errorf("log of thread %d (-want +got):\n%s", thread, diff)
	}
}

func fifo(prio int) *sched.Attr { return &sched.Attr{Policy: sched.FIFO, Priority: prio} }

// task is a task of one phase that runs for ever.
func task(name string, prio int, ops ...workload.Op) workload.Task {
	return workload.Task{Name: name, Instances: 1, Loop: -1, Attr: fifo(prio), Timers: 1,
		Phases: []workload.Phase{{Loop: 1, Ops: ops}}}
}

func runFor(ns event.Time) workload.Op { return workload.Op{Kind: workload.OpRun, NS: ns} }
func every(ns event.Time) workload.Op  { return workload.Op{Kind: workload.OpUnique, NS: ns} }
func op(k workload.OpKind) workload.Op { return workload.Op{Kind: k} }

// TestRelativeTimersStartAnew: a timer that was missed sleeps not at all, reports no
// latency and counts on from now.
func TestRelativeTimersStartAnew(t *testing.T) {
	r := play(t, 1, 30*ms, &workload.Spec{Duration: -1, Tasks: []workload.Task{{
		Name: "a", Instances: 1, Loop: 1, Attr: fifo(5), Timers: 1,
		Phases: []workload.Phase{
			{Loop: 1, Ops: []workload.Op{runFor(14 * ms), every(10 * ms)}},
			{Loop: 2, Ops: []workload.Op{runFor(1 * ms), every(5 * ms)}},
		}}}})
	// Missed at 10 ms: next is 14 ms. Then 19 and 24 ms.
	r.wantRounds(t, 0, "0 14000 -4000 0", "14000 19000 4000 0", "19000 24000 4000 0")
	r.wantRan(t, `0 a-0
		15000 idle
		19000 a-0
		20000 idle`)
	if !r.run.Done() {
		t.Error("the process has not ended")
	}
}

// TestAbsoluteTimersKeepTheirGrid: after a miss the rounds follow each other until the
// grid is reached again.
func TestAbsoluteTimersKeepTheirGrid(t *testing.T) {
	abs := workload.Op{Kind: workload.OpUnique, NS: 5 * ms, Timer: workload.TimerAbsolute}
	r := play(t, 1, 40*ms, &workload.Spec{Duration: -1, Tasks: []workload.Task{{
		Name: "a", Instances: 1, Loop: 1, Attr: fifo(5), Timers: 1,
		Phases: []workload.Phase{
			{Loop: 1, Ops: []workload.Op{runFor(14 * ms), abs}},
			{Loop: 3, Ops: []workload.Op{runFor(1 * ms), abs}},
		}}}})
	// Grid 5, 10, 15, 20: missed at 14 (5) and 15 ms (10); on time for 20 ms after a miss of
	// 15 at 16 ms.
	r.wantRounds(t, 0, "0 14000 -9000 0", "14000 15000 -5000 0", "15000 16000 -1000 0", "16000 20000 3000 0")
}

// TestSkippingTimersStayOnTheGrid is what cyclictest does after an overrun.
func TestSkippingTimersStayOnTheGrid(t *testing.T) {
	skip := workload.Op{Kind: workload.OpUnique, NS: 5 * ms, Timer: workload.TimerSkip}
	r := play(t, 1, 40*ms, &workload.Spec{Duration: -1, Tasks: []workload.Task{{
		Name: "a", Instances: 1, Loop: 1, Attr: fifo(5), Timers: 1,
		Phases: []workload.Phase{
			{Loop: 1, Ops: []workload.Op{runFor(12 * ms), skip}},
			{Loop: 1, Ops: []workload.Op{runFor(1 * ms), skip}},
		}}}})
	r.wantRounds(t, 0, "0 15000 3000 0", "15000 20000 4000 0")
}

// TestSharedTimer: a timer without "unique" belongs to all: each use moves it on.
func TestSharedTimer(t *testing.T) {
	shared := workload.Op{Kind: workload.OpTimer, NS: 4 * ms}
	tasks := []workload.Task{task("a", 9, runFor(1*ms), shared), task("b", 8, runFor(1*ms), shared)}
	tasks[0].Loop, tasks[1].Loop = 2, 2
	r := play(t, 1, 40*ms, &workload.Spec{Duration: -1, Timers: 1, Tasks: tasks})
	// b meets a at the gate, so b begins; it asks at 1 ms and gets 4 ms, a at 2 ms gets 8 ms,
	// and so on: 12 ms for b at 5 ms, 16 ms for a at 9 ms. The latency is taken against the
	// shared timer, which the other one has moved 4 ms further: less than nothing.
	r.wantRounds(t, 0, "1000 8000 6000 -4000", "8000 16000 7000 0")
	r.wantRounds(t, 1, "0 4000 3000 -4000", "4000 12000 7000 -4000")
}

// TestRuntimeCountsPreemption: runtime ends by the clock, run by the work done.
func TestRuntimeCountsPreemption(t *testing.T) {
	// A task takes its policy when it first runs, here the last one first.
	hi := task("hi", 50, workload.Op{Kind: workload.OpSleep, NS: 1 * ms}, runFor(2*ms))
	hi.Loop = 1
	byWork := task("work", 5, runFor(3*ms))
	byClock := task("clock", 4, workload.Op{Kind: workload.OpRuntime, NS: 3 * ms, Piece: 500 * us})
	byWork.Loop, byClock.Loop = 1, 1
	r := play(t, 1, 40*ms, &workload.Spec{Duration: -1, Tasks: []workload.Task{byWork, hi}})
	r.wantRan(t, `0 work-0
		1000 hi-1
		3000 work-0`)
	r = play(t, 1, 40*ms, &workload.Spec{Duration: -1, Tasks: []workload.Task{byClock, hi}})
	r.wantRan(t, `0 clock-0
		1000 hi-1
		3000 clock-0`)
	// Its time is over at 3 ms, but the piece of work in hand is finished first.
	r.wantRounds(t, 0, "0 3500 0 0")
	if last := r.events[len(r.events)-1]; last.Time != 3500*us {
		t.Errorf("all was over at %d, want 3.5 ms", last.Time)
	}
}

// TestDelayMovesTheTimersToo: a delayed task counts its periods from the delay on.
func TestDelayMovesTheTimersToo(t *testing.T) {
	a := task("a", 5, runFor(1*ms), every(10*ms))
	a.Delay, a.Loop = 3*ms, 2
	r := play(t, 1, 40*ms, &workload.Spec{Duration: -1, Tasks: []workload.Task{a}})
	r.wantRounds(t, 0, "3000 13000 9000 0", "13000 23000 9000 0")
}

// TestLoopsOfPhasesAndTasks: the operations of a phase, its loop, the next phase, then the
// task's own loop.
func TestLoopsOfPhasesAndTasks(t *testing.T) {
	r := play(t, 1, 400*ms, &workload.Spec{Duration: -1, Tasks: []workload.Task{{
		Name: "a", Instances: 2, Loop: 2, Attr: fifo(5), Timers: 1,
		Phases: []workload.Phase{
			{Loop: 3, Ops: []workload.Op{{Kind: workload.OpSleep, NS: 1 * ms}}},
			{Loop: 1, Ops: []workload.Op{{Kind: workload.OpSleep, NS: 5 * ms}}},
		}}}})
	want := []string{"0 1000 0 0", "1000 2000 0 0", "2000 3000 0 0", "3000 8000 0 0",
		"8000 9000 0 0", "9000 10000 0 0", "10000 11000 0 0", "11000 16000 0 0"}
	r.wantRounds(t, 0, want...)
	r.wantRounds(t, 1, want...)
}

// TestDurationCancelsAll: whoever sleeps goes at once, whoever runs before its next
// operation; the lock of one that is cancelled while it holds it is worked off.
func TestDurationCancelsAll(t *testing.T) {
	r := play(t, 2, 100*ms, &workload.Spec{Duration: 10 * ms, Mutexes: []workload.Mutex{{}}, Tasks: []workload.Task{
		task("sleeper", 5, workload.Op{Kind: workload.OpSleep, NS: 1000 * ms}),
		task("worker", 6, op(workload.OpLock), runFor(12*ms), workload.Op{Kind: workload.OpSleep, NS: 50 * ms}, op(workload.OpUnlock)),
		task("waiter", 4, workload.Op{Kind: workload.OpSleep, NS: 1 * ms}, op(workload.OpLock), op(workload.OpUnlock)),
	}})
	if !r.run.Done() {
		t.Fatal("the process has not ended")
	}
	died := map[string]event.Time{}
	for i := range r.events {
		if ev := &r.events[i]; ev.Kind == event.SchedProcessExit {
			died[r.names.String(ev.TaskComm)] = ev.Time / us
		}
	}
	want := map[string]event.Time{"sleeper-0": 10_000, "worker-1": 12_000, "waiter-2": 12_000, "main": 12_000}
	if diff := cmp.Diff(want, died); diff != "" {
		t.Errorf("who died when (-want +got):\n%s", diff)
	}
}
