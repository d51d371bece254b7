package engine

import (
	"math/bits"
	"slices"

	"github.com/whylate/whylate/event"
)

// Rank orders items that are due at the same nanosecond; lower ranks come first.
type Rank uint8

// Item is something that will happen. What and Arg belong to whoever pushed it.
type Item struct {
	At   event.Time
	Rank Rank
	What uint32
	Arg  int64
}

// Handle names an item in the queue until it is popped or cancelled. The zero Handle
// names none.
type Handle struct {
	slot uint32 // one more than the index, so that the zero value is no item
	turn uint32 // how often the slot was used: an old handle does not match a new item
}

// Valid reports whether h was ever given out.
func (h Handle) Valid() bool { return h.slot != 0 }

// Queue holds the items. The zero Queue is empty and ready to use.
//
// It is a heap of four children per node over the keys alone: the items stay where they
// are. Four keys are one cache line, and they are compared without a branch: which of
// them is the least is as good as random, so a branch would be guessed wrongly half of
// the time.
type Queue struct {
	heap  []key // the first three are not used; filled up with last to whole groups
	n     int   // keys in the heap, cancelled ones too
	slots []slot
	free  []uint32

	seq      uint64 // of the last push, below 1 << (56 - slotBits)
	slotBits uint   // width of the slot in a key
	live     int
	hole     bool // the root was popped; the next push may take its place
}

// key orders an item and names its slot. The upper half is the time; the lower one has
// the rank in its upper 8 bits, then the sequence, then the slot. Sequences differ, so the
// slot never decides.
type key struct{ at, order uint64 }

type slot struct {
	item Item
	turn uint32
	used bool
}

const (
	rankBits  = 8
	firstBits = 20      // of the slot, until there are more than a million
	root      = 3       // so that the children of a node are a whole group of four
	sign      = 1 << 63 // makes signed times comparable as unsigned ones
	sweepFrom = 64      // cancelled keys that are always tolerated
)

// last is behind every item.
var last = key{^uint64(0), ^uint64(0)}

// before returns 1 if a comes before b, else 0.
func before(a, b *key) int {
	_, borrow := bits.Sub64(a.order, b.order, 0)
	_, borrow = bits.Sub64(a.at, b.at, borrow)
	return int(borrow)
}

// Len returns the number of items that are in the queue and not cancelled.
func (q *Queue) Len() int { return q.live }

// Push puts it into the queue.
func (q *Queue) Push(it Item) Handle {
	var at uint32
	if n := len(q.free); n > 0 {
		at = q.free[n-1]
		q.free = q.free[:n-1]
	} else {
		at = uint32(len(q.slots))
		q.slots = append(q.slots, slot{})
	}
	s := &q.slots[at]
	s.item, s.used = it, true
	q.live++
	q.seq++
	if q.seq>>(64-rankBits-q.slotBits) != 0 || at>>q.slotBits != 0 {
		q.rekey()
	}
	q.insert(key{uint64(it.At) ^ sign, uint64(it.Rank)<<(64-rankBits) | q.seq<<q.slotBits | uint64(at)})
	return Handle{at + 1, s.turn}
}

// insert puts k into the heap, where the root was popped in its place: that saves to fill
// the hole from the bottom first.
func (q *Queue) insert(k key) {
	if q.hole {
		q.hole = false
		q.down(k)
		return
	}
	i := q.n + root
	q.n++
	if i >= len(q.heap) {
		q.grow()
	}
	q.up(i, k)
}

// grow adds a group of keys that are behind every item.
func (q *Queue) grow() {
	for want := max(8, len(q.heap)+4); len(q.heap) < want; {
		q.heap = append(q.heap, last)
	}
}

// Cancel takes the item of h out of the queue and reports whether it was still there.
// Its key stays in the heap until it comes up, or until most keys are cancelled ones.
func (q *Queue) Cancel(h Handle) bool {
	if !q.has(h) {
		return false
	}
	q.slots[h.slot-1].used = false
	q.live--
	if q.n > 2*q.live+sweepFrom {
		q.sweep()
	}
	return true
}

// Pending reports whether the item of h is still in the queue.
func (q *Queue) Pending(h Handle) bool { return q.has(h) }

func (q *Queue) has(h Handle) bool {
	if h.slot == 0 || int(h.slot) > len(q.slots) {
		return false
	}
	s := &q.slots[h.slot-1]
	return s.used && s.turn == h.turn
}

// Next returns the time of the next item; ok is false when the queue is empty.
func (q *Queue) Next() (at event.Time, ok bool) {
	q.settle()
	if q.n == 0 {
		return 0, false
	}
	return event.Time(q.heap[root].at ^ sign), true
}

