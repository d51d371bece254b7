package scenario

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/truth"
	"github.com/whylate/whylate/workload"
)

// Truth runs the scenario once more and returns what the model knows of it. An error is
// that of the run; the truth up to there is returned all the same.
func (s *Source) Truth() (*truth.Log, error) {
	w := &witness{tasks: make(map[event.PID]*sched.Task), dying: make(map[event.PID]bool)}
	m, err := s.start(w.see)
	if err != nil {
		return nil, err
	}
	w.m = m
	if err := m.RunUntil(s.setup.Start); err != nil {
		return nil, err
	}
	if w.run, err = workload.Load(m, s.setup.Load); err != nil {
		return nil, err
	}
	refused := false
	w.run.OnVerdict = func(error) { refused = true }
	w.run.OnAttr = w.attrChanged
	for now := s.setup.Start; now < s.setup.Until && !w.run.Done() && !refused && err == nil; {
		now = min(now+firstSlice, s.setup.Until)
		err = m.RunUntil(now)
	}
	w.log.End(m.Now())
	return &w.log, err
}

// witness follows a run by the state of the scheduler. It needs no part of the analysis: what
// it notes is what the scheduler holds at that moment.
type witness struct {
	m     *machine.Machine
	run   *workload.Run
	log   truth.Log
	tasks map[event.PID]*sched.Task // looked up only
	known []*sched.Task
	dying map[event.PID]bool
}

// see is the machine's sink: the events only say when to look.
func (w *witness) see(ev *event.Event) {
	switch ev.Kind {
	case event.SchedSwitch:
		w.hold(ev.Time, ev.CPU, ev.Next, ev.NextPrio)
	case event.SchedPISetprio:
		// Who lends its priority may be on another CPU than who gets it.
		if t := w.task(ev.Task); t != nil && w.m.Sched.Curr(t.CPU()) == t {
			w.hold(ev.Time, t.CPU(), ev.Task, ev.NextPrio)
		}
	case event.SchedProcessExit:
		w.dying[ev.Task] = true
		w.hold(ev.Time, ev.CPU, ev.Task, ev.TaskPrio)
	}
	for _, t := range w.known {
		w.log.Throttle(ev.Time, t.PID, t.Attr.Policy == sched.Deadline && t.Throttled())
	}
}

// hold notes that the task pid has cpu with the given effective priority. A boost is told
// from the task's own attributes, not from the event that made it.
func (w *witness) hold(at event.Time, cpu event.CPU, pid event.PID, prio event.Prio) {
	h := truth.Holder{PID: pid, Prio: prio, Normal: prio, Dying: w.dying[pid]}
	t := w.task(pid)
	if t != nil {
		h.Normal = workload.NormalPrio(&t.Attr)
	}
	h.Boosted = prio < h.Normal
	switch {
	case pid == 0:
		h.Rule = truth.Idle
	case t == nil:
		h.Rule = truth.Stop // the machine's own threads
	case prio.Deadline():
		h.Rule = truth.Deadline
	case prio.RealTime():
		h.Rule = truth.RealTime
	default:
		h.Rule = truth.Fair
	}
	w.log.Hold(at, cpu, h)
}

// attrChanged is told of a current task that is now something else.
func (w *witness) attrChanged(t *sched.Task) {
	w.hold(w.m.Now(), t.CPU(), t.PID, t.Prio())
}

func (w *witness) task(pid event.PID) *sched.Task {
	if t, ok := w.tasks[pid]; ok {
		return t
	}
	if w.run == nil {
		return nil // the main thread begins before its load is complete
	}
	w.known = w.run.Tasks(w.known[:0])
	for _, t := range w.known {
		w.tasks[t.PID] = t
	}
	return w.tasks[pid]
}
