package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
)

// TestEffectiveLoad: what the root gets of it if a group has more load on a CPU, by hand: its entity weighs
// shares × load there ÷ load on all CPUs, all shares if there is no other load, 2 at least.
func TestEffectiveLoad(t *testing.T) {
	b := newPlaceBox(t, UniformTopology(1, 2, 1, 1), rules411)
	outer := b.NewGroup(nil)
	inner := b.NewGroup(outer)
	set := func(g *Group, loads, entities [2]int64) {
		g.loadAvg = 0
		for c := range g.cpus {
			q := &g.cpus[c]
			q.cfs.avg.loadAvg, q.cfs.tgLoadAvgContrib, q.se.avg.loadAvg = uint64(loads[c]), loads[c], uint64(entities[c])
			g.loadAvg += loads[c]
		}
	}
	set(outer, [2]int64{512, 512}, [2]int64{512, 512})
	set(inner, [2]int64{300, 0}, [2]int64{1024, 0})
	for _, c := range []struct {
		why    string
		g      *Group
		cpu    event.CPU
		wl, wg int64
		want   int64
	}{
		{"the root gets all", nil, 0, 256, 256, 256},
		{"256 come here: 1024·768/1280 − 512", outer, 0, 256, 256, 102},
		{"256 come elsewhere: 1024·512/1280 − 512", outer, 1, 0, 256, -103},
		{"256 go from here: 1024·256/768 − 512", outer, 0, -256, -256, -171},
		{"all goes: 2 − 512", outer, 0, -512, -512, -510},
		// inner: all of it is on CPU 0, so that its entity has all shares already, and outer notices nothing.
		{"a group that is alone there", inner, 0, 100, 100, 0},
		// inner: 1024·100/400 − 0 = 256 more in outer on CPU 1, of which the others know nothing: 1024·768/1024 − 512.
		{"its first load on a CPU", inner, 1, 100, 100, 256},
	} {
		if got := effectiveLoad(c.g, c.cpu, c.wl, c.wg); got != c.want {
			t.Errorf("%s: %d, want %d", c.why, got, c.want)
		}
	}
}

// TestAffineByLoad are both rules by hand, on two caches of two CPUs: CPU 0 wakes, CPU 2 is where the task
// was.
func TestAffineByLoad(t *testing.T) {
	noBias := func(c *Config) { c.Fair.Features = c.Fair.Features.With(WABias, false) }
	for _, c := range []struct {
		why        string
		rules      func(*Config)
		this, prev int64 // load of the CPUs
		task, curr int64 // of the tasks
		f          WakeFlags
		want       event.CPU
	}{
		// 6.1: (this + 999)·100 < (prev − 999)·108; the task's share of a load of 3000 is 1000·3000/3001.
		{"199900 and 216108", nil, 1000, 3000, 1000, 0, 0, 0},
		{"219900 and 216108", nil, 1200, 3000, 1000, 0, 0, 2},
		{"2001 and 2001 without a bias", noBias, 1002, 3000, 1000, 0, 0, 2},
		{"2000 and 2001 without a bias", noBias, 1001, 3000, 1000, 0, 0, 0},
		{"the waker of 500 leaves: 170200 and 216108", nil, 1200, 3000, 1000, 500, WakeSync, 0},
		{"equals, which a synchronous wake may take: 2001 and 2001 + 1", noBias, 1501, 3000, 1000, 500, WakeSync, 0},
		// 4.11, all runnable in the root: (this + 1000)·100 ≤ prev·112.
		{"200000 and 196000", rules411, 1000, 1750, 1000, 0, 0, 2},
		{"200000 and 200032", rules411, 1000, 1786, 1000, 0, 0, 0},
		{"nothing runs here", rules411, 0, 0, 1000, 0, 0, 0},
		{"the waker leaves, and then nothing runs here", rules411, 500, 100, 1000, 500, WakeSync, 0},
	} {
		b := newPlaceBox(t, UniformTopology(1, 2, 2, 1), c.rules)
		p := b.slept(2, Attr{})
		b.hog(0, 2)
		sd := b.rqs[0].sd.parent
		for cpu, load := range map[event.CPU]int64{0: c.this, 2: c.prev} {
			q := &b.rqs[cpu].cfs
			q.avg.loadAvg, q.runnableLoad.avg, q.hLoadAt = uint64(load), uint64(load), 0
		}
		p.se.avg.loadAvg, b.Curr(0).se.avg.loadAvg = uint64(c.task), uint64(c.curr)
		if pct := affinePct(sd); c.rules != nil && b.cfg.Fair.WakeAffine411 && pct != 112 || !b.cfg.Fair.WakeAffine411 && pct != 108 {
			t.Fatalf("%d %%", pct)
		}
		got := event.CPU(0)
		if b.cfg.Fair.WakeAffine411 {
			got = b.wakeAffine411(sd, p, 0, 2, c.f&WakeSync != 0)
		} else if b.wakeAffineWeight(sd, p, 0, 2, c.f&WakeSync != 0) != 0 {
			got = 2
		}
		if got != c.want {
			t.Errorf("%s: CPU %d, want %d", c.why, got, c.want)
		}
	}
}

// TestAffineForgetsGroups411: in 4.11 a task of a group whose others run elsewhere brings little load along, so
// that a waker draws it to its busy CPU where it would not draw one of the root.
func TestAffineForgetsGroups411(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		b := newPlaceBox(t, UniformTopology(1, 2, 2, 1), rules411)
		p := b.slept(2, Attr{})
		b.hog(0, 2)
		if grouped {
			g := b.NewGroup(nil)
			b.SetGroup(p, g)
			g.loadAvg = 63 * 1024 // of all other CPUs
		}
		for _, c := range []event.CPU{0, 2} {
			b.rqs[c].cfs.runnableLoad.avg = 1024
		}
		p.se.avg.loadAvg = 1024
		want := event.CPU(2)
		if grouped {
			want = 0 // 100·(1024 + 1024/64) and 112·1024
		}
		if got := b.wakeAffine411(b.rqs[0].sd.parent, p, 0, 2, false); got != want {
			t.Errorf("in a group %v: CPU %d, want %d", grouped, got, want)
		}
	}
}
