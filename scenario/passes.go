package scenario

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/truth"
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
