package replay

import (
	"errors"
	"fmt"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
)

// Group is a control group of the recorded machine that fair tasks share time by, or the group of a
// session (autogroup).
type Group struct {
	Path  string // "/a/b", or "/autogroup-N"; never the root
	Above int    // 1 + the index of the group above; 0: the root
	// Shares are its weight, that of one nice 0 task is 1024: cpu.weight 100. Idle is cpu.idle.
	Shares int64
	Idle   bool
	Auto   bool // it is a session's, of nice value Nice
	Nice   int
	// Quota of every Period is cpu.max, both ns; 0: no limit. Burst is cpu.max.burst.
	Quota, Period, Burst event.Time
	// Queues are where its queues and what stands for it stood at Load.From, on the CPUs that are known.
	Queues []Queue
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

// usualShares is the weight of a group of which nobody tells another one.
const usualShares = 1024

// sharesOf is the weight that cpu.weight gives; cpu_weight_write_u64().
func sharesOf(weight int) int64 { return (int64(weight)*1024 + 50) / 100 }

const autogroupPrefix = "/autogroup-"

// groupInSnapshot is the group at path as a snapshot has it; false: the kernel has none there, since
// the cpu controller is not on, or the snapshot does not know it.
func groupInSnapshot(snap *sysinfo.Snapshot, path string) (Group, bool) {
	g := Group{Path: path, Shares: usualShares, Queues: queuesOf(snap, path)}
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
		g.Shares = sharesOf(c.Weight)
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

// make makes the group in a scheduler, below above.
func (g *Group) make(s *sched.Sched, above *sched.Group) (*sched.Group, error) {
	var made *sched.Group
	var errs []error
	if g.Auto {
		made = s.NewAutogroup()
		errs = append(errs, s.SetAutogroupNice(made, g.Nice))
	} else {
		made = s.NewGroup(above)
		errs = append(errs, s.SetShares(made, g.Shares))
	}
	if g.Idle {
		errs = append(errs, s.SetIdle(made, true))
	}
	if g.Quota > 0 {
		_, err := s.SetQuota(0, made, g.Quota, g.Period, g.Burst)
		s.ForceQuotaRested(made) // what was used before the recording is not known
		errs = append(errs, err)
	}
	return made, errors.Join(errs...)
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
