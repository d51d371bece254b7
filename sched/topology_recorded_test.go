package sched

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
)

// fourNodes are four nodes of two CPUs with a cache each, with these distances of 0–1, 0–2, 0–3, 1–2, 1–3, 2–3.
func fourNodes(d ...int) Topology {
	t := UniformTopology(1, 2, 1, 4)
	t.Distance = [][]int{{10, d[0], d[1], d[2]}, {d[0], 10, d[3], d[4]}, {d[1], d[3], 10, d[5]}, {d[2], d[4], d[5], 10}}
	return t
}

// recordedMachines are what testdata/domains was recorded on.
var recordedMachines = map[string]Config{
	"smt":      {Topology: UniformTopology(2, 2, 2, 1)},
	"flat":     {Topology: UniformTopology(1, 4, 1, 1)},
	"onecore":  {Topology: UniformTopology(2, 1, 2, 1)},
	"single":   {Topology: UniformTopology(1, 1, 4, 1)},
	"nodes":    {Topology: UniformTopology(2, 2, 1, 2)},
	"ring":     {Topology: fourNodes(20, 30, 20, 20, 30, 20)},
	"line":     {Topology: fourNodes(20, 30, 40, 20, 30, 20)},
	"asym":     {Topology: fourNodes(20, 20, 30, 20, 20, 20)},
	"isolated": {Topology: UniformTopology(2, 2, 2, 1), Isolated: []event.CPU{2, 3, 7}},
	"root":     {Topology: UniformTopology(2, 2, 2, 1), Partitions: [][]event.CPU{{0, 1, 2, 3}}},
	"both":     {Topology: UniformTopology(2, 2, 2, 1), Partitions: [][]event.CPU{{0, 1, 2, 3}}, Isolated: []event.CPU{6}},
}

var flagWords = []string{"balance_newidle", "balance_exec", "balance_fork", "balance_wake", "wake_affine", "share_cpucapacity",
	"share_llc", "serialize", "prefer_sibling", "numa", "overlap"}

func (f domainFlags) words() string {
	var list []string
	for i, w := range flagWords {
		if f&(1<<i) != 0 {
			list = append(list, w)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func cpuRanges(m cpuMask) string {
	var list []string
	for c := m.first(); c != event.NoCPU; c = m.next(c + 1) {
		last := c
		for m.has(last + 1) {
			last++
		}
		if last > c {
			list = append(list, fmt.Sprintf("%d-%d", c, last))
		} else {
			list = append(list, fmt.Sprint(c))
		}
		c = last
	}
	return strings.Join(list, ",")
}

// recordedDomain is a domain as testdata/domains/lab/compact.py writes it, without the numbers of
// CPU and level.
func recordedDomain(s *Sched, sd *schedDomain, below bool) string {
	text := fmt.Sprintf("%s %d %d %d %d %d %s", s.domainName(sd), sd.minInterval, sd.maxInterval, sd.busyFactor, sd.imbalancePct, sd.cacheNiceTries, sd.flags.words())
	if below {
		text = strings.TrimSpace(text + " below " + sd.groups.flags.words())
	}
	return text
}

func recordedGroups(sd *schedDomain) string {
	text := ""
	for g := sd.groups; ; {
		text += " " + cpuRanges(g.cpus)
		if !g.balanceMask.equal(g.cpus) {
			text += "/" + cpuRanges(g.balanceMask)
		}
		if g = g.next; g == sd.groups {
			return text
		}
	}
}

// TestDomainsOfRealKernels: what is built is what Debian's kernels have built in QEMU, as they show it in
// debugfs, /proc/schedstat and, with sched_verbose, in their log.
func TestDomainsOfRealKernels(t *testing.T) {
	files, err := filepath.Glob("testdata/domains/*.txt")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d recordings: %v", len(files), err)
	}
	for _, file := range files {
		name, release, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), "-")
		t.Run(name+" "+release, func(t *testing.T) {
			machine, known := recordedMachines[name]
			if !known {
				t.Fatal("it is not known what it was recorded on")
			}
			cfg := DefaultConfig(len(machine.Topology.Core))
			cfg.Topology, cfg.Isolated, cfg.Partitions = machine.Topology, machine.Isolated, machine.Partitions
			i := slices.IndexFunc(kernel.Profiles, func(p kernel.Profile) bool { return p.Name == release })
			f := kernel.Profiles[i].Fair()
			cfg.Fair.BusyFactor, cfg.Fair.ImbalancePct, cfg.Fair.PreferSiblingInLLC = f.BusyFactor, f.ImbalancePct, f.PreferSiblingInLLC
			cfg.Fair.GroupFlagsFollow, cfg.Fair.DomainDIE = f.GroupFlagsFollow, f.DomainDIE
			compareDomains(t, New(cfg, nil, event.NewNames()), file)
		})
	}
}

// compareDomains compares all domains of s with those of a file.
func compareDomains(t *testing.T, s *Sched, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	below := strings.Contains(string(text), " below ")
	have := map[string][2]string{} // by CPU and level
	for _, rq := range s.rqs {
		level := 0
		for sd := rq.sd; sd != nil; sd = sd.parent {
			at := strconv.Itoa(int(rq.cpu)) + "." + strconv.Itoa(level)
			have[at] = [2]string{recordedDomain(s, sd, below), recordedGroups(sd)}
			level++
		}
	}
	seen := 0
	for line := range strings.Lines(strings.ReplaceAll(string(text), "share_pkg_resources", "share_llc")) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		for at := range strings.SplitSeq(words[1], ",") {
			got, want := have[at][0], strings.Join(words[2:], " ")
			if words[0] == "groups" {
				got, want = have[at][1], " "+want
				seen++
			} else if below && !strings.Contains(want, " below") {
				want += " below"
			}
			if sorted(got) != sorted(want) {
				t.Errorf("%s %s is %s\nthe kernel has %s", words[0], at, got, want)
			}
		}
	}
	if seen != len(have) {
		t.Errorf("%d domains, the kernel has %d", len(have), seen)
	}
}

// sorted is the words of a domain in an order that does not depend on how a flag is called.
func sorted(text string) string {
	front, back, _ := strings.Cut(text, "below")
	f, b := strings.Fields(front), strings.Fields(back)
	if len(f) > 6 && !strings.HasPrefix(text, " ") {
		slices.Sort(f[6:])
	}
	slices.Sort(b)
	return strings.Join(f, " ") + "|" + strings.Join(b, " ")
}
