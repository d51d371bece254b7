package experiment

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/stats"
)

// outcome puts together what the trials of x gave.
func (x *Experiment) outcome(trials []*trial) *Outcome {
	first := trials[0]
	out := &Outcome{Comparison: result.Comparison{ID: x.ID, Question: x.Question, Scenario: x.Scenario,
		CPUs: first.setup.Machine.Sched.CPUs, Random: first.random}}
	for _, m := range x.Measures {
		out.Measures = append(out.Measures, result.Measure{Name: m.Name, Title: m.Title})
	}
	var diags []event.Diagnostic
	for _, t := range trials {
		out.Variants = append(out.Variants, t.result(first))
		out.Setups = append(out.Setups, t.worstAt)
		for i := range t.runs {
			for _, d := range t.runs[i].diags {
				diags = event.Diagnose(diags, d.Kind, d.Count, d.Text)
			}
		}
	}
	out.Diagnostics = []result.Diagnostic{}
	for _, d := range diags {
		out.Diagnostics = append(out.Diagnostics, result.Diagnostic{Kind: d.Kind, Count: d.Count, Text: d.Text})
	}
	return out
}

// result is t as it is told; first is the one that it is compared with, t itself at the
// first.
func (t *trial) result(first *trial) result.Variant {
	v := result.Variant{Name: t.variant.Name, Change: slices.Clone(t.variant.Changes), Kernel: t.setup.Kernel.Profile.Name,
		Runs: len(t.runs), Tasks: []result.Varied{}, Measures: map[string]int64{}, Worst: t.worst}
	if v.Change == nil {
		v.Change = []string{}
	}
	var base map[taskKey]*pooled
	if t != first {
		base, _ = first.tasks()
	}
	tasks, order := t.tasks()
	for _, k := range order {
		p := tasks[k]
		r := p.result(t.random)
		if b := base[k]; b != nil {
			r.AgainstP99 = stats.Differ(b.p99, p.p99, stats.Nothing, t.random)
			r.AgainstMax = stats.Differ(b.max, p.max, stats.Nothing, t.random)
		}
		v.Tasks = append(v.Tasks, r)
	}
	for i := range t.x.Measures {
		t.measure(&v, first, &t.x.Measures[i])
	}
	return v
}

// measure fills in one measure of v.
func (t *trial) measure(v *result.Variant, first *trial, m *Measure) {
	values := t.values(m.Name)
	if len(values) == 0 {
		return
	}
	e := stats.Estimate(values, m.Assume, t.random)
	v.Measures[m.Name] = e.Center
	if !t.random && t == first {
		return
	}
	if t.random {
		if v.Spread == nil {
			v.Spread = map[string]result.Estimate{}
		}
		v.Spread[m.Name] = e
	}
	if t == first {
		return
	}
	if d := stats.Differ(first.values(m.Name), values, m.Assume, t.random); d != nil {
		if v.Against == nil {
			v.Against = map[string]result.Difference{}
		}
		v.Against[m.Name] = *d
	}
}

func (t *trial) values(name string) []int64 {
	var list []int64
	for i := range t.runs {
		if n, ok := t.runs[i].value[name]; ok {
			list = append(list, n)
		}
	}
	return list
}
