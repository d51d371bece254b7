package sched

import (
	"testing"

	"github.com/whylate/whylate/event"
	"pgregory.net/rapid"
)

// Draws of machines and of what runs on them.

func drawTopology(t *rapid.T) Topology {
	return UniformTopology(rapid.IntRange(1, 2).Draw(t, "threads"), rapid.IntRange(1, 5).Draw(t, "cores"),
		rapid.IntRange(1, 3).Draw(t, "caches"), rapid.IntRange(1, 2).Draw(t, "nodes"))
}

// busy makes some CPUs busy, some with SCHED_IDLE tasks, and lets two tasks sleep that may use some CPUs.
func (b *placeBox) busy(t *rapid.T) (sleeper, other *Task) {
	n := b.cfg.CPUs
	cpu := rapid.IntRange(0, n-1)
	asleep := func(why string) *Task {
		p := b.slept(event.CPU(cpu.Draw(t, why)), Attr{})
		var cpus []event.CPU
		for c := range event.CPU(n) {
			if rapid.IntRange(0, 2).Draw(t, "may") > 0 {
				cpus = append(cpus, c)
			}
		}
		b.allow(p, cpus...) // none: all
		p.recentUsedCPU = event.CPU(cpu.Draw(t, "recent"))
		return p
	}
	sleeper, other = asleep("prev"), asleep("prev of the other")
	load := rapid.IntRange(0, 100).Draw(t, "busy of 100")
	for c := range event.CPU(n) {
		switch x := rapid.IntRange(0, 99).Draw(t, "cpu"); {
		case x >= load:
		case x%4 == 0:
			b.runs(b.task(Attr{Policy: Idle}, c), c)
		default:
			b.hog(c)
		}
	}
	for c := range event.CPU(n) {
		if s := b.llcShared(c); s != nil {
			s.hasIdleCores = rapid.Bool().Draw(t, "idle cores")
			s.nrIdleScan = rapid.IntRange(0, b.llcSize(c)).Draw(t, "worth a look")
		}
	}
	return sleeper, other
}

// plainSibling is select_idle_sibling() of 5.13 to 6.18 as its comments tell it, CPU by CPU, without anything
// to make it fast: the reference for the one that scans words.
func (b *placeBox) plainSibling(p *Task, prev, target event.CPU) event.CPU {
	topo := b.cfg.Topology
	sameLLC := func(a, c event.CPU) bool { return a == c || b.llcSize(a) > 1 && topo.LLC[a] == topo.LLC[c] }
	free := func(c event.CPU) bool { return b.IsIdle(c) || b.NrRunning(c) > 0 && b.Curr(c).Attr.Policy == Idle }
	recent := p.recentUsedCPU
	switch {
	case free(target):
		return target
	case sameLLC(prev, target) && free(prev):
		return prev
	case recent != prev && recent != target && sameLLC(recent, target) && free(recent) && p.mask.has(recent):
		return recent
	}
	if b.llcSize(target) == 1 {
		return target
	}
	n := event.CPU(b.cfg.CPUs)
	var order []event.CPU // allowed, from the one after target
	for i := range n {
		if c := (target + 1 + i) % n; sameLLC(target, c) && p.mask.has(c) {
			order = append(order, c)
		}
	}
	smt := topo.Core[0] == topo.Core[n-1] || topo.Core[0] == topo.Core[1]
	shared := b.llcShared(target)
	if smt && !shared.hasIdleCores && sameLLC(prev, target) {
		for c := range n {
			if c != prev && topo.Core[c] == topo.Core[prev] && p.mask.has(c) && free(c) {
				return c
			}
		}
	}
	if shared.nrIdleScan == 0 {
		return target
	}
	if !smt || !shared.hasIdleCores {
		for i, c := range order {
			if i < shared.nrIdleScan && free(c) {
				return c
			}
		}
		return target
	}
	// Cores in the order in which their first CPU comes; the first thread that would do of the first core
	// that has one, if no core is all idle.
	some, done := event.NoCPU, map[int]bool{}
	for _, c := range order {
		core := topo.Core[c]
		if done[core] {
			continue
		}
		done[core] = true
		idle := true
		for th := range n {
			if topo.Core[th] != core {
				continue
			}
			idle = idle && b.IsIdle(th)
			if some == event.NoCPU && free(th) && p.mask.has(th) {
				some = th
			}
		}
		if idle {
			return c
		}
	}
	if some != event.NoCPU {
		return some
	}
	return target
}

func TestIdleSiblingAsDescribed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newPlaceBox(testingOf(t), drawTopology(t), nil)
		p, _ := b.busy(t)
		cpu := rapid.IntRange(0, b.cfg.CPUs-1)
		prev, target := event.CPU(cpu.Draw(t, "prev")), event.CPU(cpu.Draw(t, "target"))
		want := b.plainSibling(p, prev, target)
		b.asking = true
		got := b.selectIdleSibling(event.CPU(cpu.Draw(t, "from")), p, prev, target, wakeTTWU)
		if got != want {
			t.Fatalf("CPU %d, as described %d; prev %d, target %d, recent %d, may %b, idle %b, cores %v, %d worth a look", got, want, prev, target, p.recentUsedCPU, p.mask, b.idle, b.llcShared(target), b.llcSize(target))
		}
	})
}

