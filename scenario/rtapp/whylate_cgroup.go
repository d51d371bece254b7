package rtapp

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
)

// mostPath is PATH_MAX.
const mostPath = 4096

// readCGroup reads a group; the kernel's Documentation/admin-guide/cgroup-v2.rst has the
// ranges.
func readCGroup(path string, pos Pos, s strict) CGroup {
	g := CGroup{Path: path, Pos: pos, Quota: event.NoTime}
	if len(path) < 2 || path[0] != '/' || path[len(path)-1] == '/' || strings.Contains(path, "//") {
		s.n.errorf(s.off, s.at, `a group is named like "/web" or "/web/db"`)
	}
	if len(path) > mostPath {
		s.n.errorf(s.off, s.at, "the path of a group has at most %d bytes", mostPath)
	}
	readWeight(&g, s)
	g.Idle = s.number("cpu.idle", 0, 1, 0) == 1
	g.Burst = event.Time(s.number("cpu.max.burst", 0, math.MaxInt64/1000, 0)) * 1000
	g.CPUs = s.cpus("cpuset.cpus")
	g.Partition = s.oneOf("cpuset.cpus.partition", []string{"member", "root", "isolated"})
	runtime, period := s.number("cpu.rt_runtime_us", -1, math.MaxInt32, -2), s.number("cpu.rt_period_us", 1, math.MaxInt32, 0)
	if g.RealTime = runtime > -2 || period > 0; g.RealTime {
		g.RTRuntime, g.RTPeriod = event.Time(max(runtime, 0))*1000, event.Time(max(period, 0))*1000
		if runtime == -1 {
			g.RTRuntime = -1
		}
		if period == 0 {
			g.RTPeriod = 1_000_000_000
		}
	}
	limit := s.name("cpu.max")
	if limit == "" {
		return g
	}
	quota, per, err := ParseCPUMax(limit)
	if err != nil {
		s.errorf("cpu.max", "%s", err)
		return g
	}
	g.Quota, g.Period = quota, per
	return g
}

// readWeight reads the weight of a group in one of its three scales: with two of them it would be open
// which one counts.
func readWeight(g *CGroup, s strict) {
	g.Weight = int(s.number("cpu.weight", 1, 10000, 0))
	if g.Shares = int(s.number("cpu.shares", 2, 262144, 0)); g.Shares > 0 && g.Weight > 0 {
		s.errorf("cpu.shares", "is the old name of cpu.weight: only one of them")
	}
	if !s.has("cpu.weight.nice") {
		return
	}
	nice := int(s.number("cpu.weight.nice", -20, 19, 0))
	if g.WeightNice = &nice; g.Shares > 0 || g.Weight > 0 {
		s.errorf("cpu.weight.nice", "is the weight in another scale: only one of them")
	}
}

// ParseCPUMax reads what is written to cpu.max: "max" or "QUOTA PERIOD" in µs, the period 100 ms
// where it is missing. It returns ns, event.NoTime for no limit. The kernel takes a quota of at
// least 1 ms and a period of 1 ms to 1 s; Documentation/scheduler/sched-bwc.rst.
func ParseCPUMax(text string) (quota, period event.Time, err error) {
	wrong := errors.New(`must be "max" or "QUOTA PERIOD" in µs, with a period of 1000 to 1000000`)
	limit, per, hasPeriod := strings.Cut(text, " ")
	if !hasPeriod {
		per = "100000"
	}
	quota = event.NoTime
	if limit != "max" {
		q, err := strconv.ParseInt(limit, 10, 64)
		if err != nil {
			return 0, 0, wrong
		}
		if q < 1000 || q > math.MaxInt64/1000 {
			return 0, 0, errors.New("a quota is at least 1000 µs")
		}
		quota = event.Time(q) * 1000
	}
	p, err := strconv.ParseInt(per, 10, 64)
	if err != nil || p < 1000 || p > 1_000_000 {
		return 0, 0, wrong
	}
	return quota, event.Time(p) * 1000, nil
}
