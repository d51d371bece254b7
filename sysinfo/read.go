package sysinfo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/whylate/whylate/event"
)

// Bounds of what a snapshot may hold: several times what the largest machines have.
const (
	mostBytes    = 64 << 20
	mostSettings = 1 << 14
	mostTasks    = 1 << 18
	mostCGroups  = 1 << 17
	mostCFSRQs   = 1 << 18
	mostIRQs     = 1 << 16
	mostText     = 4096    // of one name; PATH_MAX
	mostListed   = 4 << 20 // CPUs of all different lists together
)

// Read reads the JSON of a snapshot. Fields that it does not know are passed over, everything
// that it knows must make sense. The error is a *event.FormatError that says where, with
// event.ErrNotSupported inside for another schema, or what r returned.
func Read(r io.Reader) (*Snapshot, error) {
	limited := &io.LimitedReader{R: r, N: mostBytes}
	d := &reader{dec: json.NewDecoder(limited), s: &Snapshot{}, lists: map[string]CPUList{}}
	err := d.object()
	if err == nil {
		if d.schema == "" {
			err = d.fail("schema", fmt.Errorf("there is none: %w", event.ErrCorrupt))
		} else if t, more := d.dec.Token(); t != nil {
			err = d.fail("end", fmt.Errorf("something follows: %w", event.ErrCorrupt))
		} else if more != io.EOF {
			err = d.fail("end", more)
		}
	}
	if limited.N == 0 {
		return nil, d.fail("size", fmt.Errorf("more than %d MiB: %w", mostBytes>>20, event.ErrNotSupported))
	}
	if err != nil {
		return nil, err
	}
	d.s.Sort()
	if err := d.s.check(); err != nil {
		return nil, d.fail("snapshot", fmt.Errorf("%w: %w", err, event.ErrCorrupt))
	}
	return d.s, nil
}

// ReadFile reads the snapshot in the file at path.
func ReadFile(path string) (*Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the snapshot: %w", err)
	}
	s, err := Read(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// reader takes a snapshot apart as it comes, so that what a file claims to hold needs no
// memory before it is counted.
type reader struct {
	dec    *json.Decoder
	s      *Snapshot
	schema string
	seen   uint               // keys that came already, by bit
	lists  map[string]CPUList // lists of CPUs by their text: most tasks share one
	listed int
}

func (d *reader) fail(field string, err error) error {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = event.ErrTruncated
	case errors.As(err, &syntax), errors.As(err, &wrong):
		err = fmt.Errorf("%w: %w", err, event.ErrCorrupt)
	}
	return &event.FormatError{Format: "sysinfo", Offset: d.dec.InputOffset(), Field: field, Err: err}
}

// delim takes a bracket.
func (d *reader) delim(want json.Delim, field string) error {
	t, err := d.dec.Token()
	if err != nil {
		return d.fail(field, err)
	}
	if t != want {
		return d.fail(field, fmt.Errorf("%s is missing: %w", want, event.ErrCorrupt))
	}
	return nil
}

// object takes the whole snapshot.
func (d *reader) object() error {
	if err := d.delim('{', "snapshot"); err != nil {
		return err
	}
	for d.dec.More() {
		t, err := d.dec.Token()
		if err != nil {
			return d.fail("key", err)
		}
		key, _ := t.(string) // the decoder takes nothing else there
		if err := d.value(key); err != nil {
			return err
		}
	}
	return d.delim('}', "snapshot")
}

// keys are the parts of a snapshot, in the order in which they are written.
var keys = []string{"schema", "time_ns", "kernel", "settings", "features", "cpus", "tasks", "cgroups", "cfs_rqs", "irqs"}

// value takes the part called key.
func (d *reader) value(key string) error {
	for i, k := range keys {
		if k != key {
			continue
		}
		if d.seen&(1<<i) != 0 {
			return d.fail(key, fmt.Errorf("is there twice: %w", event.ErrCorrupt))
		}
		d.seen |= 1 << i
	}
	s := d.s
	switch key {
	case "schema":
		if err := d.dec.Decode(&d.schema); err != nil {
			return d.fail(key, err)
		}
		if d.schema != Schema {
			return d.fail(key, fmt.Errorf("%q instead of %s: %w", short(d.schema), Schema, event.ErrNotSupported))
		}
	case "time_ns":
		if err := d.dec.Decode(&s.TimeNS); err != nil {
			return d.fail(key, err)
		}
	case "kernel":
		if err := d.dec.Decode(&s.Kernel); err != nil {
			return d.fail(key, err)
		}
	case "settings":
		return list(d, key, mostSettings, &s.Settings, decode[Setting])
	case "features":
		return list(d, key, mostSettings, &s.Features, decode[Feature])
	case "cpus":
		return list(d, key, mostCPUs, &s.CPUs, (*reader).cpu)
	case "tasks":
		return list(d, key, mostTasks, &s.Tasks, (*reader).task)
	case "cgroups":
		return list(d, key, mostCGroups, &s.CGroups, (*reader).cgroup)
	case "cfs_rqs":
		return list(d, key, mostCFSRQs, &s.CFSRQs, decode[CFSRQ])
	case "irqs":
		return list(d, key, mostIRQs, &s.IRQs, (*reader).irq)
	default:
		var other json.RawMessage
		if err := d.dec.Decode(&other); err != nil {
			return d.fail(short(key), err)
		}
	}
	return nil
}

// list takes an array of at most most elements, or null.
func list[T any](d *reader, key string, most int, to *[]T, take func(*reader, *T) error) error {
	t, err := d.dec.Token()
	if err != nil {
		return d.fail(key, err)
	}
	if t == nil {
		return nil
	}
	if t != json.Delim('[') {
		return d.fail(key, fmt.Errorf("is no list: %w", event.ErrCorrupt))
	}
	for d.dec.More() {
		at := fmt.Sprintf("%s[%d]", key, len(*to))
		if len(*to) == most {
			return d.fail(at, fmt.Errorf("more than %d: %w", most, event.ErrNotSupported))
		}
		var one T
		if err := take(d, &one); err != nil {
			return d.fail(at, err)
		}
		*to = append(*to, one)
	}
	return d.delim(']', key)
}

func decode[T any](d *reader, to *T) error { return d.dec.Decode(to) }
