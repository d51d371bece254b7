package rtapp

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/whylate/whylate/kernel"
)

// mostMachineCPUs is the largest machine that "whylate" may describe.
const mostMachineCPUs = 4096

// mostNodes is what a kernel of x86 has room for by default, MAX_NUMNODES with NODES_SHIFT 6. Each CPU has groups of
// its own for all nodes, so that more of them want memory by the square.
const mostNodes = 64

// mostDistances is how many different ones nodes may have from each other: each makes a level of domains, and no
// machine is known to have more than four.
const mostDistances = 8

// limitCPU is the highest number that a CPU may have: as far as the machine is known.
func (n *notes) limitCPU() int64 {
	if n.cpus > 0 {
		return int64(n.cpus) - 1
	}
	return mostCPU
}

// whylate reads the object "whylate". It comes before the tasks, whose CPUs it limits;
// checkExtras compares the rest with them later.
func (n *notes) whylate(v *value, at *place, o Options) *Whylate {
	s := n.open(v, at)
	defer s.close()
	w := &Whylate{Pos: n.pos(v.off), Description: s.textOr("description", "")}
	w.Kernel = readKernel(s)
	w.HasSeed = s.has("seed")
	w.Seed = uint64(s.number("seed", 0, math.MaxInt64, 0))
	w.CPUs = int(s.number("cpus", 1, mostMachineCPUs, 0))
	readTopology(s, w)
	n.cpus = w.CPUs
	s.each("idle_states", func(name string, _ Pos, s strict) {
		w.IdleStates = append(w.IdleStates, IdleState{name, s.duration("latency", 0), s.duration("residency", 0)})
	})
	s.each("steal", func(name string, pos Pos, s strict) { w.Steals = append(w.Steals, readSteal(name, pos, s)) })
	w.Settings = readSettings(s, "settings", o.Settings)
	w.Features = readSettings(s, "features", o.Features)
	w.CostTable = s.name("cost_table")
	s.eachValue("costs", func(e *member, at *place) {
		n.checkName(e, at, o.Costs)
		w.Costs = append(w.Costs, Cost{e.key, n.lengths(&e.value, at), n.pos(e.off)})
	})
	s.each("cgroups", func(path string, pos Pos, s strict) { w.CGroups = append(w.CGroups, readCGroup(path, pos, s)) })
	s.each("autogroups", func(name string, pos Pos, s strict) {
		w.Autogroups = append(w.Autogroups, Autogroup{name, pos, int(s.number("nice", -20, 19, 0))})
	})
	s.each("irqs", func(name string, pos Pos, s strict) { w.IRQs = append(w.IRQs, readIRQ(name, pos, s)) })
	s.each("devices", func(name string, pos Pos, s strict) { w.Devices = append(w.Devices, readDevice(name, pos, s)) })
	s.each("locks", func(name string, pos Pos, s strict) { w.Locks = append(w.Locks, readLock(name, pos, s)) })
	s.each("tasks", func(name string, pos Pos, s strict) { w.Tasks = append(w.Tasks, readExtra(name, pos, s)) })
	s.each("programs", func(name string, pos Pos, s strict) {
		p := Program{Name: name, Pos: pos, Run: s.name("run"), CGroup: s.name("cgroup")}
		if p.Run == "" {
			s.n.errorf(s.off, s.at, `needs a "run", like "schbench -m 2 -t 16"`)
		}
		w.Programs = append(w.Programs, p)
	})
	if v := s.take("changes"); v != nil {
		w.Changes = n.changes(v, at.member("changes"))
	}
	s.eachValue("variants", func(e *member, at *place) { w.Variants = append(w.Variants, n.variant(e, at)) })
	return w
}

// readKernel reads the name of a profile, or a release of one: "6.1-rt", "6.1.176-rt".
func readKernel(s strict) string {
	name := s.name("kernel")
	// kernel knows which releases a profile stands for; nobody else compares versions.
	if name == "" || kernel.ProfileOf(name) != "" {
		return name
	}
	var known []string
	for _, p := range kernel.Profiles {
		known = append(known, p.Name)
	}
	s.errorf("kernel", "unknown kernel %s%s; there are %s", quoted(name), s.n.suggestion(name, known), strings.Join(known, ", "))
	return ""
}