// Pop takes out the next item; ok is false when the queue is empty.
func (q *Queue) Pop() (it Item, ok bool) {
	q.settle()
	if q.n == 0 {
		return Item{}, false
	}
	return q.take(), true
}

// PopUntil is Pop for items that are due at until or before; of later ones it says false.
func (q *Queue) PopUntil(until event.Time) (it Item, ok bool) {
	q.settle()
	if q.n == 0 || event.Time(q.heap[root].at^sign) > until {
		return Item{}, false
	}
	return q.take(), true
}

// PopAt is Pop for items that are due at exactly at and have rank r or a lower one; of
// others it says false. After a Pop it mostly finds that without closing the hole.
func (q *Queue) PopAt(at event.Time, r Rank) (it Item, ok bool) {
	if q.hole {
		if q.n <= 1 {
			return Item{}, false
		}
		next := q.heap[4*(root-2)+q.least(4*(root-2))]
		if event.Time(next.at^sign) > at {
			return Item{}, false
		}
	}
	q.settle()
	if q.n == 0 || event.Time(q.heap[root].at^sign) != at || Rank(q.heap[root].order>>(64-rankBits)) > r {
		return Item{}, false
	}
	return q.take(), true
}

// take pops the root, which is a live item.
func (q *Queue) take() Item {
	s := q.release(q.heap[root])
	s.used = false
	q.live--
	q.hole = true
	return s.item
}

// release gives the slot of k back.
func (q *Queue) release(k key) *slot {
	at := uint32(k.order & (1<<q.slotBits - 1))
	s := &q.slots[at]
	s.turn++
	q.free = append(q.free, at)
	return s
}

// settle closes a hole at the root and removes cancelled items from it.
func (q *Queue) settle() {
	if q.hole {
		q.hole = false
		q.removeRoot()
	}
	for q.n > 0 && !q.slots[q.heap[root].order&(1<<q.slotBits-1)].used {
		q.release(q.heap[root])
		q.removeRoot()
	}
}

// removeRoot fills the place of the first key with the last one.
func (q *Queue) removeRoot() {
	q.n--
	i := q.n + root
	k := q.heap[i]
	q.heap[i] = last
	if q.n > 0 {
		q.down(k)
	}
}

// up places k at i or above.
func (q *Queue) up(i int, k key) {
	h := q.heap
	for i > root {
		parent := i/4 + 2
		if before(&k, &h[parent]) == 0 {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = k
}

// down places k at the root or below. The hole first sinks along the least children to a
// leaf, then k rises: it mostly belongs near the leaves.
func (q *Queue) down(k key) {
	h := q.heap
	i := root
	for {
		first := 4 * (i - 2)
		if first+4 > len(h) || first >= q.n+root {
			break
		}
		least := q.least(first)
		h[i] = h[first+least]
		i = first + least
	}
	q.up(i, k)
}

// least returns which of the four keys from first on comes first.
func (q *Queue) least(first int) int {
	g := (*[4]key)(q.heap[first:])
	a := before(&g[1], &g[0])
	b := 2 + before(&g[3], &g[2])
	return (a ^ (a^b)&-before(&g[b&3], &g[a&3])) & 3
}

// sweep takes the cancelled keys out of the heap.
func (q *Queue) sweep() {
	q.settle()
	kept := q.heap[root:root]
	for _, k := range q.heap[root : root+q.n] {
		if q.slots[k.order&(1<<q.slotBits-1)].used {
			kept = append(kept, k)
		} else {
			q.release(k)
		}
	}
	q.order(kept)
}

// order makes keys, which lie in the heap's own memory, the heap. A sorted list is one.
func (q *Queue) order(keys []key) {
	slices.SortFunc(keys, func(a, b key) int { return before(&b, &a) - before(&a, &b) })
	q.n = len(keys)
	for i := root + q.n; i < len(q.heap); i++ {
		q.heap[i] = last
	}
}

// rekey numbers all keys anew from 1, when the sequence has no room left beside the slots
// or the slots none beside the sequence.
func (q *Queue) rekey() {
	q.settle()
	if len(q.heap) > 0 {
		q.order(q.heap[root : root+q.n])
	}
	old := q.slotBits
	q.slotBits = max(firstBits, uint(bits.Len(uint(len(q.slots)))))
	q.seq = 1
	for i := range q.n {
		k := &q.heap[root+i]
		at := k.order & (1<<old - 1)
		k.order = k.order>>(64-rankBits)<<(64-rankBits) | q.seq<<q.slotBits | at
		q.seq++
	}
}
