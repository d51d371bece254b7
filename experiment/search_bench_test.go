package experiment_test

import (
	"context"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/experiment"
)

// BenchmarkWorst is a search in a load of all sorts for 150 ms each: what a run of it costs with
// all around it, on all processors.
func BenchmarkWorst(b *testing.B) {
	a := arrivals(b, busyPlan(b), "ctl", experiment.VaryAll)
	points, _, err := a.Points(context.Background(), 0)
	if err != nil {
		b.Fatal(err)
	}
	s := experiment.Search{Axes: a.Axes(), First: points, Near: a.Near, Budget: b.N, Seed: 1}
	s.Run = func(ctx context.Context, at []event.Time) (experiment.Measured, error) {
		seen, err := a.Measure(ctx, at, experiment.Response, false)
		return experiment.Measured{Value: int64(seen.Value), When: seen.Job.Released}, err
	}
	b.ReportAllocs()
	b.ResetTimer()
	if _, err := experiment.Worst(context.Background(), s); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}
