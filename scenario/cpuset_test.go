package scenario_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/workload"
)

// usedCPUs are the CPUs on which tasks ran, by the beginning of their names.
func usedCPUs(t *testing.T, p *scenario.Plan) map[string][]event.CPU {
	t.Helper()
	src := mustSource(t, p)
	events, err := src.Events(event.Options{Want: event.Kinds(event.SchedStatRuntime)})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	used := map[string][]event.CPU{}
	for {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Arg < 1_000_000 {
			continue // on its way to its first round it is where its parent is
		}
		name, _, _ := strings.Cut(src.Names().String(ev.TaskComm), "-")
		if !slices.Contains(used[name], ev.CPU) {
			used[name] = append(used[name], ev.CPU)
		}
	}
	for _, list := range used {
		slices.Sort(list)
	}
	return used
}

const fourCPUs = `{"global": {"duration": 1}, "tasks": {
	"wide": {"instance": 12, "run": 3000, "sleep": 1000},
	"told": {"cpus": [2], "run": 3000, "sleep": 1000},
	"webs": {"instance": 6, "run": 3000, "sleep": 1000}},
	"whylate": {"cpus": 4, "cgroups": {"/web": {}}, "tasks": {"webs": {"cgroup": "/web"}}}}`

// TestWhoUsesWhichCPUs with isolcpus= and cpusets: Documentation/admin-guide/kernel-parameters.txt and
// cgroup-v2.rst say who may.
func TestWhoUsesWhichCPUs(t *testing.T) {
	for _, c := range []struct {
		name       string
		changes    []string
		wide, webs []event.CPU
	}{
		{"all", nil, []event.CPU{0, 1, 2, 3}, []event.CPU{0, 1, 2, 3}},
		{"isolcpus", []string{"set isolcpus=2-3"}, []event.CPU{0, 1}, []event.CPU{0, 1}},
		{"a set", []string{"cgroup=/web cpuset.cpus=1,3"}, []event.CPU{0, 1, 2, 3}, []event.CPU{1, 3}},
		{"a partition", []string{"cgroup=/web cpuset.cpus=0-1 cpuset.cpus.partition=root"}, []event.CPU{2, 3}, []event.CPU{0, 1}},
		{"an isolated partition", []string{"cgroup=/web cpuset.cpus=1 cpuset.cpus.partition=isolated"}, []event.CPU{0, 2, 3}, []event.CPU{1}},
	} {
		used := usedCPUs(t, groupedPlan(t, fourCPUs, c.changes...))
		if diff := cmp.Diff(c.wide, used["wide"]); diff != "" {
			t.Errorf("%s: tasks that may use what there is (-want +got):\n%s", c.name, diff)
		}
		beyond := slices.DeleteFunc(slices.Clone(used["webs"]), func(cpu event.CPU) bool { return slices.Contains(c.webs, cpu) })
		if len(used["webs"]) == 0 || len(beyond) > 0 {
			t.Errorf("%s: tasks of the group ran on %v, want some of %v", c.name, used["webs"], c.webs)
		}
		if diff := cmp.Diff([]event.CPU{2}, used["told"]); diff != "" {
			t.Errorf("%s: the task that names its CPU (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestPartitionsThatTheKernelRefuses with its words in cpuset.cpus.partition.
func TestPartitionsThatTheKernelRefuses(t *testing.T) {
	group := func(path string, parent int, kind workload.Partition, cpus ...event.CPU) workload.Group {
		return workload.Group{Path: path, Parent: parent, Partition: kind, CPUs: cpus}
	}
	for _, c := range []struct {
		want   string
		groups []workload.Group
	}{
		{"cpuset.cpus is empty", []workload.Group{group("/a", -1, workload.PartitionRoot)}},
		{"not a partition root", []workload.Group{group("/a", -1, workload.PartitionMember, 0, 1), group("/a/b", 0, workload.PartitionRoot, 0)}},
		{"not exclusive", []workload.Group{group("/a", -1, workload.PartitionRoot, 0, 1), group("/b", -1, workload.PartitionMember, 1, 2)}},
		{"no CPU left", []workload.Group{group("/a", -1, workload.PartitionRoot, 0, 1, 2, 3)}},
		{"not in that of the group above", []workload.Group{group("/a", -1, workload.PartitionRoot, 0, 1), group("/a/b", 0, workload.PartitionRoot, 2)}},
	} {
		if _, err := workload.CpusetsOf(c.groups, 4); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	sets, err := workload.CpusetsOf([]workload.Group{group("/a", -1, workload.PartitionRoot, 0, 1, 2), group("/a/b", 0, workload.PartitionRoot, 1), group("/c", -1, workload.PartitionMember, 3)}, 4)
	if err != nil {
		t.Fatal(err)
	}
	want := &workload.Cpusets{Partitions: [][]event.CPU{{0, 2}, {1}}, Root: []event.CPU{3}, Groups: [][]event.CPU{{0, 2}, {1}, {3}}}
	if diff := cmp.Diff(want, sets); diff != "" {
		t.Errorf("a partition in a partition (-want +got):\n%s", diff)
	}
}

// TestCPUsOfTheCommandLine are those of the machine.
func TestCPUsOfTheCommandLine(t *testing.T) {
	for change, want := range map[string]string{
		"set isolcpus=0-3":        "no CPU is left",
		"set isolcpus=4":          "CPU 4 is not one of the 4",
		"set nohz_full=a":         "no list of CPUs",
		"task=webs cpus=1":        "",
		"set nohz_full=1-2":       "",
		"set isolcpus=domain,1-2": "",
	} {
		_, err := groupedPlan(t, fourCPUs, change).Setup()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", change, err, want)
		}
	}
	setup, err := groupedPlan(t, fourCPUs, "set nohz_full=1-2 isolcpus=3").Setup()
	if err != nil {
		t.Fatal(err)
	}
	src, err := scenario.NewSource(setup)
	if err != nil {
		t.Fatal(err)
	}
	snap := src.Snapshot()
	for i, want := range []struct{ full, isolated bool }{{}, {full: true}, {full: true}, {isolated: true}} {
		if c := snap.CPUs[i]; c.NoHZFull != want.full || c.Isolated != want.isolated {
			t.Errorf("CPU %d of the snapshot: nohz_full %v, isolated %v", i, c.NoHZFull, c.Isolated)
		}
	}
}
