package replay

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
)

// Snapshot is that of the recorded machine with what changes have made of it, nil where the
// recording has none.
func (s *RunSource) Snapshot() *sysinfo.Snapshot {
	l := s.load
	if l.Snapshot == nil {
		return nil
	}
	out := *l.Snapshot
	out.Kernel.Release = s.info.Kernel
	out.Settings, out.Features = slices.Clone(out.Settings), slices.Clone(out.Features)
	for _, v := range l.Values {
		if i := slices.IndexFunc(out.Features, func(x sysinfo.Feature) bool { return x.Name == v.Name }); i >= 0 {
			out.Features[i].On = v.To == "on"
			continue
		}
		i := slices.IndexFunc(out.Settings, func(x sysinfo.Setting) bool { return x.Name == v.Name })
		if i < 0 {
			i, out.Settings = len(out.Settings), append(out.Settings, sysinfo.Setting{Name: v.Name})
		}
		out.Settings[i].Value = v.To
	}
	out.CPUs = slices.DeleteFunc(slices.Clone(out.CPUs), func(c sysinfo.CPU) bool { return int(c.CPU) >= l.CPUs })
	for i := range out.CPUs {
		if c := &out.CPUs[i]; c.FairServer != nil {
			c.FairServer = s.server
		}
	}
	if setup, err := l.Setup(); err == nil && l.changed {
		for i := range out.CPUs {
			setup.CommandLine(&out.CPUs[i])
		}
	}
	byPID := make(map[event.PID]*Task, len(l.Tasks))
	for i := range l.Tasks {
		if t := &l.Tasks[i]; t.Begin != BeginNew {
			byPID[t.PID] = t
		}
	}
	out.Tasks = slices.Clone(out.Tasks)
	for i := range out.Tasks {
		if t := byPID[event.PID(out.Tasks[i].PID)]; t != nil && !t.Stopper {
			setTask(&out.Tasks[i], t)
		}
	}
	out.Tasks = slices.DeleteFunc(out.Tasks, func(x sysinfo.Task) bool {
		t := byPID[event.PID(x.PID)]
		return t != nil && t.Removed
	})
	out.Sort()
	return &out
}

// setTask lets x be what t is.
func setTask(x *sysinfo.Task, t *Task) {
	a := &t.Attr
	x.Policy, x.Priority, x.Nice = a.Policy.String(), a.Priority, a.Nice
	x.RuntimeNS, x.DeadlineNS, x.PeriodNS = 0, 0, 0
	if a.Policy == sched.Deadline {
		x.RuntimeNS, x.DeadlineNS, x.PeriodNS = int64(a.Runtime), int64(a.Deadline), int64(a.Period)
		if a.Period == 0 {
			x.PeriodNS = x.DeadlineNS
		}
	}
	if t.CPUsBy != Assumed { // else they are where it ran
		x.CPUs = nil
		for _, c := range t.CPUs {
			x.CPUs = append(x.CPUs, int32(c))
		}
	}
}
