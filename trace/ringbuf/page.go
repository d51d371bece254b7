package ringbuf

import (
	"encoding/binary"
	"errors"
)

// The reasons for which a page cannot be walked (to its end).
var (
	// ErrHead says that the page is too short for its head or claims more data than it has.
	ErrHead = errors.New("page claims more data than it holds")
	// ErrRecord says that a record reaches past the end of the page's data.
	ErrRecord = errors.New("record reaches past the end of its page")
)

// Layout is how one kernel lays out a page, from events/header_page.
type Layout struct {
	BigEndian bool
	// CommitOffset and CommitSize tell where the length of the data stands. The size is
	// the kernel's long: 4 bytes on 32-bit kernels, whatever user space is.
	CommitOffset, CommitSize int
	// DataOffset is where the records start: 16, or 12 on 32-bit kernels.
	DataOffset int
}

// Valid reports whether a page of size bytes can have this layout.
func (l Layout) Valid(size int) bool {
	return (l.CommitSize == 4 || l.CommitSize == 8) && l.CommitOffset >= 8 &&
		l.DataOffset >= l.CommitOffset+l.CommitSize && l.DataOffset < size
}

// The parts of the commit field. A page is at most 2^27 bytes long; the bits above
// are flags that the kernel sets when a reader takes the page.
const (
	commitMask   = 1<<27 - 1
	missedEvents = 1 << 31 // events were lost before this page
	missedStored = 1 << 30 // and their number stands behind the data
)

// The values of type_len that are no length; events/header_event names them.
const (
	typePadding    = 29
	typeTimeExtend = 30
	typeTimeStamp  = 31
)

// UnknownLoss is Page.Lost where events were lost but not counted.
const UnknownLoss = -1

// Page walks the records of one page. The zero Page has none; reuse it with Reset.
type Page struct {
	buf       []byte
	pos, end  int
	time      uint64
	lost      int64
	bigEndian bool
	err       error
}

// Reset starts at the first record of page, which must have the layout l. A page that is
// shorter than the kernel wrote it (the end of a truncated file) is walked as far as it
// goes, and Err tells. After an error the page has no records.
func (p *Page) Reset(l Layout, page []byte) error {
	*p = Page{bigEndian: l.BigEndian}
	if len(page) < l.DataOffset || !l.Valid(len(page)+1) {
		p.err = ErrHead
		return p.err
	}
	var commit uint64 // a local_t: as wide as the kernel's long
	if l.CommitSize == 8 {
		commit = p.u64(page[l.CommitOffset:])
	} else {
		commit = uint64(p.u32(page[l.CommitOffset:]))
	}
	length := int(commit & commitMask)
	end := l.DataOffset + length
	if end > len(page) { // cut, or not a page at all: the caller knows which
		p.err = ErrHead
		end = len(page)
	}
	p.buf, p.pos, p.end, p.time = page, l.DataOffset, end, p.u64(page)
	if commit&missedEvents != 0 {
		p.lost = p.lostCount(l, page, end, commit)
	}
	return p.err
}

// lostCount reads the number of lost events behind the data. The kernel stores it only
// if there is room.
func (p *Page) lostCount(l Layout, page []byte, end int, commit uint64) int64 {
	if commit&missedStored == 0 || end+l.CommitSize > len(page) {
		return UnknownLoss
	}
	if l.CommitSize == 4 {
		return int64(p.u32(page[end:]))
	}
	if n := int64(p.u64(page[end:])); n >= 0 {
		return n
	}
	return UnknownLoss
}

// Time is the stamp of the record that Next returned last, before that the page's own.
func (p *Page) Time() uint64 { return p.time }

// Lost is the number of events lost between the page before and this one: 0 for none,
// UnknownLoss where the kernel did not count.
func (p *Page) Lost() int64 { return p.lost }

// Err is the reason why Next stopped before the end of the data, nil if it did not.
func (p *Page) Err() error { return p.err }

// Next returns the payload of the next record, which starts with common_type and may
// have up to three bytes of padding at its end; false after the last one. The payload
// is part of the page.
func (p *Page) Next() ([]byte, bool) {
	for p.pos+4 <= p.end {
		word := p.u32(p.buf[p.pos:])
		// A bit field of 5 and 27 bits: the compiler of a big-endian kernel starts at the
		// other end.
		kind, delta := word&31, uint64(word>>5)
		if p.bigEndian {
			kind, delta = word>>27, uint64(word&(1<<27-1))
		}
		if kind-1 < 28 { // 1 to 28: the length in words
			start := p.pos + 4
			next := start + int(kind)*4
			if next > p.end {
				break
			}
			p.pos = next
			p.time += delta
			return p.buf[start:next:next], true
		}
		if p.pos+8 > p.end { // all others have a second word
			if word == 0 || kind == typePadding && delta == 0 {
				p.pos = p.end
			}
			break
		}
		array := p.u32(p.buf[p.pos+4:])
		switch kind {
		case typeTimeExtend:
			p.time += uint64(array)<<27 + delta
			p.pos += 8
		case typeTimeStamp:
			p.time = absolute(uint64(array)<<27+delta, p.time)
			p.pos += 8
		case typePadding:
			if delta == 0 { // nothing follows on this page
				p.pos = p.end
				return nil, false
			}
			if !p.skip(array) {
				return nil, false
			}
			p.time += delta
		default: // 0: a record longer than 112 bytes, its length in a word of its own
			if array == 0 { // some kernels leave zeroes behind the last record
				p.pos = p.end
				return nil, false
			}
			start := p.pos + 8
			if !p.skip(array) {
				return nil, false
			}
			p.time += delta
			return p.buf[start:p.pos:p.pos], true
		}
	}
	if p.pos < p.end && p.err == nil {
		p.fail()
	}
	return nil, false
}

// skip moves past a record whose length word, itself counted, says length.
func (p *Page) skip(length uint32) bool {
	aligned := (uint64(length) + 3) &^ 3
	if length < 4 || aligned > uint64(p.end-p.pos-4) {
		p.fail()
		return false
	}
	p.pos += 4 + int(aligned)
	return true
}

// fail ends the page at a record that cannot be right; what follows cannot be found.
func (p *Page) fail() {
	p.pos = p.end
	p.err = ErrRecord
}

// absolute completes a 59-bit absolute stamp with the upper 5 bits of the time before.
func absolute(stamp, before uint64) uint64 {
	const upper = 0x1f << 59
	return stamp&^upper | before&upper
}

// u32 and u64 read in the byte order of the kernel that recorded.
func (p *Page) u32(b []byte) uint32 {
	if p.bigEndian {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (p *Page) u64(b []byte) uint64 {
	if p.bigEndian {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}
