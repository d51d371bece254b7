package sched

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/event"
)

// TestTreeIsASortedList under random insertions, removals and raised keys.
func TestTreeIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type ref struct {
			n   *node
			seq int
		}
		var tr tree
		var want []ref
		seq := 0
		order := func(a, b ref) int {
			return cmp.Or(cmp.Compare(a.n.key, b.n.key), cmp.Compare(a.seq, b.seq))
		}
		pick := func(t *rapid.T) int { return rapid.IntRange(0, len(want)-1).Draw(t, "i") }
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				n := &node{task: &Task{}}
				tr.insertValue(n, rapid.Int64Range(0, 5).Draw(t, "key"), rapid.Int64Range(-9, 9).Draw(t, "value"), event.Time(rapid.Int64Range(1, 9).Draw(t, "slice")))
				want = append(want, ref{n, seq})
				seq++
			},
			"remove": func(t *rapid.T) {
				if len(want) > 0 {
					i := pick(t)
					tr.remove(want[i].n)
					tr.remove(want[i].n) // not in it: nothing happens
					want = slices.Delete(want, i, i+1)
				}
			},
			"": func(t *rapid.T) {
				slices.SortFunc(want, order)
				at := tr.first
				for i, w := range want {
					if at != w.n {
						t.Fatalf("place %d of %d is another one's", i, len(want))
					}
					at = at.next()
				}
				if at != nil || tr.n != len(want) {
					t.Fatalf("%d nodes, want %d", tr.n, len(want))
				}
				if err := leastOf(tr.root); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

// leastOf looks whether every node knows the least value below it.
func leastOf(n *node) error {
	if n == nil {
		return nil
	}
	least, slice := n.value, n.slice
	for _, c := range []*node{n.left, n.right} {
		if err := leastOf(c); err != nil {
			return err
		}
		if c != nil {
			least, slice = min(least, c.least), min(slice, c.leastSlice)
		}
	}
	if least != n.least || slice != n.leastSlice {
		return fmt.Errorf("the least value and slice below are %d, %d; it says %d, %d", least, slice, n.least, n.leastSlice)
	}
	return nil
}

// TestTreeStaysFlat also when keys come in order.
func TestTreeStaysFlat(t *testing.T) {
	var tr tree
	for i := range 100_000 {
		tr.insert(&node{}, int64(i))
	}
	if d := depth(tr.root); d > 60 {
		t.Errorf("depth %d of %d nodes", d, tr.n)
	}
}

func depth(n *node) int {
	if n == nil {
		return 0
	}
	return 1 + max(depth(n.left), depth(n.right))
}

// TestPrioArrayIsASortedList under random insertions and removals.
func TestPrioArrayIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a prioArray
		var want []*link
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				l := &link{task: &Task{}}
				prio := event.Prio(rapid.SampledFrom([]int{0, 1, 2, 62, 63, 64, 65, 97, 98}).Draw(t, "prio"))
				head := rapid.Bool().Draw(t, "head")
				a.insert(l, prio, head)
				i := 0
				for i < len(want) && (want[i].prio < prio || want[i].prio == prio && !head) {
					i++
				}
				want = slices.Insert(want, i, l)
			},
			"remove": func(t *rapid.T) {
				if len(want) > 0 {
					i := rapid.IntRange(0, len(want)-1).Draw(t, "i")
					a.remove(want[i])
					a.remove(want[i])
					want = slices.Delete(want, i, i+1)
				}
			},
			"": func(t *rapid.T) {
				if len(want) == 0 {
					if a.highest() != noRTPrio || a.first() != nil {
						t.Fatal("an empty array has a first task")
					}
					return
				}
				if a.highest() != want[0].prio || a.first() != want[0].task {
					t.Fatal("the first is another one")
				}
				for i, l := range want {
					next := a.behind(l)
					if i+1 < len(want) && next != want[i+1] || i+1 == len(want) && next != nil {
						t.Fatalf("behind place %d comes another one", i)
					}
				}
			},
		})
	})
}

