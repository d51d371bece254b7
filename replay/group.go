package replay

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/workload"
)

// Group is a control group of the recorded machine that fair tasks share time by, or the group of a
// session (autogroup, with the path "/autogroup-N"). The root is none of them.
type Group struct {
	workload.Group
	// Queues are where its queues and what stands for it stood at Load.From, on the CPUs that are known.
	Queues []Queue
	// PeriodEnd is when a period of its quota ended, on the clock of the trace; 0: none was seen.
	PeriodEnd event.Time
}

// Queue is a queue of the fair class at Load.From.
type Queue struct {
	CPU event.CPU
	// Least is what it measured virtual time from, ns.
	Least int64
	// VRuntime and Weight are those of what stands for the group in the queue above; Weight 0:
	// not known.
	VRuntime, Weight int64
}

const autogroupPrefix = "/autogroup-"

// groupInSnapshot is the group at path as a snapshot has it; false: the kernel has none there, since
// the cpu controller is not on, or the snapshot does not know it.
func groupInSnapshot(snap *sysinfo.Snapshot, path string) (Group, bool) {
	g := Group{Group: workload.Group{Path: path, Parent: -1}, Queues: queuesOf(snap, path)}
	if strings.HasPrefix(path, autogroupPrefix) {
		g.Auto = true
		for i := range snap.Tasks {
			if t := &snap.Tasks[i]; t.Autogroup > 0 && fmt.Sprint(autogroupPrefix, t.Autogroup) == path {
				g.Nice = t.AutogroupNice
				return g, true
			}
		}
		return g, false
	}
	c := snap.CGroup(path)
	if c == nil {
		return g, false
	}
	if c.Weight > 0 {
		g.Shares = (int64(c.Weight)*1024 + 50) / 100 // cpu_weight_write_u64()
	}
	g.Idle = c.Idle
	if c.QuotaNS > 0 && c.PeriodNS > 0 {
		g.Quota, g.Period, g.Burst = event.Time(c.QuotaNS), event.Time(c.PeriodNS), event.Time(c.BurstNS)
	}
	return g, c.Weight > 0 || c.Idle || g.Quota > 0
}

// groupPath is the path of the group that t belongs to as a fair task, "": the root. It is the
// nearest one on its way up that has the cpu controller; a task in none of them has that of its
// session.
func groupPath(snap *sysinfo.Snapshot, t *sysinfo.Task) string {
	for path := t.CGroup; path != "" && path != "/"; path = path[:max(strings.LastIndexByte(path, '/'), 0)] {
		if _, ok := groupInSnapshot(snap, path); ok {
			return path
		}
	}
	if on, ok := snap.Number("sched_autogroup_enabled"); t.Autogroup > 0 && (!ok || on != 0) {
		return fmt.Sprint(autogroupPrefix, t.Autogroup)
	}
	return ""
}

// above is the path of the group above the one at path, "": the root.
func above(snap *sysinfo.Snapshot, path string) string {
	return groupPath(snap, &sysinfo.Task{CGroup: path[:max(strings.LastIndexByte(path, '/'), 0)]})
}

// queuesOf are the queues of the group at path, "/": the root.
func queuesOf(snap *sysinfo.Snapshot, path string) []Queue {
	var list []Queue
	for i := range snap.CFSRQs {
		q := &snap.CFSRQs[i]
		if q.Group != path {
			continue
		}
		out := Queue{CPU: event.CPU(q.CPU)}
		for _, v := range []*int64{q.ZeroVRuntimeNS, q.MinVRuntimeNS, q.AvgVRuntimeNS} {
			if v != nil {
				out.Least = *v // EEVDF places by the average
			}
		}
		if q.Entity != nil {
			out.VRuntime, out.Weight = q.Entity.VRuntimeNS, q.Entity.Weight
		}
		list = append(list, out)
	}
	return list
}

// make makes the group in a scheduler, below above. What it used of its quota before the recording is
// not known: nothing, lately. Its period ends at the multiple of it after now, reckoned from zero, or
// of PeriodEnd, on the scheduler's clock.
func (g *Group) make(s *sched.Sched, above *sched.Group, zero, now event.Time) (*sched.Group, error) {
	made, err := g.Make(s, above)
	if g.Period > 0 {
		s.ForceQuotaRested(made, nextOf(zero+g.PeriodEnd, g.Period, now+1))
	}
	return made, err
}

// forceQueues lets the queues of a group, nil the root, be as they are told.
func forceQueues(s *sched.Sched, g *sched.Group, list []Queue, cpus int) {
	for _, q := range list {
		if q.CPU < 0 || int(q.CPU) >= cpus {
			continue
		}
		s.ForceQueue(q.CPU, g, q.Least)
		if g != nil && q.Weight > 0 {
			s.ForceGroupEntity(q.CPU, g, q.VRuntime, q.Weight)
		}
	}
}

// groups finds the groups of the snapshot that recorded tasks are in, those above first, and puts the
// tasks into them.
func (l *Load) groups(of func(i int) *sysinfo.Task) {
	known := map[string]int{"": 0}
	var enter func(path string) int
	enter = func(path string) int {
		if n, ok := known[path]; ok {
			return n
		}
		up := 0
		if !strings.HasPrefix(path, autogroupPrefix) {
			up = enter(above(l.Snapshot, path))
		}
		g, _ := groupInSnapshot(l.Snapshot, path)
		g.Parent = up - 1
		l.Groups = append(l.Groups, g)
		known[path] = len(l.Groups)
		return len(l.Groups)
	}
	for i := range l.Tasks {
		if snap := of(i); snap != nil {
			t := &l.Tasks[i]
			t.Group = enter(groupPath(l.Snapshot, snap))
			if v, ok := virtualOf(snap); ok {
				t.Virtual, t.VirtualBy = v, FromSnapshot
				l.FairKnown++
			}
		}
	}
	l.Root = queuesOf(l.Snapshot, "/")
}
