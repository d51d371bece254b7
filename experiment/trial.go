package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/timeline"
)

// trial is one variant with all its runs.
type trial struct {
	x       *Experiment
	variant *Variant
	setup   *scenario.Setup // of the first seed
	runs    []observed
	random  bool
	worst   *result.Worst
	worstAt *scenario.Setup // the run that it is from
}

// observed is what one run gave.
type observed struct {
	hash  uint64 // of its events
	rows  []*row
	value map[string]int64
	diags []event.Diagnostic
	// The longest wait of the tasks that matter most, and the largest latency of a timer.
	wait, latest event.Time
	waitEnd      event.Time // when that wait was over
}

// row is one task in one class and priority.
type row struct {
	comm              string
	pid               event.PID
	class             cause.Class
	prio              event.Prio
	wakeup, preempted latency.Series
	rounds            timerRounds
}

// timerRounds are the rounds of a task that ended in a sleep to its timer.
type timerRounds struct {
	latency latency.Series // of all of them
	misses  int64          // those that came too late to sleep
}

// TimerLatency is how late a round with one timer was: what cyclictest prints of it. It counts
// from when the timer was due to when the task looked at the clock. One that came too late to
// sleep at all was late by what its slack lacks.
func TimerLatency(r *scenario.Round) event.Time { return max(r.WakeupLatency, -r.Slack, 0) }

func newTrial(x *Experiment, i int) (*trial, error) {
	v := &x.Variants[i]
	p, err := x.plan(v)
	if err != nil {
		return nil, err
	}
	setup, err := p.Setup()
	if err != nil {
		return nil, fmt.Errorf("%s, variant %s: %w", x.Scenario, v.Name, err)
	}
	return &trial{x: x, variant: v, setup: setup, runs: make([]observed, max(x.Seeds, 1))}, nil
}

// run does run n and keeps what it gave.
func (t *trial) run(ctx context.Context, n int) error {
	setup := t.setup.Reseeded(uint64(n))
	if t.x.Kinds != 0 {
		setup.Machine.Without |= ^(t.x.Kinds | waitKinds)
	}
	src, err := scenario.NewSource(setup)
	if err != nil {
		return fmt.Errorf("%s, variant %s: %w", t.x.Scenario, t.variant.Name, err)
	}
	ob := newObserver(t.x, src, setup)
	src.OnRound = ob.round
	if w, ok := ob.watch.(MachineWatcher); ok {
		src.OnMachine = w.Machine
	}
	s, err := explain.Interruptible(ctx, src).Events(event.Options{})
	if err != nil {
		return fmt.Errorf("%s, variant %s: %w", t.x.Scenario, t.variant.Name, err)
	}
	defer s.Close()
	for {
		ev, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s, variant %s, seed %d: %w", t.x.Scenario, t.variant.Name, setup.Load.Seed, err)
		}
		ob.see(ev)
	}
	t.runs[n] = ob.finish(s.Diagnostics())
	return nil
}

// waitKinds are the events that waits are made of, and the names and ends of tasks.
var waitKinds = event.Kinds(event.SchedSwitch, event.SchedWaking, event.SchedWakeup, event.SchedWakeupNew, event.SchedMigrateTask, event.SchedPISetprio,
	event.SchedProcessFork, event.TaskNewtask, event.TaskRename, event.SchedProcessExec, event.SchedProcessExit, event.SchedProcessFree)

// observer follows the events of one run.
type observer struct {
	x       *Experiment
	names   *event.Names
	state   *timeline.Tracker
	waits   *latency.Tracker
	watch   Watcher
	hash    hash
	last    event.Time
	rows    map[rowKey]*row
	list    []*row
	rounds  map[event.PID]*timerRounds
	longest [3]event.Time // waits, by urgency of the task
	ended   [3]event.Time // when those were over
	latest  [3]event.Time // latencies of timers
}

type rowKey struct {
	task  timeline.TaskID
	comm  event.Name // of those that are told together
	class cause.Class
	prio  event.Prio
}

