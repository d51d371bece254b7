package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// do is something that a script does between two steps.
type do func(st *stage, th *machine.Thread)

// script is a program written down step by step: machine.Step, do, or the helpers below. At
// its end the thread exits.
type script []any

type player struct {
	st    *stage
	steps script
}

func (p *player) Next(m *machine.Machine, th *machine.Thread) machine.Step {
	for len(p.steps) > 0 {
		next := p.steps[0]
		p.steps = p.steps[1:]
		switch s := next.(type) {
		case machine.Step:
			if s.Kind == machine.StepSleep && s.NS < 0 {
				s.NS = m.Now() - s.NS // relative
			}
			return s
		case do:
			s(p.st, th)
		}
	}
	return machine.Step{Kind: machine.StepExit}
}

func work(ns event.Time) machine.Step { return machine.Step{Kind: machine.StepRun, NS: ns} }
func in(mode machine.Mode, ns event.Time) machine.Step {
	return machine.Step{Kind: machine.StepRun, NS: ns, Mode: mode}
}
func nap(ns event.Time) machine.Step { return machine.Step{Kind: machine.StepSleep, NS: -ns} }

var (
	block = machine.Step{Kind: machine.StepBlock}
	yield = machine.Step{Kind: machine.StepYield}
)

// wake wakes another thread by name.
func wake(name string) do {
	return func(st *stage, th *machine.Thread) { st.m.Wake(th.Task.CPU(), st.threads[name]) }
}

// stage is a machine with named threads, and what was seen on it.
type stage struct {
	t       *testing.T
	m       *machine.Machine
	names   *event.Names
	threads map[string]*machine.Thread
	tasks   []*sched.Task
	mon     *monitor
	last    map[event.CPU]string
	events  []event.Event
}

func newStage(t *testing.T, cfg machine.Config) *stage {
	st := &stage{t: t, names: event.NewNames(), threads: map[string]*machine.Thread{}, last: map[event.CPU]string{}}
	st.mon = newMonitor(cfg.Costs == machine.Costs{})
	st.m = machine.New(cfg, st.names, st.take)
	st.mon.attach(st.m, nil)
	return st
}

func (st *stage) take(ev *event.Event) {
	st.mon.event(ev)
	st.events = append(st.events, *ev)
}

// add makes a thread that is ready at time 0 on CPU 0, or on the first of its CPUs.
func (st *stage) add(name string, a sched.Attr, cpus []event.CPU, steps ...any) *machine.Thread {
	st.t.Helper()
	th, err := st.m.Spawn(0, name, a, cpus, &player{st, steps})
	if err != nil {
		st.t.Fatal(err)
	}
	st.threads[name] = th
	st.tasks = append(st.tasks, th.Task)
	from := event.CPU(0)
	if len(cpus) > 0 {
		from = cpus[0]
	}
	st.m.Start(from, th)
	return th
}

func fifo(prio int) sched.Attr { return sched.Attr{Policy: sched.FIFO, Priority: prio} }

// play runs until the given time, looking at the rules of the queues and the automata.
func (st *stage) play(until event.Time) *stage {
	st.t.Helper()
	for st.m.Step(until) {
		if err := st.m.Sched.Check(st.tasks); err != nil {
			st.t.Fatalf("at %d: %v", st.m.Now(), err)
		}
	}
	if err := st.m.Err(); err != nil {
		st.t.Fatal(err)
	}
	if st.mon.first != "" {
		st.t.Fatal(st.mon.first)
	}
	return st
}

// turns lists who came to run on the CPUs, as "µs cpu name", without turns that took no
// time.
func (st *stage) turns() []string {
	var list []string
	var at []event.Time
	for i := range st.events {
		ev := &st.events[i]
		if ev.Kind != event.SchedSwitch {
			continue
		}
		name := st.names.String(ev.NextComm)
		if ev.Next == 0 {
			name = "idle"
		}
		line := fmt.Sprintf(" %d %s", ev.CPU, name)
		for k := len(list) - 1; k >= 0 && at[k] == ev.Time; k-- {
			if strings.HasPrefix(list[k], fmt.Sprintf(" %d ", ev.CPU)) {
				list, at = append(list[:k], list[k+1:]...), append(at[:k], at[k+1:]...)
				break
			}
		}
		same := name == "idle" // as it is in the beginning
		for k := len(list) - 1; k >= 0; k-- {
			if strings.HasPrefix(list[k], fmt.Sprintf(" %d ", ev.CPU)) {
				same = list[k] == line
				break
			}
		}
		if !same {
			list, at = append(list, line), append(at, ev.Time)
		}
	}
	for k := range list {
		list[k] = fmt.Sprint(at[k]/1000) + list[k]
	}
	return list
}

// want compares turns with lines, each "µs cpu name".
func (st *stage) want(lines string) {
	st.t.Helper()
	compare(st.t, "who ran", st.turns(), lines)
}

// seen lists the events of some kinds as "µs cpu kind task …".
func (st *stage) seen(kinds ...event.Kind) []string {
	var list []string
	for i := range st.events {
		ev := &st.events[i]
		for _, k := range kinds {
			if ev.Kind != k {
				continue
			}
			line := fmt.Sprintf("%d %d %s %s", ev.Time/1000, ev.CPU, k, st.names.String(ev.TaskComm))
			switch k {
			case event.SchedSwitch:
				line += fmt.Sprintf(" %s > %s", ev.State, st.names.String(ev.NextComm))
			case event.SchedMigrateTask:
				line += fmt.Sprintf(" %d>%d", ev.Orig, ev.Target)
			case event.SchedWakeup, event.SchedWaking:
				line += fmt.Sprintf(" >%d", ev.Target)
			}
			list = append(list, line)
		}
	}
	return list
}

func compare(t *testing.T, what string, got []string, want string) {
	t.Helper()
	var lines []string
	for l := range strings.Lines(strings.TrimSpace(want)) {
		lines = append(lines, strings.TrimSpace(l))
	}
	if diff := cmp.Diff(lines, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
