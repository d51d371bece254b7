package engine

import "github.com/whylate/whylate/event"

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
// are, so moving a key costs little, and a heap of this width is half as deep as a binary
// one.
type Queue struct {
	heap  []key
	slots []slot
	free  []uint32
	seq   uint64
	live  int
}

// key orders an item: at, then rank and sequence in one number.
type key struct {
	at    event.Time
	order uint64 // rank in the upper 8 bits, sequence below
	slot  uint32
}

type slot struct {
	item Item
	turn uint32
	used bool
}

// seqBits is the width of the sequence: 2^56 pushes are two thousand years at a
// million a second.
const seqBits = 56

func (a *key) before(b *key) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
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
	q.seq++
	q.live++
	q.heap = append(q.heap, key{})
	q.up(len(q.heap)-1, key{it.At, uint64(it.Rank)<<seqBits | q.seq, at})
	return Handle{at + 1, s.turn}
}

// Cancel takes the item of h out of the queue and reports whether it was still there.
// Its key stays in the heap until it comes up.
func (q *Queue) Cancel(h Handle) bool {
	if !q.has(h) {
		return false
	}
	q.slots[h.slot-1].used = false
	q.live--
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
	q.drop()
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// Pop takes out the next item; ok is false when the queue is empty.
func (q *Queue) Pop() (it Item, ok bool) {
	q.drop()
	if len(q.heap) == 0 {
		return Item{}, false
	}
	s := &q.slots[q.heap[0].slot]
	it = s.item
	q.live--
	q.removeTop()
	return it, true
}

// drop removes cancelled items from the top.
func (q *Queue) drop() {
	for len(q.heap) > 0 && !q.slots[q.heap[0].slot].used {
		q.removeTop()
	}
}

// removeTop frees the slot of the first key and closes the hole.
func (q *Queue) removeTop() {
	at := q.heap[0].slot
	s := &q.slots[at]
	s.used = false
	s.turn++
	q.free = append(q.free, at)
	last := len(q.heap) - 1
	k := q.heap[last]
	q.heap = q.heap[:last]
	if last > 0 {
		q.down(k)
	}
}

// up places k at i or above.
func (q *Queue) up(i int, k key) {
	h := q.heap
	for i > 0 {
		parent := (i - 1) / 4
		if !k.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = k
}

// down places k at the root or below. The hole first sinks along the least children to a
// leaf, then k rises: k comes from the bottom and mostly belongs there.
func (q *Queue) down(k key) {
	h := q.heap
	n := len(h)
	i := 0
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		h[i] = h[least]
		i = least
	}
	q.up(i, k)
}
