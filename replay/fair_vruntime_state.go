package replay

import (
	"path"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// This file takes over what a snapshot tells of groups and virtual run times.

// queueOf returns the queue of a task that was there before the trace.
func (f *vruntimeFollower) queueOf(pid event.PID) *vruntimeQueue {
	if f.snap == nil {
		return &f.root
	}
	if t := f.snap.Task(int32(pid)); t != nil {
		return f.queueAt(groupPath(f.snap, t))
	}
	return &f.root
}

// queueAt returns the queue of the group with a path. A group of which nobody tells is made with
// the usual weight.
func (f *vruntimeFollower) queueAt(name string) *vruntimeQueue {
	if name == "" || name == "/" || name == "." {
		return &f.root
	}
	if q := f.groups[name]; q != nil {
		return q
	}
	if workload.CheckGroups(len(f.groups)+1, 1) != nil {
		return &f.root
	}
	up, g := &f.root, (*sched.Group)(nil)
	if strings.HasPrefix(name, autogroupPrefix) {
		g = f.sched.NewAutogroup()
	} else {
		up = f.queueAt(path.Dir(name))
		g = f.sched.NewGroup(up.group)
	}
	q := &vruntimeQueue{group: g, up: up}
	f.groups[name] = q
	if f.snap != nil {
		if told, ok := groupInSnapshot(f.snap, name); ok {
			f.configure(g, &told)
		}
	}
	return q
}

// configure gives a group what the snapshot tells of it. What no kernel takes was not there.
func (f *vruntimeFollower) configure(g *sched.Group, told *Group) {
	switch {
	case told.Auto:
		_ = f.sched.SetAutogroupNice(g, told.Nice)
	case told.Shares > 0:
		_ = f.sched.SetShares(g, told.Shares)
	}
	if told.Idle {
		_ = f.sched.SetIdle(g, true)
	}
	if told.Quota > 0 {
		f.limit(g, told)
	}
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
