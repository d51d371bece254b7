package tracedat

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/trace/eventformat"
	"github.com/whylate/whylate/trace/ringbuf"
)

// magic starts every trace.dat of any version; the version follows as text.
const magic = "\x17\x08\x44tracing"

// Sniff reports whether head, the first bytes of a file (16 are enough), are those of a
// trace.dat that this package may read.
func Sniff(head []byte) bool {
	rest, ok := bytes.CutPrefix(head, []byte(magic))
	return ok && len(rest) >= 2 && rest[0] >= '0' && rest[0] <= '9'
}

// File is an opened trace.dat. It is an event.Source for its main ring buffer; Buffer
// gives those of the instances.
type File struct {
	r    io.ReaderAt
	size int64

	names *event.Names
	// What the head of the file says.
	info  event.Info
	diags []event.Diagnostic
	// snapshot is nil where the file has none, or one that cannot be read.
	snapshot     *sysinfo.Snapshot
	snapshotSeen bool

	order   binary.ByteOrder
	layout  ringbuf.Layout
	formats eventformat.Set
	symbols *eventformat.Symbols
	strings eventformat.Strings
	codec   *codec
	clock   clock
	buffers []buffer
	active  []event.CPU // CPUs with events, as the kernel's statistics say
	open    map[*stream]bool
}

// Open reads the head of a trace.dat of size bytes. Names of tasks and functions are
// interned in names. The error is a *event.FormatError, or what r returned.
func Open(r io.ReaderAt, size int64, names *event.Names) (*File, error) {
	f := &File{r: r, size: size, names: names, order: binary.LittleEndian, open: map[*stream]bool{}}
	budget := int64(maxMeta)
	c := &cursor{r: r, size: size, order: f.order, format: "trace.dat", budget: &budget}
	c.expect(magic, "magic number")
	version := c.cstring("version")
	if c.err != nil {
		return nil, c.err
	}
	f.info.Format = "trace.dat v" + version
	c.format = f.info.Format
	if version != "6" && version != "7" {
		return nil, &event.FormatError{Format: "trace.dat", Offset: int64(len(magic)), Field: "version",
			Err: fmt.Errorf("version %q: %w", version, event.ErrNotSupported)}
	}
	if c.u8("byte order") == 1 {
		f.order, f.formats.BigEndian = binary.BigEndian, true
	}
	c.order = f.order
	// The file has the long of user space; header_page corrects it to the kernel's.
	userLong := c.u8("size of long")
	pageSize := c.u32("page size")
	f.formats.LongSize = int(userLong)
	read := f.readV6
	if version == "7" {
		read = f.readV7
	}
	if err := read(c, pageSize); err != nil {
		f.Close()
		return nil, err
	}
	f.finishInfo()
	return f, nil
}

// finishInfo fills what is known once all parts were read.
func (f *File) finishInfo() {
	f.info.Resolution = 1
	f.info.Events = f.formats.Names()
	for i := range f.buffers {
		b := &f.buffers[i]
		f.info.Buffers = append(f.info.Buffers, b.name)
		for _, cpu := range b.cpus {
			f.info.CPUs = max(f.info.CPUs, int(cpu.id)+1)
		}
	}
	if b := f.main(); b != nil && b.clock != "" {
		f.info.Clock = b.clock
	}
	if c := f.info.Clock; c == "counter" || c == "x86-tsc" && f.clock.mult == 0 {
		f.diagnose("clock", 1, "the trace clock "+c+" does not count nanoseconds: times and lengths are in its own units")
	}
}

// Info returns what the file says about itself.
func (f *File) Info() *event.Info { return &f.info }

// Snapshot is the machine at the time of the recording, nil where the file has none.
func (f *File) Snapshot() *sysinfo.Snapshot { return f.snapshot }

// Diagnostics says what was wrong with the head of the file. Streams repeat it.
func (f *File) Diagnostics() []event.Diagnostic { return f.diags }

// Close ends the streams that are still open and releases the decompressor; r stays open.
func (f *File) Close() error {
	for s := range f.open {
		s.Close()
	}
	if f.codec != nil {
		f.codec.close()
	}
	return nil
}

// main is the buffer without a name, else the first one; nil if there is none.
func (f *File) main() *buffer {
	for i := range f.buffers {
		if f.buffers[i].name == "" {
			return &f.buffers[i]
		}
	}
	if len(f.buffers) > 0 {
		return &f.buffers[0]
	}
	return nil
}

// Events streams the main buffer, merged over its CPUs.
func (f *File) Events(o event.Options) (event.Stream, error) {
	b := f.main()
	if b == nil {
		return nil, &event.FormatError{Format: f.info.Format, Offset: f.size, Field: "ring buffer", Err: event.ErrTruncated}
	}
	return f.stream(b, o)
}

// Buffer returns the ring buffer called name ("" for the main one) as a source of its
// own. Closing it does nothing: File owns all resources.
func (f *File) Buffer(name string) (event.Source, error) {
	for i := range f.buffers {
		if f.buffers[i].name == name {
			return &instance{f, &f.buffers[i], f.bufferInfo(&f.buffers[i])}, nil
		}
	}
	return nil, fmt.Errorf("no ring buffer %q in this trace, it has %q", name, strings.Join(f.info.Buffers, `", "`))
}

// bufferInfo is Info as seen from one buffer, which may have a clock of its own.
func (f *File) bufferInfo(b *buffer) event.Info {
	info := f.info
	if b.clock != "" {
		info.Clock = b.clock
	}
	return info
}

// instance is one ring buffer as an event.Source.
type instance struct {
	file *File
	b    *buffer
	info event.Info
}

// Closing an instance does nothing: its file has the resources.
func (i *instance) Info() *event.Info                            { return &i.info }
func (i *instance) Snapshot() *sysinfo.Snapshot                  { return i.file.snapshot }
func (i *instance) Events(o event.Options) (event.Stream, error) { return i.file.stream(i.b, o) }
func (i *instance) Close() error                                 { return nil }
func (f *File) diagnose(kind string, count int64, text string) {
	f.diags = event.Diagnose(f.diags, kind, count, text)
}
