package ftracetext

import (
	"bytes"

	"github.com/whylate/whylate/event"
)

// known is what the reader keeps about an event name.
type known struct {
	kind event.Kind
	name event.Name
}

// maxKnown bounds the event names kept: a kernel has some two thousand tracepoints.
const maxKnown = 4096

// lookup returns kind and interned name of the event called name.
func (s *stream) lookup(name []byte) known {
	if k, ok := s.events[string(name)]; ok {
		return k
	}
	// A hostile file has a new name on each line: those beyond the limit are not kept.
	k := known{kind: kindOf(name), name: s.cache.name(name)}
	if len(s.events) < maxKnown {
		s.events[string(name)] = k
	}
	return k
}

// kindOf is event.KindOf with the names that only text has.
func kindOf(name []byte) event.Kind {
	k := event.KindOf(name)
	if k != event.Other {
		return k
	}
	switch {
	case hasPrefix(name, "sys_enter_"):
		return event.SysEnter
	case hasPrefix(name, "sys_exit_"):
		return event.SysExit
	case string(name) == "bputs" || string(name) == "trace_marker":
		return event.Print
	case string(name) == "gap":
		return event.Gap
	}
	return event.Other
}

// splitEvent cuts "name: fields" of ftrace and trace-cmd. name is nil where the text has
// no name in front: the function tracer and others that print only their message.
func splitEvent(b []byte) (name, fields []byte) {
	if len(b) == 0 || isDigit(b[0]) {
		return nil, b
	}
	for i, c := range b {
		if c == ':' {
			if i == 0 || (i+1 < len(b) && b[i+1] != ' ' && b[i+1] != '\t') {
				return nil, b
			}
			return b[:i], trimLeft(b[i+1:])
		}
		if !nameByte(c) {
			return nil, b
		}
	}
	return nil, b
}

// nameByte reports whether c may stand in the name of an event or a function.
func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' || c == '.' || c == '-'
}

// splitPerfEvent cuts "[period] sys:name: fields" of perf script. Hardware events keep
// their modifiers ("cycles:uppp").
func splitPerfEvent(b []byte) (name, fields []byte) {
	token, rest := nextToken(b)
	// The period stands in front of the name: -F +period.
	if _, ok := number(token); ok && len(rest) > 0 {
		token, rest = nextToken(rest)
	}
	n := len(token)
	if n < 2 || token[n-1] != ':' {
		return nil, b
	}
	name = token[:n-1]
	if i := bytes.LastIndexByte(name, ':'); i >= 0 && !perfModifiers(name[i+1:]) {
		name = name[i+1:]
	}
	return name, trimLeft(rest)
}

// perfModifiers reports whether b is the modifiers of an event: u user, k kernel, p
// precise, and so on.
func perfModifiers(b []byte) bool {
	for _, c := range b {
		if bytes.IndexByte([]byte("ukhIGHpPSDWeb"), c) < 0 {
			return false
		}
	}
	return true
}
