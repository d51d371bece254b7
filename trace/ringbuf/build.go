package ringbuf

import "encoding/binary"

// Builder fills pages as a 64-bit little-endian kernel does, for a writer of trace.dat:
// the mirror of Page. Reuse one with Reset; it has no allocation beyond its first page.
type Builder struct {
	page []byte
	pos  int
	end  int    // where records have to stop: behind it may stand the number of lost ones
	time uint64 // of the last record
	lost int64
}

// The head of such a page, and what a record takes beside its payload.
const (
	buildHead  = 16
	shortHead  = 4 // up to maxShort bytes of payload
	longHead   = 8
	maxShort   = 28 * 4
	extendSize = 8
	maxDelta   = 1<<27 - 1 // of the word in front of a record
	maxExtend  = 1<<59 - 1 // of a time extend
)

// BuildLayout is the Layout of what Builder makes.
var BuildLayout = Layout{CommitOffset: 8, CommitSize: 8, DataOffset: buildHead}

// MaxPayload is the longest record that fits a page of size bytes, whatever else the page
// has to tell.
func MaxPayload(size int) int { return (size - buildHead - longHead - 8) &^ 3 }

// Reset starts an empty page of size bytes, at least 64, whose first record will be stamped
// time. lost is how many events are missing in front of it: 0 for none, UnknownLoss.
func (b *Builder) Reset(size int, time uint64, lost int64) {
	if len(b.page) != size {
		b.page = make([]byte, size)
	}
	b.pos, b.end, b.time, b.lost = buildHead, size, time, lost
	if lost > 0 {
		b.end -= 8
	}
	binary.LittleEndian.PutUint64(b.page, time)
}

// Empty reports whether the page has no record; a Builder that was never reset is empty.
func (b *Builder) Empty() bool { return b.pos <= buildHead }

// Lost reports whether the page says that events are missing in front of it.
func (b *Builder) Lost() bool { return b.lost != 0 }

// Add appends a record, padded to four bytes with zeroes. It returns false, leaving the
// page as it is, where the record does not fit: by its length, or by its time, which lies
// before that of the record in front of it or 18 years behind.
func (b *Builder) Add(time uint64, rec []byte) bool {
	size := (len(rec) + 3) &^ 3
	need := shortHead + size
	if size > maxShort || size == 0 { // 0 stands for a long one
		need = longHead + size
	}
	delta := time - b.time // wraps around for a time before
	if delta > maxExtend {
		return false
	}
	if delta > maxDelta {
		need += extendSize
	}
	if need > b.end-b.pos {
		return false
	}
	if delta > maxDelta {
		b.word(typeTimeExtend | uint32(delta&maxDelta)<<5)
		b.word(uint32(delta >> 27))
		delta = 0
	}
	if size > maxShort || size == 0 {
		b.word(uint32(delta) << 5)
		b.word(uint32(size + 4))
	} else {
		b.word(uint32(delta)<<5 | uint32(size/4))
	}
	n := copy(b.page[b.pos:], rec)
	clear(b.page[b.pos+n : b.pos+size])
	b.pos += size
	b.time = time
	return true
}

// word appends four bytes.
func (b *Builder) word(w uint32) {
	binary.LittleEndian.PutUint32(b.page[b.pos:], w)
	b.pos += 4
}

// Bytes finishes the page and returns it, valid until the next Reset.
func (b *Builder) Bytes() []byte {
	commit := uint64(b.pos - buildHead)
	rest := b.page[b.pos:]
	clear(rest)
	if b.lost != 0 {
		commit |= missedEvents
	}
	if b.lost > 0 { // Reset kept the room
		commit |= missedStored
		binary.LittleEndian.PutUint64(rest, uint64(b.lost))
	}
	binary.LittleEndian.PutUint64(b.page[8:], commit)
	return b.page
}
