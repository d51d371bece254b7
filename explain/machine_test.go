package explain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/trace"
)

const machineTrace = `# tracer: nop
#
#           TASK-PID     CPU#  ||||    TIMESTAMP  FUNCTION
#              | |         |   ||||       |         |
        <idle>-0   [000] d..2   812.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=make next_pid=901 next_prio=120
`

const machineSnapshot = `{"schema": "whylate.sysinfo/1", "time_ns": 811000000000, "kernel": {"release": "6.1"},
"settings": [{"name": "HZ", "value": "250"}], "features": [{"name": "HRTICK", "on": false}],
"cpus": [{"cpu": 0, "online": true}, {"cpu": 1, "online": true, "isolated": true}, {"cpu": 2, "online": true, "isolated": true, "nohz_full": true}, {"cpu": 3, "online": false}],
"tasks": [{"pid": 1, "tgid": 1, "policy": "SCHED_OTHER", "cpus": "0-2"}, {"pid": 2, "tgid": 2, "policy": "SCHED_OTHER", "cpus": "0"}, {"pid": 3, "tgid": 3, "policy": "SCHED_FIFO", "priority": 3}],
"cgroups": [{"path": "/a", "quota_ns": 1000000, "period_ns": 100000000}, {"path": "/b"}],
"irqs": [{"number": 1, "name": "a", "thread": 3}, {"number": 2, "name": "b"}]}`

// TestInspectSumsUpTheMachine: a task is bound if it may not use all CPUs that are online; the
// quota makes a proven cfs_quota possible.
func TestInspectSumsUpTheMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.txt")
	for name, text := range map[string]string{path: machineTrace, trace.SidecarOf(path): machineSnapshot} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := explain.Inspect(src, explain.Options{From: event.NoTime, To: event.NoTime})
	if err != nil {
		t.Fatal(err)
	}
	taken := int64(-1_000_000_000)
	want := &result.Snapshot{TimeNS: &taken, Kernel: "6.1", Settings: []result.Setting{{Name: "HZ", Value: "250"}}, Features: []result.Feature{{Name: "HRTICK"}},
		CPUs: 4, Isolated: "1-2", NoHZFull: "2", Tasks: 3, Policies: []result.Policy{{Policy: "SCHED_OTHER", Tasks: 2}, {Policy: "SCHED_FIFO", Tasks: 1}},
		Pinned: 1, CGroups: 2, Quotas: 1, IRQs: 2, Threaded: 1}
	if diff := cmp.Diff(want, r.Snapshot); diff != "" {
		t.Error(diff)
	}
	best := func(r *result.Info) string {
		for _, s := range r.Verdicts {
			if s.Kind == "cfs_quota" {
				return s.Best + " with " + strings.Join(s.Needs, ",")
			}
		}
		return ""
	}
	if got := best(r); got != "likely with timer:hrtimer_expire_entry" {
		t.Errorf("cfs_quota is %s", got) // the timers are not recorded
	}
	// Without a snapshot there is nothing to sum up.
	if err := os.Remove(trace.SidecarOf(path)); err != nil {
		t.Fatal(err)
	}
	bare, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	if r, err := explain.Inspect(bare, explain.Options{From: event.NoTime, To: event.NoTime}); err != nil || r.Snapshot != nil {
		t.Errorf("%+v, %v", r, err)
	}
}
