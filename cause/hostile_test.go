package cause_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// timerNames are functions that the code under test knows, and one that it does not.
var timerNames = []string{"hrtimer_wakeup", "tick_sched_timer", "tick_nohz_handler", "sched_rt_period_timer", "dl_task_timer",
	"sched_cfs_period_timer", "posix_timer_fn", "do_exit", "exit_mm", ""}

// drawEvents makes a stream that keeps the contract (in order of time) and nothing else:
// any kinds, CPUs, tasks and numbers.
func drawEvents(t *rapid.T, names *event.Names, most int) []event.Event {
	number := rapid.SampledFrom([]int64{0, 1, 2, 7, -1, 1 << 40, 1<<63 - 1, -1 << 63, 231, 24, 4294967295})
	pid := rapid.SampledFrom([]event.PID{0, 1, 2, 3, -1, 1<<31 - 1, -1 << 31})
	cpu := rapid.SampledFrom([]event.CPU{0, 1, 2, -1, 8191, 8192, 1<<31 - 1, -1 << 31})
	prio := rapid.SampledFrom([]event.Prio{-1, 0, 9, 77, 100, 120, 139, event.NoPrio, 1<<31 - 1})
	text := rapid.SampledFrom([]string{"", "ktimers/0", "migration/0", "swapper/0", "irq/25-eth0", "ksoftirqd/1", "rt"})
	now := event.Time(rapid.Int64Range(-1<<62, 1<<60).Draw(t, "start"))
	focus := rapid.SampledFrom(timerNames).Draw(t, "timer") // else no two events fit together
	events := make([]event.Event, rapid.IntRange(1, most).Draw(t, "events"))
	for i := range events {
		now += event.Time(rapid.SampledFrom([]int64{0, 1, 100, 40_000, 1_000_000, 50_000_000, 1 << 50}).Draw(t, "ns"))
		e := &events[i]
		e.Reset()
		e.Kind = event.Kind(rapid.IntRange(0, int(event.NumKinds)-1).Draw(t, "kind"))
		switch rapid.IntRange(0, 5).Draw(t, "kind that matters") {
		case 0, 1:
			e.Kind = event.SchedSwitch
		case 2:
			e.Kind = event.HrtimerExpireEntry
		case 3:
			e.Kind = event.SchedWakeup
		}
		e.Time, e.CPU, e.PID, e.Comm = now, cpu.Draw(t, "cpu"), pid.Draw(t, "pid"), names.Intern(text.Draw(t, "comm"))
		e.Flags = event.Flags(rapid.IntRange(0, 1<<10).Draw(t, "flags"))
		e.State = event.State(rapid.SampledFrom([]int{0, 1, 2, 16, 32, 1 << 13, 1 << 14, 0xffff}).Draw(t, "state"))
		e.Task, e.TaskPrio, e.TaskComm = pid.Draw(t, "task"), prio.Draw(t, "prio"), names.Intern(text.Draw(t, "task comm"))
		e.Next, e.NextPrio, e.NextComm = pid.Draw(t, "next"), prio.Draw(t, "next prio"), names.Intern(text.Draw(t, "next comm"))
		e.Orig, e.Target = cpu.Draw(t, "orig"), cpu.Draw(t, "target")
		e.Arg, e.Arg2, e.Arg3 = number.Draw(t, "arg"), number.Draw(t, "arg2"), number.Draw(t, "arg3")
		e.From = now - event.Time(rapid.Int64Range(0, 1<<50).Draw(t, "from"))
		e.Func = names.Intern(rapid.SampledFrom(timerNames).Draw(t, "func"))
		if rapid.Bool().Draw(t, "focus") {
			e.Func = names.Intern(focus)
		}
		e.Text, e.Name = e.Func, e.Comm
	}
	return events
}

// TestHostileEvents: whatever the events say, there is no panic, causes sum to the lateness,
// no cause is negative, and the answer repeats.
func TestHostileEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := event.NewNames()
		checkHostile(t, names, drawEvents(t, names, 60))
	})
}

// TestDamagedSchedules: as TestHostileEvents, with events that nearly fit together: some
// fields of a legal schedule are wrong, and timers expire anywhere in it.
func TestDamagedSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := event.NewNames()
		s := drawSchedule(t, &schedule{names: names, next: 100, real: true, strict: rapid.Bool().Draw(t, "strict")}, 60)
		wrong := drawEvents(t, names, 40)
		focus := names.Intern(rapid.SampledFrom(timerNames).Draw(t, "timer"))
		var events []event.Event
		for i, e := range s.events {
			w := &wrong[i%len(wrong)]
			switch rapid.IntRange(0, 12).Draw(t, "damage") {
			case 0:
				e.Target = w.Target
			case 1:
				e.CPU = w.CPU
			case 2:
				e.TaskPrio, e.NextPrio = w.TaskPrio, w.NextPrio
			case 3:
				e.Task = w.Task
			case 4, 5, 6:
				timer := *w
				timer.Kind, timer.Func, timer.Time, timer.CPU = event.HrtimerExpireEntry, focus, e.Time, e.CPU
				timer.PID, timer.Flags = e.PID, event.FlagsKnown|event.HardIRQ|w.Flags&event.NeedResched
				events = append(events, timer)
			}
			events = append(events, e)
		}
		checkHostile(t, names, events)
	})
}

