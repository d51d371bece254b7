package sched

import (
	"slices"

	"github.com/whylate/whylate/event"
)

// localDistance and remoteDistance are what the distance of nodes is where no table says it:
// LOCAL_DISTANCE, REMOTE_DISTANCE. Domains that reach over nodes farther than reclaimDistance are not
// used at exec and fork, nor by affine wakes; RECLAIM_DISTANCE.
const (
	localDistance   = 10
	remoteDistance  = 20
	reclaimDistance = 30
)

// UniformTopology is a machine all of whose parts are alike: threads of a core have numbers one after
// the other, then cores of a last-level cache, caches of a node, nodes. Numbers below 1 count as 1.
func UniformTopology(threadsPerCore, coresPerLLC, llcsPerNode, nodes int) Topology {
	threads := max(threadsPerCore, 1)
	llc := threads * max(coresPerLLC, 1)
	node := llc * max(llcsPerNode, 1)
	n := node * max(nodes, 1)
	t := Topology{Core: make([]int, n), LLC: make([]int, n), Node: make([]int, n)}
	for c := range n {
		t.Core[c], t.LLC[c], t.Node[c] = c/threads, c/llc, c/node
	}
	return t
}

// CacheTopology is a machine of cores that share a last-level cache in groups of perLLC; 0: all share one.
func CacheTopology(cpus, perLLC int) Topology {
	if perLLC <= 0 {
		return Topology{}
	}
	t := UniformTopology(1, perLLC, (cpus+perLLC-1)/perLLC, 1)
	return Topology{LLC: t.LLC[:cpus]}
}

// topologyLevel is a level of sharing for the whole machine; sched_domain_topology_level.
type topologyLevel struct {
	is       domainLevel
	flags    domainFlags // what the level is, not what follows from it
	distance int         // of NUMA levels: how far nodes in it may be
	sets     []cpuMask   // those who share
	of       []int       // in which of the sets each CPU is
}

// at returns an entry of a list of numbers by CPU, or what holds where there is none.
func at(list []int, c event.CPU, none int) int {
	if int(c) < len(list) {
		return list[c]
	}
	return none
}

func (t *Topology) sameNode(a, b event.CPU) bool { return at(t.Node, a, 0) == at(t.Node, b, 0) }

// sameLLC is within a node: no kernel takes a cache for shared that reaches over two.
func (t *Topology) sameLLC(a, b event.CPU) bool {
	return at(t.LLC, a, 0) == at(t.LLC, b, 0) && t.sameNode(a, b)
}

func (t *Topology) sameCore(a, b event.CPU) bool {
	return at(t.Core, a, int(a)) == at(t.Core, b, int(b)) && t.sameLLC(a, b)
}

// distance is how far two nodes are from each other.
func (t *Topology) distance(a, b int) int {
	if a >= 0 && a < len(t.Distance) && b >= 0 && b < len(t.Distance[a]) {
		return t.Distance[a][b]
	}
	if a == b {
		return localDistance
	}
	return remoteDistance
}

// levels are those of a machine with n CPUs, from the closest; default_topology[] and
// sched_init_numa(). Levels that add nothing are still in it.
func (t *Topology) levels(n int) []topologyLevel {
	list := []topologyLevel{
		sharing(n, levelSMT, sdShareCPUCapacity|sdShareLLC, t.sameCore),
		sharing(n, levelMC, sdShareLLC, t.sameLLC),
		sharing(n, levelPKG, 0, t.sameNode),
	}
	return append(list, t.numaLevels(n)...)
}

// sharing is the level of those for whom same holds, which has to be an equivalence.
func sharing(n int, is domainLevel, flags domainFlags, same func(a, b event.CPU) bool) topologyLevel {
	l := topologyLevel{is: is, flags: flags, of: make([]int, n)}
	var firsts []event.CPU
	for c := range event.CPU(n) {
		i := slices.IndexFunc(firsts, func(f event.CPU) bool { return same(f, c) })
		if i < 0 {
			i = len(firsts)
			firsts, l.sets = append(firsts, c), append(l.sets, newMask(n))
		}
		l.of[c] = i
		l.sets[i].set(c)
	}
	return l
}

// numaLevels are one for each distance beyond that of a node from itself: the nodes that are so far
// away at most. The sets of two nodes may overlap.
func (t *Topology) numaLevels(n int) []topologyLevel {
	var nodes []int // that have CPUs
	for c := range event.CPU(n) {
		if node := at(t.Node, c, 0); !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	var distances []int
	for _, a := range nodes {
		for _, b := range nodes {
			distances = append(distances, t.distance(a, b))
		}
	}
	slices.Sort(distances)
	distances = slices.Compact(distances)
	var list []topologyLevel
	for _, d := range distances[1:] {
		l := topologyLevel{is: levelNUMA, flags: sdNUMA, distance: d, of: make([]int, n)}
		for _, a := range nodes {
			set := newMask(n)
			for c := range event.CPU(n) {
				set.put(c, t.distance(a, at(t.Node, c, 0)) <= d)
			}
			l.sets = append(l.sets, set)
		}
		for c := range n {
			l.of[c] = slices.Index(nodes, at(t.Node, event.CPU(c), 0))
		}
		list = append(list, l)
	}
	return list
}
