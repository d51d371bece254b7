package experiment

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/truth"
)

// mostPasses bounds the passes that are told of one wait.
const mostPasses = 1000

// TellPasses adds to each late wait of r, an explanation of src, the passes of the load balancer that
// could have ended it. It runs the model once more; interrupted, where not nil, ends that.
func TellPasses(src *scenario.Source, r *result.Explain, interrupted func() error) error {
	asked := make([]scenario.Asked, 0, len(r.Late))
	for i := range r.Late {
		l := &r.Late[i]
		from := event.Time(r.Input.StartNS + l.WokenNS)
		asked = append(asked, scenario.Asked{PID: event.PID(l.PID), From: from, To: from + event.Time(l.WaitNS)})
	}
	if len(asked) == 0 {
		return nil
	}
	kept, waits, err := src.Passes(asked, interrupted)
	if err != nil {
		return fmt.Errorf("looking at the load balancer: %w", err)
	}
	for i := range r.Late {
		for p := range kept.PassesFor(&waits[i]) {
			if r.Late[i].PassesN++; r.Late[i].PassesN <= mostPasses {
				r.Late[i].BalancePasses = append(r.Late[i].BalancePasses, passOf(&p, r.Input.StartNS))
			}
		}
	}
	if n := kept.PassesDropped(); n > 0 {
		r.Diagnostics = append(r.Diagnostics, result.Diagnostic{Kind: "more", Count: n, Text: "passes of the load balancer are not told for want of memory"})
	}
	return nil
}

// passOf is the public form of p; start is the first stamp of the run.
func passOf(p *truth.Looked, start int64) result.BalancePass {
	out := result.BalancePass{AtNS: int64(p.At) - start, CPU: int32(p.CPU), By: int32(p.By), Kind: p.Kind.String(), Domain: p.Domain, Span: sysinfo.ListOf(p.Span).String(),
		Groups: []result.BalanceGroup{}, Busiest: p.Busiest, Queues: []result.BalanceQueue{}, Source: int32(p.Source), Imbalance: p.Imbalance, Metric: p.Metric,
		Moved: []int32{}, Why: p.Why, WaitedOn: int32(p.From), Missed: p.Miss.String()}
	for i := range p.Groups {
		g := &p.Groups[i]
		out.Groups = append(out.Groups, result.BalanceGroup{CPUs: sysinfo.ListOf(g.CPUs).String(), Local: g.Local, Type: g.Type, Load: g.Load, Capacity: g.Capacity, Util: g.Util,
			Running: g.Running, Idle: g.Idle})
	}
	for i := range p.Queues {
		q := &p.Queues[i]
		out.Queues = append(out.Queues, result.BalanceQueue{CPU: int32(q.CPU), Load: q.Load, Capacity: q.Capacity, Running: q.Running, Runnable: q.Runnable})
	}
	for _, pid := range p.Moved {
		out.Moved = append(out.Moved, int32(pid))
	}
	return out
}
