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

// explainWorst runs the run in which somebody was latest again and explains that wait. What a
// timer measures is preferred, since it begins before the wake; but where a task was late by
// its own doing, or waited for a lock, there is no wait as long as that. Then it is the
// longest wait.
func (t *trial) explainWorst(ctx context.Context) error {
	byTimer := t.latest(func(o *observed) event.Time { return o.latest })
	byWait := t.latest(func(o *observed) event.Time { return o.wait })
	t.worstAt = t.setup.Reseeded(uint64(byWait))
	if late := t.runs[byTimer].latest; late > t.runs[byWait].wait {
		// A timer's latency contains the task's own way to the clock, which is no wait.
		l, err := t.explainLate(ctx, byTimer, max(min(late*9/10, late-ownWay), 1), event.NoTime)
		if err != nil {
			return err
		}
		if l != nil {
			t.worst, t.worstAt = l, t.setup.Reseeded(uint64(byTimer))
			return nil
		}
	}
	if t.runs[byWait].wait <= 0 {
		return nil
	}
	var err error
	until := event.NoTime
	if t.x.Brief {
		until = t.runs[byWait].waitEnd + afterWorst
	}
	t.worst, err = t.explainLate(ctx, byWait, t.runs[byWait].wait, until)
	return err
}

// afterWorst is how much of a run is looked at after its longest wait, where that is not all.
const afterWorst event.Time = 100_000_000

// latest returns the number of the run with the largest value.
func (t *trial) latest(of func(*observed) event.Time) int {
	n := 0
	for i := range t.runs {
		if of(&t.runs[i]) > of(&t.runs[n]) {
			n = i
		}
	}
	return n
}

// explainLate explains the latest wakeup of run n that is at least over late, of the tasks
// that matter most; nil if there is none. until, unless it is NoTime, is when the run may end.
func (t *trial) explainLate(ctx context.Context, n int, over, until event.Time) (*result.Worst, error) {
	setup := t.setup.Reseeded(uint64(n))
	if until != event.NoTime {
		setup.Until = min(setup.Until, until)
	}
	src, err := scenario.NewSource(setup)
	if err != nil {
		return nil, err
	}
	o := explain.Options{Tasks: t.x.Tasks, Over: over, From: event.NoTime, To: event.NoTime}
	r, err := explain.Explain(explain.Interruptible(ctx, src), o)
	if err != nil {
		return nil, fmt.Errorf("explaining %s, variant %s: %w", t.x.Scenario, t.variant.Name, err)
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
	if at < 0 {
		return nil, nil
	}
	return &result.Worst{Late: r.Late[at], Seed: setup.Load.Seed}, nil
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
