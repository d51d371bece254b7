package sched

import (
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
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

// TestDomainsOf411: what kernels of that time made of the levels. The case cgroup has the first machine.
func TestDomainsOf411(t *testing.T) {
	i := slices.IndexFunc(kernel.Profiles, func(p kernel.Profile) bool { return p.Name == "4.11" })
	f := kernel.Profiles[i].Fair()
	type level struct {
		name                 string
		busy, pct            int64
		busyIdx, idleIdx     int
		prefer               bool
		group                int64 // what the local group gives
		minInterval, nrTries int64
	}
	for _, c := range []struct {
		topo Topology
		want []level
	}{
		{UniformTopology(2, 16, 1, 1), []level{{"SMT", 32, 110, 0, 0, true, 589, 2, 0}, {"MC", 32, 117, 2, 0, false, 1178, 32, 1}}},
		{UniformTopology(2, 2, 2, 2), []level{{"SMT", 32, 110, 0, 0, true, 589, 2, 0}, {"MC", 32, 117, 2, 0, false, 1178, 4, 1}, {"DIE", 32, 125, 2, 1, true, 2356, 8, 1}, {"NUMA", 32, 125, 3, 2, false, 4712, 16, 2}}},
		{UniformTopology(1, 2, 1, 2), []level{{"MC", 32, 117, 2, 0, true, 1024, 2, 1}, {"NUMA", 32, 125, 3, 2, false, 2048, 4, 2}}}, // DIE is gone, its flag is not
	} {
		cfg := DefaultConfig(len(c.topo.Core))
		cfg.Topology = c.topo
		cfg.Fair.BusyFactor, cfg.Fair.ImbalancePct, cfg.Fair.PreferSiblingInLLC, cfg.Fair.DomainDIE, cfg.Fair.SMTGain = f.BusyFactor, f.ImbalancePct, f.PreferSiblingInLLC, f.DomainDIE, f.SMTGain
		s := New(cfg, nil, event.NewNames())
		var got []level
		for sd := s.rqs[1].sd; sd != nil; sd = sd.parent {
			got = append(got, level{s.domainName(sd), sd.busyFactor, sd.imbalancePct, sd.busyIdx, sd.idleIdx, sd.flags&sdPreferSibling != 0,
				sd.groups.capacity.capacity, sd.minInterval, int64(sd.cacheNiceTries)})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v\nwant %+v", got, c.want)
		}
	}
}
