package sysinfo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zlib"

	"github.com/whylate/whylate/event"
)

// Write writes the JSON of s, one line per task and the like; s itself stays as it is. The
// same snapshot gives the same bytes. An error is one of w, or says what makes no sense and
// could not be read again.
func Write(w io.Writer, s *Snapshot) error {
	text, err := s.text()
	if err != nil {
		return fmt.Errorf("writing a snapshot: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// text is the JSON.
func (s *Snapshot) text() ([]byte, error) {
	sorted := *s
	sorted.Settings, sorted.Features, sorted.CPUs = slices.Clone(s.Settings), slices.Clone(s.Features), slices.Clone(s.CPUs)
	sorted.Tasks, sorted.CGroups, sorted.IRQs = slices.Clone(s.Tasks), slices.Clone(s.CGroups), slices.Clone(s.IRQs)
	sorted.CFSRQs = slices.Clone(s.CFSRQs)
	sorted.Sort()
	if err := sorted.check(); err != nil {
		return nil, err
	}
	p := &printer{}
	p.key("schema", Schema)
	if s.TimeNS != nil {
		p.key("time_ns", *s.TimeNS)
	}
	if s.Kernel != (Kernel{}) {
		p.key("kernel", s.Kernel)
	}
	lines(p, "settings", sorted.Settings)
	lines(p, "features", sorted.Features)
	lines(p, "cpus", sorted.CPUs)
	lines(p, "tasks", sorted.Tasks)
	lines(p, "cgroups", sorted.CGroups)
	lines(p, "cfs_rqs", sorted.CFSRQs)
	lines(p, "irqs", sorted.IRQs)
	p.buf.WriteString("\n}\n")
	if p.err == nil && p.buf.Len() >= mostBytes {
		p.err = fmt.Errorf("%d bytes are more than %d MiB", p.buf.Len(), mostBytes>>20)
	}
	return p.buf.Bytes(), p.err
}

// printer writes an object key by key.
type printer struct {
	buf bytes.Buffer
	err error
}

func (p *printer) name(name string) {
	if p.buf.Len() == 0 {
		p.buf.WriteString("{\n")
	} else {
		p.buf.WriteString(",\n")
	}
	fmt.Fprintf(&p.buf, "  %q: ", name)
}

// value writes v on the line.
func (p *printer) value(v any) {
	e := json.NewEncoder(&p.buf)
	e.SetEscapeHTML(false) // names like <idle> stay readable
	if err := e.Encode(v); err != nil && p.err == nil {
		p.err = err
	}
	p.buf.Truncate(max(p.buf.Len()-1, 0)) // its line end
}

func (p *printer) key(name string, v any) {
	p.name(name)
	p.value(v)
}

// lines writes a list with a line for each element; an empty one is left out.
func lines[T any](p *printer, name string, list []T) {
	if len(list) == 0 {
		return
	}
	p.name(name)
	for i := range list {
		p.buf.WriteString([]string{"[\n    ", ",\n    "}[min(i, 1)])
		p.value(&list[i])
	}
	p.buf.WriteString("\n  ]")
}

// plain is up to which size a snapshot inside a trace is not compressed.
const plain = 512

// Pack is the form of s inside a trace: its JSON, compressed with zlib where it is long.
func Pack(s *Snapshot) ([]byte, error) {
	text, err := s.text()
	if err != nil || len(text) <= plain {
		return text, err
	}
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	if _, err = z.Write(text); err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("packing a snapshot: %w", err)
	}
	return out.Bytes(), nil
}

// Unpack reads what Pack made. The errors are those of Read, and event.ErrCorrupt for what was
// not packed by it.
func Unpack(data []byte) (*Snapshot, error) {
	if len(data) == 0 || data[0] == '{' {
		return Read(bytes.NewReader(data))
	}
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpacking a snapshot: %w: %w", err, event.ErrCorrupt)
	}
	defer z.Close()
	return Read(z)
}
