package replay

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whylate/whylate/internal/shared"
	"github.com/whylate/whylate/trace"
)

// followed are the traces that Force is scored on.
var followed = []string{
	"exit-storm-v61rt-smp1/exit-0.dat", "exit-storm-v61rt-smp1/exit-64.dat", "exit-storm-v61rt-smp1/exit-256.dat",
	"exit-storm-v61rt-smp1/exitfn-256.dat", "exit-storm-v612rt-smp1/exit-256.dat",
	"rt-throttle-v61rt-smp1/throttle950000.dat", "rt-throttle-v61rt-smp1/throttle960000-hog.dat", "rt-throttle-v61rt-smp1/throttle-off.dat",
	"rt-throttle-v61rt-smp1/throttle950.ftrace.txt.xz",
	"rt-throttle-v612rt-smp1/throttle950000-hog.dat", "rt-throttle-v612rt-smp1/throttle-off-hog.dat", "rt-throttle-v612rt-smp1/throttle950.ftrace.txt.xz",
	"rtapp-v61rt-smp1/rtapp.dat", "mixed-v61-smp4/mixed.dat", "schbench-v61-smp4/sbench-root.dat", "schbench-v61-smp4/sbench-cg.dat",
	"schbench-v612-smp4/sbench-cg.dat", "big-v61-smp4/hackbench.dat",
}

// floors are a little below how many decisions of real-time and deadline tasks the recordings had when
// the numbers of docs/fidelity.md were taken: fewer say that something is not looked at any more.
var floors = map[string]int64{"dl class": 150, "rt pick": 3000, "rt class": 140, "rt preempt": 2000, "rt placement": 80_000}

// TestHistoryForced follows every recording and prints how the model decided. All that is counted
// of real-time and deadline tasks has to agree.
func TestHistoryForced(t *testing.T) {
	var files []string
	for _, name := range followed {
		files = append(files, shared.Path(t, "traces/"+name))
	}
	pairs, err := filepath.Glob("testdata/pairs/*.dat.xz")
	if err != nil || len(pairs) == 0 {
		t.Fatal("no recordings beside the tests", err)
	}
	sums := map[string]*DecisionRow{}
	for _, file := range append(append(files, pairs...), "testdata/forced/edf.dat.xz", "testdata/forced/smp.dat.xz") {
		forceFile(t, file, sums)
	}
	for _, class := range []string{"dl", "rt", "fair"} {
		for _, typ := range decisionTypes {
			if s := sums[class+" "+typ]; s != nil {
				t.Logf("%-4s %-9s n %7d agree %7d baseline %7d undecided %6d %v", class, typ, s.N, s.Agree, s.Baseline, s.Undecided, s.Why)
			}
		}
	}
	for name, floor := range floors {
		if s := sums[name]; s == nil || s.N < floor {
			t.Errorf("%s: %+v, there were %d once", name, s, floor)
		}
	}
}

func forceFile(t *testing.T, file string, sums map[string]*DecisionRow) {
	src, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	o := Options{}
	if src.Info().Kernel == "" && strings.Contains(file, ".txt") { // text does not say it; the folder does
		o.Kernel = map[bool]string{true: "6.1.0-50-rt-amd64", false: "6.12.107+deb12-rt-amd64"}[strings.Contains(file, "v61rt")]
	}
	d, err := Force(src, o)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file)
	for _, r := range d.Rows {
		t.Logf("%-42s %-4s %-9s n %6d agree %6d baseline %6d undecided %5d %v", name, r.Class, r.Type, r.N, r.Agree, r.Baseline, r.Undecided, r.Why)
		sum := sums[r.Class+" "+r.Type]
		if sum == nil {
			sum = &DecisionRow{}
			sums[r.Class+" "+r.Type] = sum
		}
		sum.N, sum.Agree, sum.Baseline, sum.Undecided = sum.N+r.N, sum.Agree+r.Agree, sum.Baseline+r.Baseline, sum.Undecided+r.Undecided
		for _, why := range r.Why {
			add(&sum.Why, why)
		}
		if r.Class != "fair" && r.Agree != r.N {
			t.Errorf("%s: %s %s: the model agrees in %d of %d", name, r.Class, r.Type, r.Agree, r.N)
		}
	}
	for _, m := range d.Misses {
		if m.Class == "fair" {
			continue
		}
		t.Logf("%d.%09d CPU %d %s %s recorded %s model %s: %s", m.At/1e9, m.At%1e9, m.CPU, m.Class, m.Type, spell(src, m.Recorded), spell(src, m.Model), m.Reason)
		for _, c := range m.Candidates {
			t.Logf("     %s-%d %s %d", src.Names().String(c.Comm), c.PID, c.KeyName, c.Key)
		}
	}
}

func spell(src Input, c Choice) string {
	return fmt.Sprintf("%s-%d %s preempt %v CPU %d", src.Names().String(c.Comm), c.PID, c.Class, c.Preempt, c.CPU)
}
