package ftracetext

import (
	"bytes"

	"github.com/whylate/whylate/event"
)

// dialect is who printed a file.
type dialect uint8

const (
	dialectUnknown dialect = iota
	dialectFtrace          // tracefs trace, trace_pipe
	dialectLatency         // tracefs with options/latency-format, the wakeup tracers
	dialectReport          // trace-cmd report
	dialectPerf            // perf script
)

func (d dialect) String() string {
	switch d {
	case dialectLatency:
		return "ftrace latency text"
	case dialectReport:
		return "trace-cmd report"
	case dialectPerf:
		return "perf script"
	}
	return "ftrace text"
}

// header is what the lines before the first event say.
type header struct {
	dialect    dialect
	tracer     string // "nop", "function", …; "" where no line says so; it names unnamed rows
	cpus       int
	inBuffer   int64 // entries-in-buffer; −1 unknown
	written    int64 // entries-written; −1 unknown
	layout     Layout
	legend     bool // layout was read from the file
	latency    *Latency
	resolution event.Time // 0: the file has no stamps
	rawClock   bool       // stamps are plain integers
	graph      bool       // function_graph's own layout
	perf       perfHeader
	html       htmlFilter

	kernel, machine, clock string // where a Writer of this package said so
}

// comment reads one line that begins with '#'. It reports whether the line is one that
// tracefs or perf writes; others are comments of people, and no reason to fail.
func (h *header) comment(line []byte) bool {
	b := bytes.TrimSpace(line[1:])
	if c, ok := legendColumn(line); ok {
		h.legend = true
		if c != colNone {
			h.layout.add(c)
		}
		return true
	}
	// Only tracefs writes this line, and always first.
	if v, ok := cutPrefix(b, "tracer: "); ok {
		h.tracer = string(v)
		h.dialect = dialectFtrace
		h.layout, h.legend = Layout{}, false // concatenated files start again
		return true
	}
	if v, ok := cutPrefix(b, "entries-in-buffer/entries-written: "); ok {
		h.entries(v)
		return true
	}
	// Its own columns instead of task and stamp; with funcgraph-abstime there are stamps.
	if hasPrefix(b, "CPU  DURATION") || hasPrefix(b, "TIME        CPU  DURATION") {
		h.graph = true
		return true
	}
	return h.writerComment(b) || h.latencyComment(b) || h.perfComment(b)
}

// writerComment reads what appendHeader writes and tracefs does not: without the kernel
// nobody can tell which mechanisms it has, without the clock what the stamps are.
func (h *header) writerComment(b []byte) bool {
	if v, ok := cutPrefix(b, "kernel: "); ok {
		release, rest := nextToken(v)
		h.kernel, h.machine = string(release), string(trimLeft(rest))
		return true
	}
	if v, ok := cutPrefix(b, "clock: "); ok {
		h.clock = string(v)
		return true
	}
	v, ok := cutPrefix(b, "CPUs: ")
	if n, isNumber := number(v); ok && isNumber && n > 0 && n <= maxCPU+1 {
		h.cpus = int(n)
	}
	return ok
}

// entries reads "7/7   #P:4".
func (h *header) entries(b []byte) {
	// Where one of the numbers cannot be read, neither is used: a difference would be wrong.
	a, i := digits(b, 0)
	if i == 0 || i >= len(b) || b[i] != '/' {
		return
	}
	w, j := digits(b, i+1)
	if j == i+1 {
		return
	}
	h.inBuffer, h.written = a, w
	// #P: is the number of online CPUs, not the highest number of one.
	if _, p, ok := cutLast(b[j:], "#P:"); ok {
		if n, k := digits(p, 0); k > 0 && n <= maxCPU+1 {
			h.cpus = int(n)
		}
	}
}

// reportLine reads the lines of `trace-cmd report` that are no events: "cpus=4",
// "version = 6", "CPU 1 is empty".
func (h *header) reportLine(b []byte) bool {
	if v, ok := cutPrefix(b, "cpus="); ok {
		if n, ok := number(v); ok && n > 0 && n <= maxCPU+1 {
			h.cpus = int(n)
			h.dialect = dialectReport
			return true
		}
	}
	if v, ok := cutPrefix(b, "version = "); ok {
		if _, ok := number(v); ok {
			h.dialect = dialectReport
			return true
		}
	}
	if v, ok := cutPrefix(b, "CPU "); ok && bytes.HasSuffix(v, []byte(" is empty")) {
		h.dialect = dialectReport
		return true
	}
	return false
}