// TestMapsOfCPUs compares cpupri and cpudl with a look at every CPU.
func TestMapsOfCPUs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 3, 64, 70, 130}).Draw(t, "cpus")
		var pri cpupri
		var dl cpudl
		var rto overload
		pri.init(allCPUs(n), n)
		dl.init(allCPUs(n), n)
		rto.init(allCPUs(n), n)
		prio := make([]event.Prio, n)
		deadline := make([]event.Time, n)
		for i := range prio {
			prio[i], deadline[i] = noRTPrio, noDeadline
		}
		anyCPU := func(t *rapid.T) int { return rapid.IntRange(0, n-1).Draw(t, "cpu") }
		mask := func(t *rapid.T) cpuMask {
			m := newMask(n)
			for range rapid.IntRange(1, 5).Draw(t, "size") {
				m.set(event.CPU(anyCPU(t)))
			}
			return m
		}
		t.Repeat(map[string]func(*rapid.T){
			"prio": func(t *rapid.T) {
				c := anyCPU(t)
				prio[c] = event.Prio(rapid.SampledFrom([]int{-1, 0, 5, 63, 64, 98, 100}).Draw(t, "prio"))
				pri.set(event.CPU(c), prio[c])
				rto.set(event.CPU(c), max(prio[c], 0))
			},
			"deadline": func(t *rapid.T) {
				c := anyCPU(t)
				deadline[c] = event.Time(rapid.IntRange(0, 6).Draw(t, "deadline"))
				if deadline[c] == 0 {
					deadline[c] = noDeadline
				}
				dl.set(event.CPU(c), deadline[c])
			},
			"find": func(t *rapid.T) {
				p := &Task{prio: event.Prio(rapid.SampledFrom([]int{0, 4, 5, 63, 64, 97}).Draw(t, "p"))}
				p.setMask(mask(t))
				want := newMask(n)
				lowest := p.prio
				for c := range n {
					if p.mask.has(event.CPU(c)) {
						lowest = max(lowest, prio[c])
					}
				}
				for c := range n {
					want.put(event.CPU(c), lowest > p.prio && prio[c] == lowest && p.mask.has(event.CPU(c)))
				}
				found := newMask(n)
				if pri.find(p, found) == want.empty() || !want.empty() && !found.equal(want) || pri.find(p, nil) == want.empty() {
					t.Fatalf("found %x, want %x", found, want)
				}
				at := event.CPU(0)
				some := false
				for c := range n {
					if max(prio[c], 0) > p.prio {
						continue
					}
					if at = rto.next(at, p.prio+1); at != event.CPU(c) {
						t.Fatalf("the next CPU before %d is %d, want %d", p.prio+1, at, c)
					}
					at, some = at+1, true
				}
				if rto.someBefore(p.prio+1) != some {
					t.Fatalf("some before %d: %v", p.prio+1, !some)
				}
			},
			"later": func(t *rapid.T) {
				p := &Task{}
				p.dl.init(p)
				p.dl.deadline = event.Time(rapid.IntRange(0, 6).Draw(t, "d"))
				p.setMask(mask(t))
				want := newMask(n)
				latest := -1
				for c := range n {
					want.put(event.CPU(c), deadline[c] == noDeadline && p.mask.has(event.CPU(c)))
					if deadline[c] != noDeadline && (latest < 0 || deadline[c] > deadline[latest]) {
						latest = c
					}
				}
				if want.empty() && latest >= 0 && deadline[latest] > p.dl.deadline {
					want.put(event.CPU(latest), p.mask.has(event.CPU(latest)))
				}
				found := newMask(n)
				if dl.find(p, found) == want.empty() || !want.empty() && !found.equal(want) {
					t.Fatalf("found %x, want %x", found, want)
				}
			},
			"": func(*rapid.T) {},
		})
	})
}

// TestRatiosDoNotOverflow: bandwidths and 0-lag times of the largest periods.
func TestRatiosDoNotOverflow(t *testing.T) {
	for _, c := range []struct{ a, b, c, want int64 }{
		{7, 3, 2, 10}, {-7, 3, 2, -10}, {0, 5, 3, 0},
		{1 << 62, 1 << 20, 1 << 30, 1 << 52}, {-(1 << 62), 1 << 20, 1 << 30, -(1 << 52)}, {1 << 62, 1 << 62, 1, 1<<63 - 1},
	} {
		if got := mulDiv(c.a, c.b, c.c); got != c.want {
			t.Errorf("%d·%d/%d = %d, want %d", c.a, c.b, c.c, got, c.want)
		}
	}
	if got := toRatio(100_000_000, 95_000_000); got != 996147 {
		t.Errorf("95 %% is %d of 1 << 20", got)
	}
}
