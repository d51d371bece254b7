package experiment

import (
	"context"
	"fmt"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
)

// explainWorst runs the run with the longest wait again and explains that wait.
func (t *trial) explainWorst(ctx context.Context) error {
	n := 0
	for i := range t.runs {
		if t.runs[i].worst > t.runs[n].worst {
			n = i
		}
	}
	longest := t.runs[n].worst
	t.worstAt = t.setup.Reseeded(uint64(n))
	if longest <= 0 {
		return nil
	}
	src, err := scenario.NewSource(t.worstAt)
	if err != nil {
		return err
	}
	// A timer's latency contains the task's own way to the clock, which is no wait.
	o := explain.Options{Tasks: t.x.Tasks, Over: max(min(longest*9/10, longest-ownWay), 1), From: event.NoTime, To: event.NoTime}
	r, err := explain.Explain(&interruptible{src, ctx}, o)
	if err != nil {
		return fmt.Errorf("explaining %s, variant %s: %w", t.x.Scenario, t.variant.Name, err)
	}
	at := -1
	for i := range r.Late {
		l := &r.Late[i]
		if l.WaitKind != latency.Wakeup.String() || l.OnCPUNS == nil {
			continue
		}
		if at < 0 || urgency(l) < urgency(&r.Late[at]) || urgency(l) == urgency(&r.Late[at]) && l.LatenessNS > r.Late[at].LatenessNS {
			at = i
		}
	}
	if at >= 0 {
		t.worst = &result.Worst{Late: r.Late[at], Seed: t.worstAt.Load.Seed}
	}
	return nil
}

// ownWay is what a task needs at most from its first instruction to the clock.
const ownWay event.Time = 10_000

// urgency is that of rows.
func urgency(l *result.Late) int {
	switch {
	case l.Class == cause.ClassStop.String() || kernel.IsKernelThread(l.Comm):
		return 2
	case l.Class == cause.ClassRT.String() || l.Class == cause.ClassDeadline.String():
		return 0
	}
	return 1
}

// interruptible ends the streams of a source when a context ends.
type interruptible struct {
	*scenario.Source
	ctx context.Context
}

func (s *interruptible) Events(o event.Options) (event.Stream, error) {
	stream, err := s.Source.Events(o)
	if err != nil {
		return nil, err
	}
	return &interruptibleStream{Stream: stream, ctx: s.ctx}, nil
}

type interruptibleStream struct {
	event.Stream
	ctx context.Context
	n   uint
}

func (s *interruptibleStream) Next() (*event.Event, error) {
	if s.n++; s.n%interruptEvery == 0 {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
	}
	return s.Stream.Next()
}