// readTopology reads how the CPUs share things and makes their number agree with that.
func readTopology(s strict, w *Whylate) {
	v := s.take("topology")
	if v == nil {
		return
	}
	t := s.n.open(v, s.at.member("topology"))
	defer t.close()
	p := &Topology{Pos: s.n.pos(v.off)}
	w.Topology = p
	p.ThreadsPerCore = int(t.number("threads_per_core", 1, 8, 1))
	p.LLCsPerNode = int(t.number("llcs_per_node", 1, mostMachineCPUs, 1))
	p.Nodes = int(t.number("nodes", 1, mostNodes, 1))
	// Whatever is not said is one of a kind, but for the cores: they take what is left of
	// "cpus". None of these products can overflow: each factor is at most 4,096.
	others := p.ThreadsPerCore * p.LLCsPerNode * p.Nodes
	cores := 1
	if w.CPUs > 0 {
		cores = max(1, w.CPUs/others)
	}
	p.CoresPerLLC = int(t.number("cores_per_llc", 1, mostMachineCPUs, int64(cores)))
	switch cpus := others * p.CoresPerLLC; {
	case cpus > mostMachineCPUs:
		s.errorf("topology", "%d CPUs, more than %d", cpus, mostMachineCPUs)
	case w.CPUs > 0 && w.CPUs != cpus:
		s.errorf("topology", `describes %d CPUs, "cpus" says %d`, cpus, w.CPUs)
	default:
		w.CPUs = cpus
	}
	readDistances(t, p)
	t.elements("capacity", func(v *value, at *place) {
		p.Capacity = append(p.Capacity, int(s.n.inRange(v, at, 1, 1024, 1024)))
	})
	if p.Capacity != nil && len(p.Capacity) != w.CPUs {
		t.errorf("capacity", "%d capacities for %d CPUs", len(p.Capacity), w.CPUs)
	}
}

// readDistances reads the table of the nodes, which the kernel takes only if it is symmetric and 10 on its
// diagonal.
func readDistances(t strict, p *Topology) {
	t.elements("distances", func(v *value, at *place) {
		if v.kind != array {
			t.n.errorf(v.off, at, "must be an array of distances, not %s", v.describe())
			return
		}
		var row []int
		for i := range v.list {
			row = append(row, int(t.n.inRange(&v.list[i].value, at.element(i), 10, 254, 20)))
		}
		p.Distances = append(p.Distances, row)
	})
	if err := checkDistances(p.Distances, p.Nodes); err != nil {
		t.errorf("distances", "%s", err)
		p.Distances = nil
	}
}

func checkDistances(table [][]int, nodes int) error {
	if table != nil && len(table) != nodes {
		return fmt.Errorf("%d rows for %d nodes", len(table), nodes)
	}
	for i, row := range table {
		if len(row) != nodes {
			return fmt.Errorf("row %d has %d distances for %d nodes", i, len(row), nodes)
		}
		for j, d := range row[:i+1] {
			if d != table[j][i] || (d == 10) != (i == j) {
				return fmt.Errorf("nodes %d and %d: must be 10 from itself, more from others, and the same both ways", j, i)
			}
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(slices.Concat(table...))))); n > mostDistances+1 {
		return fmt.Errorf("%d different distances between nodes, more than %d", n-1, mostDistances)
	}
	return nil
}

// readSettings reads names with values that are numbers, booleans or words.
func readSettings(s strict, key string, known []string) []Setting {
	var list []Setting
	s.eachValue(key, func(e *member, at *place) {
		s.n.checkName(e, at, known)
		set := Setting{Name: e.key, Value: e.value.str, Pos: s.n.pos(e.off)}
		switch e.value.kind {
		case integer:
			i := s.n.inRange(&e.value, at, math.MinInt64, math.MaxInt64, 0)
			set.Value = strconv.FormatInt(i, 10) // without leading zeros
		case boolean, text:
		default:
			s.n.errorf(e.value.off, at, "must be an integer, a string, true or false, not %s", e.value.describe())
		}
		list = append(list, set)
	})
	return list
}

// checkName reports a name that is not among those that its owner knows; nil: any name.
func (n *notes) checkName(e *member, at *place, known []string) {
	if known != nil && !slices.Contains(known, e.key) {
		n.errorf(e.off, at, "unknown name%s", n.suggestion(e.key, known))
	}
}

// variant reads a list of changes. Their grammar is that of --change; who applies them
// checks it.
func (n *notes) variant(e *member, at *place) Variant {
	v := Variant{Name: e.key, Pos: n.pos(e.off)}
	// The command line names several variants with commas between them.
	if strings.ContainsAny(e.key, ", \t\n") {
		n.errorf(e.off, at, "a variant's name has neither spaces nor commas")
	}
	v.Changes = n.changes(&e.value, at)
	return v
}

// changes reads a list of changes.
func (n *notes) changes(v *value, at *place) []string {
	if v.kind != array {
		n.errorf(v.off, at, `must be an array of changes like "set HZ=1000", not %s`, v.describe())
		return nil
	}
	var list []string
	for i := range v.list {
		c := &v.list[i].value
		if c.kind != text || strings.TrimSpace(c.str) == "" {
			n.errorf(c.off, at.element(i), `must be a change like "set HZ=1000", not %s`, c.describe())
			continue
		}
		list = append(list, c.str)
	}
	return list
}
