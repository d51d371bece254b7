package replay

import (
	"path/filepath"
	"testing"

	"github.com/whylate/whylate/trace"
)

// TestVruntimesAreTheKernels: on 6.1 sched_stat_runtime tells the vruntime of a task after each
// charge. Loads whose seeds were written down before (testdata/fair/loads.md), recorded on one CPU:
// what the model makes of the run times has to be the kernel's to the ns in 99.9 % of the updates for which
// the trace tells everything that they rest on.
func TestVruntimesAreTheKernels(t *testing.T) {
	files, err := filepath.Glob("testdata/fair/v61-*.dat.xz")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("testdata/fair has no recordings of 6.1")
	}
	var all Vruntimes
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := trace.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			v, err := CompareVruntimes(src, Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d updates, %d learned from; equal %d of %d, and %d of %d that rest on a charge which no event tells, the others at most %d ns off; differ %v",
				v.Updates, v.Learned, v.Equal, v.Counted(), v.UntoldEqual, v.Untold, v.UntoldMost, v.Differ)
			t.Logf("decided alike: %d of %d picks, %d of %d wakes, %d of %d ticks", v.Picks.Agree, v.Picks.N, v.Wakes.Agree, v.Wakes.N, v.Ticks.Agree, v.Ticks.N)
			for _, d := range v.First {
				t.Logf("%d ns: %s (%d) ran %d ns %s: recorded %d, model %d", d.At, src.Names().String(d.Comm), d.PID, d.Runtime, d.Cause, d.Recorded, d.Model)
			}
			if v.Equal*1000 < v.Counted()*999 {
				t.Errorf("equal %d of %d", v.Equal, v.Counted())
			}
			// Between sched_waking and the charge lie a few µs.
			if v.UntoldMost > 10_000 {
				t.Errorf("%d ns off after a charge at an untold moment", v.UntoldMost)
			}
			if v.Learned*100 > v.Updates {
				t.Errorf("%d of %d updates only taught the model something", v.Learned, v.Updates)
			}
			for i, a := range []*Agreement{&v.Picks, &v.Wakes, &v.Ticks} {
				sum := []*Agreement{&all.Picks, &all.Wakes, &all.Ticks}[i]
				sum.N += a.N
				sum.Agree += a.Agree
			}
			all.Updates += v.Updates
			all.Learned += v.Learned
			all.Equal += v.Equal
			all.Untold += v.Untold
			all.UntoldEqual += v.UntoldEqual
		})
	}
	t.Logf("all: %d updates, %d learned from; equal %d of %d, and %d of %d that rest on an untold charge", all.Updates, all.Learned, all.Equal,
		all.Counted(), all.UntoldEqual, all.Untold)
	t.Logf("all: decided alike %d of %d picks, %d of %d wakes, %d of %d ticks", all.Picks.Agree, all.Picks.N, all.Wakes.Agree, all.Wakes.N, all.Ticks.Agree, all.Ticks.N)
	for what, a := range map[string]Agreement{"picks": all.Picks, "wakes": all.Wakes, "ticks": all.Ticks} {
		if a.N < 1000 || a.Agree*1000 < a.N*995 {
			t.Errorf("%d of %d %s are the kernel's", a.Agree, a.N, what)
		}
	}
}
