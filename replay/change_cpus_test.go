package replay

import (
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/workload"
)

// TestIsolatedCPUsAreTakenAway from tasks whose affinity nothing shows, and from no others.
func TestIsolatedCPUsAreTakenAway(t *testing.T) {
	task := func(cpu event.CPU, group int, cpus ...event.CPU) Task {
		return Task{Attr: fair(), Begin: BeginRunning, CPU: cpu, CPUs: cpus, Group: group, Ops: []Op{run(3 * ms), {Kind: OpSleep, At: at(8 * ms)}, run(1 * ms)}}
	}
	load := func() *Load {
		l := handMade(task(0, 0), task(1, 0, 1), task(2, 0), task(3, 1, 2, 3))
		l.CPUs = 4
		l.Groups = []Group{{Group: workload.Group{Path: "/x", Parent: -1, Quota: event.NoTime}}}
		return l
	}
	for _, c := range []struct {
		change string
		fails  bool
		want   [4][]event.CPU
	}{
		{"set isolcpus=2-3", false, [4][]event.CPU{{0, 1}, {1}, {0, 1}, {2, 3}}},
		{"cgroup=/x cpuset.cpus=3", false, [4][]event.CPU{nil, {1}, nil, {3}}},
		{"cgroup=/x cpuset.cpus=0,3 cpuset.cpus.partition=root", false, [4][]event.CPU{{1, 2}, {1}, {1, 2}, {3}}},
		{"cgroup=/x cpuset.cpus=1 cpuset.cpus.partition=isolated", true, [4][]event.CPU{}},
		{"set isolcpus=0-3", true, [4][]event.CPU{}},
	} {
		l := load()
		err := l.Change(c.change)
		if (err != nil) != c.fails {
			t.Errorf("%s: error %v", c.change, err)
		}
		for i := range l.Tasks {
			p := &l.Tasks[i]
			if !c.fails && (!slices.Equal(p.CPUs, c.want[i]) || p.CPUs != nil && !slices.Contains(p.CPUs, p.CPU)) {
				t.Errorf("%s: task %d may use %v and begins on %d, want %v", c.change, i, p.CPUs, p.CPU, c.want[i])
			}
		}
		if c.fails {
			continue
		}
		if _, err := newRunner(l, func(*event.Event) {}); err != nil {
			t.Errorf("%s: running it: %v", c.change, err)
		}
	}
}
