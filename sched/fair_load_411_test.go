package sched

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
)

// scaledLoad is what cfs should have of the tasks that are queued in it and below: the loads of
// those that are runnable, each scaled by what the groups in between weigh and have in them, as of
// when cfs was updated.
func (b *loadBox) scaledLoad(cfs *cfsRQ) (load, weight float64) {
	rq := cfs.rq
	for _, p := range b.tasks {
		if !p.OnRQ() || p.cpu != rq.cpu || !below(p, cfs) {
			continue
		}
		sa := p.se.avg
		sa.updateLoad411(cfs.avg.lastUpdateTime, uint64(p.se.load.weight>>weightShift), rq.curr == p, nil)
		l, w := float64(sa.loadSum)/loadAvgMax, float64(p.se.load.weight>>weightShift)
		for g := p.group; g != cfs.tg; g = g.parent {
			q := &g.cpus[rq.cpu]
			by := float64(q.se.load.weight) / float64(q.cfs.load.weight)
			l, w = l*by, w*by
		}
		load, weight = load+l, weight+w
	}
	return load, weight
}

// below reports whether p is queued in cfs or below it.
func below(p *Task, cfs *cfsRQ) bool {
	g := p.group
	for g != nil && g != cfs.tg {
		g = g.parent
	}
	return g == cfs.tg
}

// TestRunnableLoadIsPropagated: with both changes of 2017 the runnable load of every queue, that of the root that
// the balancer of 4.11 goes by, and those of groups at any depth, is the sum of the scaled loads of all tasks
// queued below. What is allowed is a
// period's part of a weight for each level, which is how old its averages can be, and twice whenever
// a task comes or goes, since up to 4.11 the periods of a task and of its queue do not begin
// together, neither for sums nor for averages; that decays. All tasks are of nice 0, or what is left
// of a heavy one would outweigh a light one. Without, somewhere in these histories the load is off
// by half of all.
func TestRunnableLoadIsPropagated(t *testing.T) {
	worst := map[bool]float64{}
	history := func(on bool) func(t *rapid.T) {
		return func(t *rapid.T) {
			b := newLoadBox(t, 1, 5, 0, func(c *Config) {
				c.Fair.PELT411, c.Fair.WeightsToZero = true, true
				c.Fair.PropagateGroupLoad, c.Fair.PropagateRunnableLoad = on, on
			})
			rq := b.rqs[0]
			depth := 1.0
			for _, p := range b.tasks {
				if p.group != nil {
					depth = max(depth, 1+float64(p.group.depth))
				}
			}
			const part = 1024. / loadAvgMax
			slack := 5 * 1024 * depth * part // of the new tasks
			for range rapid.IntRange(1, 80).Draw(t, "steps") {
				then, were := b.host.now, make([]bool, len(b.tasks))
				for i, p := range b.tasks {
					were[i] = p.OnRQ()
				}
				b.step()
				b.host.now += 1_100_000 // a period ends
				b.SchedulerTick(0)
				b.settle()
				b.updateBlockedAverages(rq) // those of groups that do not run, too
				for i, p := range b.tasks {
					if p.OnRQ() != were[i] {
						slack += 2 * depth * part * float64(max(p.se.load.weight>>weightShift, 1024))
					}
				}
				slack *= math.Pow(0.5, float64(b.host.now-then)/(32*1024*1024))
				for _, g := range b.groups { // nil is the root
					cfs := &rq.cfs
					if g != nil {
						cfs = &g.cpus[0].cfs
					}
					want, weight := b.scaledLoad(cfs)
					off := math.Abs(float64(cfs.runnableLoad.avg) - want)
					if weight > 0 && g == nil {
						worst[on] = max(worst[on], off/weight)
					}
					if bar := weight*depth*part + slack + 5; on && off > bar {
						t.Fatalf("runnable_load_avg %d, the tasks have %.0f of %.0f; %.0f are allowed", cfs.runnableLoad.avg, want, weight, bar)
					}
				}
			}
		}
	}
	rapid.Check(t, history(true))
	// The same ones each time: among random ones the worst may be missing.
	without := rapid.Custom(func(t *rapid.T) bool { history(false)(t); return true })
	for seed := range 200 {
		without.Example(seed)
	}
	if worst[false] < 0.5 {
		t.Errorf("without propagation the load is off by %.2f at most", worst[false])
	}
	t.Logf("off by %.3f of the weight at most with propagation, %.2f without", worst[true], worst[false])
}

// TestGroupLoadIsScaledToItsWeight: up to 4.11 the load that a group's entity gets when a task
// comes is that of its queue as long as the whole group has less than its shares, whatever the
// entity weighs; with propagate_group_load it is that of its weight.
func TestGroupLoadIsScaledToItsWeight(t *testing.T) {
	load := func(fixed bool) uint64 {
		c := DefaultConfig(2)
		c.Quiet, c.Fair.PELT411, c.Fair.PropagateGroupLoad = true, true, fixed
		s := New(c, &quietHost{now: 1_000_000}, event.NewNames())
		g := s.NewGroup(nil)
		if err := s.SetShares(g, 4096); err != nil {
			t.Fatal(err)
		}
		p, err := s.NewTask(1, 0, Attr{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Attach(0, p, g); err != nil {
			t.Fatal(err)
		}
		s.WakeUpNewTask(0, p)
		s.Schedule(0, true)
		s.Block(0, event.StateSleeping)
		s.Schedule(0, false)
		s.setTaskCPU(0, p, 1) // it comes with its load to a CPU where nothing is
		s.TryToWakeUp(0, p)
		return g.cpus[1].se.avg.loadAvg
	}
	// The task brings the load of its weight, 1024; the group weighs four times that, half of it on
	// either CPU as long as the other one has not noticed that the load is gone.
	if got := load(false); got != 1024 {
		t.Errorf("4.11 gives the entity a load of %d", got)
	}
	if got := load(true); got != 2048 {
		t.Errorf("with propagate_group_load it is %d", got)
	}
}
