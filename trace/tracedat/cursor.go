package tracedat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/whylate/whylate/event"
)

// maxMeta bounds the memory for everything that is read before the events: some
// thousand formats and the command lines. Real files stay below 20 MiB.
const maxMeta = 128 << 20

// cursor reads numbers and texts in the order of a file. The first error sticks, so
// that a row of fields is read without a check after each.
type cursor struct {
	r      io.ReaderAt
	off    int64
	size   int64 // end of what may be read
	order  binary.ByteOrder
	format string
	budget *int64 // bytes that may still be allocated, shared by all cursors of a file
	mem    []byte // where r reads from memory: the same bytes
	err    error
	buf    [8]byte
}

// sub reads from off to end of the same file.
func (c *cursor) sub(off, size int64) *cursor {
	return &cursor{r: c.r, off: off, size: size, order: c.order, format: c.format, budget: c.budget}
}

// over reads from memory, as a section that was decompressed.
func (c *cursor) over(data []byte) *cursor {
	return &cursor{r: bytes.NewReader(data), mem: data, size: int64(len(data)), order: c.order, format: c.format, budget: c.budget}
}

// fail notes the first error.
func (c *cursor) fail(field string, err error) {
	if c.err == nil {
		c.err = &event.FormatError{Format: c.format, Offset: c.off, Field: field, Err: err}
	}
}

// read fills b.
func (c *cursor) read(b []byte, field string) bool {
	if c.err != nil {
		return false
	}
	if int64(len(b)) > c.size-c.off {
		c.fail(field, event.ErrTruncated)
		return false
	}
	if n, err := c.r.ReadAt(b, c.off); n < len(b) {
		// The file is shorter than it was said to be, or got shorter.
		if err == nil || errors.Is(err, io.EOF) {
			err = event.ErrTruncated
		}
		c.fail(field, err)
		return false
	}
	c.off += int64(len(b))
	return true
}

// u8, u16, u32 and u64 read a number in the file's byte order; 0 after an error.
func (c *cursor) u8(field string) uint8 {
	if !c.read(c.buf[:1], field) {
		return 0
	}
	return c.buf[0]
}

func (c *cursor) u16(field string) uint16 {
	if !c.read(c.buf[:2], field) {
		return 0
	}
	return c.order.Uint16(c.buf[:])
}

func (c *cursor) u32(field string) uint32 {
	if !c.read(c.buf[:4], field) {
		return 0
	}
	return c.order.Uint32(c.buf[:])
}

func (c *cursor) u64(field string) uint64 {
	if !c.read(c.buf[:8], field) {
		return 0
	}
	return c.order.Uint64(c.buf[:])
}

// offset reads a file offset or size; one that does not fit an int64 is an error.
func (c *cursor) offset(field string) int64 {
	v := c.u64(field)
	if v > 1<<63-1 {
		c.fail(field, event.ErrCorrupt)
		return 0
	}
	return int64(v)
}

// bytes reads n bytes, which must be in the file and within the budget. From memory it
// returns them without a copy.
func (c *cursor) bytes(n uint64, field string) []byte {
	if !c.fits(n, field) {
		return nil
	}
	if c.mem != nil {
		b := c.mem[c.off : c.off+int64(n) : c.off+int64(n)]
		c.off += int64(n)
		return b
	}
	if !c.spend(int64(n), field) {
		return nil
	}
	b := make([]byte, n)
	if !c.read(b, field) {
		return nil
	}
	return b
}

// skip moves past n bytes.
func (c *cursor) skip(n uint64, field string) {
	if c.fits(n, field) {
		c.off += int64(n)
	}
}

// fits fails unless n more bytes are in the file.
func (c *cursor) fits(n uint64, field string) bool {
	if c.err == nil && n > uint64(c.size-c.off) {
		c.fail(field, event.ErrTruncated)
	}
	return c.err == nil
}

// spend takes n bytes from the budget. Whoever drops what it read may give them back.
func (c *cursor) spend(n int64, field string) bool {
	if *c.budget < n {
		c.fail(field, fmt.Errorf("more than %d MiB before the events: %w", maxMeta>>20, event.ErrNotSupported))
		return false
	}
	*c.budget -= n
	return true
}

// maxString bounds a NUL-terminated string; names of events and clocks are short.
const maxString = 4096

// cstring reads to the next NUL.
func (c *cursor) cstring(field string) string {
	var out []byte
	for c.err == nil {
		chunk := c.buf[:min(int64(len(c.buf)), max(c.size-c.off, 1))]
		start := c.off
		if !c.read(chunk, field) {
			return ""
		}
		if i := bytes.IndexByte(chunk, 0); i >= 0 {
			// What was read behind the NUL belongs to the next field.
			c.off = start + int64(i) + 1
			return string(append(out, chunk[:i]...))
		}
		if out = append(out, chunk...); len(out) > maxString {
			c.fail(field, event.ErrCorrupt)
		}
	}
	return ""
}

// expect reads text and fails if it is not there.
func (c *cursor) expect(text, field string) {
	start := c.off
	b := make([]byte, len(text))
	if c.read(b, field) && string(b) != text {
		c.off = start
		c.fail(field, event.ErrCorrupt)
	}
}
