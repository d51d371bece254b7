package cases

import (
	"context"
	"fmt"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
)

// search is a part that looks for the arrival at which a task is served worst, in each variant.
type search struct {
	task string
	// budget is how many arrivals are tried in a full run and in a quick one.
	budget, quick int
	// less is what the task does by itself in a job, which is no latency.
	less event.Time
	// step is the distance of the starts that are tried, beside those at which something happens;
	// in a quick run eight times that.
	step event.Time
	// length is how much of the scenario is run.
	length event.Time
}

// searched are the measures of such a part.
var searched = []experiment.Measure{
	{Name: "worst_ns", Title: "from due to running, at the worst arrival of all"},
	{Name: "worst_before_ns", Title: "of it, what could not be interrupted then"},
	{Name: "worst_path_ns", Title: "and the way from the interrupt to the task"},
	{Name: "usual_ns", Title: "with the arrivals of the file"},
	{Name: "arrivals_n", Title: "arrivals tried"},
}

// begun is when all threads of a scenario have begun, after its start.
const begun event.Time = 8_000_000

// run searches all variants of x.
func (s *search) run(ctx context.Context, x *experiment.Experiment, quick bool) (*experiment.Outcome, error) {
	out := &experiment.Outcome{Comparison: result.Comparison{ID: x.ID, Question: x.Question, Scenario: x.Scenario, Variants: []result.Variant{}},
		Diagnostics: []result.Diagnostic{}}
	for _, m := range searched {
		out.Measures = append(out.Measures, result.Measure{Name: m.Name, Title: m.Title})
	}
	var said []string
	for i := range x.Variants {
		v := &x.Variants[i]
		r, doing, err := s.variant(ctx, x, v, quick)
		if err != nil {
			return nil, fmt.Errorf("%s, variant %s: %w", x.Scenario, v.Name, err)
		}
		said = append(said, fmt.Sprintf("%s %s (%s)", v.Name, words(r.Measures["worst_ns"]), doing))
		out.Variants = append(out.Variants, *r)
		p, err := x.Plan()
		if err != nil {
			return nil, err
		}
		setup, err := p.Setup()
		if err != nil {
			return nil, err
		}
		out.CPUs = setup.Machine.Sched.CPUs
		out.Setups = append(out.Setups, setup)
	}
	out.Answer = "At the worst arrival, and what the CPU was doing then: " + strings.Join(said, "; ") + "."
	return out, nil
}

func (s *search) variant(ctx context.Context, x *experiment.Experiment, v *experiment.Variant, quick bool) (*result.Variant, string, error) {
	p, err := x.Plan()
	if err != nil {
		return nil, "", err
	}
	for _, c := range v.Changes {
		if err := p.Change(c); err != nil {
			return nil, "", err
		}
	}
	p.Load.Duration = s.length
	a, err := experiment.NewArrivals(p, s.task, experiment.VaryPhase)
	if err != nil {
		return nil, "", err
	}
	budget, step := s.budget, s.step
	if quick {
		budget, step = s.quick, 8*step
	}
	points, _, err := a.Points(ctx, step)
	if err != nil {
		return nil, "", err
	}
	measure := func(ctx context.Context, at []event.Time) (experiment.Measured, error) {
		worst := experiment.Measured{When: event.NoTime}
		setup := a.Setup(at)
		probe := scenario.Probe{Want: event.Kinds(event.SchedSwitch), Job: func(j scenario.Job) {
			if j.Task != a.Task() || j.Released < setup.Start+begun || j.Done == event.NoTime {
				return
			}
			if ns := int64(j.Done - j.Released - s.less); ns > worst.Value {
				worst = experiment.Measured{Value: ns, When: j.Released}
			}
		}}
		return worst, probe.Run(ctx, setup)
	}
	found, err := experiment.Worst(ctx, experiment.Search{Axes: a.Axes(), First: points, Budget: budget, Near: a.Near, Seed: 1,
		Run: measure})
	if err != nil {
		return nil, "", err
	}
	usual, err := measure(ctx, a.Base())
	if err != nil {
		return nil, "", err
	}
	var before event.Time
	doing, err := s.lookAt(ctx, a, found.At, found.When, &before)
	if err != nil {
		return nil, "", err
	}
	r := &result.Variant{Name: v.Name, Change: append([]string{}, v.Changes...), Kernel: p.Kernel, Runs: found.Runs, Tasks: []result.Varied{}, Measures: map[string]int64{
		"worst_ns": found.Value, "worst_before_ns": int64(before), "worst_path_ns": found.Value - int64(before), "usual_ns": usual.Value, "arrivals_n": int64(found.Runs)}}
	return r, doing, nil
}

// lookAt runs the scenario with the arrivals of a point once more and says what the CPU of the
// task was doing at the instant given, and for how long it could not be interrupted then.
func (s *search) lookAt(ctx context.Context, a *experiment.Arrivals, at []event.Time, when event.Time, left *event.Time) (string, error) {
	doing := ""
	p := scenario.Probe{Want: event.Kinds(event.SchedSwitch)}
	p.Before = func(m *machine.Machine) {
		m.At(when, func() {
			const c = 0
			*left = m.OwnWork(c)
			layer, curr := m.Layer(c), kindOf(m.Names.String(m.Sched.Curr(c).Comm))
			switch {
			case layer.Kind == machine.LayerOwn:
				doing = "the scheduler, on the way to " + curr
			case layer.Kind == machine.LayerLocal:
				doing = "entering an interrupt"
			case layer.Kind != machine.LayerTask:
				doing = "an interrupt"
			case *left > 0:
				doing = curr + " with interrupts off"
			default:
				doing = curr
			}
		})
	}
	return doing, p.Run(ctx, a.Setup(at))
}
