package eventformat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/whylate/whylate/event"
)

// shape is a layout made into offsets, with an id: one format file.
type shape struct {
	id      int
	system  string
	name    string
	layout  *layout
	variant variant
	size    int // of the fixed part
	ops     []encodeOp
}

// encodeOp fills one field.
type encodeOp struct {
	from      target
	off, size int
	value     uint64 // of a field that the event has nothing for
}

// variant says in what a record differs from the usual one of its event, since the event
// has less, or more. Such records get a format of their own.
type variant uint8

const (
	withoutFlags variant = 1 << iota // the trace did not tell the context
	special                          // see isSpecial
	allVariants  = withoutFlags | special
)

// shapeKey tells shapes of one kind apart where several events share it.
type shapeKey struct {
	kind    event.Kind
	name    event.Name
	variant variant
}

// recentShape answers for kinds whose events have several names, which rarely alternate.
type recentShape struct {
	key   shapeKey
	shape *shape
}

// isSpecial reports whether ev differs in the fields themselves.
func isSpecial(ev *event.Event) bool {
	switch ev.Kind {
	case event.SchedWakeup, event.SchedWakeupNew:
		return ev.Arg != 1 && ev.Arg != event.NoArg
	case event.SchedStatRuntime:
		return ev.Arg2 == event.NoArg
	case event.IRQDisable, event.IRQEnable, event.PreemptDisable, event.PreemptEnable:
		return ev.Func == 0
	}
	return false
}

// severalNames are the kinds that stand for more than one event.
var severalNames = event.Kinds(event.Other, event.VectorEntry, event.VectorExit, event.IPIRaise, event.SysEnter, event.SysExit,
	event.FuncEntry, event.Print)

// shape returns the shape of the record of ev.
func (e *Encoder) shape(ev *event.Event) *shape {
	var v variant
	if ev.Flags&event.FlagsKnown == 0 {
		v |= withoutFlags
	}
	if isSpecial(ev) {
		v |= special
	}
	if severalNames&(1<<ev.Kind) == 0 {
		s := e.plain[ev.Kind][v]
		if s == nil {
			s = e.add(ev.Kind, ev.Kind.String(), v)
			e.plain[ev.Kind][v] = s
		}
		return s
	}
	key := shapeKey{ev.Kind, ev.Name, v}
	r := &e.recent[ev.Kind]
	if r.shape == nil || r.key != key {
		*r = recentShape{key, e.namedShape(key)}
	}
	return r.shape
}

// maxNamed bounds the events with names of their own: a kernel has some two thousand. All
// further ones share the name of their kind.
const maxNamed = 1 << 12

// namedShape finds or makes the shape of an event whose kind has several.
func (e *Encoder) namedShape(key shapeKey) *shape {
	s := e.named[key]
	switch {
	case s != nil:
	case len(e.named) < maxNamed:
		s = e.addNamed(key)
		e.named[key] = s
	default:
		if s = e.plain[key.kind][key.variant]; s == nil {
			key.name = 0
			s = e.addNamed(key)
			e.plain[key.kind][key.variant] = s
		}
	}
	return s
}

// addNamed makes the shape of an event whose kind has several.
func (e *Encoder) addNamed(key shapeKey) *shape {
	name := cName(e.names.String(key.name))
	switch key.kind {
	case event.SysEnter, event.SysExit:
		if !strings.HasPrefix(name, key.kind.String()) {
			name = ""
		}
	case event.Print:
		if name != "bprint" && name != "bputs" {
			name = "print" // text traces call a marker by the function that writes it
		}
	default:
		// Another reader has to find the same kind by the name, in the system of the kind.
		if key.kind != event.Other && kindOf(layouts[key.kind].system, []byte(name)) != key.kind {
			name = ""
		}
	}
	if name == "" {
		name = key.kind.String()
	}
	// Two names may have become one; a second format of the same name would hide the first.
	// Seldom enough for a search: once for each name.
	for _, s := range e.shapes {
		if s.name == name && s.variant == key.variant && s.system == layoutOf(key.kind, name, key.variant).system {
			return s
		}
	}
	return e.add(key.kind, name, key.variant)
}

