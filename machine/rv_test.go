package machine_test

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// The runtime verification of the kernel (Documentation/trace/rv) describes what must hold
// as automata over events. Here are those that the model's events and probes can show, in
// own words:
//
//	wwnr   a task is not woken while it runs (the kernel's own documentation says where it
//	       does not hold: between a task's saying that it will sleep and its sleeping)
//	sco    a task says that it will sleep only outside of __schedule()
//	tss    a switch happens only inside of __schedule()
//	snroc  a task says that it will sleep only while it is the one that runs
//	nrp    a preemption follows a need_resched
//	sssw   who sleeps has said so and is woken before it runs again
//	sts    __schedule() switches at most once
//
// Not applicable: wip, scpd, snep, sncid and opid speak of preempt_disable and irq_disable
// events, which the model does not emit (the context of its events is in their flags);
// the rtapp monitors (pagefault, sleep) speak of page faults and of system calls.

// automaton is a table of transitions: from state and symbol to state.
type automaton struct {
	name  string
	start string
	moves map[string]string // "state symbol"
}

var (
	wwnr = automaton{"wwnr", "off", map[string]string{
		"off wakeup": "off", "off switch_in": "on", "on switch_out": "off",
	}}
	sco = automaton{"sco", "thread", map[string]string{
		"thread set_state": "thread", "thread schedule_entry": "scheduling", "scheduling schedule_exit": "thread",
	}}
	tss = automaton{"tss", "thread", map[string]string{
		"thread schedule_entry": "scheduling", "scheduling switch": "scheduling", "scheduling schedule_exit": "thread",
	}}
	snroc = automaton{"snroc", "other", map[string]string{
		"other switch_in": "own", "own set_state": "own", "own switch_out": "other",
	}}
	nrp = automaton{"nrp", "calm", map[string]string{
		"calm need_resched": "asked", "calm switch": "calm",
		"asked need_resched": "asked", "asked switch": "calm", "asked preempt": "calm",
	}}
	sssw = automaton{"sssw", "runnable", map[string]string{
		"runnable switch_in": "runnable", "runnable leave": "runnable", "runnable wakeup": "runnable", "runnable set_state": "sleepable",
		"sleepable leave": "sleepable", "sleepable switch_in": "sleepable", "sleepable wakeup": "runnable", "sleepable set_state": "sleepable",
		"sleepable block": "sleeping", "sleepable die": "dead", "sleeping wakeup": "runnable",
	}}
	sts = automaton{"sts", "thread", map[string]string{
		"thread schedule_entry": "scheduling", "scheduling switch": "switched",
		"scheduling schedule_exit": "thread", "switched schedule_exit": "thread",
	}}
)

// monitor runs automata, one of each for every CPU or task, over the events of a machine.
// Beside them it follows who runs where, and compares that with every event.
type monitor struct {
	free  bool // the machine's work takes no time, so that wwnr holds
	state map[string]string
	curr  map[event.CPU]event.PID
	cpu   map[event.PID]event.CPU // where a task is queued
	first string                  // the first violation
	at    event.Time
	n     int
}

func newMonitor(free bool) *monitor {
	return &monitor{free: free, state: map[string]string{}, curr: map[event.CPU]event.PID{}, cpu: map[event.PID]event.CPU{}}
}

func (v *monitor) fail(format string, args ...any) {
	if v.first == "" {
		v.first = fmt.Sprintf("at %d: ", v.at) + fmt.Sprintf(format, args...)
	}
}

// feed gives a symbol to the automaton of one CPU or task.
func (v *monitor) feed(a *automaton, of int64, symbol string) {
	key := fmt.Sprint(a.name, " ", of)
	s, ok := v.state[key]
	if !ok {
		s = a.start
	}
	next, ok := a.moves[s+" "+symbol]
	if !ok {
		v.fail("%s of %d: %s in state %s", a.name, of, symbol, s)
		next = a.start
	}
	v.state[key] = next
}

