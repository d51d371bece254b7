package experiment

import (
	"context"
	"fmt"
	"path"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/stats"
)

// Experiment is a scenario to be run in variants.
type Experiment struct {
	ID, Question string
	Scenario     string // its name, only printed
	// Plan makes the scenario anew: changes alter a plan.
	Plan     func() (*scenario.Plan, error)
	Variants []Variant
	// Seeds is how many runs each variant gets, with seeds that count on from that of the
	// plan; at least 1.
	Seeds int
	// Tasks are shell patterns of the tasks that are told; empty: all. Together: those of one name are
	// one row, where a program has many that do the same.
	Tasks    []string
	Together bool
	// NoWorst leaves out the explanation of each variant's longest wait. Brief explains it from its run up to
	// shortly after it, which takes less time than from all of it.
	NoWorst, Brief bool
	// Kinds are the events that a Watcher needs beside those of waits, where that is not all: a run
	// without the others is the same and takes less time.
	Kinds    event.KindSet
	Measures []Measure
	// Watch makes what takes the measures of one run; nil: none.
	Watch func(*Context) Watcher
}

// Variant is a name with changes in the common grammar. Where Plan is set it makes the
// variant's plan and has the changes in it already; they are only told then.
type Variant struct {
	Name    string
	Changes []string
	Plan    func() (*scenario.Plan, error)
}

// Measure is a number that a Watcher takes. Its name ends in the unit.
type Measure struct {
	Name, Title string
	Assume      stats.Assumption
}

// Context is what a Watcher may know before its run begins.
type Context struct {
	Names *event.Names
	Setup *scenario.Setup
}

// Watcher sees one run as it goes by.
type Watcher interface {
	// Event is called for each event, in order.
	Event(*event.Event)
	// Round is called for each finished round of a task.
	Round(*scenario.Round)
	// Values returns the measures by name; those that make no sense in this run are left
	// out. end is the last event's time.
	Values(end event.Time) map[string]int64
}

// MachineWatcher is a Watcher that also counts what leaves no events.
type MachineWatcher interface {
	Watcher
	// Machine is called before anything runs. What the machine does must not be changed.
	Machine(*machine.Machine)
}

// Outcome is what an experiment gave.
type Outcome struct {
	result.Comparison
	// Setups has for each variant the run of its longest wait, for who wants its events.
	Setups      []*scenario.Setup
	Diagnostics []result.Diagnostic
}

// Options are common to all experiments of one call of Run.
type Options struct {
	// Progress, where set, is told how many of all runs are done; calls do not overlap.
	Progress func(done, total int64)
	// NoWorst leaves out the explanation of each variant's longest wait.
	NoWorst bool
}

// Run does the experiments on all processors and returns what each gave. Errors are of a
// scenario or a change that makes no sense, of the model, or of ctx.
func Run(ctx context.Context, list []*Experiment, o Options) ([]*Outcome, error) {
	var all []*trial
	for _, x := range list {
		for i := range x.Variants {
			t, err := newTrial(x, i)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
	}
	p := newProgress(o, all)
	if err := firstRuns(ctx, all, p); err != nil {
		return nil, err
	}
	if err := otherRuns(ctx, all, p); err != nil {
		return nil, err
	}
	if !o.NoWorst {
		err := each(ctx, len(all), func(ctx context.Context, i int) error {
			defer p.done(1)
			if all[i].x.NoWorst {
				return nil
			}
			return all[i].explainWorst(ctx)
		})
		if err != nil {
			return nil, err
		}
	}
	var out []*Outcome
	for _, x := range list {
		out = append(out, x.outcome(all[:len(x.Variants)]))
		all = all[len(x.Variants):]
	}
	return out, nil
}

// firstRuns does the first two seeds of every trial, which tell what is random.
func firstRuns(ctx context.Context, all []*trial, p *progress) error {
	return each(ctx, 2*len(all), func(ctx context.Context, i int) error {
		t, n := all[i/2], i%2
		if n >= len(t.runs) {
			return nil
		}
		defer p.done(1)
		return t.run(ctx, n)
	})
}

// otherRuns does the remaining seeds of those where seeds make a difference. It is asked of
// all variants of an experiment together: one that happens not to draw a random number is
// compared with others that do.
func otherRuns(ctx context.Context, all []*trial, p *progress) error {
	random := make(map[*Experiment]bool)
	for _, t := range all {
		// One run alone does not tell what is random: then nothing is called exact.
		if len(t.runs) == 1 || t.runs[0].hash != t.runs[1].hash {
			random[t.x] = true
		}
	}
	type job struct {
		t *trial
		n int
	}
	var jobs []job
	for _, t := range all {
		if t.random = random[t.x]; !t.random {
			p.done(max(0, len(t.runs)-2))
			t.runs = t.runs[:1]
			continue
		}
		for n := 2; n < len(t.runs); n++ {
			jobs = append(jobs, job{t, n})
		}
	}
	return each(ctx, len(jobs), func(ctx context.Context, i int) error {
		defer p.done(1)
		return jobs[i].t.run(ctx, jobs[i].n)
	})
}

// wants reports whether the task called comm is told.
func (x *Experiment) wants(comm string) bool {
	if len(x.Tasks) == 0 {
		return true
	}
	for _, pattern := range x.Tasks {
		if ok, err := path.Match(pattern, comm); ok && err == nil || pattern == comm {
			return true
		}
	}
	return false
}

// plan returns the plan of variant v.
func (x *Experiment) plan(v *Variant) (*scenario.Plan, error) {
	if v.Plan != nil {
		return v.Plan()
	}
	p, err := x.Plan()
	if err != nil {
		return nil, err
	}
	for _, c := range v.Changes {
		if err := p.Change(c); err != nil {
			return nil, fmt.Errorf("%s, variant %s: %w", x.Scenario, v.Name, err)
		}
	}
	return p, nil
}
