package replay

import (
	"fmt"
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

// TestHistoryForced follows every recording and prints how the model decided.
func TestHistoryForced(t *testing.T) {
	for _, name := range followed {
		t.Run(name, func(t *testing.T) {
			src, err := trace.Open(shared.Path(t, "traces/"+name))
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			o := Options{}
			if src.Info().Kernel == "" { // text does not say it; the folder does
				o.Kernel = map[bool]string{true: "6.1.0-50-rt-amd64", false: "6.12.107+deb12-rt-amd64"}[strings.Contains(name, "v61rt")]
			}
			d, err := Force(src, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range d.Rows {
				t.Logf("%-5s %-10s n %6d agree %6d baseline %6d undecided %6d %v", r.Class, r.Type, r.N, r.Agree, r.Baseline, r.Undecided, r.Why)
			}
			for _, a := range d.Assumed {
				t.Logf("assumed %s %d: %s", a.Kind, a.Count, a.Text)
			}
			n := 0
			for _, r := range d.Rows {
				if r.Class != "fair" && r.Agree != r.N {
					t.Errorf("%s %s: the model agrees in %d of %d", r.Class, r.Type, r.Agree, r.N)
				}
			}
			for _, m := range d.Misses {
				if m.Class == "fair" {
					continue
				}
				if n++; n > 20 {
					break
				}
				t.Logf("%d.%09d CPU %d %s %s recorded %s model %s: %s", m.At/1e9, m.At%1e9, m.CPU, m.Class, m.Type, spell(src, m.Recorded), spell(src, m.Model), m.Reason)
				for _, c := range m.Candidates {
					t.Logf("     %s-%d %s %d", src.Names().String(c.Comm), c.PID, c.KeyName, c.Key)
				}
			}
		})
	}
}

func spell(src Input, c Choice) string {
	return fmt.Sprintf("%s-%d %s preempt %v CPU %d", src.Names().String(c.Comm), c.PID, c.Class, c.Preempt, c.CPU)
}
