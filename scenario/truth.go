package scenario

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/truth"
	"github.com/whylate/whylate/workload"
)

// Truth runs the scenario once more and returns what the model knows of it. An error is
// that of the run; the truth up to there is returned all the same. Of the passes of the load
// balancer it keeps those that could have ended a wait of at least KeepPasses.
func (s *Source) Truth() (*truth.Log, error) {
	w := &witness{was: make(map[event.PID]*stand)}
	w.log.KeepPasses(KeepPasses, 0)
	m, err := s.start(w.see)
	if err != nil {
		return nil, err
	}
	w.m = m
	m.Watch(w.look)
	m.Sched.OnBalance(w.balance)
	err = s.play(m, s.setup.Until, func(t *sched.Task) { w.log.Exit(m.Now(), t.PID) })
	w.log.End(m.Now())
	return &w.log, err
}

// play runs the program of the setup on m to its end, or until then.
func (s *Source) play(m *machine.Machine, until event.Time, onExit func(*sched.Task)) error {
	if err := m.RunUntil(s.setup.Start); err != nil {
		return fmt.Errorf("starting the machine: %w", err)
	}
	run, err := workload.Load(m, s.setup.Load)
	if err != nil {
		return fmt.Errorf("starting the scenario: %w", err)
	}
	run.OnExit = onExit
	refused := false
	run.OnVerdict = func(error) { refused = true }
	until = min(until, s.setup.Until)
	for now := s.setup.Start; now < until && !run.Done() && !refused && err == nil; {
		now = min(now+firstSlice, until)
		err = m.RunUntil(now)
	}
	return err
}

// witness follows a run by the state of the machine and its scheduler, as it is after each
// thing that happens. It needs no part of the analysis, and of the events only the one that
// says who acts on a timer.
type witness struct {
	m       *machine.Machine
	log     truth.Log
	threads []*machine.Thread
	was     map[event.PID]*stand // looked up only
	living  []event.PID          // at the last look
	turn    int64                // of looking
	periods int64                // of real-time bandwidth, so far
	pass    passWords
}

// stand is what a task was when it was last looked at.
type stand struct {
	running bool
	turn    int64      // when it was last seen alive
	timer   event.Time // its sleep timer was due, NoTime: none was armed
}

// see is the machine's sink.
func (w *witness) see(ev *event.Event) {
	if ev.Kind != event.SchedWaking || w.m == nil {
		return
	}
	// Whoever wakes a task whose timer runs and is due does so because of it.
	t := w.stand(ev.Task)
	if t.timer == event.NoTime || t.timer > ev.Time {
		return
	}
	by := ev.PID
	if ev.Flags.Has(event.HardIRQ) {
		by = 0
	}
	w.log.Serve(ev.Time, ev.Task, ev.CPU, by)
}

func (w *witness) stand(pid event.PID) *stand {
	s := w.was[pid]
	if s == nil {
		s = &stand{timer: event.NoTime}
		w.was[pid] = s
	}
	return s
}

// look notes how everything stands now.
func (w *witness) look() {
	now := w.m.Now()
	for c := range event.CPU(w.m.CPUs()) {
		w.log.Hold(now, c, w.holder(w.m.Sched.Curr(c)))
		w.log.Cover(now, c, w.cover(c))
		w.log.RTThrottle(now, c, w.m.Sched.RTThrottled(c))
		w.log.FairServe(now, c, w.m.Sched.FairServed(c))
	}
	if n := w.m.Sched.RTPeriods(); n != w.periods {
		w.periods = n
		w.log.RTPeriod(now)
	}
	w.threads = w.m.Living(w.threads[:0])
	w.turn++
	for _, th := range w.threads {
		w.task(now, th)
		w.stand(th.Task.PID).turn = w.turn
	}
	for _, pid := range w.living {
		if w.stand(pid).turn != w.turn {
			w.log.Run(now, pid) // it is gone, and waits no more
		}
	}
	w.living = w.living[:0]
	for _, th := range w.threads {
		w.living = append(w.living, th.Task.PID)
	}
}

