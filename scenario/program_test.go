package scenario_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/workload"
)

const programFile = `{"global": {"duration": 1}, "tasks": {}, "whylate": {"cpus": 4, "cgroups": {"/web": {"cpu.weight": 200}},
	"programs": {"a": {"run": "schbench -m 2 -t 3", "cgroup": "/web"}, "b": {"run": "schbench -m 1 -t 2"}, "c": {"run": "daemons -n 5"}}}}`

// TestPrograms: programs stand beside each other with queues, groups and names of their own, and
// changes find them.
func TestPrograms(t *testing.T) {
	told := func(changes ...string) []string {
		var list []string
		p := groupedPlan(t, programFile, changes...)
		for i := range p.Load.Tasks {
			task := &p.Load.Tasks[i]
			line := []string{task.Name, task.Comm, strings.Repeat("+", task.Instances), strings.Repeat("g", task.Group)}
			for _, op := range task.Phases[0].Ops {
				if op.Kind == workload.OpEnqueue || op.Kind == workload.OpAwait {
					line = append(line, strings.Repeat("q", op.Ref))
				}
			}
			list = append(list, strings.Join(line, " "))
		}
		if p.Load.Queues != 3 || p.CPUs != 4 {
			t.Errorf("%d queues, %d CPUs", p.Load.Queues, p.CPUs)
		}
		return list
	}
	want := []string{"a-message-0 schbench + g ", "a-worker-0 schbench +++ g ", "a-message-1 schbench + g q", "a-worker-1 schbench +++ g q",
		"b-message-0 schbench +  qq", "b-worker-0 schbench ++  qq", "c-daemon daemon +++++ "}
	if d := cmp.Diff(want, told()); d != "" {
		t.Errorf("tasks (-want +got):%s", d)
	}
	want[0], want[1], want[2], want[3] = "a-message-0 schbench +  ", "a-worker-0 schbench +++  ", "a-message-1 schbench +  q", "a-worker-1 schbench +++  q"
	want[6] = "c-daemon daemon  g"
	if d := cmp.Diff(want, told("task=a-* cgroup=/", "task=c-* cgroup=/web", "remove task=c-*")); d != "" {
		t.Errorf("changed (-want +got):%s", d)
	}
}

// TestProgramsThatMakeNoSense are refused with what would.
func TestProgramsThatMakeNoSense(t *testing.T) {
	for run, want := range map[string]string{"schbenc -m 2": "did you mean schbench", "schbench -r 3": "duration", "schbench -x 3": "-x is not known", " ": "no program"} {
		_, err := scenario.Read("f.json", []byte(`{"global": {"duration": 1}, "tasks": {}, "whylate": {"programs": {"a": {"run": "`+run+`"}}}}`), scenario.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", run, err, want)
		}
	}
	if err := groupedPlan(t, programFile).Change("task=a-* cgroup=/we"); err == nil || !strings.Contains(err.Error(), "did you mean /web") {
		t.Errorf("a group that is not there: %v", err)
	}
}
