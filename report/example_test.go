package report_test

import (
	"fmt"
	"os"

	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/result"
)

var input = result.Input{File: "machine.dat", Format: "trace.dat v7", Kernel: "6.1.176-rt", CPUs: 4, Events: 41203, StartNS: 288e9, EndNS: 290_310_000_000}

func ExampleExplain() {
	onCPU := int64(2_344_221_400)
	r := &result.Explain{
		Input: input,
		Tasks: []result.Task{{Comm: "ctl-loop", PID: 311, Class: "rt", Prio: 19,
			Wakeup: result.Waits{Waits: 1155, P50NS: 14_000, P99NS: 41_000, P999NS: 9_712_400, MaxNS: 11_020_000},
			Blame:  []result.Blame{{Kind: "exit_teardown", Comm: "logger", PID: 5298, NS: 10_960_000}, {Kind: "higher_prio", Comm: "irq/14-ahci", PID: 214, NS: 2_700_000}}}},
		Late: []result.Late{{ID: "311@290.333201", Comm: "ctl-loop", PID: 311, Class: "rt", Prio: 19, WaitKind: "wakeup",
			WokenNS: 2_333_201_400, OnCPUNS: &onCPU, WaitNS: 11_020_000, LatenessNS: 11_020_000, Verdict: "proven",
			Causes: []result.Cause{
				{Kind: "exit_teardown", NS: 10_960_000, Comm: "logger", PID: 5298, Prio: 9, Verdict: "proven", Detail: "freed its memory at RT 90"},
				{Kind: "higher_prio", NS: 60_000, Comm: "irq/14-ahci", PID: 214, Prio: 14, Verdict: "proven"}}}},
	}
	if err := report.Explain(os.Stdout, r, report.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// machine.dat   trace.dat v7 · 6.1.176-rt · 4 CPUs · 2.310 s · 41 203 events · none lost
	//
	// ctl-loop/311  RT 80   1 155 wakeups   p50 14.0 µs   p99 41.0 µs   p99.9 9 712.4 µs   max 11 020.0 µs
	//   its waiting:  exit teardown 80 %   higher priority 20 %
	//
	//   11 020.0 µs  at 290.333201 s on CPU 0   (wait 311@290.333201)            PROVEN
	//      10 960.0 µs   logger/5298 (RT 90)       exit teardown     freed its memory at RT 90
	//          60.0 µs   irq/14-ahci/214 (RT 85)   higher priority
}

func ExampleLatency() {
	r := &result.Latency{Input: input, By: "task", Tasks: []result.Task{
		{Comm: "ctl-loop", PID: 311, Class: "rt", Prio: 19, Wakeup: result.Waits{Waits: 1155, P50NS: 14_000, P90NS: 20_900, P99NS: 41_000, P999NS: 9_712_400, MaxNS: 11_020_000, TotalNS: 48_120_000}}}}
	if err := report.Latency(os.Stdout, r, report.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// machine.dat   trace.dat v7 · 6.1.176-rt · 4 CPUs · 2.310 s · 41 203 events · none lost
	//
	// wakeup waits, µs
	// TASK       PID   CLASS   PRIO   WAITS    P50    P90    P99     P99.9        MAX      TOTAL
	// ctl-loop   311   RT        80   1 155   14.0   20.9   41.0   9 712.4   11 020.0   48 120.0
}

func ExampleHistCyclictest() {
	r := &result.Latency{Histograms: []result.Histogram{
		{Label: "ctl-loop/311", BucketNS: 1000, Counts: []int64{0, 7, 2}, Overflows: 1, Waits: 10, MinNS: 1_200, AvgNS: 1_900, MaxNS: 6_000}}}
	if err := report.HistCyclictest(os.Stdout, r); err != nil {
		fmt.Println(err)
	}
	// Output:
	// # Column 1: ctl-loop/311
	// # Histogram
	// 000000 000000
	// 000001 000007
	// 000002 000002
	// # Total: 000000009
	// # Min Latencies: 00001
	// # Avg Latencies: 00001
	// # Max Latencies: 00006
	// # Histogram Overflows: 00001
	// # Histogram Overflow at cycle number:
	// # Thread 0: # 00001 others
}

func ExampleInfo() {
	r := &result.Info{Input: input, Machine: "x86_64", Profile: "6.1-rt",
		Verdicts: []result.Support{{Kind: "higher_prio", Best: "proven"}, {Kind: "exit_teardown", Best: "likely", Needs: []string{"raw_syscalls:sys_enter"}}},
		Record:   []string{"trace-cmd record -e sched -e raw_syscalls:sys_enter"}}
	if err := report.Info(os.Stdout, r, report.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// machine.dat   trace.dat v7 · 6.1.176-rt · 4 CPUs · 2.310 s · 41 203 events · none lost
	//
	// time             288.000000 s to 290.310000 s
	// clock            not known
	// machine          x86_64
	// kernel profile   6.1-rt
	//
	// no snapshot of the machine: affinity, policies, control groups and settings are inferred or not known
	//
	// what it can show
	//   higher priority   proven
	//   exit teardown     likely   more with raw_syscalls:sys_enter
	//
	// to see more, record with
	//   trace-cmd record -e sched -e raw_syscalls:sys_enter
}
