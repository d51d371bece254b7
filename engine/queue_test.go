package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// TestOrder compares the queue with a sorted list under random pushes, cancels and pops.
func TestOrder(t *testing.T) { checkOrder(t, false) }

// TestOrderWhenTheSequenceIsFull: the order of what is in the queue stays when all of it is
// numbered anew.
func TestOrderWhenTheSequenceIsFull(t *testing.T) { checkOrder(t, true) }

func checkOrder(t *testing.T, full bool) {
	rapid.Check(t, func(t *rapid.T) {
		type ref struct {
			item engine.Item
			seq  int
			h    engine.Handle
		}
		var q engine.Queue
		var want []ref
		var gone []engine.Handle
		seq := 0
		if full {
			q.Hurry(rapid.Uint64Range(1, 20).Draw(t, "hurry"))
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				it := engine.Item{At: event.Time(rapid.IntRange(0, 8).Draw(t, "at")), Rank: engine.Rank(rapid.IntRange(0, 3).Draw(t, "rank")), What: uint32(seq)}
				want = append(want, ref{it, seq, q.Push(it)})
				seq++
			},
			"cancel": func(t *rapid.T) {
				if len(want) == 0 {
					return
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "i")
				if !q.Cancel(want[i].h) {
					t.Fatal("an item in the queue could not be cancelled")
				}
				gone = append(gone, want[i].h)
				want = slices.Delete(want, i, i+1)
			},
			"pop": func(t *rapid.T) {
				slices.SortFunc(want, func(a, b ref) int {
					if a.item.At != b.item.At {
						return int(a.item.At - b.item.At)
					}
					if a.item.Rank != b.item.Rank {
						return int(a.item.Rank) - int(b.item.Rank)
					}
					return a.seq - b.seq
				})
				got, ok := pop(&q, rapid.Bool().Draw(t, "until"))
				if ok != (len(want) > 0) {
					t.Fatalf("pop said %v with %d items", ok, len(want))
				}
				if !ok {
					return
				}
				if got != want[0].item {
					t.Fatalf("popped %+v, want %+v", got, want[0].item)
				}
				gone = append(gone, want[0].h)
				want = want[1:]
			},
			"": func(t *rapid.T) {
				if q.Len() != len(want) {
					t.Fatalf("length %d, want %d", q.Len(), len(want))
				}
				for _, h := range gone {
					if q.Pending(h) || q.Cancel(h) {
						t.Fatal("an old handle still works")
					}
				}
			},
		})
	})
}

// pop is Pop, or what PopUntil makes of the next time.
func pop(q *engine.Queue, until bool) (engine.Item, bool) {
	at, ok := q.Next()
	if !until || !ok {
		return q.Pop()
	}
	if it, ok := q.PopUntil(at - 1); ok {
		return it, false // too early
	}
	for r := range engine.Rank(4) {
		if it, ok := q.PopAt(at, r); ok {
			return it, it.Rank == r
		}
	}
	return q.PopUntil(at)
}

// TestOrderOfMany has a heap of many levels and some cancelled items in it.
func TestOrderOfMany(t *testing.T) {
	var q engine.Queue
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		h := q.Push(engine.Item{At: event.Time(r.IntN(1000)), Rank: engine.Rank(r.IntN(3)), Arg: 1})
		if r.IntN(3) == 0 {
			q.Cancel(h)
		}
	}
	left := q.Len()
	var before engine.Item
	for now := event.Time(0); ; {
		it, ok := q.Pop()
		if !ok {
			break
		}
		left--
		if it.At < before.At || it.At == before.At && it.Rank < before.Rank {
			t.Fatalf("%+v after %+v", it, before)
		}
		before = it
		if now = it.At; r.IntN(2) == 0 {
			q.Push(engine.Item{At: now + 1 + event.Time(r.IntN(500)), Rank: it.Rank})
			left++
		}
		if now > 5000 {
			return
		}
	}
	if left != 0 {
		t.Errorf("%d items were lost", left)
	}
}

// TestCancelledItemsDoNotPileUp: a timer far in the future that is moved again and again
// leaves nothing behind.
func TestCancelledItemsDoNotPileUp(t *testing.T) {
	var q engine.Queue
	h := q.Push(engine.Item{At: 1 << 40})
	for i := range 100_000 {
		q.Cancel(h)
		h = q.Push(engine.Item{At: 1<<40 + event.Time(i)})
		if q.Keys() > 1000 {
			t.Fatalf("%d keys for one item after %d moves", q.Keys(), i)
		}
	}
}

// TestNothingIsAllocated once the queue has its depth.
func TestNothingIsAllocated(t *testing.T) {
	var q engine.Queue
	for i := range 1024 {
		q.Push(engine.Item{At: event.Time(i)})
	}
	at := event.Time(2000)
	if n := testing.AllocsPerRun(1000, func() {
		q.Pop()
		at++
		h := q.Push(engine.Item{At: at})
		q.Cancel(h)
		q.Push(engine.Item{At: at})
	}); n > 0.1 {
		t.Errorf("%v allocations for each item", n)
	}
}

// TestStreamsAreTheirOwn: the numbers of a stream depend on seed and name alone.
func TestStreamsAreTheirOwn(t *testing.T) {
	a, b, c := engine.NewStream(7, "timers"), engine.NewStream(7, "timers"), engine.NewStream(7, "wakes")
	same, other := true, true
	for range 100 {
		x := a.Uint64()
		same = same && x == b.Uint64()
		other = other && x == c.Uint64()
	}
	if !same || other {
		t.Errorf("equal names give equal numbers: %v; other names too: %v", same, other)
	}
	for range 1000 {
		if v := a.Between(-3, 4); v < -3 || v > 4 {
			t.Fatalf("%d is not between −3 and 4", v)
		}
	}
}

// BenchmarkPushPop is one push and one pop at a depth of 1024, with times as a simulation
// has them: a little ahead of now.
func BenchmarkPushPop(b *testing.B) {
	var q engine.Queue
	r := rand.New(rand.NewPCG(1, 2))
	ahead := make([]event.Time, 4096)
	for i := range ahead {
		ahead[i] = event.Time(r.IntN(1_000_000))
	}
	for i := range 1024 {
		q.Push(engine.Item{At: ahead[i]})
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		it, _ := q.Pop()
		q.Push(engine.Item{At: it.At + ahead[i&4095]})
	}
}
