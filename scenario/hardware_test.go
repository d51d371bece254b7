package scenario_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
)

// TestHardwareOfASnapshot: a replay has the machine that a scenario had, and one of which nothing is known has
// one cache and one node.
func TestHardwareOfASnapshot(t *testing.T) {
	p := groupedPlan(t, `{"global": {"duration": 1}, "tasks": {"a": {"run": 100}}, "whylate": {
		"topology": {"threads_per_core": 2, "cores_per_llc": 2, "nodes": 2}, "cgroups": {"/rt": {"cpuset.cpus": "4-5", "cpuset.cpus.partition": "root"}}}}`,
		"set isolcpus=6 nohz_full=6-7")
	src := mustSource(t, p)
	snap := src.Snapshot()
	snap.CPUs[7].Online = false
	want := scenario.Hardware{Topology: sched.UniformTopology(2, 2, 1, 2), Partitions: [][]event.CPU{{4, 5}}, Isolated: []event.CPU{7},
		Values: []scenario.Value{{Name: "isolcpus", To: "6"}, {Name: "nohz_full", To: "6-7"}}}
	if diff := cmp.Diff(want, scenario.HardwareOf(snap, 8)); diff != "" {
		t.Errorf("hardware (-want +got):\n%s", diff)
	}
	unknown := &sysinfo.Snapshot{CPUs: []sysinfo.CPU{{CPU: 0, Online: true, Core: -1, LLC: 0, Node: -1}, {CPU: 1, Online: true, Core: -1, LLC: 0, Node: -1}}}
	if diff := cmp.Diff(scenario.Hardware{Topology: sched.Topology{LLC: []int{0, 0}}}, scenario.HardwareOf(unknown, 2)); diff != "" {
		t.Errorf("a snapshot that knows little (-want +got):\n%s", diff)
	}
	// Numbers that no kernel gives must cost no memory: 1,000 nodes are not believed, few with huge numbers are.
	absurd := &sysinfo.Snapshot{}
	for c := range int32(1000) {
		absurd.CPUs = append(absurd.CPUs, sysinfo.CPU{CPU: c, Online: true, Core: math.MaxInt32 - c, LLC: math.MaxInt32 - c, Node: c})
	}
	if h := scenario.HardwareOf(absurd, 1000); h.Topology.Node != nil {
		t.Errorf("%d nodes are believed", len(h.Topology.Node))
	}
	for c := range absurd.CPUs {
		absurd.CPUs[c].Node = math.MaxInt32 - int32(c%2)
	}
	cfg := sched.DefaultConfig(1000)
	cfg.Topology = scenario.HardwareOf(absurd, 1000).Topology
	machine.New(machine.Config{Sched: cfg}, event.NewNames(), nil)
	if diff := cmp.Diff(scenario.Hardware{}, scenario.HardwareOf(nil, 2)); diff != "" {
		t.Errorf("no snapshot (-want +got):\n%s", diff)
	}
}
