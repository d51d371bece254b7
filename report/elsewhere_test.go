package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/whylate/whylate/result"
)

// TestIdleElsewhere: one line tells which CPUs idled, one what became of the one that idled longest.
func TestIdleElsewhere(t *testing.T) {
	wait := func(list ...result.IdleElsewhere) *result.Explain {
		return &result.Explain{Late: []result.Late{{ID: "9@1.000000", Comm: "worker", PID: 9, Class: "fair", Prio: 120, CPU: 7, WaitKind: "wakeup", WokenNS: 5_000_000,
			OnCPUNS: at(14_000_000), WaitNS: 9_000_000, LatenessNS: 9_000_000, Verdict: "proven", IdleElsewhere: list}}}
	}
	seen := result.IdleElsewhere{CPU: 3, NS: 8_800_000, Verdict: "proven", SinceNS: at(3_600_000), UntilNS: 14_000_000, Stays: 2, Evidence: []string{"swapper-0 [003] 1.000: softirq_entry"},
		Balancing: &result.Balancing{Softirqs: 2, Pulls: 3, Pulled: []result.Pull{{PID: 77, Comm: "cc1", FromCPU: 5}}, Verdict: "proven"}}
	other := result.IdleElsewhere{CPU: 11, NS: 7_900_000, Verdict: "likely", SinceNS: at(6_100_000), Stays: 1,
		Balancing: &result.Balancing{ByOthers: 5, Others: []int32{3, 4}, Verdict: "likely", Pulls: 1, Pulled: []result.Pull{{PID: 9, Comm: "worker", FromCPU: 7}}}}
	blind := result.IdleElsewhere{CPU: 3, NS: 8_800_000, Verdict: "likely", Balancing: &result.Balancing{Verdict: "unknown", Needs: []string{"irq:softirq_entry"}}}
	idle := result.IdleElsewhere{CPU: 3, NS: 1_000_000, Verdict: "likely", SinceNS: at(5_000_000), Balancing: &result.Balancing{Verdict: "proven"}}
	short := idle
	short.NS = 999_999
	for name, c := range map[string]struct {
		in   *result.Explain
		o    Options
		want string
	}{
		"seen": {wait(seen, other), Options{}, `
     meanwhile idle: CPU 3 8 800.0 µs (proven), CPU 11 7 900.0 µs (likely)
     CPU 3 had idled for 1 400.0 µs by then; its balancing softirq ran twice, it got cc1/77 from CPU 5 and 2 more
`},
		"others, itself": {wait(other), Options{}, `
     meanwhile idle: CPU 11 7 900.0 µs (likely)
     CPU 11 idled from 1 100.0 µs on; the balancing softirq of idle CPU 3, 4 ran 5 times, for it too perhaps, it got this task from CPU 7
`},
		"not recorded": {wait(blind), Options{}, `
     meanwhile idle: CPU 3 8 800.0 µs (likely)
     CPU 3 had idled since before the trace shows; whether its balancing softirq ran was not recorded (irq:softirq_entry)
`},
		"nothing": {wait(idle), Options{}, `
     meanwhile idle: CPU 3 1 000.0 µs (likely)
     CPU 3 had idled for 0.0 µs by then; no balancing of it shows
`},
		"nothing, and short": {wait(short), Options{}, `
     meanwhile idle: CPU 3 1 000.0 µs (likely)
`},
		"verbose": {wait(seen, short), Options{Verbose: true}, `
     meanwhile idle: CPU 3 8 800.0 µs (proven), CPU 3 1 000.0 µs (likely)
     CPU 3 had idled for 1 400.0 µs by then, at 0.003600 s, twice; its balancing softirq ran twice, it got cc1/77 from CPU 5 and 2 more
           swapper-0 [003] 1.000: softirq_entry
     CPU 3 had idled for 0.0 µs by then, at 0.005000 s; no balancing of it shows
`},
	} {
		var b bytes.Buffer
		if err := Explain(&b, c.in, c.o); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(b.String(), "\u202f", " "); !strings.Contains(got, c.want[1:]) {
			t.Errorf("%s: want\n%s\ngot\n%s", name, c.want[1:], got)
		}
	}
}
