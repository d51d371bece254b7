package tracedat

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace/eventformat"
	"github.com/whylate/whylate/trace/ringbuf"
)

// The parts that v6 has one after the other and v7 in sections of their own look the
// same inside; they are read here.

// readHeaderInfo reads header_page and header_event.
func (f *File) readHeaderInfo(c *cursor) {
	c.expect("header_page\x00", "header_page")
	text := c.bytes(c.u64("header_page size"), "header_page")
	c.expect("header_event\x00", "header_event")
	c.skip(c.u64("header_event size"), "header_event")
	if c.err != nil {
		return
	}
	f.layout = ringbuf.Layout{BigEndian: f.formats.BigEndian, CommitOffset: 8, CommitSize: f.formats.LongSize, DataOffset: 8 + f.formats.LongSize}
	// Without the file the layout is that of a kernel with user space's long.
	if len(bytes.TrimSpace(text)) == 0 { // kernels before 2.6.30 have no such file
		return
	}
	h, err := eventformat.ParseHeaderPage(text)
	if err != nil {
		c.fail("header_page", err)
		return
	}
	f.layout.CommitOffset, f.layout.CommitSize, f.layout.DataOffset = h.CommitOffset, h.CommitSize, h.DataOffset
	f.formats.LongSize = h.CommitSize
}

// readFtraceFormats reads the formats of the subsystem ftrace.
func (f *File) readFtraceFormats(c *cursor) {
	f.readFormats(c, "ftrace", c.u32("number of ftrace events"))
}

// readEventFormats reads the formats of all other subsystems.
func (f *File) readEventFormats(c *cursor) {
	for n := c.u32("number of event systems"); n > 0 && c.err == nil; n-- {
		system := c.cstring("name of event system")
		f.readFormats(c, system, c.u32("number of events"))
	}
}

// readFormats reads the formats of one subsystem. One that cannot be read costs its
// events their meaning, not the file.
func (f *File) readFormats(c *cursor, system string, n uint32) {
	for ; n > 0 && c.err == nil; n-- {
		text := c.bytes(c.u64("size of event format"), "event format")
		if c.err != nil {
			return
		}
		if err := f.formats.Add(system, text); err != nil {
			f.diagnose("format", 1, err.Error())
		}
	}
}

// readPrintk reads the constant texts of the kernel.
func (f *File) readPrintk(c *cursor) {
	if text := c.bytes(uint64(c.u32("size of printk formats")), "printk formats"); c.err == nil {
		f.strings = eventformat.ParseStrings(text)
	}
}

// readCmdlines reads lines of "pid name", the last names of tasks.
func (f *File) readCmdlines(c *cursor) {
	text := c.bytes(c.u64("size of command lines"), "command lines")
	if c.err != nil {
		return
	}
	// Idle tasks are not in the list; the kernel and trace-cmd print them so.
	f.info.Comms = map[event.PID]event.Name{0: f.names.Intern("<idle>")}
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		pid, name, ok := bytes.Cut(bytes.TrimLeft(line, " "), []byte{' '})
		n, err := strconv.ParseInt(string(pid), 10, 32)
		if !ok || err != nil || n < 0 || len(name) == 0 {
			continue
		}
		f.info.Comms[event.PID(n)] = f.names.InternBytes(name)
	}
}

// currentClock finds the clock in brackets in "[local] global counter …".
func currentClock(text string) string {
	_, rest, ok := strings.Cut(text, "[")
	if !ok {
		return strings.TrimSpace(text) // some writers give the name alone
	}
	name, _, _ := strings.Cut(rest, "]")
	return name
}
