package scenario_test

import (
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/trace"
)

// TestQEMUCostsOnOtherRecordings scores the table on recordings that it was not fitted on:
// the way from the waking of a real-time task to its switch, on an idle CPU and on one that
// runs, where nothing of its own or a higher priority was in the way. The model has one
// figure for both ways.
func TestQEMUCostsOnOtherRecordings(t *testing.T) {
	const rt, rt612 = "rt-throttle-v61rt-smp1/", "rt-throttle-v612rt-smp1/"
	for _, c := range []struct{ profile, file, task string }{
		{"6.1-rt", "exit-storm-v61rt-smp1/exit-0", "cyclictest"}, {"6.1-rt", "exit-storm-v61rt-smp1/exit-256", "cyclictest"},
		{"6.1-rt", rt + "throttle-off", "hi25"}, {"6.1-rt", rt + "throttle950000", "hi25"}, {"6.1-rt", rt + "throttle960000-hog", "hi25"},
		{"6.1-rt", "rtapp-v61rt-smp1/rtapp", "fifo30"}, {"6.12-rt", rt612 + "throttle-off-hog", "hi25"},
		{"6.12-rt", rt612 + "throttle950000-hog", "hi25"}, {"6.12-rt", "exit-storm-v612rt-smp1/exit-256", "cyclictest"},
	} {
		t.Run(c.file, func(t *testing.T) {
			src, err := trace.Open(shared.Path(t, "traces/"+c.file+".dat"))
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			plan := &scenario.Plan{Kernel: c.profile, CPUs: 1}
			plan.Load.Duration = 1
			if err := plan.UseCosts("qemu"); err != nil {
				t.Fatal(err)
			}
			setup, err := plan.Setup()
			if err != nil {
				t.Fatal(err)
			}
			k := setup.Machine.Costs
			for _, idle := range []bool{true, false} {
				n := 0
				is := func(f func(wake) event.Time) event.Time {
					n = 0
					return median(wakesOf(t, src, c.task), func(w wake) (event.Time, bool) {
						if w.idle != idle || w.on-w.waking > 50*us {
							return 0, false
						}
						n++
						return f(w), true
					})
				}
				wakes, toCPU := is(func(w wake) event.Time { return w.waking - w.expiry }), is(func(w wake) event.Time { return w.on - w.waking })
				if n < 20 {
					continue
				}
				t.Logf("idle %t: %d wakes; interrupt to waking %d ns, table %d; waking to switch %d ns, table %d: %+d", idle, n, wakes, k.Wake, toCPU, k.Enqueue, k.Enqueue-toCPU)
				if d := k.Enqueue - toCPU; d > 3*us || d < -3*us {
					t.Errorf("%d ns from the waking to the switch, the table says %d", toCPU, k.Enqueue)
				}
			}
		})
	}
}

// TestSequenceWithQEMUCosts is the sequence of rt-app's tasks with the costs of the machine
// that it was recorded on, instead of the default ones.
func TestSequenceWithQEMUCosts(t *testing.T) {
	// Work as the file has it is 1.7 % short of what it took, as in TestSequenceOfARealKernel, and
	// may be as far off as there; the measured work has some of the costs in it.
	within := map[bool]event.Time{false: 250 * us, true: 60 * us}
	for _, measured := range []bool{false, true} {
		plan := recorded(t, measured)
		if err := plan.UseCosts("qemu"); err != nil {
			t.Fatal(err)
		}
		real, model := bothStretches(t, plan)
		same, worst := 0, event.Time(0)
		for same < min(len(real), len(model)) && real[same].String() == model[same].String() {
			d := real[same].at + monoAhead - model[same].at - base
			worst = max(worst, d, -d)
			same++
		}
		t.Logf("measured %t: %d stretches recorded, %d in the model, the first %d the same, begins within %d µs", measured, len(real), len(model), same, worst/us)
		if same < len(real) || same < len(model) || worst > within[measured] {
			t.Errorf("%d of %d the same, within %d µs", same, len(real), worst/us)
		}
	}
}
