package scenario

import (
	"fmt"
	"math"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/scenario/rtapp"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// groupFiles are the files of a control group that a change may write.
var groupFiles = []string{"cpu.max", "cpu.max.burst", "cpu.weight", "cpu.weight.nice", "cpu.shares", "cpu.idle", "cpu.rt_runtime_us", "cpu.rt_period_us",
	"cpuset.cpus", "cpuset.cpus.partition"}

// writeGroup writes a file of g as a shell would; the error says what the kernel takes.
func writeGroup(g *workload.Group, file, value string) error {
	var n int64
	var err error
	switch file {
	case "cpu.max":
		var quota, period event.Time
		if quota, period, err = rtapp.ParseCPUMax(value); err == nil {
			g.Quota, g.Period = quota, period
		}
	case "cpu.max.burst":
		if err = number(value, 0, math.MaxInt64/1000, &n); err == nil {
			g.Burst = event.Time(n) * 1000
			if g.Period == 0 {
				g.Quota, g.Period = event.NoTime, defaultPeriod
			}
		}
	case "cpu.weight":
		if err = number(value, 1, 10_000, &n); err == nil {
			g.Shares = sharesOfWeight(n)
		}
	case "cpu.weight.nice":
		if err = number(value, -20, 19, &n); err == nil {
			g.Shares = sched.NiceShares(int(n))
		}
	case "cpu.shares":
		if err = number(value, 2, 262_144, &n); err == nil {
			g.Shares = n
		}
	case "cpu.idle":
		if err = number(value, 0, 1, &n); err == nil {
			g.Idle = n == 1
		}
	case "cpu.rt_runtime_us":
		if err = number(value, -1, math.MaxInt32, &n); err == nil {
			if g.RTRuntime = event.Time(n) * 1000; n < 0 {
				g.RTRuntime = -1
			}
			if g.RealTime = true; g.RTPeriod == 0 {
				g.RTPeriod = 1_000_000_000
			}
		}
	case "cpu.rt_period_us":
		if err = number(value, 1, math.MaxInt32, &n); err == nil {
			g.RTPeriod = event.Time(n) * 1000
			g.RealTime = true
		}
	case "cpuset.cpus":
		if g.CPUs = nil; value != "" {
			g.CPUs, err = parseCPUs(value)
		}
	case "cpuset.cpus.partition":
		g.Partition, err = workload.PartitionNamed(value)
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", file, quote(value), err)
	}
	return nil
}

// AlterGroup writes the files of a ChangeCGroup into g.
func (c *Change) AlterGroup(g *workload.Group) {
	for _, v := range c.Values {
		// What could not be read was refused by ParseChange.
		_ = writeGroup(g, v.Name, v.To)
	}
}

// cgroup1 reports whether the change writes a file of control groups of version 1.
func (c *Change) cgroup1() bool {
	for _, v := range c.Values {
		switch v.Name {
		case "cpu.shares", "cpu.rt_runtime_us", "cpu.rt_period_us":
			return true
		}
	}
	return false
}

// changeCGroup writes the files of all control groups that match.
func (p *Plan) changeCGroup(c *Change) error {
	found := false
	var known []string
	for i := range p.Load.Groups {
		g := &p.Load.Groups[i]
		if g.Auto {
			continue
		}
		known = append(known, g.Path)
		if c.Matches(g.Path) {
			found = true
			c.AlterGroup(g)
		}
	}
	if !found {
		return nearest.Unknown("control group of the scenario", c.Pattern, known)
	}
	p.cgroup1 = p.cgroup1 || c.cgroup1()
	return nil
}

// moveTasks puts tasks into the control group that the change names, for good.
func (p *Plan) moveTasks(c *Change, tasks []int) error {
	path, ok := c.CGroup()
	if !ok {
		return nil
	}
	to := 0
	known := []string{"/"}
	for i := range p.Load.Groups {
		g := &p.Load.Groups[i]
		if g.Auto {
			continue
		}
		known = append(known, g.Path)
		if g.Path == path {
			to = i + 1
		}
	}
	if to == 0 && path != "/" {
		return nearest.Unknown("control group of the scenario", path, known)
	}
	for _, i := range tasks {
		t := &p.Load.Tasks[i]
		t.Group = to
		for j := range t.Phases {
			t.Phases[j].Group = 0 // or it would go back there
		}
	}
	return nil
}
