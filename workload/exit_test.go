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

// onPaper are costs with which every figure of these tests can be added up by hand.
var onPaper = workload.Costs{Exit: 30 * us, ExitMM: 100 * us, ExitVMA: 10 * us, ExitPage: 1 * us, ExitFree: 500,
	CoreMB: 1 * ms, Fault: 2 * us, Touch: 8 * us, Fork: 50 * us, Exec: 150 * us}

// victim is a process of 1,000 pages in 5 pieces, all locked: its teardown takes
// 100 + 1,000 + 500 + 5·10 = 1,650 µs, the rest of its exit 30 µs.
func victim(attr *sched.Attr, exit *workload.Exit) workload.Task {
	return workload.Task{Name: "victim", Comm: "victim", Instances: 1, Loop: -1, Attr: attr,
		Memory: &workload.Memory{Pages: 1000, VMAs: 5, Locked: true}, Exit: exit,
		Phases: []workload.Phase{{Loop: 1, Ops: []workload.Op{sleep(1000 * ms)}}}}
}

// cyclic looks every 2 ms whether it may run, for 10 µs.
func cyclic(prio int) workload.Task {
	t := task("cyclic", prio, every(2*ms), runFor(10*us))
	t.Comm = "cyclic"
	return t
}

func ended(after event.Time) *workload.Exit { return &workload.Exit{After: after, Post: -1} }

// story lists the events of the named tasks that tell of an exit, with their µs.
func (r *record) story(comm string) []string {
	var list []string
	say := func(ev *event.Event, format string, args ...any) {
		list = append(list, fmt.Sprintf("%d.%03d ", ev.Time/us, ev.Time%us)+fmt.Sprintf(format, args...))
	}
	for i := range r.events {
		ev := &r.events[i]
		mine := func(n event.Name) bool { return r.names.String(n) == comm }
		switch ev.Kind {
		case event.SysEnter, event.SignalDeliver:
			changesClass := ev.Kind == event.SysEnter && (ev.Arg == 142 || ev.Arg == 314) // of its life
			if mine(ev.Comm) && !changesClass {
				say(ev, "%s %d", ev.Kind, ev.Arg)
			}
		case event.SignalGenerate, event.SchedProcessExit:
			if mine(ev.TaskComm) || mine(ev.Comm) && ev.Kind == event.SignalGenerate {
				say(ev, "%s %s %d", ev.Kind, r.names.String(ev.TaskComm), max(ev.Arg, -1))
			}
		case event.SchedSwitch:
			if mine(ev.TaskComm) {
				say(ev, "leaves [%d] %s", ev.TaskPrio, ev.State)
			} else if mine(ev.NextComm) {
				say(ev, "comes [%d]", ev.NextPrio)
			}
		}
	}
	return list
}

func (r *record) wantStory(t *testing.T, comm, want string) {
	t.Helper()
	want = strings.ReplaceAll(strings.TrimSpace(want), "\t", "")
	got := r.story(comm)
	for len(got) > 0 && !strings.Contains(got[0], "sys_enter") && !strings.Contains(got[0], "signal_") {
		got = got[1:] // its life
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), got); diff != "" {
		t.Errorf("the end of %s (-want +got):\n%s", comm, diff)
	}
}

// waits returns how long each wakeup of comm waited, in ns, where it waited.
func (r *record) waits(comm string) []event.Time {
	var list []event.Time
	woken := event.NoTime
	for i := range r.events {
		ev := &r.events[i]
		switch {
		case ev.Kind == event.SchedWaking && r.names.String(ev.TaskComm) == comm:
			woken = ev.Time
		case ev.Kind == event.SchedSwitch && r.names.String(ev.NextComm) == comm && woken != event.NoTime:
			if ev.Time > woken {
				list = append(list, ev.Time-woken)
			}
			woken = event.NoTime
		}
	}
	return list
}