func newObserver(x *Experiment, src *scenario.Source, setup *scenario.Setup) *observer {
	o := &observer{x: x, names: src.Names(), rows: make(map[rowKey]*row), rounds: make(map[event.PID]*timerRounds), hash: newHash()}
	o.state = timeline.NewTracker(src.Info().Machine, o.names)
	o.waits = latency.NewTracker(o.state, o.wait)
	if x.Watch != nil {
		o.watch = x.Watch(&Context{o.names, setup})
	}
	return o
}

func (o *observer) see(ev *event.Event) {
	o.hash.event(ev)
	o.last = max(o.last, ev.Time)
	o.waits.Push(ev, o.state.Push(ev))
	if o.watch != nil {
		o.watch.Event(ev)
	}
}

// round counts the rounds that slept to a timer, and those that came too late for it.
func (o *observer) round(r *scenario.Round) {
	if o.watch != nil {
		o.watch.Round(r)
	}
	if r.CPeriod == 0 {
		return
	}
	n := o.rounds[r.PID]
	if n == nil {
		n = &timerRounds{}
		o.rounds[r.PID] = n
	}
	n.latency.Add(int64(TimerLatency(r)))
	if r.Slack < 0 {
		n.misses++
	}
}

// wait takes in a wait as explain's rows do: one that is open has no length yet.
func (o *observer) wait(w *latency.Wait) {
	if w.Open() || w.GapFrom != event.NoTime {
		return
	}
	comm := o.names.String(w.Comm)
	if !o.x.wants(comm) {
		return
	}
	class := cause.ClassOf(w.Base, comm, false)
	k, pid := rowKey{w.Task.ID, 0, class, w.Base}, w.Task.PID
	if o.x.Together {
		k.task, k.comm, pid = timeline.NoTask, w.Comm, 0
	}
	r := o.rows[k]
	if r == nil {
		r = &row{comm: comm, pid: pid, class: class, prio: w.Base}
		o.rows[k] = r
		o.list = append(o.list, r)
	}
	if w.Kind != latency.Wakeup {
		r.preempted.Add(w.Length())
		return
	}
	r.wakeup.Add(w.Length())
	if u := r.urgent(); event.Time(w.Length()) > o.longest[u] {
		o.longest[u], o.ended[u] = event.Time(w.Length()), w.End
	}
}

// first is the value of the tasks that matter most, of those that have one.
func first(byUrgency [3]event.Time) event.Time {
	for _, ns := range byUrgency {
		if ns > 0 {
			return ns
		}
	}
	return 0
}

func (o *observer) finish(diags []event.Diagnostic) observed {
	o.waits.Finish()
	for _, r := range o.list {
		if n := o.rounds[r.pid]; n != nil {
			r.rounds = *n
			o.latest[r.urgent()] = max(o.latest[r.urgent()], event.Time(n.latency.Max()))
		}
	}
	ob := observed{hash: o.hash.sum, rows: o.list, diags: diags, wait: first(o.longest), latest: first(o.latest)}
	for u, ns := range o.longest {
		if ns > 0 {
			ob.waitEnd = o.ended[u]
			break
		}
	}
	if o.watch != nil {
		ob.value = o.watch.Values(o.last)
	}
	return ob
}

// hash is FNV-1a over what an event says, so that two runs can be told to be the same
// without keeping them.
type hash struct{ sum uint64 }

func newHash() hash { return hash{14695981039346656037} }

func (h *hash) event(ev *event.Event) {
	for _, v := range [...]int64{int64(ev.Time), int64(ev.CPU), int64(ev.Kind), int64(ev.PID), int64(ev.Task), int64(ev.TaskPrio),
		int64(ev.Next), int64(ev.NextPrio), int64(ev.State), int64(ev.Target), ev.Arg, ev.Arg2} {
		h.sum = (h.sum ^ uint64(v)) * 1099511628211
	}
}
