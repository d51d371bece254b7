package cause_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/sysinfo"
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

// drawSnapshot makes a snapshot that keeps its own rules, of a machine that need not be that of
// any events; nil now and then.
func drawSnapshot(t *rapid.T) *sysinfo.Snapshot {
	if rapid.Bool().Draw(t, "no snapshot") {
		return nil
	}
	ns := rapid.SampledFrom([]int64{0, 1, 3_000_000, 20_000_000, 100_000_000, 1 << 50, 1 << 62})
	path := rapid.SampledFrom([]string{"", "/", "/a", "/a/b", "a", "/a/"})
	number := rapid.SampledFrom([]string{"", "-1", "0", "1", "95000", "950000", "4294967296", "9223372036854775807", "on"})
	s := &sysinfo.Snapshot{}
	for _, name := range []string{"HZ", "fair_server_runtime_ns", "sched_rt_period_us", "sched_rt_runtime_us"} {
		s.Settings = append(s.Settings, sysinfo.Setting{Name: name, Value: number.Draw(t, name)})
	}
	if rapid.Bool().Draw(t, "shares") {
		s.Features = []sysinfo.Feature{{Name: "RT_RUNTIME_SHARE", On: true}}
	}
	s.CPUs = []sysinfo.CPU{{CPU: 1, FairServer: &sysinfo.FairServer{RuntimeNS: ns.Draw(t, "server"), PeriodNS: 1}}}
	for _, pid := range []int32{0, 1, 2, 3, 100, 101, 102, 103, 1<<31 - 1} {
		task := sysinfo.Task{PID: pid, TGID: pid, Policy: rapid.SampledFrom([]string{sysinfo.Other, sysinfo.FIFO, sysinfo.Deadline}).Draw(t, "policy"), CGroup: path.Draw(t, "cgroup"),
			RuntimeNS: ns.Draw(t, "runtime"), PeriodNS: ns.Draw(t, "period"), Comm: "rt"}
		if rapid.Bool().Draw(t, "bound") {
			task.CPUs = sysinfo.CPUList{1}
		}
		s.Tasks = append(s.Tasks, task)
	}
	for _, p := range []string{"/", "/a", "/a/b"} {
		s.CGroups = append(s.CGroups, sysinfo.CGroup{Path: p, QuotaNS: ns.Draw(t, "quota"), PeriodNS: ns.Draw(t, "quota period"), BurstNS: ns.Draw(t, "burst")})
	}
	return s
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
	snap := drawSnapshot(t)
	got := explainWith(names, events, release, snap)
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
	if diff := cmp.Diff(answers(got), answers(explainWith(names, events, release, snap))); diff != "" {
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
	names := event.NewNames()
	quotaTimer, periodTimer := names.Intern("sched_cfs_period_timer"), names.Intern("sched_rt_period_timer")
	nested, snap := "", &sysinfo.Snapshot{Settings: []sysinfo.Setting{{Name: "sched_rt_period_us", Value: "2147483647"}, {Name: "sched_rt_runtime_us", Value: "2147483000"}}}
	for range 40 { // whoever runs is in all of them, and they are used up at once
		nested += "/a"
		snap.CGroups = append(snap.CGroups, sysinfo.CGroup{Path: nested, QuotaNS: 1, PeriodNS: 100_000_000})
	}
	for _, pid := range []int32{1, 2, 5, 9} {
		snap.Tasks = append(snap.Tasks, sysinfo.Task{PID: pid, TGID: pid, Policy: sysinfo.Other, CGroup: nested})
	}
	throttles := func(i int, e *event.Event) { // ten events are 1 ms
		e.Time *= 100
		e.Task, e.Next, e.TaskPrio, e.NextPrio = 1, 2, 77, 120
		switch {
		case i%10 == 2:
			e.Task, e.Next, e.TaskPrio, e.NextPrio = 2, 1, 120, 77
		case i%10 > 0:
			e.Kind, e.Next, e.Arg, e.Arg2 = event.SchedStatRuntime, event.NoPID, 100_000, 0
		}
	}
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
		"a group out of quota all the time": func(i int, e *event.Event) {
			e.Task, e.Next, e.State = event.PID(1+i/3%2), event.PID(2-i/3%2), 0
			if i%3 == 2 {
				e.Kind, e.Task, e.Next, e.CPU, e.Func = event.HrtimerExpireEntry, event.NoPID, event.NoPID, 1, quotaTimer
			}
		},
		"a boost in every event": func(i int, e *event.Event) {
			e.Kind, e.Task, e.TaskPrio, e.NextPrio = event.SchedPISetprio, 5, 120, event.Prio(i%90)
		},
		"each period throttles, which makes a debt": func(i int, e *event.Event) {
			throttles(i, e)
			if i%10 == 1 {
				e.Kind, e.Task, e.Next, e.Func = event.HrtimerExpireEntry, event.NoPID, event.NoPID, periodTimer
			}
		},
		"a period without end throttles all the time": throttles,
		"a gap in every event": func(i int, e *event.Event) {
			e.Kind, e.From = event.Gap, e.Time-1
			if i%2 == 1 {
				e.Kind, e.Task, e.Target = event.SchedWaking, event.PID(i%1000+1), 0
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
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
			explainWith(names, events, "6.1.0", snap)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%d events took %s", n, took)
			} else {
				t.Logf("%d events took %s", n, took)
			}
		})
	}
}
