package replay

import (
	"path"
	"strconv"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
)

// This file takes over what a snapshot tells of groups and virtual run times.

// queueOf returns the queue of a task that was there before the trace.
func (f *vruntimeFollower) queueOf(pid event.PID) *vruntimeQueue {
	if f.snap == nil {
		return &f.root
	}
	t := f.snap.Task(int32(pid))
	switch {
	case t == nil:
		return &f.root
	case t.Autogroup > 0 && (t.CGroup == "" || t.CGroup == "/"):
		return f.autogroup(t.Autogroup, t.AutogroupNice)
	}
	return f.queueAt(t.CGroup)
}

// queueAt returns the queue of the group with a path.
func (f *vruntimeFollower) queueAt(name string) *vruntimeQueue {
	if name == "" || name == "/" || name == "." {
		return &f.root
	}
	if q := f.groups[name]; q != nil {
		return q
	}
	up := f.queueAt(path.Dir(name))
	q := &vruntimeQueue{group: f.sched.NewGroup(up.group), up: up}
	f.groups[name] = q
	if f.snap != nil {
		for i := range f.snap.CGroups {
			if g := &f.snap.CGroups[i]; g.Path == name {
				f.configure(q.group, g)
			}
		}
	}
	return q
}

// configure gives a group what the snapshot tells of it. What no kernel takes was not there.
func (f *vruntimeFollower) configure(g *sched.Group, c *sysinfo.CGroup) {
	if c.Weight > 0 {
		_ = f.sched.SetShares(g, (int64(c.Weight)*1024+50)/100)
	}
	if c.Idle {
		_ = f.sched.SetIdle(g, true)
	}
	if c.QuotaNS > 0 {
		_, _ = f.sched.SetQuota(0, g, event.Time(c.QuotaNS), event.Time(c.PeriodNS), event.Time(c.BurstNS))
	}
}

// autogroup returns the queue of a session.
func (f *vruntimeFollower) autogroup(n int64, nice int) *vruntimeQueue {
	name := "/autogroup-" + strconv.FormatInt(n, 10)
	if q := f.groups[name]; q != nil {
		return q
	}
	q := &vruntimeQueue{group: f.sched.NewAutogroup(), up: &f.root}
	f.groups[name] = q
	_ = f.sched.SetAutogroupNice(q.group, nice)
	return q
}

// settle takes over the virtual run times of the snapshot once the trace has come to its moment.
func (f *vruntimeFollower) settle(now event.Time) {
	if f.settled || f.snap == nil || f.snap.TimeNS != nil && event.Time(*f.snap.TimeNS) > now {
		return
	}
	f.settled = true
	for i := range f.snap.CFSRQs {
		q := &f.snap.CFSRQs[i]
		if q.CPU != 0 || q.MinVRuntimeNS == nil {
			continue
		}
		own := f.queueAt(q.Group)
		own.known = true
		f.sched.ForceMinVruntime(0, own.group, *q.MinVRuntimeNS)
		if q.Entity != nil && own.group != nil {
			f.sched.ForceGroupEntity(0, own.group, q.Entity.VRuntimeNS, q.Entity.Weight)
		}
	}
	for i := range f.snap.Tasks {
		s := &f.snap.Tasks[i]
		if s.VRuntimeNS == nil || s.PID <= 0 {
			continue
		}
		t := f.of(event.PID(s.PID), f.names.Intern(s.Comm))
		if !t.task.OnRQ() {
			t.known = true
			f.sched.ForceVruntime(t.task, *s.VRuntimeNS)
		}
	}
}
