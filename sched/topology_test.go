package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// spans are the masks of a chain of domains as schedstat prints them, with their names.
func chainOf(s *Sched, c event.CPU) string {
	out := ""
	for sd := s.rqs[c].sd; sd != nil; sd = sd.parent {
		out += s.domainName(sd) + " " + maskText(sd.span) + ":"
		for g := sd.groups; ; {
			out += " " + maskText(g.cpus)
			if g = g.next; g == sd.groups {
				break
			}
		}
		out += "; "
	}
	return out
}

func maskText(m cpuMask) string {
	out := ""
	for c := m.first(); c != event.NoCPU; c = m.next(c + 1) {
		if out != "" {
			out += ","
		}
		out += string(rune('0' + c))
	}
	return "{" + out + "}"
}

// TestDomainsOfUniformMachines are the chains that the kernel's documentation draws: two caches of two
// cores with two threads, and what is left of it where there is less to share.
func TestDomainsOfUniformMachines(t *testing.T) {
	for _, c := range []struct {
		name string
		topo Topology
		cpu  event.CPU
		want string
	}{
		{"two caches", UniformTopology(2, 2, 2, 1), 2, "SMT {2,3}: {2} {3}; MC {0,1,2,3}: {2,3} {0,1}; DIE {0,1,2,3,4,5,6,7}: {0,1,2,3} {4,5,6,7}; "},
		{"one cache", UniformTopology(1, 4, 1, 1), 1, "MC {0,1,2,3}: {1} {2} {3} {0}; "},
		{"two nodes", UniformTopology(1, 2, 1, 2), 3, "MC {2,3}: {3} {2}; NUMA {0,1,2,3}: {2,3} {0,1}; "},
		{"a core for each cache", UniformTopology(2, 1, 2, 1), 0, "SMT {0,1}: {0} {1}; DIE {0,1,2,3}: {0,1} {2,3}; "},
		{"one CPU", UniformTopology(1, 1, 1, 1), 0, ""},
	} {
		cfg := DefaultConfig(len(c.topo.Core))
		cfg.Topology = c.topo
		s := New(cfg, nil, event.NewNames())
		if got := chainOf(s, c.cpu); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}