// TestExitTeardownOnPaper is the case of 2016: a SCHED_RR 11 process that has locked its
// memory exits at 5 ms; a SCHED_FIFO 10 task wakes at 6 ms.
func TestExitTeardownOnPaper(t *testing.T) {
	for _, c := range []struct {
		normalize workload.Normalize
		attr      *sched.Attr
		story     string
		waits     []event.Time
	}{
		{workload.NormalizeOff, &sched.Attr{Policy: sched.RR, Priority: 11}, `5000.000 sys_enter 231
			6650.000 sched_process_exit victim -1
			6680.000 signal_generate main 17
			6680.000 leaves [88] Z`, []event.Time{680 * us}},
		{workload.NormalizeRT, &sched.Attr{Policy: sched.RR, Priority: 11}, `5000.000 sys_enter 231
			6000.000 leaves [120] R+
			6010.000 comes [120]
			6660.000 sched_process_exit victim -1
			6690.000 signal_generate main 17
			6690.000 leaves [120] Z`, nil},
		{workload.NormalizeRT, &sched.Attr{Policy: sched.Deadline, Runtime: 3 * ms, Deadline: 10 * ms, Period: 10 * ms}, `5000.000 sys_enter 231
			6650.000 sched_process_exit victim -1
			6680.000 signal_generate main 17
			6680.000 leaves [-1] Z`, []event.Time{680 * us}},
		{workload.NormalizeAll, &sched.Attr{Policy: sched.Deadline, Runtime: 3 * ms, Deadline: 10 * ms, Period: 10 * ms}, `5000.000 sys_enter 231
			6000.000 leaves [120] R+
			6010.000 comes [120]
			6660.000 sched_process_exit victim -1
			6690.000 signal_generate main 17
			6690.000 leaves [120] Z`, nil},
	} {
		r := play(t, 1, 20*ms, &workload.Spec{Duration: 9 * ms, Costs: onPaper, Normalize: c.normalize,
			Tasks: []workload.Task{cyclic(10), victim(c.attr, ended(5*ms))}})
		r.wantStory(t, "victim", c.story)
		if diff := cmp.Diff(c.waits, r.waits("cyclic")); diff != "" {
			t.Errorf("normalize %d: waits of the cyclic task (-want +got):\n%s", c.normalize, diff)
		}
	}
}

// TestFreeListsAreEmptiedAtTheEnd: with DrainsAtOnce a part of giving the pages back is left
// for the end and done with interrupts off, so that even a more important task comes late;
// the exit as a whole takes as long. On PREEMPT_RT nothing is held off.
func TestFreeListsAreEmptiedAtTheEnd(t *testing.T) {
	costs := onPaper
	costs.ExitDrain = 400 * us
	for _, c := range []struct {
		drains  bool
		preempt sched.PreemptModel
		woken   event.Time // due at 6,300 µs
	}{{false, sched.PreemptVoluntary, 6300 * us}, {true, sched.PreemptVoluntary, 6650 * us}, {true, sched.PreemptFull, 6650 * us}, {true, sched.PreemptRT, 6300 * us}} {
		config := machine.Config{Sched: sched.DefaultConfig(1)}
		config.Sched.Preempt = c.preempt
		high := task("high", 20, every(6300*us), runFor(1*us))
		high.Comm = "high"
		r := playOn(t, config, 20*ms, &workload.Spec{Duration: 9 * ms, Costs: costs, DrainsAtOnce: c.drains,
			Tasks: []workload.Task{high, victim(&sched.Attr{Policy: sched.RR, Priority: 11}, ended(5*ms))}})
		// Whatever high does comes on top where it is not held off.
		end, woken := event.NoTime, event.NoTime
		for i := range r.events {
			switch ev := &r.events[i]; {
			case ev.Kind == event.SchedWaking && r.names.String(ev.TaskComm) == "high" && ev.Time > 1*ms && woken == event.NoTime:
				woken = ev.Time
			case ev.Kind == event.SchedProcessExit && r.names.String(ev.TaskComm) == "victim":
				end = ev.Time
			}
		}
		if woken != c.woken || end < 6650*us || end > 6651*us {
			t.Errorf("drains %t, preemption model %v: high woke at %d ns, want %d; the memory was back at %d, want 6,650 µs", c.drains, c.preempt, woken, c.woken, end)
		}
	}
}
