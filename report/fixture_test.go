package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/result"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// golden compares what print writes with testdata/name.golden.
func golden(t *testing.T, name string, print func(io.Writer) error) {
	t.Helper()
	var got bytes.Buffer
	if err := print(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
	}
}

func at(ns int64) *int64 { return &ns }

var machineInput = result.Input{File: "machine.dat", Format: "trace.dat v7", Kernel: "6.1.176-rt", CPUs: 4,
	Clock: "mono", Events: 41203, StartNS: 288_000_000_000, EndNS: 290_310_000_000 + 500_000}

// machine is the trace of a machine whose control loop met an exiting task of higher
// priority: the example of the design, with the sorts of waits that real traces show.
func machine() *result.Explain {
	return &result.Explain{
		Schema: "whylate.explain/1",
		Input:  machineInput,
		Tasks: []result.Task{
			{Comm: "ctl-loop", PID: 311, Class: "rt", Prio: 19,
				Wakeup:    result.Waits{Waits: 1155, P50NS: 14_049, P90NS: 20_950, P99NS: 41_000, P999NS: 9_712_400, MaxNS: 11_020_312, TotalNS: 48_120_000},
				Preempted: result.Waits{Waits: 3, P50NS: 60_000, P90NS: 71_000, P99NS: 71_000, P999NS: 71_000, MaxNS: 71_000, TotalNS: 150_000},
				Blame: []result.Blame{
					{Kind: "exit_teardown", Comm: "logger", PID: 5298, Waits: 3, NS: 14_000_000},
					{Kind: "higher_prio", Comm: "irq/14-ahci", PID: 214, Waits: 40, NS: 2_500_000},
					{Kind: "idle_exit", PID: -1, Waits: 900, NS: 1_800_000},
					{Kind: "higher_prio", Comm: "irq/15-eth0", PID: 215, Waits: 9, NS: 1_000_000},
					{Kind: "switch", PID: -1, Waits: 7, NS: 40_000},
				}},
			{Comm: "build", PID: 900, Class: "fair", Prio: 125,
				Wakeup:    result.Waits{Waits: 2_400_000, P50NS: 20_000, P90NS: 900_000, P99NS: 2_000_000, P999NS: 8_000_000, MaxNS: 142_340_000, TotalNS: 1_234_567_890, Approximate: true},
				Preempted: result.Waits{Waits: 800, P50NS: 3_000_000, P90NS: 4_000_000, P99NS: 4_000_000, P999NS: 9_000_000, MaxNS: 9_000_000, TotalNS: 2_400_000_000}},
			{Comm: "motor", PID: 320, Class: "dl", Prio: -1,
				Wakeup: result.Waits{Waits: 200, P50NS: 4_000, P90NS: 5_000, P99NS: 6_000, P999NS: 7_000, MaxNS: 7_000, TotalNS: 800_000}},
			{Comm: "sleeper", PID: 321, Class: "fair", Prio: 120},
		},
		Late: machineLate(),
		Diagnostics: []result.Diagnostic{
			{Kind: "inferred", Count: 4, Text: "priority at switch-in inferred"},
			{Kind: "clock", Count: 1, Text: "the clock stepped back at 289.100000 s"},
		},
	}
}

