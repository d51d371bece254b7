package tracedat

import (
	"errors"
	"io"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace/ringbuf"
)

// cpuStream walks the records of one CPU.
type cpuStream struct {
	s     *stream
	id    event.CPU
	ahead *ahead
	block block
	pos   int // of the next page in the block
	page  ringbuf.Page

	rec  []byte     // the current record
	time event.Time // its time
	last event.Time // of the record before it, NoTime at the start

	partial bool // the page is the rest of a file that was cut

	gap  bool  // a Gap has to be delivered before rec
	lost int64 // how many events it stands for
	tail bool  // the data broke off: the Gap is all that is left
	cut  bool  // the file is known to end inside this CPU's data
}

// advance moves to the next record that the stream wants, or to the first one behind a
// gap; false at the end.
func (c *cpuStream) advance() bool {
	for {
		rec, ok := c.page.Next()
		if !ok {
			if err := c.page.Err(); err != nil {
				c.damagedPage(err)
			}
			if !c.nextPage() {
				return c.finish()
			}
			continue
		}
		t := max(c.s.clock.time(c.page.Time()), event.NoTime+1)
		// The merge and everything behind it count on order; a page that lies about its
		// time must not break them.
		if t < c.last {
			c.s.diagnose("clock", 1, "stamps of a CPU run backwards; taken as the stamp before")
			t = c.last
		}
		// A gap is delivered although the event behind it may not be wanted.
		if c.gap { // last stays what it was in front of the gap until that is delivered
			c.rec, c.time = rec, t
			return true
		}
		c.last = t
		if c.s.wanted(rec) {
			c.rec, c.time = rec, t
			return true
		}
		c.s.passed++
	}
}

// finish ends the CPU. A gap that nothing follows is delivered still, once, at the time
// of the last event: from there on the CPU is not known.
func (c *cpuStream) finish() bool {
	if !c.gap || c.tail {
		return false
	}
	c.tail, c.rec = true, nil
	c.time = c.last
	return c.last.Valid()
}

// nextPage moves to the next page, false if there is none.
func (c *cpuStream) nextPage() bool {
	for {
		if c.pos >= len(c.block.data) {
			c.s.progress(c.block.read)
			c.block.read = 0
			if c.block.err != nil {
				c.ended(c.block.err)
				return false
			}
			c.block, c.pos = c.ahead.next(c.block), 0
			continue
		}
		page := c.block.data[c.pos:min(c.pos+c.s.pageSize, len(c.block.data))]
		c.pos += len(page)
		c.load(page)
		return true
	}
}

// load starts a page. What a cut page still has is used; of a whole page that
// contradicts itself nothing is.
func (c *cpuStream) load(page []byte) {
	c.partial = len(page) < c.s.pageSize
	if err := c.page.Reset(c.s.layout, page); err != nil && !c.partial {
		c.damagedPage(err)
		return
	}
	switch lost := c.page.Lost(); {
	case lost > 0:
		c.loses(lost)
		c.s.diagnose("lost_events", lost, "lost in the recording, counted by the kernel")
	case lost < 0:
		c.loses(lost)
		c.s.diagnose("lost_events", 1, "places where the recording lost an unknown number of events")
	}
}

// damagedPage notes that a page breaks off, and leaves it.
func (c *cpuStream) damagedPage(err error) {
	c.page = ringbuf.Page{}
	if c.partial {
		c.damaged("truncated", "the last page of a CPU is cut")
	} else {
		c.damaged("corrupt_page", err.Error())
	}
}

// loses notes a gap before the next record. Gaps without an event between them are one;
// its number is known only if all of them are.
func (c *cpuStream) loses(n int64) {
	if !c.gap {
		c.gap, c.lost = true, n
	} else if c.lost >= 0 && n >= 0 {
		c.lost += n
	} else {
		c.lost = ringbuf.UnknownLoss
	}
}

// damaged notes that events are missing because of the file, not of the recording.
func (c *cpuStream) damaged(kind, text string) {
	c.s.diagnose(kind, 1, text)
	c.loses(ringbuf.UnknownLoss)
}

// ended looks at why no block follows.
func (c *cpuStream) ended(err error) {
	c.block.err = io.EOF
	switch {
	case errors.Is(err, io.EOF):
		if c.cut {
			c.loses(ringbuf.UnknownLoss)
		}
	case errors.Is(err, event.ErrTruncated):
		c.damaged("truncated", "the data of a CPU ends early")
	default:
		c.damaged("corrupt_page", err.Error())
	}
}
