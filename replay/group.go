package replay

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
)

// Group is a control group of the recorded machine that fair tasks share time by, or the group of a
// session (autogroup).
type Group struct {
	Path   string // "/a/b", or "/autogroup-N"; never the root
	Parent int    // index of the group above; −1: the root
	// Shares are its weight, that of one nice 0 task is 1024: cpu.weight 100.
	Shares int64
	Idle   bool // cpu.idle
	// Quota of every Period is cpu.max, both ns; 0: no limit. Burst is cpu.max.burst.
	Quota, Period, Burst event.Time
}

// usualShares is the weight of a group of which nobody tells another one.
const usualShares = 1024

// sharesOf is the weight that cpu.weight gives; cpu_weight_write_u64().
func sharesOf(weight int) int64 { return (int64(weight)*1024 + 50) / 100 }

const autogroupPrefix = "/autogroup-"

// groupInSnapshot is the group at path as a snapshot has it; false: the kernel has none there, since
// the cpu controller is not on, or the snapshot does not know it.
func groupInSnapshot(snap *sysinfo.Snapshot, path string) (Group, bool) {
	g := Group{Path: path, Parent: -1, Shares: usualShares}
	if strings.HasPrefix(path, autogroupPrefix) {
		for i := range snap.Tasks {
			if t := &snap.Tasks[i]; t.Autogroup > 0 && fmt.Sprint(autogroupPrefix, t.Autogroup) == path {
				g.Shares = sched.NiceShares(t.AutogroupNice)
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

// apply gives made what g says.
func (g *Group) apply(s *sched.Sched, made *sched.Group) error {
	return s.SetShares(made, g.Shares)
}
