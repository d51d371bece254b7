package replay

import (
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/workload"
)

// cpusets are the groups as far as cpusets go, nil: none has files of one.
func (l *Load) cpusets() []workload.Group {
	if !slices.ContainsFunc(l.Groups, func(g Group) bool { return g.CPUs != nil || g.Partition != workload.PartitionMember }) {
		return nil
	}
	list := make([]workload.Group, len(l.Groups))
	for i := range l.Groups {
		g := &l.Groups[i]
		list[i] = workload.Group{Path: g.Path, Parent: g.Parent, Quota: event.NoTime, CPUs: g.CPUs, Partition: g.Partition, Auto: g.Auto, Nice: g.Nice}
	}
	return list
}

// writes reports whether the change writes one of these settings or files.
func writes(c *scenario.Change, names ...string) bool {
	return slices.ContainsFunc(c.Values, func(v scenario.Value) bool { return slices.Contains(names, v.Name) })
}

// confine takes CPUs away from tasks where a change isolates them or puts groups into cpusets: those whose
// affinity nothing shows lose the isolated ones, those of a group keep what is in its set.
func (l *Load) confine(c *scenario.Change, first []event.CPU) error {
	isolates := c.Kind == scenario.ChangeSet && writes(c, "isolcpus")
	if !isolates && !(c.Kind == scenario.ChangeCGroup && writes(c, "cpuset.cpus", "cpuset.cpus.partition")) {
		return nil
	}
	groups := l.cpusets()
	if groups == nil {
		groups = make([]workload.Group, len(l.Groups))
	}
	sets, err := workload.CpusetsOf(groups, l.CPUs)
	if err != nil {
		return err
	}
	for i := range l.Tasks {
		t := &l.Tasks[i]
		if t.Stopper || t.Removed {
			continue
		}
		list := sets.Allowed(t.Group, t.CPUs, first)
		if list == nil || slices.Equal(list, t.CPUs) {
			continue
		}
		if len(list) == 0 {
			if t.Kernel || t.Group == 0 {
				continue // it belongs to its CPU
			}
			return fmt.Errorf("task %s/%d may only use CPUs %v, none of which is in its cpuset: EINVAL", l.Names.String(t.Comm), t.PID, t.CPUs)
		}
		t.CPUs, t.CPUsBy = list, FromEvents
		if !slices.Contains(list, t.CPU) {
			t.CPU = list[0]
		}
	}
	return nil
}
