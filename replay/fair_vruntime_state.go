package replay

import (
	"path"
	"strconv"

	"github.com/whylate/whylate/event"
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
	weight := 100
	if f.snap != nil {
		for i := range f.snap.CGroups {
			if g := &f.snap.CGroups[i]; g.Path == name && g.Weight > 0 {
				weight = g.Weight
			}
		}
	}
	f.setShares(q, (int64(weight)*1024+50)/100)
	return q
}

// autogroup returns the queue of a session.
func (f *vruntimeFollower) autogroup(n int64, nice int) *vruntimeQueue {
	name := "/autogroup-" + strconv.FormatInt(n, 10)
	if q := f.groups[name]; q != nil {
		return q
	}
	q := &vruntimeQueue{group: f.sched.NewGroup(nil), up: &f.root}
	f.groups[name] = q
	_ = nice
	return q
}

func (f *vruntimeFollower) setShares(q *vruntimeQueue, shares int64) {
	if err := f.sched.SetShares(q.group, shares); err != nil {
		panic("replay: a weight was refused: " + err.Error())
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
