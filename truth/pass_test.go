package truth_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/truth"
)

func fairAt(c event.CPU) truth.Queued {
	return truth.Queued{CPU: c, Prio: 120, Normal: 120, Rule: truth.Fair}
}

// look is a pass of CPU c over the CPUs 0–7 in pairs, which chooses source in the group busiest.
func look(at event.Time, c event.CPU, busiest int, source event.CPU, moved ...event.PID) *truth.Pass {
	p := &truth.Pass{At: at, By: c, CPU: c, Kind: truth.NewIdle, Domain: "MC", Span: []event.CPU{0, 1, 2, 3, 4, 5, 6, 7}, Busiest: busiest, Source: source,
		Imbalance: 512, Metric: "load", Moved: moved}
	for g := range event.CPU(4) {
		p.Groups = append(p.Groups, truth.PassGroup{CPUs: []event.CPU{2 * g, 2*g + 1}, Local: g == c/2, Type: "has_spare", Load: 1024 * int64(g), Capacity: 2048, Util: -1, Running: int(g), Idle: 1})
	}
	if source != event.NoCPU {
		p.Queues = []truth.PassQueue{{CPU: source, Load: 2048, Capacity: 1024, Running: 2, Runnable: 3072}}
	} else {
		p.Why = "balanced"
	}
	return p
}

