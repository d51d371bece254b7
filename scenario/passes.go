package scenario

import (
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/truth"
	"github.com/whylate/whylate/workload"
)

// KeepPasses is how long a wait has to be, in ns, for Truth to keep the passes of the load balancer
// that could have ended it.
const KeepPasses event.Time = 1_000_000

// passWords says a pass of the model in the words of the truth. The memory is used again.
type passWords struct{ pass truth.Pass }

// passKinds are the kinds of passes that look for work for a CPU; the slow path of a wake looks for
// a CPU for a task, and is none.
var passKinds = map[sched.BalanceKind]truth.PassKind{sched.BalancePeriodic: truth.Periodic, sched.BalanceNewidle: truth.NewIdle,
	sched.BalanceNohz: truth.NoHZIdle, sched.BalanceActive: truth.ActivePush}

// of returns p, valid until the next call; nil for one that looks for no work.
func (w *passWords) of(p *sched.BalancePass) *truth.Pass {
	kind, ok := passKinds[p.Kind]
	if !ok {
		return nil
	}
	t := &w.pass
	*t = truth.Pass{At: p.At, By: p.By, CPU: p.CPU, Kind: kind, Domain: p.Domain, Span: p.Span, Groups: t.Groups[:0], Busiest: p.Busiest, Queues: t.Queues[:0],
		Source: p.Source, Imbalance: p.Imbalance, Metric: p.Metric, Moved: t.Moved[:0], Why: p.Why}
	for i := range p.Groups {
		g := &p.Groups[i]
		t.Groups = append(t.Groups, truth.PassGroup{CPUs: g.CPUs, Local: g.Local, Type: g.Type, Load: g.Load, Capacity: g.Capacity, Util: g.Util, Running: g.Running, Idle: g.Idle})
	}
	for i := range p.Queues {
		q := &p.Queues[i]
		t.Queues = append(t.Queues, truth.PassQueue{CPU: q.CPU, Load: q.Load, Capacity: q.Capacity, Running: q.Running, Runnable: q.Runnable})
	}
	for _, m := range p.Moved {
		t.Moved = append(t.Moved, m.PID)
	}
	return t
}

// balance is told every pass of the balancer.
func (w *witness) balance(p *sched.BalancePass) {
	if t := w.pass.of(p); t != nil {
		w.log.Pass(t)
	}
}

// Asked is a wait of the task PID, ns, of which somebody wants to know the passes.
type Asked struct {
	PID      event.PID
	From, To event.Time
}

// Passes runs the scenario once more and keeps the passes of the load balancer that could have ended
// the waits asked for: PassesFor of the log yields those of each that it returns, which are in the
// order of list. Of the truth the log has nothing else. interrupted, where not nil, ends the run.
func (s *Source) Passes(list []Asked, interrupted func() error) (*truth.Log, []truth.Wait, error) {
	a := &asker{asked: list, waits: make([]truth.Wait, len(list)), tasks: make(map[event.PID]*sched.Task)}
	for i := range list {
		a.order = append(a.order, i)
	}
	sort.SliceStable(a.order, func(i, j int) bool { return list[a.order[i]].From < list[a.order[j]].From })
	m, err := s.start(func(*event.Event) {})
	if err != nil {
		return nil, nil, err
	}
	a.m = m
	m.Sched.OnBalance(func(p *sched.BalancePass) {
		if interrupted != nil && err == nil {
			if err = interrupted(); err != nil {
				m.Fail(err)
			}
		}
		a.balance(p)
	})
	until := event.Time(0)
	for i := range list {
		until = max(until, list[i].To)
	}
	if err := s.play(m, until, nil); err != nil {
		return nil, nil, err
	}
	return &a.log, a.waits, nil
}

// asker notes, whenever a pass is made, where the tasks of the waits asked for are.
type asker struct {
	m     *machine.Machine
	log   truth.Log
	pass  passWords
	asked []Asked
	waits []truth.Wait
	order []int // of asked, by their beginning
	next  int   // in order
	open  []int
	tasks map[event.PID]*sched.Task
	list  []*machine.Thread
}

func (a *asker) balance(p *sched.BalancePass) {
	for ; a.next < len(a.order) && a.asked[a.order[a.next]].From <= p.At; a.next++ {
		i := a.order[a.next]
		a.waits[i] = truth.Wait{PID: a.asked[i].PID, From: a.asked[i].From, To: a.asked[i].To}
		a.open = append(a.open, i)
	}
	a.open = slices.DeleteFunc(a.open, func(i int) bool { return a.asked[i].To < p.At })
	if len(a.open) == 0 {
		return
	}
	t := a.pass.of(p)
	if t == nil {
		return
	}
	for _, i := range a.open {
		a.where(&a.waits[i], p)
	}
	a.log.PassFor(t, func(yield func(*truth.Wait) bool) {
		for _, i := range a.open {
			if !yield(&a.waits[i]) {
				return
			}
		}
	})
}

// where notes in w where its task is queued at the time of p. A task that p has taken was where it
// came from.
func (a *asker) where(w *truth.Wait, p *sched.BalancePass) {
	t := a.task(w.PID)
	if t == nil {
		return
	}
	a.log.Allow(p.At, t.PID, t.Affinity())
	q := truth.Queued{CPU: t.CPU(), Flying: t.State == event.StateWaking, Prio: t.Prio(), Normal: workload.NormalPrio(&t.Attr), Rule: ruleOf(t)}
	if slices.Contains(p.Moved, t) && p.Source != event.NoCPU {
		q.CPU = p.Source
	}
	if n := len(w.Parts); n > 0 {
		if w.Parts[n-1].Queued == q {
			return
		}
		w.Parts[n-1].To = p.At
	}
	from := p.At
	if len(w.Parts) == 0 {
		from = w.From
	}
	w.Parts = append(w.Parts, truth.Part{Queued: q, From: from, To: w.To})
}

// task finds a task by its number.
func (a *asker) task(pid event.PID) *sched.Task {
	if t := a.tasks[pid]; t != nil {
		return t
	}
	a.list = a.m.Living(a.list[:0])
	for _, th := range a.list {
		a.tasks[th.Task.PID] = th.Task
	}
	return a.tasks[pid]
}
