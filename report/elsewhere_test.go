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
	open := short
	open.Verdict = "unknown"
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
		"left open": {wait(open), Options{}, `
     meanwhile idle: CPU 3 1 000.0 µs (unknown: woken elsewhere although it idled; may be not allowed there)
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

// TestPassesOfTheBalancer: who looked, what it saw of the CPU where the task waited, what it chose.
func TestPassesOfTheBalancer(t *testing.T) {
	groups := func() []result.BalanceGroup {
		return []result.BalanceGroup{{CPUs: "0-3", Local: true, Type: "has_spare", Load: 100, Idle: 2}, {CPUs: "4-5,9", Type: "overloaded", Load: 4096, Running: 5},
			{CPUs: "7", Type: "fully_busy", Load: 1024, Running: 1}}
	}
	pass := func(at int64, missed string, f func(*result.BalancePass)) result.BalancePass {
		p := result.BalancePass{AtNS: 5_000_000 + at, CPU: 3, By: 3, Kind: "newidle", Domain: "MC", Groups: groups(), Busiest: 1, Source: 5, WaitedOn: 7, Missed: missed}
		f(&p)
		return p
	}
	list := []result.BalancePass{
		pass(1_200_000, "other_group", func(p *result.BalancePass) { p.Moved = []int32{77} }),
		pass(2_000_000, "other_queue", func(p *result.BalancePass) {
			p.WaitedOn, p.Why = 9, "cache hot"
			p.Queues = []result.BalanceQueue{{CPU: 9, Load: 1024, Running: 2}, {CPU: 5, Load: 2048, Running: 3}}
		}),
		pass(3_000_000, "balanced", func(p *result.BalancePass) { p.Busiest, p.Source, p.Why = -1, -1, "no busier group" }),
		pass(4_000_000, "local_group", func(p *result.BalancePass) { p.WaitedOn, p.Kind, p.By, p.CPU = 2, "nohz", 11, 3 }),
		pass(5_000_000, "other_task", func(p *result.BalancePass) { p.Source, p.Moved = 7, []int32{1, 2, 3, 4, 5} }),
		pass(6_000_000, "not_moved", func(p *result.BalancePass) { p.Source, p.Why = 7, "all pinned" }),
		pass(7_000_000, "taken", func(p *result.BalancePass) { p.CPU, p.By = 11, 11 }),
	}
	want := `
     7 looks of the balancer could have ended it: CPU 3 6 times, CPU 11 once
       +1 200.0 µs   CPU 3 newidle          MC chose CPU 5 in {4-5,9} (overloaded, load 4 096, 5 running, 0 idle); it waited in {7} (fully_busy, load 1 024, 1 running, 0 idle), took 77
       +2 000.0 µs   CPU 3 newidle          MC chose CPU 5 (load 2 048, 3 running); CPU 9: load 1 024, 2 running: cache hot
       +3 000.0 µs   CPU 3 newidle          MC saw no imbalance: no busier group
       +4 000.0 µs   CPU 3 nohz by CPU 11   MC chose CPU 5 in {4-5,9} (overloaded, load 4 096, 5 running, 0 idle); it waited in the group that looked, {0-3} (has_spare, load 100, 0 running, 2 idle)
       +5 000.0 µs   CPU 3 newidle          MC chose CPU 7, where it waited, and took 1, 2, 3, 4, 1 more
       +6 000.0 µs   CPU 3 newidle          MC chose CPU 7, where it waited, and took nothing: all pinned
       +7 000.0 µs   CPU 11 newidle         MC took it
`
	in := &result.Explain{Late: []result.Late{{ID: "9@1.000000", Comm: "worker", PID: 9, Class: "fair", Prio: 120, CPU: 7, WaitKind: "wakeup", WokenNS: 5_000_000,
		OnCPUNS: at(14_000_000), WaitNS: 9_000_000, LatenessNS: 9_000_000, Verdict: "proven", BalancePasses: list, PassesN: 7}}}
	var b bytes.Buffer
	if err := Explain(&b, in, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(b.String(), "\u202f", " "); !strings.Contains(got, want[1:]) {
		t.Errorf("want\n%s\ngot\n%s", want[1:], got)
	}
	for range 5 {
		in.Late[0].BalancePasses = append(in.Late[0].BalancePasses, list[2])
		in.Late[0].PassesN++
	}
	b.Reset()
	if err := Explain(&b, in, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "4 more; -v lists them") {
		t.Errorf("what is left out is not said:\n%s", b.String())
	}
}
