package scenario

import (
	"context"
	"errors"
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// Job is what a task does between two of its sleeps.
type Job = workload.Job

// Probe looks at a run without keeping its events: for searches, which make thousands.
type Probe struct {
	// Event, where set, is called for each event as it happens. It is valid during the call.
	Event func(*event.Event)
	// Want are the kinds of events that are made; the zero Want: all.
	Want event.KindSet
	// Job, where set, is told every finished job, and at the end those that are not done.
	Job func(Job)
	// Before, where set, is given the machine before anything runs.
	Before func(*machine.Machine)

	// Start is when the program began, End when the run was over. Set by Run.
	Start, End event.Time
	// Zero is when the first thread was ready: delays count from there. Set by Run.
	Zero event.Time
	// Tasks are those of the threads, in their order. Set by Run.
	Tasks []*sched.Task

	m   *machine.Machine
	run *workload.Run
}

// Now is the time of the run, for who is called by it.
func (p *Probe) Now() event.Time { return p.m.Now() }

// Name resolves a name of the run.
func (p *Probe) Name(n event.Name) string { return p.m.Names.String(n) }

// Begun is when the last thread came to its first sleep, or to its end; NoTime: not yet.
func (p *Probe) Begun() event.Time {
	if p.run == nil {
		return event.NoTime
	}
	return p.run.Begun()
}

// probeSlice is how far the model runs between two looks whether somebody wants it to stop.
const probeSlice event.Time = 20_000_000

// Run runs s. Errors are those of the setup and of the model, what the kernel refuses, and
// that of ctx.
func (p *Probe) Run(ctx context.Context, s *Setup) error {
	if s.Machine.Sched.CPUs < 1 {
		return errNoCPU
	}
	cfg := s.Machine
	cfg.Sched.Quiet = p.Event == nil // nobody listens
	if p.Want != 0 {
		cfg.Without |= ^p.Want
	}
	m := machine.New(cfg, event.NewNames(), p.Event)
	p.m, p.run = m, nil
	if p.Before != nil {
		p.Before(m)
	}
	if err := m.RunUntil(s.Start); err != nil {
		return fmt.Errorf("starting the machine: %w", err)
	}
	run, err := workload.Load(m, s.Load)
	if err != nil {
		return fmt.Errorf("starting the scenario: %w", err)
	}
	p.run = run
	var verdict error
	run.OnVerdict = func(err error) { verdict = err }
	run.OnJob = p.Job
	p.Start = s.Start
	for now := s.Start; now < s.Until && !run.Done(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		now = min(now+probeSlice, s.Until)
		if err := m.RunUntil(now); err != nil {
			return fmt.Errorf("running the model: %w", err)
		}
		if verdict != nil {
			return fmt.Errorf("the kernel refused: %w", verdict)
		}
	}
	p.End, p.Zero = m.Now(), run.Zero()
	p.Tasks = run.Tasks(p.Tasks[:0])
	if p.Job != nil {
		run.Pending(p.Job)
	}
	return nil
}

var errNoCPU = errors.New("a machine needs at least one CPU")
