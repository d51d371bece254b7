package workload

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// makeGroups makes the control groups in their order, those above first, and writes their
// files. The error is the kernel's verdict on one of them.
func (r *Run) makeGroups() error {
	for i := range r.spec.Groups {
		g := &r.spec.Groups[i]
		var above *sched.Group
		if g.Parent >= 0 {
			above = r.groups[g.Parent]
		}
		made := r.m.Sched.NewGroup(above)
		if err := r.m.Sched.SetGroupBandwidth(made, g.Runtime, g.Period); err != nil {
			return fmt.Errorf("cpu.rt_runtime_us of group %s: %w", g.Path, err)
		}
		r.groups = append(r.groups, made)
	}
	return nil
}

// enterGroup moves a thread, which is not runnable yet, into the group of its task, else into
// that of its parent.
func (r *Run) enterGroup(p *thread, parent *machine.Thread) error {
	p.cgroup = p.task.Group
	if above, ok := parent.Program.(*thread); ok && p.cgroup == 0 {
		p.cgroup = above.cgroup
	}
	if p.cgroup == 0 {
		return nil
	}
	_, err := r.m.Sched.Attach(max(event.CPU(0), parent.Task.CPU()), p.th.Task, r.groups[p.cgroup-1])
	if err != nil {
		return fmt.Errorf("moving %s to group %s: %w", p.name, r.spec.Groups[p.cgroup-1].Path, err)
	}
	return nil
}
