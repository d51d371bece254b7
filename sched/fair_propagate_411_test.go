package sched

import (
	"fmt"
	"testing"

	"github.com/whylate/whylate/event"
)

// nested411 is 16 cores with two threads each under 4.11, with groups of the greatest weight inside each other, of which the
// innermost has a hog on each of CPUs 0 to 30, and on CPU 31 two tasks that come and go.
type nested411 struct {
	*Sched
	t      *testing.T
	host   *quietHost
	groups []*Group // from the outermost
	hogs   []*Task
}

const nestedShares = 262144 // cpu.shares at most

// newNested411 lets the hogs run until they have all of their load, 1024·(1 − 1/2^(960/32)).
func newNested411(t *testing.T, depth int, groupLoad, runnableLoad bool) *nested411 {
	t.Helper()
	c := DefaultConfig(32)
	c.Quiet, c.Topology = true, UniformTopology(2, 16, 1, 1)
	c.Fair.EEVDF, c.Fair.PELT411, c.Fair.WeightsToZero, c.Fair.LoadBalance411, c.Fair.SMTGain = false, true, true, true, 1178
	c.Fair.PropagateGroupLoad, c.Fair.PropagateRunnableLoad = groupLoad, runnableLoad
	n := &nested411{t: t, host: &quietHost{now: 1_000_000_000}}
	n.Sched = New(c, n.host, event.NewNames())
	var g *Group
	for range depth {
		g = n.NewGroup(g)
		if err := n.SetShares(g, nestedShares); err != nil {
			t.Fatal(err)
		}
		n.groups = append(n.groups, g)
	}
	for c := range event.CPU(31) {
		p := n.task(c)
		n.WakeUpNewTask(c, p)
		n.Schedule(c, true)
		n.hogs = append(n.hogs, p)
	}
	n.pass(1000)
	return n
}

func (n *nested411) task(c event.CPU) *Task {
	p, err := n.NewTask(event.PID(100+int(c)), 0, Attr{}, []event.CPU{c})
	if err != nil {
		n.t.Fatal(err)
	}
	var g *Group
	if len(n.groups) > 0 {
		g = n.groups[len(n.groups)-1]
	}
	if _, err := n.Attach(c, p, g); err != nil {
		n.t.Fatal(err)
	}
	return p
}

// pass lets ms go by, with a tick of 4 ms on the hogs' CPUs.
func (n *nested411) pass(ms int) {
	for range ms / 4 {
		n.host.now += 4_000_000
		for c := range event.CPU(31) {
			n.SchedulerTick(c)
		}
	}
}

// sleeper is a task that sleeps on c and has half of the load of its weight.
func (n *nested411) sleeper(c event.CPU) *Task {
	p := n.task(c)
	n.WakeUpNewTask(c, p)
	if n.rqs[c].curr == n.rqs[c].idle {
		n.Schedule(c, true)
	}
	n.put(p, c)
	n.pass(1000) // what its coming has done is forgotten
	halve(p)
	return p
}

// halve gives p half of the load of its weight, as of now.
func halve(p *Task) {
	p.se.avg.loadAvg, p.se.avg.loadSum = 512, 512*loadAvgMax
	p.se.avg.lastUpdateTime = p.se.cfsRQ.avg.lastUpdateTime
}

// wakeOn lets p wake up on c, wherever it was.
func (n *nested411) wakeOn(p *Task, c event.CPU) {
	if _, _, err := n.SetAffinity(c, p, []event.CPU{c}); err != nil {
		n.t.Fatal(err)
	}
	n.TryToWakeUp(c, p)
	if p.cpu != c || !p.OnRQ() {
		n.t.Fatalf("it woke up on CPU %d", p.cpu)
	}
}

// put lets p sleep on c, where another task goes on.
func (n *nested411) put(p *Task, c event.CPU) {
	rq := n.rqs[c]
	for i := 0; rq.curr != p; i++ {
		if i > 100 {
			n.t.Fatal("it does not get the CPU")
		}
		n.host.now += 4_000_000
		n.SchedulerTick(c)
		n.Schedule(c, true)
	}
	n.Block(c, event.StateSleeping)
	n.Schedule(c, false)
}

func (n *nested411) root(c event.CPU) int64 { return int64(n.rqs[c].cfs.runnableLoad.avg) }

// scaled is what a load in the innermost group on c weighs at the root, if the innermost queue has
// tasks that weigh weight: at each level the group has on c of its shares what is queued there of what
// that and the load of all other queues are.
func (n *nested411) scaled(load, weight float64, c event.CPU) float64 {
	for i := len(n.groups) - 1; i >= 0; i-- {
		g := n.groups[i]
		others := float64(g.loadAvg - g.cpus[c].cfs.tgLoadAvgContrib)
		w := nestedShares * weight / (others + weight)
		load, weight = load*w/weight, w
	}
	return load
}

func near(got int64, want, tolerance float64) bool {
	return float64(got) >= want*(1-tolerance)-2 && float64(got) <= want*(1+tolerance)+2
}

