package sched

import (
	"math/bits"

	"github.com/whylate/whylate/event"
)

// link is the place of a task in a prioArray.
type link struct {
	task       *Task
	prev, next *link
	prio       event.Prio
	on         bool
}

// prioArray is rt_prio_array: a list for each real-time priority and the bitmap of those
// that are not empty. The zero prioArray is empty.
type prioArray struct {
	bitmap [2]uint64
	queue  [noRTPrio]struct{ head, tail *link }
}

// noRTPrio is the highest priority of a queue without real-time tasks.
const noRTPrio = event.MaxRTPrio

// highest returns the priority of the first task, MaxRTPrio if there is none.
func (a *prioArray) highest() event.Prio {
	switch {
	case a.bitmap[0] != 0:
		return event.Prio(bits.TrailingZeros64(a.bitmap[0]))
	case a.bitmap[1] != 0:
		return event.Prio(64 + bits.TrailingZeros64(a.bitmap[1]))
	}
	return noRTPrio
}

// first returns the head of the highest list, nil if there is none.
func (a *prioArray) first() *Task {
	if p := a.highest(); p < noRTPrio {
		return a.queue[p].head.task
	}
	return nil
}

// insert puts l at the end or at the head of the list of prio.
func (a *prioArray) insert(l *link, prio event.Prio, head bool) {
	q := &a.queue[prio]
	l.prio, l.on = prio, true
	switch {
	case q.head == nil:
		q.head, q.tail = l, l
		a.bitmap[prio/64] |= 1 << (prio % 64)
	case head:
		l.next, q.head.prev = q.head, l
		q.head = l
	default:
		l.prev, q.tail.next = q.tail, l
		q.tail = l
	}
}

// remove takes l out.
func (a *prioArray) remove(l *link) {
	if !l.on {
		return
	}
	q := &a.queue[l.prio]
	if l.prev != nil {
		l.prev.next = l.next
	} else {
		q.head = l.next
	}
	if l.next != nil {
		l.next.prev = l.prev
	} else {
		q.tail = l.prev
	}
	if q.head == nil {
		a.bitmap[l.prio/64] &^= 1 << (l.prio % 64)
	}
	l.prev, l.next, l.on = nil, nil, false
}

// alone reports whether no other task has the priority of l.
func (l *link) alone() bool { return l.prev == nil && l.next == nil }

// behind returns the link that follows l in the order of priority and arrival, nil for
// the last.
func (a *prioArray) behind(l *link) *link {
	if l.next != nil {
		return l.next
	}
	for p := l.prio + 1; p < noRTPrio; p++ {
		word := a.bitmap[p/64] >> (p % 64)
		if word == 0 {
			p |= 63 // on to the next word
			continue
		}
		return a.queue[p+event.Prio(bits.TrailingZeros64(word))].head
	}
	return nil
}
