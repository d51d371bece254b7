package report

import (
	"io"
	"testing"

	"github.com/whylate/whylate/result"
)

func TestLatency(t *testing.T) {
	m := machine()
	byTask := &result.Latency{Input: m.Input, By: "task", Tasks: m.Tasks, Diagnostics: m.Diagnostics}
	byCPU := &result.Latency{Input: m.Input, By: "cpu", Tasks: []result.Task{
		{PID: -1, Group: "CPU 0", Wakeup: m.Tasks[0].Wakeup}, {PID: -1, Group: "CPU 1", Wakeup: m.Tasks[1].Wakeup}}}
	for name, test := range map[string]struct {
		in *result.Latency
		o  Options
	}{
		"latency":       {byTask, Options{}},
		"latency-nano":  {byTask, Options{Nano: true}},
		"latency-cpu":   {byCPU, Options{}},
		"latency-empty": {&result.Latency{Input: m.Input}, Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name, func(w io.Writer) error { return Latency(w, test.in, test.o) })
		})
	}
}

func TestInfo(t *testing.T) {
	full := &result.Info{Input: machineInput, Machine: "x86_64", Profile: "6.1-rt", Buffers: []string{"", "rt-tests"},
		Commands: []string{"trace-cmd record -e sched"},
		Counts:   []result.EventCount{{Event: "sched_switch", Count: 21_000}, {Event: "sched_waking", Count: 9_800}},
		PerCPU:   []result.CPUCount{{CPU: 0, Events: 40_000, EndNS: 2_310_000_000}, {CPU: 1, Events: 1_203, Lost: 12, StartNS: 5_000, EndNS: 2_000_000_000}, {CPU: 2, Lost: -1}},
		Verdicts: []result.Support{{Kind: "higher_prio", Best: "proven"}, {Kind: "exit_teardown", Best: "likely", Needs: []string{"raw_syscalls:sys_enter", "sched:sched_process_exit"}},
			{Kind: "cfs_quota", Best: "unknown", Needs: []string{"a machine snapshot"}}},
		Record:      []string{"trace-cmd record -e sched -e raw_syscalls:sys_enter"},
		Diagnostics: []result.Diagnostic{{Kind: "lost_events", Count: 12, Text: "events were lost on CPU 1"}}}
	golden(t, "info", func(w io.Writer) error { return Info(w, full, Options{}) })
	machine := *full
	taken := int64(-5_000_000)
	machine.Snapshot = &result.Snapshot{TimeNS: &taken, Kernel: "6.1.176-rt", Settings: []result.Setting{{Name: "HZ", Value: "250"}, {Name: "sched_rt_runtime_us", Value: "950000"}},
		Features: []result.Feature{{Name: "HRTICK"}, {Name: "RT_PUSH_IPI", On: true}}, CPUs: 4, Isolated: "2-3", NoHZFull: "3",
		Tasks: 1_210, Policies: []result.Policy{{Policy: "SCHED_OTHER", Tasks: 1_200}, {Policy: "SCHED_FIFO", Tasks: 10}}, Pinned: 7, CGroups: 31, Quotas: 2}
	golden(t, "info-snapshot", func(w io.Writer) error { return Info(w, &machine, Options{}) })
	golden(t, "info-empty", func(w io.Writer) error { return Info(w, &result.Info{}, Options{}) })
}

func TestMicros(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.0", 49: "0.0", 50: "0.1", 999: "1.0", 14_049: "14.0", 14_050: "14.1", 999_949: "999.9", 999_950: "1 000.0",
		142_340_000: "142 340.0", 1_234_567_890: "1 234 567.9", -50: "-0.1", -1_500_000: "-1 500.0",
		9223372036854775807: "9 223 372 036 854 775.8", -9223372036854775808: "-9 223 372 036 854 775.8",
	} {
		if got := micros(ns); got != want {
			t.Errorf("micros(%d) = %q, want %q", ns, got, want)
		}
	}
}

func TestClockAndSeconds(t *testing.T) {
	p, nano := &printer{}, &printer{Options: Options{Nano: true}}
	for _, test := range []struct{ name, got, want string }{
		{"cut, not rounded", p.clock(290_333_201_999), "290.333201"},
		{"nano", nano.clock(290_333_201_999), "290.333201999"},
		{"leading zeros", p.clock(35_000_001_000), "35.000001"},
		{"negative", p.clock(-1_000_500_000), "-1.000500"},
		{"smallest", nano.clock(-9223372036854775808), "-9223372036.854775808"},
		{"trace length", seconds(2_310_500_000), "2.310 s"},
		{"long trace", seconds(86_400_000_000_000), "86 400.000 s"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", test.name, test.got, test.want)
		}
	}
}

func TestPrioritiesInUserTerms(t *testing.T) {
	for _, test := range []struct {
		class string
		prio  result.Prio
		want  string
	}{
		{"rt", 19, "RT 80"}, {"rt", 0, "RT 99"}, {"rt", 98, "RT 1"}, {"stop", 0, "stop"}, {"dl", -1, "DEADLINE"},
		{"fair", 100, "nice -20"}, {"fair", 120, "nice 0"}, {"fair", 139, "nice 19"}, {"idle", 120, "idle"}, {"unknown", -1 << 31, "class unknown"}, {"", 0, ""}, {"ext", 120, "ext"},
	} {
		if got := classWord(test.class, test.prio); got != test.want {
			t.Errorf("class %s prio %d: %q, want %q", test.class, test.prio, got, test.want)
		}
	}
	for prio, want := range map[result.Prio]string{-1: "DEADLINE", 0: "RT 99", 98: "RT 1", 120: "nice 0", 139: "nice 19", 140: "", -1 << 31: ""} {
		if got := prioWord(prio); got != want {
			t.Errorf("prio %d: %q, want %q", prio, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, test := range []struct {
		part, whole int64
		want        string
	}{{1, 3, "33 %"}, {2, 3, "67 %"}, {1, 1000, "<1 %"}, {0, 10, "0 %"}, {5, 0, "0 %"}, {1 << 62, 1 << 62, "100 %"}} {
		if got := percent(test.part, test.whole); got != test.want {
			t.Errorf("percent(%d, %d) = %q, want %q", test.part, test.whole, got, test.want)
		}
	}
}