// TestWakeInAGroupReachesTheRoot: a task with half of its load wakes up where a hog runs. At the root that
// is 1023 + 512 at once. In a group the root of 4.11 hears nothing if the task was there before; it does
// with propagate_runnable_load. On paper, one level: with a hog on each of 30 other CPUs, 1023 of load
// each, the group weighs 262144·1024/(30690 + 1024) ≈ 8464 with the hog alone and
// 262144·2048/(30690 + 2048) ≈ 16399 with both, so the root should have 8456 and then
// (1023 + 512)·16399/2048 ≈ 12291: half as much again.
func TestWakeInAGroupReachesTheRoot(t *testing.T) {
	for depth := range 5 {
		for _, on := range []struct{ group, runnable bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
			name := fmt.Sprintf("depth %d, propagate_group_load %v, propagate_runnable_load %v", depth, on.group, on.runnable)
			n := newNested411(t, depth, on.group, on.runnable)
			p := n.sleeper(0)
			before := n.root(0)
			n.wakeOn(p, 0)
			after := n.root(0)

			alone, both := n.scaled(1023, 1024, 0), n.scaled(1023+512, 2048, 0)
			slack := .03
			if on.runnable && !on.group && depth > 0 {
				alone, both = 1023, 1023+512 // not scaled while the group has less than its shares
				// The entity ages by its weight, 8464, before it gets that load again, and its periods are
				// not those of the queue: a period of that for each level.
				slack = float64(depth) * 8464 * 1024 / loadAvgMax / 1023
			}
			if !near(before, alone, slack) {
				t.Errorf("%s: the hog weighs %d, on paper %.0f", name, before, alone)
			}
			if want := both; depth > 0 && !on.runnable {
				if after != before {
					t.Errorf("%s: %d became %d at once", name, before, after)
				}
			} else if !near(after, want, slack) {
				t.Errorf("%s: %d became %d, on paper %.0f", name, before, after, want)
			}
		}
	}
}

// TestSleepInAGroupReachesTheRoot is the way back: the task sleeps, the hog stays. And when the hog sleeps
// too, nothing is left at the root by any rule, but for two periods of what was there, which the entity
// and the queue do not end together.
func TestSleepInAGroupReachesTheRoot(t *testing.T) {
	for depth := range 5 {
		for _, on := range []bool{false, true} {
			name := fmt.Sprintf("depth %d, changes %v", depth, on)
			n := newNested411(t, depth, on, on)
			p := n.task(0)
			n.WakeUpNewTask(0, p)
			n.pass(1000)
			hog := n.hogs[0]
			for n.rqs[0].curr != p {
				n.host.now += 4_000_000
				n.SchedulerTick(0)
				n.Schedule(0, true)
			}
			before := n.root(0)
			n.put(p, 0)
			after := n.root(0)
			if want := n.scaled(2*1023, 2048, 0); !near(before, want, .03) {
				t.Errorf("%s: both weigh %d, on paper %.0f", name, before, want)
			}
			want := n.scaled(1023, 1024, 0)
			if depth > 0 && !on {
				want = float64(before)
			}
			if !near(after, want, .03) {
				t.Errorf("%s: %d became %d, on paper %.0f", name, before, after, want)
			}
			n.put(hog, 0)
			if left := n.root(0); left > 2*before*1024/loadAvgMax+2 {
				t.Errorf("%s: %d are left of nothing", name, left)
			}
		}
	}
}

// TestTaskThatComesToAGroup: a task with half of its load comes from another CPU to one with a hog and a
// sleeper of the same group, whose load is half, too. In 4.11 the group's entity then has the load of the
// queue, 1023 + 512 + 512, whatever it weighs: the CPU with two tasks looks as if it had less than those with one.
// With propagate_group_load it has that of its weight, of which a quarter is of the sleeper's; with both
// changes what the two that are runnable weigh.
func TestTaskThatComesToAGroup(t *testing.T) {
	come := func(group, runnable bool) (n *nested411, before, after int64) {
		n = newNested411(t, 1, group, runnable)
		p := n.sleeper(31)
		q := &n.groups[0].cpus[0].cfs
		q.avg.loadAvg += 512 // of somebody who sleeps
		q.avg.loadSum += 512 * loadAvgMax
		before = n.root(0)
		n.wakeOn(p, 0)
		return n, before, n.root(0)
	}
	// The root and the entity do not end their periods together: one of the 8464 that it weighed, 181.
	const period = 8464. * 1024 / loadAvgMax
	n, before, after := come(false, false)
	if alone := n.scaled(1023, 1024, 0); !near(before, alone, .03) || !near(after, 2047, period/2047) {
		t.Errorf("4.11: %d became %d, on paper %.0f and 2047", before, after, alone)
	}
	n, before, after = come(true, false)
	if want := n.scaled(1023+512+512, 2048, 0); !near(after, want, .03) {
		t.Errorf("propagate_group_load: %d became %d, on paper %.0f", before, after, want)
	}
	_, before, after = come(false, true)
	if !near(before, 1023, .03) || !near(after, 1023+512, .03) {
		t.Errorf("propagate_runnable_load: %d became %d, on paper 1023 and 1535", before, after)
	}
	n, before, after = come(true, true)
	if want := n.scaled(1023+512, 2048, 0); !near(after, want, .03) {
		t.Errorf("both: %d became %d, on paper %.0f", before, after, want)
	}
}
