package machine_test

import (
	"fmt"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// groupedBox is the speed goal of the fair class: 16 CPUs, 48 fair tasks in groups at the given
// depth, a third of which never sleep.
func groupedBox(tb testing.TB, fair sched.FairConfig, depth int) *machine.Machine {
	cfg := sched.DefaultConfig(16)
	cfg.Fair = fair
	m := machine.New(machine.Config{Sched: cfg}, event.NewNames(), nil)
	groups := []*sched.Group{nil}
	for range depth {
		var below []*sched.Group
		for i := range 4 {
			below = append(below, m.Sched.NewGroup(groups[i%len(groups)]))
		}
		groups = below
	}
	for i := range 48 {
		w := &worker{run: 400*us + event.Time(i%7)*100*us, sleep: 2*ms + event.Time(i%11)*100*us}
		if i%3 == 0 {
			w = &worker{run: s}
		}
		th, err := m.Spawn(0, "task", sched.Attr{Nice: i % 5}, nil, w)
		if err != nil {
			tb.Fatal(err)
		}
		if g := groups[i%len(groups)]; g != nil {
			if _, err := m.Sched.Attach(0, th.Task, g); err != nil {
				tb.Fatal(err)
			}
		}
		m.Start(event.CPU(i%16), th)
	}
	return m
}

// TestNothingIsAllocatedInGroups once a machine is warm.
func TestNothingIsAllocatedInGroups(t *testing.T) {
	m := groupedBox(t, sched.DefaultFair(16), 3)
	run(t, m, 200*ms)
	if n := testing.AllocsPerRun(20, func() { run(t, m, m.Now()+10*ms) }); n > 0 {
		t.Errorf("%v allocations in 10 ms", n)
	}
}

// BenchmarkFairGroups reports how many times faster than real time ten seconds of it are.
func BenchmarkFairGroups(b *testing.B) {
	eevdf := sched.DefaultFair(16)
	eevdf.EEVDF, eevdf.CustomSlices, eevdf.BaseSlice = true, true, 2800*us
	eevdf.Features = sched.FeaturesOf(sched.PlaceLag, sched.PlaceDeadlineInitial, sched.PlaceRelDeadline, sched.RunToParity, sched.PreemptShort,
		sched.DelayDequeue, sched.DelayZero, sched.WakeupPreemption, sched.AttachAgeLoad, sched.UtilEst)
	for _, c := range []struct {
		name string
		fair sched.FairConfig
	}{{"cfs", sched.DefaultFair(16)}, {"eevdf", eevdf}} {
		for _, depth := range []int{0, 1, 3} {
			b.Run(fmt.Sprintf("%s/depth=%d", c.name, depth), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					m := groupedBox(b, c.fair, depth)
					if err := m.RunUntil(10 * s); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(10*float64(b.N)/b.Elapsed().Seconds(), "x-realtime")
			})
		}
	}
}
