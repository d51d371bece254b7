package tracedat

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sysinfo"
)

// The options of trace-cmd.dat.v7(5) that are read; others are skipped.
const (
	optDone         = 0
	optDate         = 1
	optCPUStat      = 2
	optBuffer       = 3
	optTraceClock   = 4
	optUname        = 5
	optOffset       = 7
	optCPUCount     = 8
	optVersion      = 9
	optTSC2NSec     = 14
	optHeaderInfo   = 16
	optFtraceEvents = 17
	optEventFormats = 18
	optKallsyms     = 19
	optPrintk       = 20
	optCmdlines     = 21
	optBufferText   = 22
	lastKnownOption = 25

	// optTGIDs is Writer's own, far from what trace-cmd will hand out soon: the processes
	// of tasks, for which trace.dat has no place. trace-cmd passes over it without a word.
	optTGIDs = 0x7467

	// optSysinfo is the second one: the snapshot of the machine, as sysinfo.Pack makes it.
	optSysinfo = 0x7379
)

// readOptions reads options from c up to DONE and returns the offset in a version 7 DONE,
// 0 if no further section follows. Options with offsets point into file.
func (f *File) readOptions(c, file *cursor, pageSize uint32) int64 {
	v7 := f.codec != nil // only version 7 names a compression, "none" included
	for c.err == nil {
		id := c.u16("option id")
		if id == optDone && !v7 {
			return 0
		}
		size := c.u32("option size")
		data := c.bytes(uint64(size), "option data")
		if c.err != nil {
			return 0
		}
		*c.budget += int64(size) // dropped before the next one is read
		sub := c.over(data)
		if id == optDone {
			return sub.offset("next options")
		}
		f.readOption(file, id, data, sub, pageSize)
	}
	return 0
}

// readOption takes one option; sub reads its data.
func (f *File) readOption(file *cursor, id uint16, data []byte, sub *cursor, pageSize uint32) {
	switch id {
	case optDate, optOffset: // host and guest corrections (TIME_SHIFT) are not applied
		f.clock.shift(id, cutNUL(data))
	case optTSC2NSec: // its offset is not used by trace-cmd report either
		f.clock.mult, f.clock.rshift = uint64(sub.u32("mult")), sub.u32("shift")
	case optTraceClock:
		if text := cutNUL(data); text != "" {
			f.info.Clock = currentClock(text)
		}
	case optUname:
		f.readUname(cutNUL(data))
	case optVersion:
		f.info.Commands = append(f.info.Commands, "trace-cmd "+cutNUL(data))
	case optCPUStat:
		f.readCPUStat(cutNUL(data))
	case optCPUCount:
		if len(data) != 4 {
			f.readTGIDs(data)
		} else if n := sub.u32("CPU count"); n <= maxCPUs {
			f.info.CPUs = int(n)
		}
	case optTGIDs:
		f.readTGIDs(data)
	case optSysinfo:
		f.readSnapshot(data)
	case optBuffer:
		f.readBufferOption(file, sub, pageSize)
	case optBufferText:
		f.diagnose("unknown_option", 1, "a buffer of text (latency tracer) is left out")
	case optHeaderInfo, optFtraceEvents, optEventFormats, optKallsyms, optPrintk, optCmdlines:
		if f.codec != nil {
			f.readPart(file, id, sub.offset("section offset"))
		}
	default:
		// Known ones without use here (hooks, memory maps, guests …) are no news.
		if id > lastKnownOption {
			f.diagnose("unknown_option", 1, fmt.Sprintf("option %d is left out", id))
		}
	}
	if sub.err != nil {
		f.diagnose("corrupt_option", 1, fmt.Sprintf("option %d: %v", id, sub.err))
	}
}

// readUname reads "Linux node 6.1.0-50-rt-amd64 x86_64".
func (f *File) readUname(text string) {
	// The name of the node is one word; the version, which has blanks, is left out.
	if words := strings.Fields(text); len(words) >= 4 {
		f.info.Kernel, f.info.Machine = words[2], words[len(words)-1]
	}
}