// testingOf is enough of a testing.TB for a box.
func testingOf(t *rapid.T) testing.TB { return rapidTB{TB: nil, t: t} }

type rapidTB struct {
	testing.TB
	t *rapid.T
}

func (r rapidTB) Helper()                   {}
func (r rapidTB) Fatal(args ...any)         { r.t.Fatal(args...) }
func (r rapidTB) Fatalf(f string, a ...any) { r.t.Fatalf(f, a...) }
func (r rapidTB) Errorf(f string, a ...any) { r.t.Errorf(f, a...) }

// TestPlacesAreAllowed: by the rules of either kernel a task is woken where it may run, as a question before said,
// which notes nothing; and on an idle CPU of the cache that is looked at, if there is one and all of that
// is worth a look.
func TestPlacesAreAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := []func(*Config){nil, rules411}[rapid.IntRange(0, 1).Draw(t, "rules")]
		b := newPlaceBox(testingOf(t), drawTopology(t), rules)
		p, q := b.busy(t)
		full := rapid.Bool().Draw(t, "all worth a look")
		for c := range event.CPU(b.cfg.CPUs) {
			if s := b.llcShared(c); s != nil && full {
				s.hasIdleCores, s.nrIdleScan = true, b.llcSize(c)
			}
		}
		for range 3 {
			from := event.CPU(rapid.IntRange(0, b.cfg.CPUs-1).Draw(t, "from"))
			f := WakeFlags(rapid.IntRange(0, 3).Draw(t, "flags"))
			habits, waker := p.wakeHabits, b.Curr(from).wakeHabits
			asked, _ := b.AskPlace(from, p, f)
			if p.wakeHabits != habits || b.Curr(from).wakeHabits != waker {
				t.Fatalf("a question is noted: %+v", p.wakeHabits)
			}
			// From where it may not be any more a task goes to the first CPU that it may use, idle or not.
			idle := p.mask.has(p.wakeCPU) && b.someIdle(p, asked)
			woken, _ := b.WakeUp(from, p, f)
			if !woken {
				t.Fatal("it did not sleep")
			}
			switch c := p.CPU(); {
			case c != asked:
				t.Fatalf("woken on CPU %d, asked before on CPU %d", c, asked)
			case !p.mask.has(c):
				t.Fatalf("CPU %d is not allowed: %b", c, p.mask)
			case full && idle && b.NrRunning(c) > 1 && b.Curr(c).Attr.Policy != Idle:
				t.Fatalf("it waits on CPU %d, and a CPU of that cache idled: %b", c, b.idle)
			}
			p, q = q, p
			if p.OnRQ() {
				return
			}
		}
	})
}

// someIdle reports whether a CPU that p may use and that shares the cache of c idles.
func (b *placeBox) someIdle(p *Task, c event.CPU) bool {
	for o := range event.CPU(b.cfg.CPUs) {
		if b.IsIdle(o) && b.NrRunning(o) == 0 && p.mask.has(o) && b.cpusShareCache(o, c) {
			return true
		}
	}
	return false
}

// wideBox has 256 CPUs, of which all but every 32nd run something, and a task that sleeps.
func wideBox(tb testing.TB, rules func(*Config)) (*placeBox, *Task) {
	b := newPlaceBox(tb, UniformTopology(2, 32, 2, 2), rules)
	p := b.slept(3, Attr{})
	for c := range event.CPU(256) {
		if c%32 != 31 {
			b.hog(c)
		}
	}
	return b, p
}

// TestPlacingAllocatesNothing: neither a wake nor a fork on 256 CPUs does.
func TestPlacingAllocatesNothing(t *testing.T) {
	for _, rules := range []func(*Config){nil, rules411} {
		b, p := wideBox(t, rules)
		from := event.CPU(0)
		if n := testing.AllocsPerRun(200, func() {
			from = (from + 37) % 256
			b.NoteWake(from, p, 0)
			b.NoteWake(from, p, WakeSync)
			b.NoteWake(from, p, WakeFork)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func BenchmarkWakePlacement(b *testing.B) {
	box, p := wideBox(b, nil)
	from := event.CPU(0)
	for b.Loop() {
		from = (from + 37) % 256
		box.NoteWake(from, p, 0)
	}
}

func BenchmarkForkPlacement(b *testing.B) {
	box, p := wideBox(b, nil)
	from := event.CPU(0)
	for b.Loop() {
		from = (from + 37) % 256
		box.NoteWake(from, p, WakeFork)
	}
}
