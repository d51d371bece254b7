package workload

import (
	"errors"
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// Partition is what cpuset.cpus.partition of a group says.
type Partition uint8

// The kinds of partitions.
const (
	PartitionMember   Partition = iota // it shares its CPUs with others
	PartitionRoot                      // its CPUs are its own and balance among themselves
	PartitionIsolated                  // its CPUs are its own and do not balance at all
)

// PartitionNames are the words of the kinds.
var PartitionNames = []string{"member", "root", "isolated"}

// PartitionNamed is the kind with that word.
func PartitionNamed(word string) (Partition, error) {
	i := slices.Index(PartitionNames, word)
	if i < 0 {
		return 0, fmt.Errorf("%q is not member, root or isolated", word)
	}
	return Partition(i), nil
}

// Cpusets is what the cpuset controller makes of the groups of a machine.
type Cpusets struct {
	// Partitions are the CPUs that balance among themselves, Isolated those that do not balance.
	Partitions [][]event.CPU
	Isolated   []event.CPU
	// Root is cpuset.cpus.effective of the root, nil: all CPUs. Groups is that of each group, nil: as
	// the root.
	Root   []event.CPU
	Groups [][]event.CPU
}

// cpuset is a group while its CPUs are worked out.
type cpuset struct {
	effective []event.CPU // less the CPUs of the partitions below
	whole     []event.CPU // with them
}

// CpusetsOf works out which CPUs groups have, those above first, on a machine with so many; update_cpumasks_hier() of
// kernel/cgroup/cpuset.c. The error is the verdict that the kernel writes into cpuset.cpus.partition.
func CpusetsOf(groups []Group, cpus int) (*Cpusets, error) {
	all := make([]event.CPU, cpus)
	for i := range all {
		all[i] = event.CPU(i)
	}
	root := &cpuset{effective: all, whole: all}
	sets := make([]*cpuset, len(groups)) // nil: as the root
	above := func(i int) *cpuset {
		if p := groups[i].Parent; p >= 0 && sets[p] != nil {
			return sets[p]
		}
		return root
	}
	// Partitions take their CPUs away before others are told what is left.
	for _, partitions := range []bool{true, false} {
		for i := range groups {
			g := &groups[i]
			if g.CPUs != nil {
				if err := within(g.CPUs, cpus); err != nil {
					return nil, fmt.Errorf("group %s: cpuset.cpus: %w", g.Path, err)
				}
			}
			if isPartition := g.Partition != PartitionMember; isPartition != partitions {
				continue
			}
			parent := above(i)
			if g.Partition == PartitionMember {
				if g.CPUs != nil || parent != root {
					sets[i] = memberOf(parent, g.CPUs)
				}
				continue
			}
			if err := mayPartition(groups, i, parent); err != nil {
				return nil, fmt.Errorf("group %s: cpuset.cpus.partition=%s: %w", g.Path, PartitionNames[g.Partition], err)
			}
			parent.effective = cpusLess(parent.effective, g.CPUs)
			sets[i] = &cpuset{effective: g.CPUs, whole: g.CPUs}
		}
	}
	return collect(groups, sets, root, cpus), nil
}

// memberOf is a group that takes part of what the one above has, all of it where it wants none that are
// there.
func memberOf(parent *cpuset, cpus []event.CPU) *cpuset {
	effective := common(parent.effective, cpus)
	if len(effective) == 0 {
		effective = parent.effective
	}
	return &cpuset{effective: effective, whole: effective}
}

// mayPartition is why a group cannot be a partition, in the kernel's words; PERR_*.
func mayPartition(groups []Group, i int, parent *cpuset) error {
	g := &groups[i]
	switch {
	case len(g.CPUs) == 0:
		return errors.New("root invalid (cpuset.cpus is empty)")
	case g.Parent >= 0 && groups[g.Parent].Partition == PartitionMember:
		return errors.New("root invalid (parent is not a partition root)")
	case len(cpusLess(g.CPUs, parent.whole)) > 0:
		return errors.New("root invalid (cpu list in cpuset.cpus is not in that of the group above)")
	case len(cpusLess(parent.effective, g.CPUs)) == 0:
		return errors.New("root invalid (parent would have no CPU left)")
	}
	for j := range groups {
		if j != i && groups[j].Parent == g.Parent && len(common(groups[j].CPUs, g.CPUs)) > 0 {
			return errors.New("root invalid (cpu list in cpuset.cpus not exclusive)")
		}
	}
	return nil
}

func collect(groups []Group, sets []*cpuset, root *cpuset, cpus int) *Cpusets {
	out := &Cpusets{Groups: make([][]event.CPU, len(groups))}
	if len(root.effective) < cpus {
		out.Root = root.effective
	}
	for i, s := range sets {
		if s == nil {
			continue
		}
		out.Groups[i] = s.effective
		switch groups[i].Partition {
		case PartitionRoot:
			out.Partitions = append(out.Partitions, s.effective)
		case PartitionIsolated:
			out.Isolated = append(out.Isolated, s.effective...)
		}
	}
	return out
}

// common are the CPUs of a that are in b, without those of a that are not in it.
func common(a, b []event.CPU) []event.CPU {
	return slices.DeleteFunc(slices.Clone(a), func(c event.CPU) bool { return !slices.Contains(b, c) })
}

func cpusLess(a, b []event.CPU) []event.CPU {
	return slices.DeleteFunc(slices.Clone(a), func(c event.CPU) bool { return slices.Contains(b, c) })
}

// Allowed are the CPUs that a task gets which wants some, nil: all that it may. group is 1 + the index of its
// group, 0: the root; first is what a task has that nobody ever gave any: all, less those of
// isolcpus=. Nil as a result: all CPUs. An empty list: the kernel says EINVAL.
func (s *Cpusets) Allowed(group int, want, first []event.CPU) []event.CPU {
	may := s.Root
	if group > 0 && s.Groups[group-1] != nil {
		may, first = s.Groups[group-1], nil
	}
	if want == nil {
		want = first
	}
	switch {
	case want == nil:
		return may
	case may == nil:
		return want
	}
	if both := common(want, may); len(both) > 0 || !slices.Equal(want, first) {
		return both
	}
	return may
}

// allowed are the CPUs that p gets where it asks for some, nil: for all.
func (r *Run) allowed(p *thread, want []event.CPU) ([]event.CPU, error) {
	list := r.cpusets.Allowed(p.cgroup, want, r.spec.CPUs)
	if list != nil && len(list) == 0 {
		return nil, fmt.Errorf("none of the CPUs %v is in its cpuset: %w", want, sched.ErrInval)
	}
	return list, nil
}

// confine moves a thread that has come into a group to CPUs of its cpuset; cpuset_attach().
func (r *Run) confine(p *thread, from event.CPU) error {
	may := r.cpusets.Groups[p.cgroup-1]
	if may == nil {
		return nil
	}
	list := may
	if p.cpus != nil {
		if both := common(p.cpus, may); len(both) > 0 {
			list = both
		}
	}
	p.cpus = list
	_, _, err := r.m.Sched.SetAffinity(from, p.th.Task, list)
	return err
}
