package workload

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// drawMortal draws a task that dies in one of the ways there are, with locks in its hand or
// not.
func drawMortal(t *rapid.T, n int) Task {
	span := func(name string, most int) event.Time {
		return event.Time(rapid.IntRange(0, most).Draw(t, name)) * 1000
	}
	attrs := []sched.Attr{{Policy: sched.FIFO, Priority: 5 + n}, {Policy: sched.RR, Priority: 5 + n}, {Policy: sched.Normal, Nice: -20},
		{Policy: sched.Normal}, {Policy: sched.Deadline, Runtime: 1_000_000, Deadline: 10_000_000, Period: 10_000_000}}
	attr := rapid.SampledFrom(attrs).Draw(t, "attr")
	task := Task{Name: fmt.Sprint("t", n), Instances: rapid.IntRange(1, 2).Draw(t, "instances"), Loop: rapid.SampledFrom([]int{-1, 1, 3}).Draw(t, "loop"), Attr: &attr}
	if rapid.Bool().Draw(t, "memory") {
		task.Memory = &Memory{Pages: int64(rapid.IntRange(0, 20000).Draw(t, "pages")), VMAs: 3, Locked: rapid.Bool().Draw(t, "locked")}
	}
	if rapid.Bool().Draw(t, "exit") {
		task.Exit = &Exit{After: span("after", 30_000), Post: rapid.IntRange(-1, 0).Draw(t, "post"),
			Signal: rapid.SampledFrom([]int64{0, 9, 11, 15}).Draw(t, "signal"), Core: int64(rapid.IntRange(0, 1<<20).Draw(t, "core"))}
	}
	if rapid.Bool().Draw(t, "section") {
		task.Sections = []Section{{Mode: rapid.SampledFrom([]machine.Mode{machine.Kernel, machine.PreemptOff, machine.IRQsOff, machine.BHOff}).Draw(t, "mode"),
			Length: Span{1000, 300_000}, Every: Span{100_000, 2_000_000}}}
	}
	var ops []Op
	for range rapid.IntRange(1, 4).Draw(t, "ops") {
		l := rapid.IntRange(0, 3).Draw(t, "lock")
		switch rapid.IntRange(0, 4).Draw(t, "op") {
		case 0:
			ops = append(ops, Op{Kind: OpSleep, NS: 1000 + span("sleep", 8000)})
		case 1:
			ops = append(ops, Op{Kind: OpRun, NS: span("run", 5000)})
		case 2:
			ops = append(ops, Op{Kind: OpLock, Ref: l}, Op{Kind: OpRun, NS: span("held", 3000)}, Op{Kind: OpUnlock, Ref: l})
		case 3:
			ops = append(ops, Op{Kind: OpSemPost}, Op{Kind: OpSleep, NS: 2_000_000}, Op{Kind: OpSemWait})
		case 4:
			if l < 3 { // it keeps the lock; a spinlock is not for that
				ops = append(ops, Op{Kind: OpLock, Ref: l}, Op{Kind: OpSleep, NS: 1000 + span("asleep", 3000)})
			}
		}
	}
	task.Phases = []Phase{{Loop: 1, Ops: append(ops, Op{Kind: OpSleep, NS: 1_000_000})}}
	return task
}

// TestWhateverDies: in whatever way tasks end, memory is given back once and completely,
// nobody who is dead holds a lock that somebody is to have, nobody waits for a lock of a dead
// task that the kernel gives on, and no bandwidth is lost.
func TestWhateverDies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := &Spec{Comm: "main", PID: 100, Duration: 40_000_000, Sems: 1, Seed: 1,
			Mutexes:   []Mutex{{PI: true}, {Robust: true}, {PI: true, Robust: true}, {Spin: true}},
			Costs:     Costs{Exit: 30_000, ExitMM: 100_000, ExitVMA: 10_000, ExitPage: 100, ExitFree: 50, CoreMB: 1_000_000, Fault: 200, Touch: 1000, Futex: 500},
			Normalize: Normalize(rapid.IntRange(0, 2).Draw(t, "normalize")), ToldFirst: rapid.Bool().Draw(t, "told first")}
		for n := range rapid.IntRange(1, 4).Draw(t, "tasks") {
			spec.Tasks = append(spec.Tasks, drawMortal(t, n))
		}
		cpus := rapid.IntRange(1, 3).Draw(t, "CPUs")
		config := sched.DefaultConfig(cpus)
		config.Preempt = rapid.SampledFrom([]sched.PreemptModel{sched.PreemptNone, sched.PreemptVoluntary, sched.PreemptFull, sched.PreemptRT}).Draw(t, "model")
		config.RTRuntime = -1
		var freed int
		m := machine.New(machine.Config{Sched: config}, event.NewNames(), func(ev *event.Event) {
			if ev.Kind == event.SchedProcessExit {
				freed++
			}
		})
		r, err := Load(m, spec)
		if err != nil {
			t.Fatal(err)
		}
		refused := false
		r.OnVerdict = func(error) { refused = true } // deadline tasks that do not fit
		for now := event.Time(0); now < 300_000_000 && !refused; now += 1_000_000 {
			if err := m.RunUntil(now); err != nil {
				t.Fatal(err)
			}
			if err := m.Sched.Check(r.Tasks(nil)); err != nil {
				t.Fatalf("at %d: %v", now, err)
			}
		}
		if !refused {
			buried(t, r, freed)
			bandwidthIsBack(t, r, cpus)
		}
	})
}

// bandwidthIsBack: when nobody is left, deadline tasks that need all there is are admitted.
func bandwidthIsBack(t *rapid.T, r *Run, cpus int) {
	for _, p := range r.threads {
		if !p.th.Dead() {
			return
		}
	}
	for n := range cpus {
		a := sched.Attr{Policy: sched.Deadline, Runtime: 9_400_000, Deadline: 10_000_000, Period: 10_000_000}
		if _, err := r.m.Sched.NewTask(event.PID(5000+n), 0, a, nil); err != nil {
			t.Errorf("deadline task %d of %d: %v", n, cpus, err)
		}
	}
}

// buried looks at a run whose time is over.
func buried(t *rapid.T, r *Run, told int) {
	dead := 0
	for _, p := range r.threads {
		if !p.th.Dead() {
			if p.dying >= closed || r.spec.ToldFirst && p.dying >= entered {
				dead++ // all but
			}
			continue
		}
		dead++
		if g := p.group; g.own() && g.left == 0 && (g.touched != 0 || g.users != 0 || p.tear.unmapped != 0) {
			t.Errorf("%s: %d pages left, %d users, %d not given back", p.name, g.touched, g.users, p.tear.unmapped)
		}
		if p.waits != nil || p.granted != nil || p.spins > 0 {
			t.Errorf("%s is dead and waits for a lock or has a spinlock", p.name)
		}
	}
	if r.Done() {
		dead++
	}
	if told != dead {
		t.Errorf("%d sched_process_exit, %d dead", told, dead)
	}
	for i, mu := range r.mutexes {
		for _, w := range mu.waiters {
			if w.th.Dead() {
				t.Errorf("mutex %d: the dead %s waits for it", i, w.name)
			}
		}
		if mu.owner != nil && mu.owner.th.Dead() && (mu.robust || mu.pi && len(mu.waiters) > 0) {
			t.Errorf("mutex %d: the dead %s has it, %d wait", i, mu.owner.name, len(mu.waiters))
		}
	}
}
