package replay

import (
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// takeSnapshot takes over what a snapshot of the machine tells of the tasks. One that was forked
// in the trace must still have its name: pids are used again.
func (s *firstSight) takeSnapshot(src Input, o Options) {
	if s.snap = o.Snapshot; s.snap == nil {
		s.snap = sysinfo.Of(src)
	}
	if s.snap == nil {
		return
	}
	s.known = knownTasks{}
	for i := range s.tasks {
		b := &s.tasks[i]
		t := s.snap.Task(int32(b.pid))
		if t == nil || b.status == timeline.StatusNew && s.names.String(s.state.Task(timeline.TaskID(i)).Comm) != t.Comm {
			continue
		}
		k := knownTask{attr: sched.Attr{Policy: policyByName[t.Policy], Priority: t.Priority, Nice: t.Nice,
			Slice: event.Time(t.SliceNS), Runtime: event.Time(t.RuntimeNS), Deadline: event.Time(t.DeadlineNS), Period: event.Time(t.PeriodNS)}}
		for _, c := range t.CPUs {
			if c >= 0 && c < mostForcedCPUs {
				k.cpus = append(k.cpus, event.CPU(c))
				s.cpus = max(s.cpus, int(c)+1)
			}
		}
		s.known[b.pid] = k
	}
	s.useKnown()
}

// useKnown takes over which CPUs tasks may use, where somebody told; whoever forks stands before its children.
func (s *firstSight) useKnown() {
	for i := range s.tasks {
		b := &s.tasks[i]
		if k, ok := s.known[b.pid]; ok && !k.inferred {
			b.cpus, b.told = k.cpus, true
		} else if b.parent >= 0 && s.tasks[b.parent].told {
			b.cpus, b.told = s.tasks[b.parent].cpus, true // inherited
		}
	}
}

// config is the scheduler of the recorded kernel, as far as the release and a snapshot tell.
func (s *firstSight) config(info *event.Info, o Options) (sched.Config, error) {
	release := o.Kernel
	if release == "" {
		release = info.Kernel
	}
	if release == "" && s.snap != nil {
		release = s.snap.Kernel.Release
	}
	profile := kernel.ProfileOf(release)
	if profile == "" {
		profile = s.likelyProfile(release)
		s.kernelUnknown = true
	}
	plan := scenario.Plan{Kernel: profile, CPUs: min(max(s.cpus, info.CPUs, 1), mostForcedCPUs)}
	h := scenario.HardwareOf(s.snap, plan.CPUs)
	plan.Topology, plan.Partitions, plan.Isolated = h.Topology, h.Partitions, h.Isolated
	s.settings(&plan, h.Values)
	setup, err := plan.Setup()
	if err != nil {
		return sched.Config{}, fmt.Errorf("configuring the model as kernel %q: %w", release, err)
	}
	s.sleepingLocks = setup.Machine.Sched.Preempt == sched.PreemptRT
	return setup.Machine.Sched, nil
}

// likelyProfile is that of a kernel which has none. One that does not even say its release throttles
// real-time tasks if it has the timer for that.
func (s *firstSight) likelyProfile(release string) string {
	facts := kernel.Of(release)
	rt := facts.PreemptRT == kernel.Yes
	for i := 0; i < len(s.tasks) && !rt; i++ {
		rt = kernel.IsSoftirqThread(s.names.String(s.tasks[i].comm)) && s.tasks[i].prio.RealTime()
	}
	if !facts.Known && s.rtExpired != event.NoTime {
		facts = kernel.Of("6.1")
	}
	return nearestProfile(&facts, rt)
}

// settings adds those of the snapshot that the model's kernel takes.
func (s *firstSight) settings(plan *scenario.Plan, more []scenario.Value) {
	if s.snap == nil {
		return
	}
	try := func(name, value string) {
		if !slices.ContainsFunc(scenario.Settings(), func(s scenario.Setting) bool { return s.Name == name }) || name == "RT_GROUP_SCHED" {
			return
		}
		before := plan.Values
		plan.Values = append(slices.Clone(before), scenario.Value{Name: name, To: value})
		if _, err := plan.Setup(); err != nil {
			plan.Values = before // its kernel would refuse that
			return
		}
		s.budgetTold = s.budgetTold || name == "sched_rt_runtime_us"
	}
	for _, set := range s.snap.Settings {
		try(set.Name, set.Value)
	}
	for _, set := range more {
		try(set.Name, set.To)
	}
	for _, f := range s.snap.Features {
		try(f.Name, map[bool]string{true: "on", false: "off"}[f.On])
	}
	if len(s.snap.CPUs) > 0 && s.snap.CPUs[0].FairServer != nil {
		try("fair_server_runtime_ns", fmt.Sprint(s.snap.CPUs[0].FairServer.RuntimeNS))
		try("fair_server_period_ns", fmt.Sprint(s.snap.CPUs[0].FairServer.PeriodNS))
	}
}

// kthread reports whether a task is one of the kernel: the snapshot says so, else its name.
func (s *firstSight) kthread(b *beginning) bool {
	if s.snap != nil {
		if t := s.snap.Task(int32(b.pid)); t != nil && !s.known[b.pid].inferred {
			return t.Kernel
		}
	}
	return kernel.IsKernelThread(s.names.String(b.comm))
}
