package sched

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
)

// drawMachine is a machine of at most 40 CPUs: uniform, with distances of any symmetric kind, a few CPUs
// without balancing and a partition.
func drawMachine(t *rapid.T) Config {
	draw := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
	nodes := draw("nodes", 1, 5)
	topo := UniformTopology(draw("threads", 1, 2), draw("cores", 1, 2), draw("caches", 1, 2), nodes)
	topo.Distance = make([][]int, nodes)
	for a := range nodes {
		topo.Distance[a] = make([]int, nodes)
		topo.Distance[a][a] = 10
		for b := range a {
			d := draw("distance", 2, 4) * 10
			topo.Distance[a][b], topo.Distance[b][a] = d, d
		}
	}
	cfg := DefaultConfig(len(topo.Core))
	cfg.Topology = topo
	for c := range event.CPU(cfg.CPUs) {
		switch draw("part", 0, 7) {
		case 0:
			cfg.Isolated = append(cfg.Isolated, c)
		case 1:
			if cfg.Partitions == nil {
				cfg.Partitions = [][]event.CPU{nil}
			}
			cfg.Partitions[0] = append(cfg.Partitions[0], c)
		}
	}
	cfg.Fair.SMTGain = int64(draw("smt_gain", 0, 1)) * 1178
	return cfg
}

// TestDomainsOfAnyMachine: what include/linux/sched/topology.h and sched-domains.rst say of domains holds for all.
func TestDomainsOfAnyMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawMachine(t)
		s := New(cfg, nil, event.NewNames())
		for _, rq := range s.rqs {
			var below *schedDomain
			for sd := rq.sd; sd != nil; sd = sd.parent {
				checkDomain(t, s, rq, sd, below)
				below = sd
			}
			if below != nil && !below.span.equal(rq.rd.span) {
				t.Fatalf("the highest domain of CPU %d has %s of the %s that balance", rq.cpu, cpuRanges(below.span), cpuRanges(rq.rd.span))
			}
			if below == nil && rq.rd.span.count() > 1 && rq.rd.span.has(rq.cpu) && !isIn(cfg.Isolated, rq.cpu) {
				t.Fatalf("CPU %d has no domain", rq.cpu)
			}
		}
	})
}

func isIn(list []event.CPU, c event.CPU) bool {
	for _, x := range list {
		if x == c {
			return true
		}
	}
	return false
}

// checkDomain checks a domain of rq that has below below it, nil: nothing.
func checkDomain(t *rapid.T, s *Sched, rq *RQ, sd, below *schedDomain) {
	if !sd.span.has(rq.cpu) || sd.weight != sd.span.count() || sd.weight < 2 || sd.child != below {
		t.Fatalf("CPU %d: a domain of %d with %s", rq.cpu, sd.weight, cpuRanges(sd.span))
	}
	if below != nil && (!sd.span.contains(below.span) || sd.span.equal(below.span)) {
		t.Fatalf("CPU %d: %s over %s adds nothing", rq.cpu, cpuRanges(sd.span), cpuRanges(below.span))
	}
	if !sd.groups.cpus.has(rq.cpu) || sd.groups.next == sd.groups {
		t.Fatalf("CPU %d: the groups of %s begin with %s", rq.cpu, cpuRanges(sd.span), cpuRanges(sd.groups.cpus))
	}
	if below != nil && !sd.groups.cpus.equal(below.span) {
		t.Fatalf("CPU %d: the local group %s is not the domain %s below", rq.cpu, cpuRanges(sd.groups.cpus), cpuRanges(below.span))
	}
	sum, all, capacity := 0, newMask(s.cfg.CPUs), int64(0)
	for g := sd.groups; ; {
		sum += g.weight
		all.add(g.cpus)
		capacity += g.capacity.capacity
		own := int64(0)
		for c := g.cpus.first(); c != event.NoCPU; c = g.cpus.next(c + 1) {
			own += s.capacityOrig(c)
		}
		if g.weight != g.cpus.count() || own != g.capacity.capacity || !g.cpus.contains(g.balanceMask) || g.balanceMask.empty() {
			t.Fatalf("CPU %d: group %s of %s has a capacity of %d, its CPUs of %d; %s balance", rq.cpu, cpuRanges(g.cpus), cpuRanges(sd.span), g.capacity.capacity, own, cpuRanges(g.balanceMask))
		}
		if g = g.next; g == sd.groups {
			break
		}
	}
	if !all.equal(sd.span) || sd.flags&sdOverlap == 0 && sum != sd.weight {
		t.Fatalf("CPU %d: the groups of %s have %s, %d together", rq.cpu, cpuRanges(sd.span), cpuRanges(all), sum)
	}
	for c := sd.span.first(); sd.shared != nil && c != event.NoCPU; c = sd.span.next(c + 1) {
		if s.llcShared(c) != s.llcShared(rq.cpu) || !s.cpusShareCache(c, rq.cpu) {
			t.Fatalf("CPUs %d and %d share a cache and do not know the same of it", c, rq.cpu)
		}
	}
}