// layoutOf chooses the layout of an event.
func layoutOf(kind event.Kind, name string, v variant) *layout {
	switch {
	case v&special != 0 && kind == event.SchedStatRuntime:
		return &noVruntime
	case v&special != 0 && (kind == event.SchedWakeup || kind == event.SchedWakeupNew):
		return &successLayout
	case v&special != 0:
		return &noCallerLayout
	case name == "function":
		return &functionLayout
	case name == "bprint" && kind == event.Print:
		return &bprintLayout
	case name == "bputs" && kind == event.Print:
		return &bputsLayout
	case name == "ipi_send_cpu" && kind == event.IPIRaise:
		return &ipiSendLayout
	case name == "ipi_send_cpumask" && kind == event.IPIRaise:
		return &ipiMaskLayout
	case (kind == event.SysEnter || kind == event.SysExit) && name != kind.String():
		return &syscallLayout
	}
	return &layouts[kind]
}

// ftraceIDs are the numbers of the events of ftrace itself, which never change; enum
// trace_type in kernel/trace/trace.h. All others are handed out as the kernel boots.
var ftraceIDs = map[string]int{"function": 1, "print": 5, "bprint": 6, "funcgraph_exit": 10, "funcgraph_entry": 11, "bputs": 14}

// firstID is the first number of other events.
const firstID = 32

// add makes a shape: offsets as a C compiler gives them.
func (e *Encoder) add(kind event.Kind, name string, v variant) *shape {
	l := layoutOf(kind, name, v)
	s := &shape{id: firstID + len(e.shapes), system: l.system, name: name, layout: l, variant: v, size: e.commonSize()}
	if id, ok := ftraceIDs[name]; ok && l.system == "ftrace" && v == 0 {
		s.id = id
	}
	for _, c := range l.columns {
		// Padding in front of a wider field, as the kernel's structure has it.
		o := encodeOp{from: c.from, off: c.place(s.size), size: c.size}
		// Whose text it is: programs print the function in front, and our own text reader
		// tells markers from other messages by it.
		if c.from == toNothing && strings.HasSuffix(c.decl, " ip") {
			o.value = e.marker
			if name != "print" {
				o.value = e.printk
			}
		}
		s.size = o.off + c.size
		s.ops = append(s.ops, o)
	}
	s.size = (s.size + 3) &^ 3 // texts follow here, and records have whole words
	e.shapes = append(e.shapes, s)
	return s
}

// commonSize is where the fields of the event itself begin: a multiple of four.
func (e *Encoder) commonSize() int {
	if e.common.LazyCount {
		return 12
	}
	return 8
}

// FormatText is a format file.
type FormatText struct {
	System string
	Name   string
	ID     int
	Text   []byte
}

// Formats returns the formats of all records made so far, by system and id.
func (e *Encoder) Formats() []FormatText {
	var list []FormatText
	for _, s := range e.shapes {
		list = append(list, FormatText{s.system, s.name, s.id, e.formatText(s)})
	}
	slices.SortFunc(list, func(a, b FormatText) int {
		if c := strings.Compare(a.System, b.System); c != 0 {
			return c
		}
		return a.ID - b.ID
	})
	return list
}

// formatText writes a format file as events/*/*/format has it.
func (e *Encoder) formatText(s *shape) []byte {
	out := fmt.Appendf(nil, "name: %s\nID: %d\nformat:\n", s.name, s.id)
	field := func(decl string, off, size int, signed bool) {
		sign := 0
		if signed {
			sign = 1
		}
		out = fmt.Appendf(out, "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n", decl, off, size, sign)
	}
	field("unsigned short common_type", 0, 2, false)
	// The bytes stay there, so that common_pid has one place in all formats: programs look
	// it up in the first one only.
	if s.variant&withoutFlags == 0 {
		field("unsigned char common_flags", 2, 1, false)
		field("unsigned char common_preempt_count", 3, 1, false)
	}
	field("int common_pid", 4, 4, true)
	if e.common.LazyCount && s.variant&withoutFlags == 0 {
		field("unsigned char common_preempt_lazy_count", 8, 1, false)
	}
	out = append(out, '\n')
	args := ""
	for i, c := range s.layout.columns {
		field(c.decl, s.ops[i].off, c.size, c.signed)
		switch {
		case c.from == toState:
			args += ", " + e.states.print()
		case c.arg != "":
			args += ", " + c.arg
		}
	}
	return fmt.Appendf(out, "\nprint fmt: \"%s\"%s\n", s.layout.verbs, args)
}

// cName keeps of a name what the name of an event may have.
func cName(s string) string {
	const most = 63
	if len(s) > most {
		s = s[:most]
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, s)
}
