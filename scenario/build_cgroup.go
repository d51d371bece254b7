package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario/rtapp"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// cgroups takes in the groups of the object "whylate", those above first, and puts tasks there.
func (b *builder) cgroups(w *rtapp.Whylate) error {
	list := slices.Clone(w.CGroups)
	slices.SortStableFunc(list, func(x, y rtapp.CGroup) int {
		return strings.Count(x.Path, "/") - strings.Count(y.Path, "/")
	})
	for i := range list {
		g := &list[i]
		to := &b.plan.Load.Groups[b.group(g.Path)-1]
		if err := workload.CheckGroups(len(b.plan.Load.Groups), 1); err != nil {
			return fmt.Errorf("%s: %w", g.Pos, err)
		}
		to.RealTime, to.RTRuntime, to.RTPeriod = g.RealTime, g.RTRuntime, g.RTPeriod
		to.Shares, to.Idle = sharesOf(g), g.Idle
		for _, c := range g.CPUs {
			to.CPUs = append(to.CPUs, event.CPU(c))
		}
		if g.Partition != "" {
			to.Partition, _ = workload.PartitionNamed(g.Partition) // the reader knows the words
		}
		if to.Quota, to.Period, to.Burst = g.Quota, g.Period, g.Burst; to.Period == 0 && to.Burst > 0 {
			to.Period = defaultPeriod // the burst is written beside a quota of max
		}
		b.plan.cgroup1 = b.plan.cgroup1 || g.Shares > 0 || g.RealTime
	}
	for i := range w.Autogroups {
		b.autogroup(w.Autogroups[i].Name).Nice = w.Autogroups[i].Nice
	}
	for i := range w.Tasks {
		x := &w.Tasks[i]
		for j := range b.plan.Load.Tasks {
			t := &b.plan.Load.Tasks[j]
			switch {
			case t.Name != x.Name:
			case t.Group > 0 && (x.CGroup != "" || x.Autogroup != ""):
				return fmt.Errorf("%s: task %s has a taskgroup, too: only one of them", x.Pos, x.Name)
			case x.CGroup != "":
				t.Group = b.group(x.CGroup)
			case x.Autogroup != "":
				b.autogroup(x.Autogroup)
				t.Group = b.known["session "+x.Autogroup]
			}
		}
	}
	return nil
}

// defaultPeriod is that of a quota where the file gives none.
const defaultPeriod event.Time = 100_000_000

// sharesOf is the weight of a group, 1024 that of a task of nice 0; 0: none given.
func sharesOf(g *rtapp.CGroup) int64 {
	switch {
	case g.Weight > 0:
		return sharesOfWeight(int64(g.Weight))
	case g.WeightNice != nil:
		return sched.NiceShares(*g.WeightNice)
	}
	return int64(g.Shares)
}

// sharesOfWeight is what cpu.weight means in cpu.shares, to the nearest; cpu_weight_write_u64().
func sharesOfWeight(weight int64) int64 { return (weight*1024 + 50) / 100 }

// group returns 1 + the index of the group at path, which is made, after those above it, where it
// is not yet there.
func (b *builder) group(path string) int {
	if n := b.known[path]; n > 0 {
		return n
	}
	parent := 0
	if above := path[:strings.LastIndexByte(path, '/')]; above != "" {
		parent = b.group(above)
	}
	return b.add(path, workload.Group{Path: path, Parent: parent - 1, Quota: event.NoTime})
}

// autogroup returns the group of the session called name.
func (b *builder) autogroup(name string) *workload.Group {
	n := b.known["session "+name]
	if n == 0 {
		n = b.add("session "+name, workload.Group{Path: fmt.Sprintf("/autogroup-%d", len(b.known)+1), Parent: -1, Auto: true})
	}
	return &b.plan.Load.Groups[n-1]
}

func (b *builder) add(name string, g workload.Group) int {
	if b.known == nil {
		b.known = map[string]int{}
	}
	b.plan.Load.Groups = append(b.plan.Load.Groups, g)
	b.known[name] = len(b.plan.Load.Groups)
	return len(b.plan.Load.Groups)
}
