package explain

import (
	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/timeline"
)

// elsewhere turns an idle CPU into its public form.
func (f *explained) elsewhere(e *cause.Elsewhere, names *event.Names) result.IdleElsewhere {
	out := result.IdleElsewhere{CPU: int32(e.CPU), NS: e.NS, Verdict: e.Verdict.String(), UntilNS: int64(e.Until - f.start), Stays: e.Stays}
	if e.Since != event.NoTime {
		since := int64(e.Since - f.start)
		out.SinceNS = &since
	}
	b := e.Balancing
	if b == nil {
		return out
	}
	out.Balancing = &result.Balancing{Softirqs: b.Softirqs, ByOthers: b.ByOthers, Others: []int32{}, Pulls: b.Pulls, Pulled: []result.Pull{}, Verdict: b.Verdict.String(), Needs: append([]string{}, b.Needs...)}
	for _, c := range b.Others {
		out.Balancing.Others = append(out.Balancing.Others, int32(c))
	}
	for i := range b.Pulled {
		p := &b.Pulled[i]
		t := f.tr.Task(p.Task)
		out.Balancing.Pulled = append(out.Balancing.Pulled, result.Pull{AtNS: int64(p.At - f.start), FromCPU: int32(p.From), ByCPU: int32(p.By),
			Comm: names.String(t.Comm), PID: int32(t.PID), How: how(p)})
	}
	return out
}

// how says in which way a task was brought to another CPU.
func how(p *timeline.Pull) string {
	switch {
	case p.Stopper:
		return "stopper"
	case p.Softirq:
		return "softirq"
	}
	return "newidle"
}