// holder describes the current task of a CPU.
func (w *witness) holder(t *sched.Task) truth.Holder {
	h := truth.Holder{PID: t.PID, Prio: t.Prio(), Normal: t.Prio(), Rule: ruleOf(t)}
	th, _ := t.Data.(*machine.Thread)
	if th == nil || h.Rule == truth.Idle {
		return h
	}
	if h.Rule != truth.Stop {
		h.Normal = workload.NormalPrio(&t.Attr)
	}
	h.Boosted = h.Prio < h.Normal
	h.Mode = modes[th.Mode()]
	if th.Mode() == machine.BHOff && w.m.Preempt() == sched.PreemptRT {
		h.Mode = truth.Kernel // softirqs off do not keep anybody from the CPU there
	}
	h.Dying = w.log.ExitOf(t.PID) != event.NoTime
	return h
}

// modes are the witness's words for the machine's.
var modes = [...]truth.Mode{machine.User: truth.User, machine.Kernel: truth.Kernel, machine.PreemptOff: truth.PreemptOff, machine.IRQsOff: truth.IRQsOff, machine.BHOff: truth.PreemptOff}

// rules are the classes by their names.
var rules = map[string]truth.Rule{"stop": truth.Stop, "dl": truth.Deadline, "rt": truth.RealTime, "fair": truth.Fair, "idle": truth.Idle}

func ruleOf(t *sched.Task) truth.Rule { return rules[t.ClassName()] }

// cover is what c does in front of its current task.
func (w *witness) cover(c event.CPU) truth.Cover {
	l := w.m.Layer(c)
	if vec, ok := w.m.SoftirqBelow(c); ok && (l.Kind == machine.LayerOwn || l.Kind == machine.LayerLocal) {
		return truth.Cover{Kind: truth.SoftIRQ, N: vec} // an interrupt without a handler comes out of it
	}
	switch l.Kind {
	case machine.LayerOwn:
		return truth.Cover{Kind: truth.Own}
	case machine.LayerLocal:
		return truth.Cover{Kind: truth.LocalIRQ}
	case machine.LayerIRQ:
		return truth.Cover{Kind: truth.HardIRQ, N: l.IRQ, Name: l.Name}
	case machine.LayerSoftirq:
		return truth.Cover{Kind: truth.SoftIRQ, N: l.Vec}
	case machine.LayerIdleExit:
		return truth.Cover{Kind: truth.IdleExit}
	case machine.LayerStolen:
		return truth.Cover{Kind: truth.Stolen}
	}
	return truth.Cover{}
}

// task notes how the task of th stands. A task that waits is in a queue, or on its way to
// one; a throttled one is in none and waits all the same.
func (w *witness) task(now event.Time, th *machine.Thread) {
	t, s := th.Task, w.stand(th.Task.PID)
	w.log.Throttle(now, t.PID, t.Attr.Policy == sched.Deadline && t.Throttled())
	if th.Dead() {
		w.log.Exit(now, t.PID)
	}
	flying := t.State == event.StateWaking
	if running := w.m.Sched.Curr(t.CPU()) == t; !running && (t.OnRQ() || flying) {
		q := truth.Queued{CPU: t.CPU(), Flying: flying, Prio: t.Prio(), Normal: t.Prio(), Rule: ruleOf(t)}
		if q.Rule != truth.Stop {
			q.Normal = workload.NormalPrio(&t.Attr)
		}
		w.log.Allow(now, t.PID, t.Affinity())
		w.log.Wait(now, t.PID, !s.running, q)
		s.running = false
	} else {
		w.log.Run(now, t.PID)
		s.running = running
	}
	due, armed := th.SleepsUntil()
	switch {
	case !armed:
		s.timer = event.NoTime
	case s.timer != due:
		s.timer = due
		w.log.Arm(now, t.PID, due)
	}
}
