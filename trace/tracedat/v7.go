package tracedat

import (
	"errors"
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace/eventformat"
)

// errLatency says that the file holds text and no ring buffer.
var errLatency = fmt.Errorf("latency trace (text); save it with trace-cmd report and read that: %w", event.ErrNotSupported)

// The flag of a section whose body is compressed.
const sectionCompressed = 1

// maxSections bounds how many option sections are chained.
const maxSections = 1024

// section is the head of a version 7 section.
type section struct {
	id, flags uint16
	body      int64 // file offset behind the head
	size      int64 // in the file
}

// compressed reports whether the body is.
func (s section) compressed() bool { return s.flags&sectionCompressed != 0 }

// readV7 reads the rest of a version 7 file: a chain of option sections that point to
// everything else.
func (f *File) readV7(c *cursor, pageSize uint32) error {
	name := c.cstring("compression")
	c.cstring("compression version")
	next := c.offset("offset of options")
	if c.err != nil {
		return c.err
	}
	var err error
	if f.codec, err = newCodec(name); err != nil {
		return err
	}
	seen := make(map[int64]bool)
	end := next // behind the last options that could be read
	for n := 0; next != 0; n++ {
		// A chain that bites its own tail would be read for ever.
		if seen[next] || n >= maxSections {
			return &event.FormatError{Format: c.format, Offset: next, Field: "next options", Err: event.ErrCorrupt}
		}
		seen[next] = true
		sub := c.sub(next, f.size)
		next, err = f.readOptionsSection(sub, pageSize)
		if err == nil {
			end = max(end, sub.off)
			continue
		}
		// Cut behind the formats: what data there is can still be found.
		if len(f.formats.Names()) == 0 || !errors.Is(err, event.ErrTruncated) {
			return err
		}
		f.diagnose("truncated", 1, err.Error())
		break
	}
	if f.layout.DataOffset == 0 {
		return &event.FormatError{Format: c.format, Offset: f.size, Field: "header_page", Err: event.ErrTruncated}
	}
	if len(f.buffers) == 0 {
		f.salvage(c, end, pageSize)
	}
	return nil
}

// readOptionsSection reads one section of options and returns where the next one is.
func (f *File) readOptionsSection(c *cursor, pageSize uint32) (int64, error) {
	s := readSection(c)
	body := f.openSection(c, s)
	if body.err != nil {
		return 0, body.err
	}
	next := f.readOptions(body, c, pageSize)
	c.off = s.body + s.size
	return next, body.err
}

// readSection reads the head of a section. Its name is not needed and in files of some
// versions wrong.
func readSection(c *cursor) section {
	var s section
	s.id = c.u16("section id")
	s.flags = c.u16("section flags")
	c.u32("section name")
	s.size = c.offset("section size")
	s.body = c.off
	return s
}

// openSection returns a cursor over the body of a section, decompressed if need be.
func (f *File) openSection(c *cursor, s section) *cursor {
	if c.err != nil {
		return c
	}
	if s.size > c.size-s.body {
		c.fail("section size", event.ErrTruncated)
		return c
	}
	if !s.compressed() {
		return c.sub(s.body, s.body+s.size)
	}
	packed, size := c.u32("compressed size"), c.u32("uncompressed size")
	if !c.spend(int64(size), "section") {
		return c
	}
	src := c.bytes(uint64(packed), "compressed section")
	if c.err != nil {
		return c
	}
	*c.budget += int64(packed) // src is dropped below
	data, err := f.codec.decompress(nil, src, int(size))
	if err != nil {
		c.fail("compressed section", err)
		return c
	}
	return c.over(data)
}

// readPart opens the section to which an option points and reads it. A part that is
// damaged is left out where the events can be read without it.
func (f *File) readPart(c *cursor, id uint16, off int64) {
	if id == optKallsyms {
		f.placeKallsymsV7(c, off)
		return
	}
	sub := c.sub(off, f.size)
	body := f.openSection(sub, readSection(sub))
	switch id {
	case optHeaderInfo:
		f.readHeaderInfo(body)
	case optFtraceEvents:
		f.readFtraceFormats(body)
	case optEventFormats:
		f.readEventFormats(body)
	case optPrintk:
		f.readPrintk(body)
	case optCmdlines:
		f.readCmdlines(body)
	}
	if body.err == nil {
		return
	}
	if id == optHeaderInfo { // without the layout of the pages nothing can be read
		c.fail("header section", body.err)
		return
	}
	f.diagnose("corrupt_section", 1, body.err.Error())
}

// placeKallsymsV7 leaves the section in the file until it is asked for.
func (f *File) placeKallsymsV7(c *cursor, off int64) {
	start := c.sub(off, f.size)
	f.symbols = eventformat.NewSymbols(func() []byte {
		budget := int64(maxMeta)
		start.budget = &budget
		body := f.openSection(start, readSection(start))
		return body.bytes(uint64(body.u32("size of kallsyms")), "kallsyms")
	})
}