// TestWhyAPassDidNotEndAWait: a task waits on CPU 5, which is in the group {4, 5}.
func TestWhyAPassDidNotEndAWait(t *testing.T) {
	var l truth.Log
	l.Wait(100, 9, true, fairAt(5))
	for _, p := range []*truth.Pass{
		look(110, 0, -1, event.NoCPU),
		look(120, 1, 1, 3),
		look(130, 2, 2, 4),
		look(140, 3, 2, 5),
		look(150, 6, 2, 5, 77),
		look(160, 4, 3, 6),
		look(170, 7, 2, 5, 9),
	} {
		l.Pass(p)
	}
	l.Wait(170, 9, true, fairAt(7))
	l.Run(200, 9)
	l.Pass(look(210, 0, 2, 5)) // nobody waits any more
	var got []truth.Miss
	for w := range l.Waits() {
		for p := range l.PassesFor(w) {
			got = append(got, p.Miss)
			if p.From != 5 {
				t.Errorf("at %d it waited on %d", p.At, p.From)
			}
		}
	}
	want := []truth.Miss{truth.Balanced, truth.OtherGroup, truth.OtherQueue, truth.NotMoved, truth.OtherTask, truth.LocalGroup, truth.Taken}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestPassesThatCouldNotTakeATask are none of its wait.
func TestPassesThatCouldNotTakeATask(t *testing.T) {
	var l truth.Log
	l.Allow(0, 9, truth.CPUSet{1<<5 | 1<<6})
	l.Wait(100, 9, true, truth.Queued{CPU: 5, Flying: true, Rule: truth.Fair})
	l.Pass(look(105, 6, 2, 5)) // its wake is on its way
	l.Wait(110, 9, true, fairAt(5))
	l.Pass(look(120, 3, 2, 5)) // it may not run on CPU 3
	l.Pass(look(130, 5, 1, 3)) // it is there already
	outside := look(140, 6, -1, event.NoCPU)
	outside.Span = []event.CPU{6, 7}
	l.Pass(outside)
	l.Pass(look(150, 6, 2, 5))
	l.Allow(160, 9, truth.CPUSet{1 << 5})
	l.Pass(look(170, 6, 2, 5)) // not any more
	l.Run(200, 9)
	l.Wait(300, 8, true, truth.Queued{CPU: 5, Prio: 10, Normal: 10, Rule: truth.RealTime})
	l.Pass(look(310, 6, 2, 5)) // the balancer moves fair tasks only
	l.End(400)
	var got []event.Time
	for w := range l.Waits() {
		for p := range l.PassesFor(w) {
			got = append(got, p.At)
		}
	}
	if !slices.Equal(got, []event.Time{150}) {
		t.Errorf("passes at %v, want one at 150", got)
	}
	if l.Allowed(9, 6, 165) || !l.Allowed(9, 6, 155) || !l.Allowed(1, 6, 0) {
		t.Error("affinity is not that of the moment")
	}
}

// TestPassesSurviveTheirPacking, and are no part of what was told.
func TestPassesSurviveTheirPacking(t *testing.T) {
	var l truth.Log
	l.Wait(0, 9, true, fairAt(5))
	a, b := look(1<<40, 3, 2, 5, 1, 1<<22), look(1<<40+1, 0, -1, event.NoCPU)
	a.Kind, a.Imbalance, a.Groups[1].Load = truth.ActivePush, -7, 1<<50
	l.Pass(a)
	want := []truth.Pass{*look(1<<40, 3, 2, 5, 1, 1<<22), *look(1<<40+1, 0, -1, event.NoCPU)}
	want[0].Kind, want[0].Imbalance, want[0].Groups[1].Load = truth.ActivePush, -7, 1<<50
	a.Span[0], a.Groups[0].CPUs[0], a.Moved[0] = 63, 63, 63
	l.Pass(b)
	var got []truth.Pass
	for w := range l.Waits() {
		for p := range l.PassesFor(w) {
			got = append(got, p.Pass)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestShortWaitsCostNoMemory: of random waits and passes those of long waits are all there, whether
// the short ones are given up or not, and what is kept stays small.
func TestShortWaitsCostNoMemory(t *testing.T) {
	var all, some truth.Log
	const over = 1000
	some.KeepPasses(over, 0)
	r := rand.New(rand.NewPCG(1, 2))
	both := func(f func(l *truth.Log)) { f(&all); f(&some) }
	waiting := map[event.PID]bool{}
	for at := event.Time(0); at < 400_000; at += 10 {
		pid, c := event.PID(1+r.IntN(6)), event.CPU(r.IntN(8))
		if long := pid == 1 && at > 200_000 && r.IntN(20) > 0; !long {
			if waiting[pid] = !waiting[pid]; waiting[pid] {
				both(func(l *truth.Log) { l.Wait(at, pid, true, fairAt(c)) })
			} else {
				both(func(l *truth.Log) { l.Run(at, pid) })
			}
		}
		p := look(at, event.CPU(r.IntN(8)), r.IntN(4), event.CPU(r.IntN(8)))
		both(func(l *truth.Log) { l.Pass(p) })
	}
	n, asked := 0, 0
	list := func(l *truth.Log, w *truth.Wait) (at []event.Time) {
		for p := range l.PassesFor(w) {
			at = append(at, p.At)
		}
		return at
	}
	for w := range all.Waits() {
		if w.To-w.From < over {
			continue
		}
		asked++
		a, b := list(&all, w), list(&some, w)
		n += len(a)
		if !slices.Equal(a, b) {
			t.Fatalf("wait of %d at %d: %d passes, %d without the short waits", w.PID, w.From, len(a), len(b))
		}
	}
	if asked < 30 || n < 1000 {
		t.Errorf("only %d waits with %d passes", asked, n)
	}
	if a, b := all.PassBytes(), some.PassBytes(); b*2 > a {
		t.Errorf("%d of %d bytes are kept", b, a)
	}
}

// TestMemoryOfPassesIsBounded, and what is missing is counted.
func TestMemoryOfPassesIsBounded(t *testing.T) {
	var l truth.Log
	l.KeepPasses(0, 10_000)
	l.Wait(0, 9, true, fairAt(5))
	for at := range event.Time(1000) {
		l.Pass(look(at, 3, 2, 5))
	}
	kept := int64(0)
	for w := range l.Waits() {
		for range l.PassesFor(w) {
			kept++
		}
	}
	if kept == 0 || kept+l.PassesDropped() != 1000 || l.PassBytes() > 10_400 {
		t.Errorf("%d kept, %d dropped, %d bytes", kept, l.PassesDropped(), l.PassBytes())
	}
}
