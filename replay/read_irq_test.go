package replay

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// interruptTime is what interrupts, and softirqs in their context, took of each CPU.
func interruptTime(x *timeline.Index) []event.Time {
	sums := make([]event.Time, len(x.CPUs))
	for c := range x.CPUs {
		for _, s := range takenOf(x, c, x.Facts.PreemptRT == kernel.Yes) {
			sums[c] += s.To - s.From
		}
	}
	return sums
}

// TestInterruptTimeIsCarriedOver: in a run of an unchanged load interrupts and softirqs take as
// much of each CPU as they did in the recording.
func TestInterruptTimeIsCarriedOver(t *testing.T) {
	for _, file := range recordings(t) {
		f := opened(t, file)
		l, err := Read(f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		tr := timeline.NewTracker(f.Info().Machine, f.Names())
		recorded := timeline.NewBuilder(tr, kernel.Of(f.Info().Kernel), f.Names())
		if err := pass(f, nil, tr, recorded.Push); err != nil {
			t.Fatal(err)
		}
		recorded.Finish()
		again := timeline.NewTracker(f.Info().Machine, l.Names)
		run := timeline.NewBuilder(again, kernel.Of(f.Info().Kernel), l.Names)
		if _, err := l.Run(RunOptions{Sink: func(ev *event.Event) { run.Push(ev, again.Push(ev)) }}); err != nil {
			t.Fatal(err)
		}
		run.Finish()
		want, got := interruptTime(recorded.Index()), interruptTime(run.Index())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: ns by CPU (-recorded +run):\n%s", filepath.Base(file), diff)
		}
		for _, k := range []event.Kind{event.IRQHandlerEntry, event.IRQHandlerExit} {
			if n, m := recorded.Index().Counts[k], run.Index().Counts[k]; n != m {
				t.Errorf("%s: %d events %s, recorded are %d", filepath.Base(file), m, k, n)
			}
		}
	}
}
