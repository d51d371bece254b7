package scenario_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// TestFairServerSettings: writes into the files of the fair servers meet their verdicts in the
// order in which they are made. 6.12.107-rt was tried (docs/sources.md): 100 ms of 1 s are
// accepted, 0 and 20 ms are EBUSY, with sched_rt_runtime_us=-1 0 is taken.
func TestFairServerSettings(t *testing.T) {
	for _, c := range []struct {
		kernel  string
		changes []string
		want    string // of the error; "": none
	}{
		{"6.12-rt", []string{"set fair_server_runtime_ns=100000000"}, ""},
		{"6.12-rt", []string{"set fair_server_runtime_ns=20000000"}, "EBUSY"},
		{"6.12-rt", []string{"set fair_server_runtime_ns=0"}, "EBUSY"},
		{"6.12-rt", []string{"set sched_rt_runtime_us=-1", "set fair_server_runtime_ns=0"}, ""},
		{"6.12-rt", []string{"set fair_server_runtime_ns=100000000", "set fair_server_runtime_ns=50000000"}, ""},
		{"6.12", []string{"set fair_server_period_ns=100000000", "set fair_server_runtime_ns=5000000"}, ""},
		{"6.12", []string{"set fair_server_runtime_ns=5000000", "set fair_server_period_ns=100000000"}, "EBUSY"},
		{"6.12", []string{"set fair_server_period_ns=40000000"}, "EINVAL"},
		{"6.12", []string{"set fair_server_runtime_ns=1000000000"}, "EBUSY"},
		{"6.18", []string{"set fair_server_runtime_ns=20000000"}, ""},
		{"6.1", []string{"set fair_server_runtime_ns=100000000"}, "no fair server"},
		{"6.1", []string{"set sched_rt_runtime_us=1000001"}, "EINVAL"},
		{"6.1", []string{"set sched_rt_runtime_us=95000", "set sched_rt_period_us=100000"}, ""},
		{"6.1", []string{"set RT_GROUP_SCHED=on", "set sched_rt_runtime_us=940000"}, "EINVAL"},
		{"6.12", []string{"set RT_GROUP_SCHED=on", "set sched_rt_runtime_us=-1"}, ""},
		{"6.1", []string{"set sched_rt_period_us=0"}, "whole number"},
	} {
		p := &scenario.Plan{Kernel: c.kernel, CPUs: 2, Costs: scenario.DefaultCosts()}
		p.Load = workload.Spec{Duration: ms, Tasks: []workload.Task{{Name: "a", Instances: 1, Loop: 1, Attr: &sched.Attr{Policy: sched.FIFO, Priority: 1}}}}
		for _, change := range c.changes {
			if err := p.Change(change); err != nil {
				t.Fatal(err)
			}
		}
		_, err := p.Setup()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s, %v: %v", c.kernel, c.changes, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s, %v: %v, want %s", c.kernel, c.changes, err, c.want)
		}
	}
}

// TestGroupsOfAFile: a group of 20 of 100 ms is throttled alone, and a task that becomes
// real-time in a group without runtime meets EPERM.
func TestGroupsOfAFile(t *testing.T) {
	const file = `{
		"tasks": {
			"high": {"policy": "SCHED_FIFO", "priority": 20, "loop": 1, "run": 60000},
			"low":  {"policy": "SCHED_FIFO", "priority": 10, "loop": 1, "run": 60000}
		},
		"global": {"duration": -1},
		"whylate": {
			"kernel": "6.12",
			"settings": {"RT_GROUP_SCHED": "on"},
			"cgroups": {"/none": {"cpu.rt_period_us": 100000}, "/a/b": {"cpu.rt_runtime_us": 20000, "cpu.rt_period_us": 100000}, "/a": {"cpu.rt_runtime_us": %s, "cpu.rt_period_us": 100000}},
			"tasks": {"high": {"cgroup": "%s"}}
		}
	}`
	run := func(above, group string) (*result.Explain, error) {
		path := filepath.Join(t.TempDir(), "groups.json")
		if err := os.WriteFile(path, fmt.Appendf(nil, file, above, group), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := scenario.Open(path, scenario.Options{})
		if err != nil {
			return nil, err
		}
		setup, err := p.Setup()
		if err != nil {
			return nil, err
		}
		src, err := scenario.NewSource(setup)
		if err != nil {
			return nil, err
		}
		return explain.Explain(src, explain.Options{From: event.NoTime, To: event.NoTime, Over: ms})
	}
	x, err := run("30000", "/a/b")
	if err != nil {
		t.Fatal(err)
	}
	preempted := 0
	for _, w := range x.Late {
		if strings.HasPrefix(w.Comm, "high") && w.WaitKind == "preempted" && w.WaitNS > int64(70*ms) {
			preempted++
		}
	}
	if preempted != 2 {
		t.Errorf("the group was throttled %d times, want 2: 60 ms of work at 20 a period", preempted)
	}
	if _, err := run("10000", "/a/b"); err == nil || !strings.Contains(err.Error(), "EINVAL") {
		t.Errorf("more than the group above: %v", err)
	}
	if x, err = run("30000", "/none"); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(x.Diagnostics, func(d result.Diagnostic) bool { return strings.Contains(d.Text, "EPERM") }) {
		t.Errorf("a real-time task in a group without runtime: %v", x.Diagnostics)
	}
}
