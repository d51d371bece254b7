package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/trace/ftracetext"
	"github.com/whylate/whylate/trace/tracedat"
)

// Writer takes the events of a trace in the order of a Stream and makes a file of them.
type Writer interface {
	// Write takes one event, which may be reused when it returns. After an error nothing
	// more is written.
	Write(ev *event.Event) error
	// SetSnapshot says what the machine of the recording was; nil: that is not known. It may be
	// called at any time before Close. The error tells what makes no sense in s.
	SetSnapshot(s *sysinfo.Snapshot) error
	// Close completes the file. A trace without it is not readable.
	Close() error
}

// output is a format that is written: by the end of the file's name, who writes it.
type output struct {
	ext string
	new func(w io.Writer, info event.Info, names *event.Names) Writer
}

var outputs = []output{
	{".dat", func(w io.Writer, info event.Info, names *event.Names) Writer {
		return tracedat.NewWriter(w, info, names)
	}},
	{".txt", NewText},
}

// NewText writes a trace as text to w, which stays open: for standard output, which only
// the program itself may use. A snapshot has no place there.
func NewText(w io.Writer, info event.Info, names *event.Names) Writer {
	return &text{ftracetext.NewWriter(w, info, names)}
}

// text is a trace in a form that other programs read line by line.
type text struct{ *ftracetext.Writer }

// SetSnapshot leaves s out: Create puts it beside the file.
func (*text) SetSnapshot(*sysinfo.Snapshot) error { return nil }

// packer makes a compressing writer; it names no time and no file, so the same events give
// the same bytes.
type packer struct {
	ext string
	new func(io.Writer) (io.WriteCloser, error)
}

var packers = []packer{
	{".gz", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.DefaultCompression) }},
	{".xz", func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }},
	// With several goroutines the frames would still be the same, but not the memory.
	{".zst", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) }},
}

// Create starts a trace at path, whose name tells the format: .dat for a trace.dat that
// trace-cmd opens (version 6), .txt for the text of tracefs with nanoseconds; .gz, .xz or
// .zst behind it compresses. A file that is there is overwritten. info is what readers
// will know of the trace beside its events, whose names are in names. A snapshot goes into a
// trace.dat, and of a text into the file SidecarOf(path).
func Create(path string, info event.Info, names *event.Names) (Writer, error) {
	format, pack, err := chooseOutput(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("creating the trace: %w", err)
	}
	c := &created{path: path, file: file}
	dst := io.Writer(file)
	if pack != nil {
		if c.packed, err = pack(file); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: preparing compression: %w", path, err), file.Close())
		}
		dst = c.packed
	}
	c.Writer = format(dst, info, names)
	return c, nil
}

// chooseOutput finds format and compression by the end of the name; pack is nil for none.
func chooseOutput(path string) (format func(io.Writer, event.Info, *event.Names) Writer, pack func(io.Writer) (io.WriteCloser, error), err error) {
	name := strings.ToLower(filepath.Base(path))
	for _, p := range packers {
		if rest, ok := strings.CutSuffix(name, p.ext); ok {
			name, pack = rest, p.new
			break
		}
	}
	for _, o := range outputs {
		if strings.HasSuffix(name, o.ext) {
			return o.new, pack, nil
		}
	}
	return nil, nil, fmt.Errorf("%s: the end of the name does not tell the format: .dat (trace-cmd) or .txt (text of tracefs), "+
		"and behind it .gz, .xz or .zst to compress", path)
}

// created is a trace in a file.
type created struct {
	Writer
	path   string
	packed io.WriteCloser // nil without compression
	file   *os.File
	snap   *sysinfo.Snapshot // inside, or in the sidecar of a text; nil: there will be none
}

// SetSnapshot keeps s for the place where the format has one.
func (c *created) SetSnapshot(s *sysinfo.Snapshot) error {
	c.snap = s
	if err := c.Writer.SetSnapshot(s); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	return nil
}

func (c *created) isText() bool {
	_, ok := c.Writer.(*text)
	return ok
}

// Write takes one event; its errors name the file.
func (c *created) Write(ev *event.Event) error {
	if err := c.Writer.Write(ev); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	return nil
}

// Close completes the file. Whatever fails, it is closed.
func (c *created) Close() error {
	err := c.Writer.Close()
	if c.packed != nil {
		err = errors.Join(err, c.packed.Close())
	}
	// Beside a trace.dat with a snapshot inside nobody looks at one.
	if c.isText() || c.snap == nil {
		err = errors.Join(err, writeSidecar(c.path, c.snap))
	}
	if err = errors.Join(err, c.file.Close()); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	return nil
}