// attach listens to the probes of m. entered, where set, is told of each __schedule() too.
func (v *monitor) attach(m *machine.Machine, entered func(event.CPU)) {
	m.Probes(
		func(c event.CPU) {
			if entered != nil {
				entered(c)
			}
			v.feed(&sco, int64(c), "schedule_entry")
			v.feed(&tss, int64(c), "schedule_entry")
			v.feed(&sts, int64(c), "schedule_entry")
		},
		func(c event.CPU) {
			v.feed(&sco, int64(c), "schedule_exit")
			v.feed(&tss, int64(c), "schedule_exit")
			v.feed(&sts, int64(c), "schedule_exit")
		},
		func(c event.CPU) { v.feed(&nrp, int64(c), "need_resched") },
		func(c event.CPU) {
			v.feed(&sco, int64(c), "set_state")
			pid := int64(m.Sched.Curr(c).PID)
			v.feed(&snroc, pid, "set_state")
			v.feed(&sssw, pid, "set_state")
		})
}

// event is the machine's sink.
func (v *monitor) event(ev *event.Event) {
	v.n++
	if ev.Time < v.at {
		v.fail("an event of %d comes late", ev.Time)
	}
	v.at = ev.Time
	if ev.PID != v.curr[ev.CPU] {
		v.fail("%s on CPU %d says that %d runs; it is %d", ev.Kind, ev.CPU, ev.PID, v.curr[ev.CPU])
	}
	switch ev.Kind {
	case event.SchedSwitch:
		v.onSwitch(ev)
	case event.SchedWakeup, event.SchedWakeupNew:
		v.cpu[ev.Task] = ev.Target
		if v.free && ev.Kind == event.SchedWakeup && ev.PID != ev.Task { // not by an interrupt that keeps it from sleeping
			v.feed(&wwnr, int64(ev.Task), "wakeup")
		}
		v.feed(&sssw, int64(ev.Task), "wakeup")
	case event.SchedMigrateTask:
		if at, ok := v.cpu[ev.Task]; ok && at != ev.Orig {
			v.fail("task %d migrates from %d, it was on %d", ev.Task, ev.Orig, at)
		}
		for c, pid := range v.curr {
			if pid == ev.Task {
				v.fail("task %d migrates while it runs on %d", pid, c)
			}
		}
		v.cpu[ev.Task] = ev.Target
	}
}

func (v *monitor) onSwitch(ev *event.Event) {
	if ev.Task != v.curr[ev.CPU] {
		v.fail("CPU %d switches from %d, it was %d that ran", ev.CPU, ev.Task, v.curr[ev.CPU])
	}
	if ev.Next != 0 {
		for c, pid := range v.curr {
			if pid == ev.Next {
				v.fail("task %d comes to CPU %d and runs on %d", pid, ev.CPU, c)
			}
		}
		if at, ok := v.cpu[ev.Next]; !ok || at != ev.CPU {
			v.fail("task %d comes to CPU %d, it was queued on %d", ev.Next, ev.CPU, at)
		}
	}
	v.curr[ev.CPU] = ev.Next
	v.feed(&tss, int64(ev.CPU), "switch")
	v.feed(&sts, int64(ev.CPU), "switch")
	symbol := "switch"
	if ev.State == event.StatePreempted {
		symbol = "preempt"
	}
	v.feed(&nrp, int64(ev.CPU), symbol)
	if out := int64(ev.Task); out != 0 {
		if v.free {
			v.feed(&wwnr, out, "switch_out")
		}
		v.feed(&snroc, out, "switch_out")
		switch {
		case ev.State.Runnable():
			v.feed(&sssw, out, "leave")
		case ev.State.Dead():
			v.feed(&sssw, out, "die")
		default:
			v.feed(&sssw, out, "block")
		}
	}
	if in := int64(ev.Next); in != 0 {
		if v.free {
			v.feed(&wwnr, in, "switch_in")
		}
		v.feed(&snroc, in, "switch_in")
		v.feed(&sssw, in, "switch_in")
	}
}