func checkHostile(t *rapid.T, names *event.Names, events []event.Event) {
	release := rapid.SampledFrom([]string{"", "3.4.15-rt24", "4.11.0", "6.1.0-50-rt-amd64", "6.12.107"}).Draw(t, "kernel")
	got := explainAll(names, events, release)
	for i := range got {
		if g := &got[i]; sum(g.byCulprit) != g.lateness || g.lateness < 0 {
			t.Errorf("%s: lateness %d, causes %q", g, g.lateness, g.causes)
		}
		for pid, ns := range got[i].byCulprit {
			if ns < 0 {
				t.Errorf("%s: %d ns by task %d: %q", got[i], ns, pid, got[i].causes)
			}
		}
	}
	if diff := cmp.Diff(answers(got), answers(explainAll(names, events, release))); diff != "" {
		t.Error(diff)
	}
}

// TestIndexIsInOrder: the lists of the index are in order and do not overlap, whatever the
// events say: everything looks them up by search.
func TestIndexIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := event.NewNames()
		events := drawEvents(t, names, 60)
		tr := timeline.NewTracker("", names)
		b := timeline.NewBuilder(tr, kernel.Of(""), names)
		for i := range events {
			b.Push(&events[i], tr.Push(&events[i]))
		}
		b.Finish()
		for c := range b.Index().CPUs {
			ci := &b.Index().CPUs[c]
			for name, list := range map[string][]timeline.Span{"gaps": ci.Gaps, "irqs": ci.IRQs, "softirqs": ci.Softirqs, "off": ci.OffSpans} {
				for i, s := range list {
					if s.To < s.From || i > 0 && s.From < list[i-1].To {
						t.Errorf("CPU %d, %s: %d-%d after %+v", c, name, s.From, s.To, list[max(i-1, 0)])
					}
				}
			}
			for i, r := range ci.Runs {
				if r.End < r.Start || i > 0 && r.Start < ci.Runs[i-1].End {
					t.Errorf("CPU %d: run %d-%d after %+v", c, r.Start, r.End, ci.Runs[max(i-1, 0)])
				}
			}
		}
	})
}

// TestLargeInputTakesLinearTime: shapes that would make a careless look-up quadratic.
func TestLargeInputTakesLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 60_000
	for name, make := range map[string]func(i int, e *event.Event){
		"each switch is of a new task": func(i int, e *event.Event) {
			e.Task, e.Next = event.PID(i+1), event.PID(i+2)
			e.State = event.StateSleeping
		},
		"a real-time task makes way in every switch": func(i int, e *event.Event) {
			e.Task, e.Next, e.TaskPrio, e.NextPrio = 1, 2, 77, 120
			if i%2 == 1 {
				e.Task, e.Next, e.TaskPrio, e.NextPrio = 2, 1, 120, 77
			}
		},
		"softirqs that nobody raised": func(i int, e *event.Event) {
			e.Kind, e.Arg = []event.Kind{event.SoftirqRaise, event.SoftirqEntry, event.SoftirqExit}[i%3], int64(i%3)
		},
		"one task moves all the time": func(i int, e *event.Event) {
			e.Kind, e.Task, e.Orig, e.Target = event.SchedMigrateTask, 9, event.CPU(i%4), event.CPU((i+1)%4)
			if i == 0 {
				e.Kind = event.SchedWaking
			}
		},
		"a boost in every event": func(i int, e *event.Event) {
			e.Kind, e.Task, e.TaskPrio, e.NextPrio = event.SchedPISetprio, 5, 120, event.Prio(i%90)
		},
		"a gap in every event": func(i int, e *event.Event) {
			e.Kind, e.From = event.Gap, e.Time-1
			if i%2 == 1 {
				e.Kind, e.Task, e.Target = event.SchedWaking, event.PID(i%1000+1), 0
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			names := event.NewNames()
			events := []event.Event{}
			for i := range n {
				var e event.Event
				e.Reset()
				e.Kind, e.Time, e.TaskPrio, e.NextPrio = event.SchedSwitch, event.Time(i)*1000, 120, 120
				make(i, &e)
				e.PID = max(e.Task, 0)
				if e.Kind != event.SchedSwitch {
					e.PID = event.NoPID
				}
				events = append(events, e)
			}
			start := time.Now()
			explainAll(names, events, "6.1.0")
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%d events took %s", n, took)
			} else {
				t.Logf("%d events took %s", n, took)
			}
		})
	}
}
