package tracedat

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace/eventformat"
)

// readV6 reads the rest of a version 6 file, whose parts stand in a fixed order.
func (f *File) readV6(c *cursor, pageSize uint32) error {
	// Errors stick to the cursor, so one look behind several parts is enough.
	f.readHeaderInfo(c)
	f.readFtraceFormats(c)
	f.readEventFormats(c)
	if c.err != nil {
		return c.err
	}
	f.placeKallsyms(c)
	f.readPrintk(c)
	f.readCmdlines(c)
	cpus := c.u32("number of CPUs")
	if cpus > maxCPUs {
		c.fail("number of CPUs", event.ErrCorrupt)
	}
	f.info.CPUs = int(cpus)
	c.expect("options  \x00", "options")
	f.readOptions(c, c, pageSize)
	if c.err != nil {
		return c.err
	}
	// One size for all buffers here: sub-buffers of other sizes came with version 7.
	main := buffer{pageSize: pageSize}
	f.readFlyrecord(c, int(cpus), &main)
	if c.err != nil {
		return c.err
	}
	// trace-cmd writes the clocks behind the table since 2.2; the manual does not say so.
	if n := c.u64("size of trace clock"); c.err == nil && n < maxString {
		if text := c.bytes(n, "trace clock"); c.err == nil {
			main.clock = currentClock(cutNUL(text))
		}
	}
	// The options, with the instances in them, stand in front of the main buffer's table.
	f.buffers = append([]buffer{main}, f.buffers...)
	return f.readInstancesV6(c, int(cpus))
}

// placeKallsyms notes where kallsyms are, and skips them.
func (f *File) placeKallsyms(c *cursor) {
	size := uint64(c.u32("size of kallsyms"))
	start := *c // a copy that stays there
	c.skip(size, "kallsyms")
	if c.err != nil {
		return
	}
	f.symbols = eventformat.NewSymbols(func() []byte {
		// Read long after the head: with a budget of its own.
		budget := int64(maxMeta)
		start.budget = &budget
		return start.bytes(size, "kallsyms")
	})
}

// readFlyrecord reads the table of the CPUs' data: in version 6 the CPU's number is its
// place.
func (f *File) readFlyrecord(c *cursor, cpus int, b *buffer) {
	kind := make([]byte, 10)
	if !c.read(kind, "kind of trace data") {
		return
	}
	// Padded to ten bytes with blanks and a NUL.
	switch string(kind) {
	case "flyrecord\x00":
	case "latency  \x00":
		c.fail("kind of trace data", errLatency)
		return
	default:
		c.fail("kind of trace data", event.ErrCorrupt)
		return
	}
	for id := range cpus {
		off, size := c.offset("offset of CPU data"), c.offset("size of CPU data")
		if c.err != nil {
			return
		}
		f.addCPU(b, cpuData{id: event.CPU(id), off: off, size: size})
	}
}

// readInstancesV6 reads the tables of the instances, to which the BUFFER options point.
func (f *File) readInstancesV6(c *cursor, cpus int) error {
	for i := range f.buffers {
		b := &f.buffers[i]
		if b.table == 0 {
			continue
		}
		// The tables stand somewhere behind: an instance whose table is cut off costs only
		// itself.
		sub := c.sub(b.table, f.size)
		f.readFlyrecord(sub, cpus, b)
		if sub.err != nil {
			f.diagnose("truncated", 1, "instance "+b.name+": "+sub.err.Error())
		}
	}
	return nil
}
