package workload

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// Group is a control group of the cpu controller, or the group of a session.
type Group struct {
	Path string
	// Parent is the index of the group above, −1: the root.
	Parent int
	// Shares is its weight, 1024 that of one task of nice 0: cpu.shares of version 1, cpu.weight
	// times 1024/100; 0: as it is made, 1024. Idle is cpu.idle.
	Shares int64
	Idle   bool
	// Quota of every Period, ns, is cpu.max; Burst is cpu.max.burst. Period 0: cpu.max is not
	// written; Quota negative: no limit.
	Quota, Period, Burst event.Time
	// RealTime: cpu.rt_runtime_us and cpu.rt_period_us are written, ns, a runtime of −1: no limit. The
	// kernel has them with RT_GROUP_SCHED.
	RealTime            bool
	RTRuntime, RTPeriod event.Time
	// CPUs is cpuset.cpus, nil: not written. Partition is cpuset.cpus.partition.
	CPUs      []event.CPU
	Partition Partition
	// Auto: it is the group of a session (SCHED_AUTOGROUP), with a nice value of its own. Its tasks
	// are in it while the kernel has such groups.
	Auto bool
	Nice int
}

// mostGroupQueues bounds the queues that the groups of a machine have together, one on each CPU;
// they take some 400 MB.
const mostGroupQueues = 1 << 19

// CheckGroups refuses more groups than can be made on so many CPUs.
func CheckGroups(groups, cpus int) error {
	if groups > mostGroupQueues/max(cpus, 1) {
		return fmt.Errorf("%d control groups on %d CPUs: each has a queue on every CPU, and there may be %d", groups, cpus, mostGroupQueues)
	}
	return nil
}

// GroupUse is what cpu.stat of a group says at the end of a run.
type GroupUse struct {
	Path                 string
	Quota, Period, Burst event.Time // ns; a negative quota: no limit
	sched.QuotaStat
}

// makeGroups makes the control groups in their order, those above first, and writes their
// files. The error is the kernel's verdict on one of them.
func (r *Run) makeGroups() error {
	for i := range r.spec.Groups {
		g := &r.spec.Groups[i]
		if g.Auto && r.m.NoAutogroup() {
			r.groups = append(r.groups, nil)
			continue
		}
		made, err := r.makeGroup(g)
		if err != nil {
			return fmt.Errorf("group %s: %w", g.Path, err)
		}
		r.groups = append(r.groups, made)
	}
	return nil
}

func (r *Run) makeGroup(g *Group) (*sched.Group, error) {
	var above *sched.Group
	if g.Parent >= 0 {
		above = r.groups[g.Parent]
	}
	return g.Make(r.m.Sched, above)
}

// Make makes the group in a scheduler, below above, and writes its files. The error is the kernel's
// verdict on one of them; the group is there then, too.
func (g *Group) Make(sc *sched.Sched, above *sched.Group) (*sched.Group, error) {
	if g.Auto {
		made := sc.NewAutogroup()
		return made, sc.SetAutogroupNice(made, g.Nice)
	}
	made := sc.NewGroup(above)
	if g.RealTime {
		if err := sc.SetGroupBandwidth(made, g.RTRuntime, g.RTPeriod); err != nil {
			return made, fmt.Errorf("cpu.rt_runtime_us: %w", err)
		}
	}
	if g.Shares > 0 {
		if err := sc.SetShares(made, g.Shares); err != nil {
			return made, fmt.Errorf("cpu.weight: %w", err)
		}
	}
	if g.Idle {
		if err := sc.SetIdle(made, true); err != nil {
			return made, fmt.Errorf("cpu.idle: %w", err)
		}
	}
	if g.Period > 0 {
		if _, err := sc.SetQuota(0, made, g.Quota, g.Period, g.Burst); err != nil {
			return made, fmt.Errorf("cpu.max: %w", err)
		}
	}
	return made, nil
}

// enterGroup moves a thread, which is not runnable yet, into the group of its task, else into
// that of its parent.
func (r *Run) enterGroup(p *thread, parent *machine.Thread) error {
	group := p.task.Group
	if above, ok := parent.Program.(*thread); ok && group == 0 {
		group = above.cgroup
	}
	return r.moveInto(p, group, max(event.CPU(0), parent.Task.CPU()))
}

// moveInto writes the thread into the group with this number, 0: it stays where it is. from is the CPU
// that does so.
func (r *Run) moveInto(p *thread, group int, from event.CPU) error {
	if group == 0 || group == p.cgroup {
		return nil
	}
	p.cgroup = group
	to := r.groups[group-1]
	if r.spec.Groups[group-1].Auto && to == nil {
		return nil // the kernel makes no groups of sessions
	}
	if _, err := r.m.Sched.Attach(from, p.th.Task, to); err != nil {
		return fmt.Errorf("moving %s to group %s: %w", p.name, r.spec.Groups[group-1].Path, err)
	}
	return r.confine(p, from)
}

// regroup moves the thread itself to the group of a phase, and reports whether the kernel let it.
func (p *thread) regroup(group int) bool {
	if err := p.run.moveInto(p, group, p.th.Task.CPU()); err != nil {
		p.run.refuse(err)
		return false
	}
	return true
}

// Groups is what cpu.stat of the control groups says now, in their order, those of sessions not
// among them.
func (r *Run) Groups() []GroupUse {
	var list []GroupUse
	for i, g := range r.groups {
		if r.spec.Groups[i].Auto {
			continue
		}
		use := GroupUse{Path: r.spec.Groups[i].Path, QuotaStat: r.m.Sched.QuotaStat(g)}
		use.Quota, use.Period, use.Burst = g.Quota()
		list = append(list, use)
	}
	return list
}
