package scenario

import (
	"errors"
	"fmt"

	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/workload"
)

// checkGroups refuses files of groups that the kernel does not have, before the kernel would say
// only that they are not there.
func (s *Setup) checkGroups() error {
	if err := workload.CheckGroups(len(s.Load.Groups), s.Machine.Sched.CPUs); err != nil {
		return err
	}
	for i := range s.Load.Groups {
		g := &s.Load.Groups[i]
		switch {
		case g.RealTime && !s.Machine.Sched.RTGroupSched:
			return errors.New("cpu.rt_runtime_us of control groups: a kernel has it with RT_GROUP_SCHED only; set RT_GROUP_SCHED=on")
		case g.Idle && !s.Kernel.Profile.Fair().IdleGroups:
			return fmt.Errorf("cpu.idle of group %s: kernels have it from 5.15 on; take kernel=6.1 or later, or a cpu.weight of 1", g.Path)
		case g.Burst > 0 && !s.Machine.Sched.Fair.QuotaBurst:
			return fmt.Errorf("cpu.max.burst of group %s: kernels have it from 5.14 on; take kernel=6.1 or later, or a greater quota", g.Path)
		}
	}
	return nil
}

// cgroupOf is a group as a recorder finds it.
func (s *Setup) cgroupOf(g *workload.Group) sysinfo.CGroup {
	out := sysinfo.CGroup{Path: g.Path, Idle: g.Idle, Weight: 100}
	if g.Shares > 0 {
		out.Weight = int(min(max((g.Shares*100+512)/1024, 1), 10000)) // cpu_weight_read_u64()
	}
	if g.Idle {
		out.Weight = 0
	}
	if g.Period > 0 && g.Quota >= 0 {
		out.QuotaNS, out.PeriodNS, out.BurstNS = int64(g.Quota), int64(g.Period), int64(g.Burst)
	}
	if g.RealTime {
		out.RealTime = &sysinfo.RTBandwidth{RuntimeNS: int64(g.RTRuntime), PeriodNS: int64(g.RTPeriod)}
	}
	return out
}

// placeIn says in which group the threads of t are when their first round begins, and returns 1 + its
// index, 0: the root.
func (s *Setup) placeIn(x *sysinfo.Task, t *workload.Task) int {
	group := t.Group
	if len(t.Phases) > 0 && t.Phases[0].Group > 0 {
		group = t.Phases[0].Group
	}
	if group == 0 {
		return 0
	}
	g := &s.Load.Groups[group-1]
	switch {
	case !g.Auto:
		x.CGroup = g.Path
	case !s.Machine.Sched.Fair.NoAutogroup:
		x.Autogroup, x.AutogroupNice = int64(group), g.Nice
	}
	return group
}
