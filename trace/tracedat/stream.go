package tracedat

import (
	"io"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/trace/eventformat"
	"github.com/whylate/whylate/trace/ringbuf"
)

// stream merges the CPUs of one ring buffer.
type stream struct {
	file     *File
	names    *event.Names
	layout   ringbuf.Layout
	clock    clock
	pageSize int
	decoder  *eventformat.Decoder
	skip     []bool // by common_type: kinds that are not wanted; the last for all others
	diags    []event.Diagnostic
	all      []*cpuStream
	heap     []*cpuStream // those with a record, the earliest first
	event    event.Event
	behind   bool  // the first of the heap was delivered and has to move on
	passed   int64 // records that nobody wanted

	done, total int64
	report      func(done, total int64)
}

// stream starts reading a buffer.
func (f *File) stream(b *buffer, o event.Options) (*stream, error) {
	if b.pageSize < 64 || b.pageSize > maxPageSize || !f.layout.Valid(int(b.pageSize)) {
		return nil, &event.FormatError{Format: f.info.Format, Offset: b.table, Field: "page size", Err: event.ErrCorrupt}
	}
	var symbols eventformat.Symbolizer // a nil *Symbols in it would not be nil
	if f.symbols != nil {
		symbols = f.symbols
	}
	d, err := f.formats.NewDecoder(eventformat.Context{Names: f.names, Bits: commonBits(f.info.Kernel), Comms: f.info.Comms,
		TGIDs: f.info.TGIDs, Symbols: symbols, Strings: f.strings, OtherText: o.OtherText})
	if err != nil {
		return nil, err
	}
	s := &stream{file: f, names: f.names, layout: f.layout, clock: f.clock, pageSize: int(b.pageSize), decoder: d, report: o.Progress}
	s.diags = append(s.diags, f.diags...)
	// Events that nobody wants are passed over by their type, without decoding.
	s.skip = make([]bool, f.formats.Len()+1)
	for id := range s.skip {
		kind, _ := f.formats.Kind(id)
		s.skip[id] = !o.Want.Has(kind)
	}
	for _, cpu := range b.cpus {
		s.total += cpu.size
	}
	f.open[s] = true
	for _, cpu := range b.cpus {
		s.start(f, b, cpu)
	}
	for _, c := range s.all {
		if c.advance() {
			s.heap = append(s.heap, c)
		}
	}
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.sift(i)
	}
	return s, nil
}

// commonBits is what the kernel of the trace is known to mean by the bits that no format
// describes. Of an unknown kernel it assumes a recent one: there a depth above 15, which
// no healthy kernel reaches, is always migrate_disable.
func commonBits(release string) eventformat.CommonBits {
	f := kernel.Of(release).Flags
	return eventformat.CommonBits{LazyWithCount: f.LazyBitWithCount, Lazy: f.LazyBit, MigrateDisable: f.MigrateDisable != kernel.No}
}

// start begins to read the data of one CPU.
func (s *stream) start(f *File, b *buffer, cpu cpuData) {
	var r blockReader
	if b.compressed {
		r = newPackedBlocks(f, cpu, blockSize(len(b.cpus)), chunkLimit(len(b.cpus)))
	} else {
		r = newRawBlocks(f.r, cpu, blockSize(len(b.cpus)), s.pageSize)
	}
	s.all = append(s.all, &cpuStream{s: s, id: cpu.id, ahead: newAhead(r), last: event.NoTime, cut: cpu.cut})
}

// chunkLimit keeps what all CPUs together hold in memory bounded, whatever sizes a file
// claims. trace-cmd's chunks are ten pages: with the limit's smallest value, which only
// machines with 2,700 CPUs reach, 40 KiB.
func chunkLimit(cpus int) int {
	const all = 512 << 20
	return min(max(all/inFlight/max(cpus, 1), 64<<10), maxChunk)
}

// Names resolves the names of the events.
func (s *stream) Names() *event.Names { return s.names }

// Diagnostics includes those of opening the file.
func (s *stream) Diagnostics() []event.Diagnostic { return s.diags }

// PassedOver counts records whose kind is not wanted; see event.Counter.
func (s *stream) PassedOver() int64 { return s.passed }

func (s *stream) diagnose(kind string, count int64, text string) {
	s.diags = event.Diagnose(s.diags, kind, count, text)
}

// progress counts the bytes of a block that is done.
func (s *stream) progress(n int64) {
	s.done += n
	if s.report != nil && n > 0 {
		s.report(s.done, s.total)
	}
}

// wanted reports whether a record is of a wanted kind; types that the trace does not
// describe are of kind Other.
func (s *stream) wanted(rec []byte) bool {
	return !s.skip[min(uint(s.decoder.Type(rec)), uint(len(s.skip)-1))]
}

// Next returns the next event.
func (s *stream) Next() (*event.Event, error) {
	// The record behind the event of the last call is released only now: until then the
	// event could be looked at, and its page must not be reused.
	if s.behind {
		s.behind = false
		if s.heap[0].advance() {
			s.sift(0)
		} else {
			s.drop()
		}
	}
	if len(s.heap) == 0 {
		return nil, io.EOF
	}
	c := s.heap[0]
	if c.gap {
		s.gap(c)
		return &s.event, nil
	}
	if err := s.decoder.Decode(&s.event, c.rec); err != nil {
		s.diagnose("corrupt_record", 1, err.Error())
	}
	s.event.Time, s.event.CPU = c.time, c.id
	s.behind = true
	return &s.event, nil
}

// gap makes the event that stands for lost ones; the record behind it comes next, if it
// is wanted.
func (s *stream) gap(c *cpuStream) {
	s.event.Reset()
	s.event.Kind, s.event.CPU, s.event.PID = event.Gap, c.id, event.NoPID
	s.event.Time, s.event.From, s.event.Arg = c.time, c.last, c.lost
	// The record itself is still to come, unless it is not wanted or there is none.
	c.gap, c.lost, c.last = false, 0, c.time
	if s.behind = c.rec == nil || !s.wanted(c.rec); s.behind && c.rec != nil {
		s.passed++
	}
}

// drop takes the first CPU out of the heap.
func (s *stream) drop() {
	last := len(s.heap) - 1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	if last > 0 {
		s.sift(0)
	}
}

// sift restores the heap below i.
func (s *stream) sift(i int) {
	h := s.heap
	c := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if right := child + 1; right < len(h) && before(h[right], h[child]) {
			child = right
		}
		if !before(h[child], c) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = c
}

// before is the order of the stream: time, then CPU.
func before(a, b *cpuStream) bool {
	return a.time < b.time || a.time == b.time && a.id < b.id
}

// Close stops the readers and returns when none of them uses the file any more.
func (s *stream) Close() error {
	for _, c := range s.all {
		c.ahead.stop()
	}
	for _, c := range s.all {
		c.ahead.wait()
	}
	s.all, s.heap, s.behind = nil, nil, false
	delete(s.file.open, s)
	return nil
}
