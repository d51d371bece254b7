package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sysinfo"
)

// Stdin is the path that stands for standard input. A file of that name is ./-.
const Stdin = "-"

const stdinName = "standard input"

// headSize is how much of a file the formats may look at to recognise it.
const headSize = 64 << 10

// File is an opened trace of any format; it implements event.Source. Its streams may be
// used one after the other, not at the same time.
type File struct {
	event.Source
	names *event.Names
	in    *input

	snapshot *sysinfo.Snapshot  // instead of the one inside; nil: that one
	told     []event.Diagnostic // of the snapshot
}

// Open opens the trace at path, or standard input for "-". Its errors say what to do:
// with a file that is not there, empty, a folder, of a format that is not read, damaged.
func Open(path string) (*File, error) {
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	f, err := openTrace(in)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", in.name, err), in.close())
	}
	f.findSidecar()
	return f, nil
}

// openTrace finds the format of in and opens it. A format that recognises the file but
// cannot read it decides: no other one is tried, its error is the useful one.
func openTrace(in *input) (*File, error) {
	if in.size == 0 {
		return nil, errors.New("the file is empty: nothing was recorded, or the recorder could not write")
	}
	head := make([]byte, min(in.size, headSize))
	if _, err := in.file.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading the first bytes: %w", err)
	}
	names := event.NewNames()
	for i := range formats {
		if !formats[i].sniff(head) {
			continue
		}
		src, err := formats[i].open(in.file, in.size, names)
		// The command in the message can be pasted.
		if e := (*notReadError)(nil); errors.As(err, &e) && in.name != stdinName {
			e.todo = strings.ReplaceAll(e.todo, "FILE", in.name)
		}
		if err != nil {
			return nil, err
		}
		return &File{Source: src, names: names, in: in}, nil
	}
	return nil, unknownFormat(head)
}

// Names resolves the names of the events of all streams of the file.
func (f *File) Names() *event.Names { return f.names }

// Events starts at the first event; see event.Source. The stream's diagnostics tell if the
// file was compressed and ended too early.
func (f *File) Events(opt event.Options) (event.Stream, error) {
	return f.stream(f.Source, opt)
}

// stream starts the events of src, the file or one of its buffers.
func (f *File) stream(src event.Source, opt event.Options) (event.Stream, error) {
	s, err := src.Events(opt)
	if err != nil || !f.in.cut && f.told == nil {
		return s, err
	}
	told := slices.Clone(f.told)
	if f.in.cut {
		told = event.Diagnose(told, "truncated", 1, "the compressed file ends too early: the end of the trace is missing")
	}
	return &toldStream{s, told}, nil
}

// toldStream adds diagnostics to a stream.
type toldStream struct {
	event.Stream
	told []event.Diagnostic
}

func (s *toldStream) Diagnostics() []event.Diagnostic {
	list := slices.Clone(s.Stream.Diagnostics())
	for _, d := range s.told {
		list = event.Diagnose(list, d.Kind, d.Count, d.Text)
	}
	return list
}

// PassedOver passes the answer of the stream on; see event.Counter.
func (s *toldStream) PassedOver() int64 { return event.PassedOver(s.Stream) }

// Close closes the file and removes what was spooled for it.
func (f *File) Close() error {
	return errors.Join(f.Source.Close(), f.in.close())
}

// openError makes the error of opening path one that says what to do.
func openError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no such file; use - to read standard input", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: not readable by this user (traces are often written by root): "+
			"sudo chown \"$USER\" %s", path, path)
	}
	return fmt.Errorf("opening the trace: %w", err)
}

// openInput opens path so that it can be read at any offset, decompressed. On failure
// nothing stays open.
func openInput(path string) (*input, error) {
	name, file := path, os.Stdin
	if path == Stdin {
		name = stdinName
	} else {
		var err error
		if file, err = os.Open(path); err != nil {
			return nil, openError(path, err)
		}
	}
	in := &input{name: name, file: file}
	if err := in.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), in.close())
	}
	return in, nil
}