func machineLate() []result.Late {
	teardown := func(id string, woken, wait int64, verdict string) result.Late {
		return result.Late{ID: id, Comm: "ctl-loop", PID: 311, Class: "rt", Prio: 19, WaitKind: "wakeup",
			Waker: result.Waker{Comm: "idle", Context: "irq"}, WokenNS: woken, OnCPUNS: at(woken + wait), WaitNS: wait, LatenessNS: wait, Verdict: verdict,
			Causes: []result.Cause{{Kind: "exit_teardown", NS: wait, StartNS: woken, Comm: "logger", PID: 5298, Prio: 9, Verdict: verdict}},
			Needs:  []string{"raw_syscalls:sys_enter"}}
	}
	worst := teardown("311@290.333201", 2_333_201_400, 11_020_312, "proven")
	worst.Needs = nil
	worst.Causes = []result.Cause{
		{Kind: "higher_prio", NS: 40_000, StartNS: 2_333_201_400, Comm: "irq/14-ahci", PID: 214, Prio: 14, Verdict: "proven"},
		{Kind: "exit_teardown", NS: 10_960_012, StartNS: 2_333_241_400, Comm: "logger", PID: 5298, Prio: 9, Verdict: "proven",
			Detail: "was exiting and freed its memory at RT 90",
			Evidence: []string{"logger-5298 [000] 290.333190: sched_process_exit: comm=logger pid=5298 prio=9",
				"logger-5298 [000] 290.344201: sched_switch: prev_comm=logger prev_pid=5298 prev_state=Z ==> next_comm=ctl-loop"}},
		{Kind: "higher_prio", NS: 20_000, StartNS: 2_344_201_412, Comm: "irq/14-ahci", PID: 214, Prio: 14, Verdict: "proven", Detail: "threaded interrupt"},
		{Kind: "switch", NS: 300, StartNS: 2_344_221_412, PID: -1, Verdict: "likely"},
	}
	worst.IdleElsewhere = []result.IdleElsewhere{{CPU: 3, NS: 10_200_000, Verdict: "likely", SinceNS: at(2_333_601_400), UntilNS: 2_343_901_400, Stays: 2}}
	worst.Advice = []result.Advice{
		{Change: "task=logger exit_normalize=rt", Command: "chrt -o -p 0 5298   # before it exits", BeforeNS: 11_020_312, AfterNS: 31_000, ErrorNS: 330_600,
			Text: "logger drops to SCHED_OTHER before it exits", Kind: "exit_teardown", Confirmed: &result.Confirmed{Mechanism: "exit", Predictions: 3, Within: 2, Median: 12, P90: 410}},
		{Change: "task=ctl-loop policy=fifo prio=91", Command: "chrt -f -p 91 311", BeforeNS: 11_020_312, AfterNS: 24_000, ErrorNS: 330_600, Text: "ctl-loop at RT 91", Kind: "exit_teardown",
			Harm: []result.Harm{{Comm: "audio", PID: 77, Class: "rt", Prio: 14, Percentile: 99, BeforeNS: 12_000, AfterNS: 412_000, MissesBefore: 1, MissesAfter: 3, Jobs: 2100},
				{Comm: "build", PID: 900, Class: "fair", Prio: 125, Percentile: 99, BeforeNS: 900_000, AfterNS: 1_412_000}, {Comm: "cc1", PID: 901, Percentile: 99, AfterNS: 1}}},
		{Change: "set exit_normalize=rt", BeforeNS: 11_020_312, AfterNS: 33_000, ErrorNS: 330_600, WorseNS: 812_000, Text: "a patched kernel: dying real-time tasks drop to SCHED_OTHER", Kind: "exit_teardown"},
		{Change: "set fair_server_period_ns=100000000 fair_server_runtime_ns=5000000", Command: "for d in /sys/kernel/debug/sched/fair_server/cpu*; do echo 100000000 >$d/period; echo 5000000 >$d/runtime; done",
			BeforeNS: 11_020_312, AfterNS: 5_000_000, ErrorNS: 330_600, Text: "the server's share in periods of 100 ms", Kind: "fair_server"},
		{Change: "task=logger policy=other", Command: "chrt -o -p 0 5298", BeforeNS: 11_020_312, AfterNS: 31_000, ErrorNS: 330_600},
	}
	worst.Refused = []result.Refusal{{Change: "set fair_server_runtime_ns=0", Text: "set fair_server_runtime_ns=0: EBUSY: this kernel lets none become smaller"}}
	due := result.Late{ID: "311@288.500000", Comm: "ctl-loop", PID: 311, Class: "rt", Prio: 19, CPU: 1, WaitKind: "wakeup",
		DueNS: at(491_500_000), DueVerdict: "likely", DueDetail: "slack 50 µs", WokenNS: 500_000_000, OnCPUNS: at(500_100_000), WaitNS: 100_000, LatenessNS: 8_600_000, Verdict: "likely",
		Causes: []result.Cause{
			{Kind: "late_wakeup", NS: 8_500_000, StartNS: 491_500_000, Comm: "ktimers/1", PID: 31, Prio: 98, Verdict: "likely", Detail: "the timer thread waited for burn/77 (RT 50)"},
			{Kind: "unknown", NS: 100_000, StartNS: 500_000_000, PID: -1, Verdict: "unknown"}},
		Needs: []string{"timer:hrtimer_start", "timer:hrtimer_expire_entry"}, Withheld: "the unchanged replay misses it by 6 300 µs"}
	preempted := result.Late{ID: "311@289.000001", Comm: "ctl-loop", PID: 311, Class: "rt", Prio: 19, WaitKind: "preempted",
		WokenNS: 1_000_001_000, OnCPUNS: at(1_000_072_000), WaitNS: 71_000, LatenessNS: 71_000, Verdict: "proven",
		Causes: []result.Cause{{Kind: "higher_prio", NS: 71_000, StartNS: 1_000_001_000, Comm: "irq/14-ahci", PID: 214, Prio: 14, Verdict: "proven"}}}
	open := result.Late{ID: "900@290.168160", Comm: "build", PID: 900, Class: "fair", Prio: 125, CPU: 2, WaitKind: "wakeup",
		Waker: result.Waker{Comm: "make", PID: 880, Context: "task"}, WokenNS: 2_168_160_000, WaitNS: 142_340_000, LatenessNS: 142_340_000, Verdict: "unknown",
		Causes: []result.Cause{{Kind: "fair_turn", NS: 142_340_000, StartNS: 2_168_160_000, Comm: "cc1", PID: 901, Prio: 120, Verdict: "unknown", Detail: "events were lost"}}}
	return []result.Late{worst,
		teardown("311@288.100000", 100_000_000, 1_290_000, "proven"),
		due,
		teardown("311@288.200000", 200_000_000, 830_000, "likely"),
		preempted, open}
}
