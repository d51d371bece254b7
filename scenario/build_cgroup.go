package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario/rtapp"
	"github.com/whylate/whylate/workload"
)

// cgroups takes in the groups of the file. What they give fair tasks is not modelled, only
// the runtimes of real-time ones.
func (b *builder) cgroups(w *rtapp.Whylate) error {
	known := map[string]int{} // 1 + index
	list := slices.Clone(w.CGroups)
	slices.SortStableFunc(list, func(x, y rtapp.CGroup) int { // those above first
		return strings.Count(x.Path, "/") - strings.Count(y.Path, "/")
	})
	for i := range list {
		g := &list[i]
		if !g.RealTime || g.Weight > 0 || g.Shares > 0 || g.Idle || g.Period > 0 || g.Burst > 0 || g.CPUs != nil {
			return fmt.Errorf("%s: group %s: control groups are %w, but for cpu.rt_runtime_us and cpu.rt_period_us", g.Pos, g.Path, ErrNotModelled)
		}
		b.group(known, g.Path, g.RTRuntime, g.RTPeriod)
	}
	for i := range w.Tasks {
		x := &w.Tasks[i]
		for j := range b.plan.Load.Tasks {
			if t := &b.plan.Load.Tasks[j]; t.Name == x.Name && x.CGroup != "" {
				t.Group = known[x.CGroup]
			}
		}
	}
	return nil
}

// group adds a group after those above it, which have no runtime where the file gives them
// none, as a new group has.
func (b *builder) group(known map[string]int, path string, runtime, period event.Time) int {
	if n := known[path]; n > 0 {
		return n
	}
	parent := 0
	if above := path[:strings.LastIndexByte(path, '/')]; above != "" {
		parent = b.group(known, above, 0, 1_000_000_000)
	}
	list := &b.plan.Load.Groups
	*list = append(*list, workload.Group{Path: path, Parent: parent - 1, Runtime: runtime, Period: period})
	known[path] = len(*list)
	return len(*list)
}
