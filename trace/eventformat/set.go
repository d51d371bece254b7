package eventformat

import (
	"fmt"
	"sync"

	"github.com/whylate/whylate/event"
)

// maxFormats bounds how many formats a Set takes: common_type has 16 bits.
const maxFormats = 1 << 16

// Set holds the formats of a trace by common_type. It is safe for concurrent use once
// all formats are added.
type Set struct {
	BigEndian bool
	LongSize  int // of the kernel, 4 or 8

	entries []entry
	byID    []int32 // index into entries + 1

	mu sync.Mutex // guards entry.format
}

// entry is one format, as text until somebody asks for it.
type entry struct {
	system, name string
	kind         event.Kind
	id           int
	text         []byte
	format       *Format
	err          error
}

// Add takes a format file; text is kept. A second format with the same id replaces the
// first. The error is a *event.FormatError.
func (s *Set) Add(system string, text []byte) error {
	name, id, ok := header(text)
	if !ok {
		return &event.FormatError{Format: "event format", Offset: 1, Line: true, Field: system + ": name and ID", Err: event.ErrCorrupt}
	}
	if len(s.entries) >= maxFormats {
		return &event.FormatError{Format: "event format", Offset: 1, Line: true, Field: system, Err: fmt.Errorf("more than %d: %w", maxFormats, event.ErrNotSupported)}
	}
	for len(s.byID) <= id { // at most 65,536: header reads 16 bits
		s.byID = append(s.byID, 0)
	}
	s.entries = append(s.entries, entry{system: system, name: string(name), kind: kindOf(system, name), id: id, text: text})
	s.byID[id] = int32(len(s.entries))
	return nil
}

// Len is one more than the highest id.
func (s *Set) Len() int { return len(s.byID) }

// Kind is the kind of the event with common_type id; false if the trace does not
// describe it.
func (s *Set) Kind(id int) (event.Kind, bool) {
	e := s.entry(id)
	if e == nil {
		return event.Other, false
	}
	return e.kind, true
}

// Names lists the names of all described events in the order they were added.
func (s *Set) Names() []string {
	names := make([]string, 0, len(s.entries))
	for i := range s.entries {
		if e := &s.entries[i]; s.entry(e.id) == e {
			names = append(names, e.name)
		}
	}
	return names
}

// Format parses the format with common_type id at the first call; nil, nil if the trace
// does not describe it.
func (s *Set) Format(id int) (*Format, error) {
	e := s.entry(id)
	if e == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.format == nil && e.err == nil {
		e.format, e.err = Parse(e.system, e.text, s.LongSize)
	}
	return e.format, e.err
}

// common returns a format that has common_type, by which records are told apart; every
// format of a trace starts with the same common fields.
func (s *Set) common() (*Format, error) {
	for i := range s.entries {
		f, err := s.Format(s.entries[i].id)
		if err != nil {
			continue
		}
		if field := f.Field("common_type"); field != nil && field.Size == 2 {
			return f, nil
		}
	}
	return nil, &event.FormatError{Format: "event format", Offset: 1, Line: true, Field: "common_type", Err: event.ErrCorrupt}
}

// entry finds a format by id, nil if there is none.
func (s *Set) entry(id int) *entry {
	if id < 0 || id >= len(s.byID) || s.byID[id] == 0 {
		return nil
	}
	return &s.entries[s.byID[id]-1]
}

// ownSystem has the events that a writer of traces could not interpret, each as a text.
const ownSystem = "whylate"

// kindOf interprets an event by its name, unless its subsystem is one in which users
// choose names freely.
func kindOf(system string, name []byte) event.Kind {
	switch system {
	// Where users choose names, an event called sched_switch need not be one.
	case "kprobes", "uprobes", "fprobes", "eprobes", "synthetic", "user_events", ownSystem:
		return event.Other
	case "ftrace":
		if string(name) == "bputs" { // trace_puts
			return event.Print
		}
	case "syscalls":
		switch {
		case hasPrefix(name, "sys_enter"):
			return event.SysEnter
		case hasPrefix(name, "sys_exit"):
			return event.SysExit
		}
	}
	return event.KindOf(name)
}

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}
