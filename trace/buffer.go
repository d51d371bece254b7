package trace

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace/tracedat"
)

// Buffer is one ring buffer of a File as a source of its own: `trace-cmd record -B NAME`
// puts events into instances beside the main buffer. Its streams follow the rules of the
// File's, and count as such.
type Buffer struct {
	event.Source
	file *File
}

// Buffer returns the ring buffer called name, as listed in Info().Buffers; "" is the main
// one, which every format has. The error says which ones there are.
func (f *File) Buffer(name string) (*Buffer, error) {
	dat, ok := f.Source.(*tracedat.File)
	if !ok {
		if name == "" {
			return &Buffer{f.Source, f}, nil
		}
		return nil, fmt.Errorf("%s: no ring buffer %q: a file of the format %s has only one, without a name", f.in.name, name, f.Info().Format)
	}
	src, err := dat.Buffer(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.in.name, err)
	}
	return &Buffer{src, f}, nil
}

// Names resolves the names of the events of all buffers of the file.
func (b *Buffer) Names() *event.Names { return b.file.names }

// Events starts at the first event of the buffer; see File.Events.
func (b *Buffer) Events(opt event.Options) (event.Stream, error) {
	return b.file.stream(b.Source, opt)
}

// Close does nothing: the File has the resources.
func (b *Buffer) Close() error { return nil }
