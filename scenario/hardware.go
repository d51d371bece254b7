package scenario

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
)

// Hardware is what a snapshot tells of the CPUs of a machine beside their number.
type Hardware struct {
	Topology sched.Topology
	// Partitions are cpusets that balance by themselves, Isolated those that do not balance and CPUs that are
	// not online.
	Partitions [][]event.CPU
	Isolated   []event.CPU
	// Values are the settings isolcpus and nohz_full, where there are such CPUs.
	Values []Value
}

// HardwareOf is what snap tells of a machine with so many CPUs. Without a snapshot, or where that does not
// know of all of them, what is not known is as if all were alike: each a core of its own, one
// cache, one node.
func HardwareOf(snap *sysinfo.Snapshot, cpus int) Hardware {
	var h Hardware
	if snap == nil {
		return h
	}
	h.Topology = topologyOf(snap, cpus)
	var isolated, full []event.CPU
	for i := range snap.CPUs {
		c := &snap.CPUs[i]
		if int(c.CPU) >= cpus {
			continue
		}
		if c.Isolated {
			isolated = append(isolated, event.CPU(c.CPU))
		}
		if c.NoHZFull {
			full = append(full, event.CPU(c.CPU))
		}
		if !c.Online {
			h.Isolated = append(h.Isolated, event.CPU(c.CPU))
		}
	}
	if len(isolated) > 0 {
		h.Values = append(h.Values, Value{"isolcpus", cpuText(isolated)})
	}
	if len(full) > 0 && len(full) < cpus { // all of them: nohz=full
		h.Values = append(h.Values, Value{"nohz_full", cpuText(full)})
	}
	for i := range snap.CGroups {
		switch g := &snap.CGroups[i]; g.Partition {
		case "root":
			if g.Path != "/" {
				h.Partitions = append(h.Partitions, within(g.CPUs, cpus))
			}
		case "isolated":
			h.Isolated = append(h.Isolated, within(g.CPUs, cpus)...)
		}
	}
	return h
}

// within are the CPUs of a list that the machine has.
func within(list sysinfo.CPUList, cpus int) []event.CPU {
	var out []event.CPU
	for _, c := range list {
		if int(c) < cpus {
			out = append(out, event.CPU(c))
		}
	}
	return out
}

// topologyOf is how the CPUs share things.
func topologyOf(snap *sysinfo.Snapshot, cpus int) sched.Topology {
	list := func(of func(*sysinfo.CPU) int32) []int {
		out := slices.Repeat([]int{-1}, cpus)
		for i := range snap.CPUs {
			if c := &snap.CPUs[i]; int(c.CPU) < cpus {
				out[c.CPU] = int(of(c))
			}
		}
		if slices.Contains(out, -1) {
			return nil
		}
		return out
	}
	t := sched.Topology{Core: list(func(c *sysinfo.CPU) int32 { return c.Core }), LLC: list(func(c *sysinfo.CPU) int32 { return c.LLC }),
		Node: list(func(c *sysinfo.CPU) int32 { return c.Node })}
	if nodes := slices.Compact(slices.Sorted(slices.Values(t.Node))); len(nodes) > mostNodes {
		t.Node = nil
	}
	return t
}

// mostNodes is how many nodes of a snapshot are believed. Each CPU has groups of its own for all of them, so that
// more of them want memory by the square.
const mostNodes = 64
