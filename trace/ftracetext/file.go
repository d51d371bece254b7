package ftracetext

import (
	"fmt"
	"io"

	"github.com/whylate/whylate/event"
)

// maxHead bounds how far Open looks for the first event.
const maxHead = 16 << 20

// File is an opened text trace; it implements event.Source.
type File struct {
	r     io.ReaderAt
	size  int64
	names *event.Names
	head  header
	info  event.Info
	diags []event.Diagnostic // about the header; each stream repeats them
	texts textBudget
	state stateTable
}

// Open reads the header of a text trace of size bytes. It interns into names, and does
// not close r. The error is an *event.FormatError with a line number if no line is
// understood.
func Open(r io.ReaderAt, size int64, names *event.Names) (*File, error) {
	f := &File{r: r, size: size, names: names, texts: textBudget{left: maxTexts}}
	p := newProbe()
	p.html.page = f.isPage()
	lines := lineReader{r: r, size: size}
	// Only the header is read here, and with it the first event, which shows the columns.
	for !p.found && lines.off-int64(len(lines.buf)-lines.pos) < maxHead {
		line, err := lines.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading the header: %w", err)
		}
		p.line(line)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	f.head = p.header
	f.head.html.inside = false // each stream begins at the first line again
	f.diagnoseHeader(&p)
	f.fillInfo()
	return f, f.findStates()
}

// isPage looks at the first bytes. An error shows again when the header is read.
func (f *File) isPage() bool {
	head := make([]byte, min(f.size, 512))
	n, _ := f.r.ReadAt(head, 0)
	return isPage(head[:n])
}

// Info says what the header says. Comms and TGIDs are empty: a text has them on its lines.
func (f *File) Info() *event.Info { return &f.info }

// Names resolves the names of the events.
func (f *File) Names() *event.Names { return f.names }

// Latency is the header of a latency trace, nil for other files.
func (f *File) Latency() *Latency { return f.head.latency }

// Layout has the flag columns of the file, from its legend or inferred.
func (f *File) Layout() Layout { return f.head.layout }

// Close does nothing: the caller owns the reader.
func (f *File) Close() error { return nil }

// Events starts at the first event.
func (f *File) Events(opt event.Options) (event.Stream, error) {
	return newStream(f, opt), nil
}

// rawIntegers is the name of a clock whose stamps are printed as they are.
const rawIntegers = "raw integers"

func (f *File) fillInfo() {
	h := &f.head
	f.info = event.Info{Format: h.dialect.String(), CPUs: h.cpus, Resolution: h.resolution,
		Kernel: h.kernel, Machine: h.machine, Clock: h.clock}
	if h.latency != nil {
		f.info.Kernel = h.latency.Kernel
	}
	if h.html.page {
		f.info.Format = "systrace HTML"
	}
	if p := h.perf; h.dialect == dialectPerf {
		f.info.Kernel, f.info.Machine, f.info.Events = p.kernel, p.machine, p.events
		if p.command != "" {
			f.info.Commands = []string{p.command}
		}
	}
	if h.rawClock {
		f.info.Clock = rawIntegers
	}
}

// diagnoseHeader says what the header leaves to guess, or to miss.
func (f *File) diagnoseHeader(p *probe) {
	h := &f.head
	// The kernel counts what it overwrote only as a sum, so there is no gap to show: the
	// trace simply begins later.
	if h.written > h.inBuffer && h.inBuffer >= 0 {
		f.diags = event.Diagnose(f.diags, "lost_events", h.written-h.inBuffer,
			"overwritten before the first event of the trace: the buffer was too small")
	}
	if !h.legend && h.layout.n > 0 {
		f.diags = event.Diagnose(f.diags, "inferred", 1, fmt.Sprintf(
			"no legend of the flag columns: %d columns taken for those of kernels that print as many", h.layout.n))
	}
	if p.widthUnknown > 0 {
		f.diags = event.Diagnose(f.diags, "flags", 1,
			fmt.Sprintf("no legend of the flag columns and %d of them: flags not read", p.widthUnknown))
	}
	// A Writer was given stamps without a unit, and has no other way to say so.
	if h.rawClock || h.clock == "counter" || h.clock == rawIntegers {
		f.diags = event.Diagnose(f.diags, "clock", 1, "stamps are integers without a unit (trace clock counter or x86-tsc): "+
			"all lengths are in that unit, not in ns; record with `trace-cmd record -C mono`")
	}
}
