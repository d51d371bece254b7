package ftracetext

import "github.com/whylate/whylate/event"

// windowSize is how many events are held back to put lines into the order of their
// stamps. ftrace and trace-cmd print in order; perf script may swap neighbours.
const windowSize = 128

// slack is how many events one line may add beyond its own: a gap, and the exits of leaf
// functions.
const slack = 128

// queue is a ring of events in the order of time, stable for equal stamps. An event is
// parsed into its place, so that lines in order, nearly all, are never copied.
type queue struct {
	ring [windowSize + slack]event.Event
	head int
	n    int
	out  event.Time // stamp of the last event handed out
	late int64      // events that came after a later one had been handed out
}

// slot is the place for the next event; commit makes it part of the queue.
func (q *queue) slot() *event.Event { return &q.ring[(q.head+q.n)%len(q.ring)] }

func (q *queue) full() bool { return q.n >= windowSize }

func (q *queue) commit() {
	// From the back: a line out of order is a few places away from where it belongs.
	i := q.n
	q.n++
	for i > 0 {
		a, b := &q.ring[(q.head+i-1)%len(q.ring)], &q.ring[(q.head+i)%len(q.ring)]
		if a.Time <= b.Time {
			break
		}
		*a, *b = *b, *a
		i--
	}
}

// insert adds a copy of ev in front of the event that is being parsed in slot. It does
// nothing when the slack is used up.
func (q *queue) insert(ev *event.Event) {
	if q.n >= len(q.ring)-2 {
		return
	}
	current := *q.slot()
	*q.slot() = *ev
	q.commit()
	*q.slot() = current
}

// pop hands out the earliest event, valid until the following call of slot. One that comes too late
// is taken as of the stamp before: all that reads a stream counts on its order.
func (q *queue) pop() *event.Event {
	ev := &q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	if ev.Time < q.out {
		q.late++
		ev.Time = q.out
	} else {
		q.out = ev.Time
	}
	return ev
}