// readTGIDs reads lines of "tid tgid". A changed trace-cmd used id 8 for them before
// trace-cmd itself assigned it to the number of CPUs.
func (f *File) readTGIDs(data []byte) {
	tgids := map[event.PID]event.PID{}
	for line := range strings.SplitSeq(cutNUL(data), "\n") {
		var tid, tgid event.PID
		if n, err := fmt.Sscanf(line, "%d %d", &tid, &tgid); n == 2 && err == nil && tid >= 0 && tgid >= 0 {
			tgids[tid] = tgid
		} else if line != "" {
			f.diagnose("unknown_option", 1, fmt.Sprintf("an option of %d bytes is neither a CPU count nor a table of processes", len(data)))
			return
		}
	}
	f.info.TGIDs = tgids
}

// readSnapshot reads what the machine was. Without it the events can still be read.
func (f *File) readSnapshot(data []byte) {
	if f.snapshotSeen { // each may unpack to much more than it is
		f.diagnose("unknown_option", 1, "a second snapshot of the machine is left out")
		return
	}
	s, err := sysinfo.Unpack(data)
	if err != nil {
		f.diagnose("sysinfo", 1, "the snapshot of the machine is left out: "+err.Error())
	}
	f.snapshot, f.snapshotSeen = s, true
}

// readCPUStat notes events that the kernel itself counted as lost: those that were
// overwritten before the first page carry no mark in the data.
func (f *File) readCPUStat(text string) {
	// The option repeats per_cpu/cpuN/stats of tracefs, one CPU each.
	cpu, events := "", int64(0)
	for line := range strings.SplitSeq(text, "\n") {
		// Lines without a number ("oldest event ts: 4.62") are of no use here.
		key, value, _ := strings.Cut(line, ":")
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil {
			continue
		}
		switch key = strings.TrimSpace(key); key {
		case "CPU":
			cpu = strings.TrimSpace(value)
		case "entries", "read events":
			events += n
		case "overrun":
			if n > 0 {
				f.diagnose("overrun", n, "CPU "+cpu+": overwritten before they were read, counted by the kernel")
			}
		case "commit overrun", "dropped events":
			if n > 0 {
				f.diagnose("lost_events", n, "CPU "+cpu+": "+key+" counted by the kernel")
			}
		}
	}
	if id, err := strconv.ParseInt(cpu, 10, 16); err == nil && events > 0 && len(f.active) < maxCPUs {
		f.active = append(f.active, event.CPU(id))
	}
}

// readBufferOption reads a BUFFER option, which differs between the versions.
func (f *File) readBufferOption(file, sub *cursor, pageSize uint32) {
	// Each buffer is a stream that may be asked for; a hostile file names thousands.
	if len(f.buffers) >= maxBuffers {
		f.diagnose("unknown_option", 1, "more ring buffers than supported")
		return
	}
	b := buffer{pageSize: pageSize}
	b.table = sub.offset("offset of buffer")
	b.name = sub.cstring("buffer name")
	if f.codec == nil { // version 6 has the rest where the offset points
		if sub.err == nil {
			f.buffers = append(f.buffers, b)
		}
		return
	}
	b.clock = sub.cstring("buffer clock")
	b.pageSize = sub.u32("buffer page size")
	// Whether the data is compressed stands in the head of its section only.
	head := file.sub(b.table, f.size)
	s := readSection(head)
	b.compressed = s.compressed()
	if head.err != nil {
		f.diagnose("truncated", 1, fmt.Sprintf("buffer %q: %v", b.name, head.err))
	}
	for n := sub.u32("number of CPUs"); n > 0 && sub.err == nil; n-- {
		cpu := cpuData{id: event.CPU(sub.u32("CPU")), off: sub.offset("offset of CPU data"), size: sub.offset("size of CPU data")}
		if sub.err == nil {
			f.addCPU(&b, cpu)
		}
	}
	f.buffers = append(f.buffers, b)
}

// cutNUL returns the text before the first NUL.
func cutNUL(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
