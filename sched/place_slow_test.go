package sched

import (
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
)

// forks starts n hogs from the current task of CPU 0, each of which runs before the next comes, and returns
// where they went.
func (b *placeBox) forks(n int, cpus ...event.CPU) []event.CPU {
	b.t.Helper()
	var list []event.CPU
	for range n {
		p := b.task(Attr{}, cpus...)
		b.WakeUpNewTask(0, p)
		c := p.CPU()
		list = append(list, c)
		b.h.now += 10_000
		if b.IsIdle(c) {
			b.Schedule(c, false)
		}
	}
	return list
}

// TestForksSpread: new tasks go to the group with the most idle CPUs, at every level: so that caches and
// nodes are filled alike, cores before threads, and no CPU gets a second task while another idles.
func TestForksSpread(t *testing.T) {
	for _, c := range []struct {
		name  string
		topo  Topology
		rules func(*Config)
		part  int // CPUs of a part: a cache, a node, a core
		off   int // by how many the parts may differ from half of it
	}{
		{"caches", UniformTopology(1, 4, 2, 1), nil, 4, 0},
		{"caches, 4.11", UniformTopology(1, 4, 2, 1), rules411, 4, 0},
		{"threads", UniformTopology(2, 4, 1, 1), nil, 2, 0},
		{"threads of two caches", UniformTopology(2, 4, 2, 1), nil, 2, 0},
		{"nodes", UniformTopology(1, 4, 1, 2), nil, 4, 1},
	} {
		b := newPlaceBox(t, c.topo, c.rules)
		n := len(c.topo.Core)
		b.hog(0)
		list := b.forks(n - 1)
		seen := map[event.CPU]bool{0: true}
		for i, cpu := range list {
			if seen[cpu] {
				t.Fatalf("%s: task %d goes to CPU %d, which has one, of %v", c.name, i, cpu, list)
			}
			seen[cpu] = true
			if i != n/2-2 {
				continue
			}
			var has [8]int // half of the machine is filled
			for cpu := range seen {
				has[int(cpu)/c.part]++
			}
			for part := range n / c.part {
				if want := c.part / 2; has[part] < want-c.off || has[part] > want+c.off {
					t.Errorf("%s: of the first %d tasks part %d has %d, on %v", c.name, n/2, part, has[part], list[:i+1])
				}
			}
		}
	}
}

// TestForksOnNodes: few tasks stay on the node of their parent, though the other one has more idle CPUs: an
// eighth of the node, here 4 of 32, may be more there (5.18 and later).
func TestForksOnNodes(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(1, 32, 1, 2), nil)
	b.hog(0)
	list := b.forks(12)
	first := slices.IndexFunc(list, func(c event.CPU) bool { return c >= 32 })
	if first < 2 || first > 5 {
		t.Errorf("the first that leaves the node is number %d: %v", first+1, list)
	}
}

// TestForkStaysAllowed: affinity is obeyed where it leaves a choice and where it leaves none.
func TestForkStaysAllowed(t *testing.T) {
	for _, rules := range []func(*Config){nil, rules411} {
		for _, cpus := range [][]event.CPU{{5}, {1, 5}, {6, 7}, {4, 5, 6, 7}} {
			b := newPlaceBox(t, UniformTopology(1, 4, 2, 1), rules)
			b.hog(0)
			for _, c := range b.forks(8, cpus...) {
				if !slices.Contains(cpus, c) {
					t.Fatalf("CPU %d, allowed are %v", c, cpus)
				}
			}
		}
	}
}

// TestForkOfIdleTask: for new tasks a CPU with nothing but SCHED_IDLE tasks goes before one that idles, as
// the commit that brought it (5.4) says: it need not be woken.
func TestForkOfIdleTask(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(1, 4, 1, 1), nil)
	b.hog(0)
	b.runs(b.task(Attr{Policy: Idle}, 2), 2)
	g := b.sdLLC(0)
	if c := b.findIdlestGroupCPU(&schedGroup{cpus: g.span, weight: 4}, b.task(Attr{}), 0); c != 2 {
		t.Errorf("CPU %d, want 2", c)
	}
}

// TestLatestIdleCPU: of idle CPUs that which went idle last is taken, whose cache may be the warmest.
func TestLatestIdleCPU(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(1, 4, 1, 1), nil)
	b.hog(0)
	for _, c := range []event.CPU{3, 1, 2} {
		b.h.now += 1_000_000
		b.slept(c, Attr{})
	}
	g := &schedGroup{cpus: b.sdLLC(0).span, weight: 4}
	if c := b.findIdlestGroupCPU(g, b.task(Attr{}), 0); c != 2 {
		t.Errorf("CPU %d, want 2", c)
	}
	if c := b.findIdlestGroupCPU(g, b.task(Attr{}, 1, 3), 0); c != 1 {
		t.Errorf("of 1 and 3 CPU %d, want 1", c)
	}
}

// TestExec: a task that executes another program goes to an idle CPU if its own has more to do, by the
// stopper, and it is queued there.
func TestExec(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(1, 4, 2, 1), nil)
	b.hog(1, 2, 3)
	p := b.task(Attr{}, 0)
	b.runs(p, 0)
	b.allow(p)
	b.hog2(0)
	stop := b.NewStopper(0, 99, b.name)
	b.Exec(0)
	if len(b.rqs[0].stopWorks) != 1 || !stop.OnRQ() {
		t.Fatal("the stopper has nothing to do")
	}
	b.Schedule(0, true)
	if b.Curr(0) != stop {
		t.Fatal("the stopper does not run")
	}
	b.RunStopWork(0)
	if p.CPU() < 4 || !p.OnRQ() {
		t.Errorf("it is on CPU %d, want one of the idle cache", p.CPU())
	}
}

// hog2 makes another task wait on c.
func (b *placeBox) hog2(c event.CPU) {
	b.WakeUpNewTask(c, b.task(Attr{}, c))
}

// TestTheSlowPathIsTold: who listens hears for each domain what was compared and chosen, and of a question
// nothing.
func TestTheSlowPathIsTold(t *testing.T) {
	for _, rules := range []func(*Config){nil, rules411} {
		b := newPlaceBox(t, UniformTopology(1, 2, 2, 1), rules)
		b.hog(0, 1)
		var seen []string
		b.OnBalance(func(p *BalancePass) {
			if p.Kind != BalanceWake {
				return
			}
			if seen = append(seen, p.Domain); len(seen) > 1 {
				return
			}
			if p.Busiest < 0 || len(p.Groups) != 2 || len(p.Moved) != 1 || p.Groups[p.Busiest].Local || !slices.Contains(p.Groups[p.Busiest].CPUs, p.CPU) {
				t.Errorf("told %+v", *p)
			}
		})
		p := b.task(Attr{})
		b.AskPlace(0, p, WakeFork)
		if seen != nil {
			t.Errorf("a question is told: %v", seen)
		}
		b.WakeUpNewTask(0, p)
		if len(seen) == 0 || seen[0] != "DIE" {
			t.Errorf("told of %v, want DIE first", seen)
		}
	}
}
