package eventformat

import (
	"encoding/binary"
	"fmt"

	"github.com/whylate/whylate/event"
)

// Encoder makes records of events: the inverse of Decoder, for writers of traces. The
// records are those of a 64-bit little-endian kernel. It notes which formats, functions
// and constant texts the records refer to; a file needs them all, and they are complete
// when the last record was made.
type Encoder struct {
	names  *event.Names
	common EncodeContext
	flags  [1 << 10]uint8 // common_flags by event.Flags
	states *stateBits

	shapes []*shape // in the order of their first use
	plain  [event.NumKinds][allVariants + 1]*shape
	named  map[shapeKey]*shape
	recent [event.NumKinds]recentShape

	comms     [1024]commText // what a record has for a name
	depths    [1024]depth    // by pid
	functions addresses
	texts     addresses
	marker    uint64 // address of the function that writes markers
	printk    uint64 // and of that which trace_printk calls
	percentS  event.Name
}

// EncodeContext is what the kernel whose records are made is known to do.
type EncodeContext struct {
	Bits CommonBits
	// LazyCount: records have common_preempt_lazy_count, and everything behind it moves.
	LazyCount bool
	// TaskStates: prev_state is the task's own state flags, as kernels up to 4.13 have it.
	TaskStates bool
}

// MaxText is how many bytes of a text a record keeps: what fits a page of 4,096 bytes
// beside the rest of any record.
const MaxText = 3 << 10

// NewEncoder makes records of events whose names are in names.
func NewEncoder(names *event.Names, ctx EncodeContext) *Encoder {
	e := &Encoder{names: names, common: ctx, named: map[shapeKey]*shape{}, states: &reportedStates}
	if ctx.TaskStates {
		e.states = &taskStates
	}
	e.functions = newAddresses(textStart, 16)
	e.texts = newAddresses(rodataStart, 16)
	e.marker = e.functions.of(names.Intern("tracing_mark_write"))
	e.printk = e.functions.of(names.Intern("trace_printk"))
	e.percentS = names.Intern("%s")
	table := flagTable(ctx.Bits, ctx.LazyCount)
	for f := range e.flags {
		// A flag that two bits stand for does not exist: a lazy bit took its place.
		for bit := 1; bit <= 0x80; bit <<= 1 {
			if table[bit]&event.Flags(f)&^event.FlagsKnown != 0 {
				e.flags[f] |= uint8(bit)
			}
		}
	}
	return e
}

// Describe adds the format of the event called name, as far as whylate interprets it,
// although no record has it: the trace was asked for such events.
func (e *Encoder) Describe(name string) {
	for _, s := range e.shapes {
		if s.name == name {
			return
		}
	}
	var ev event.Event
	ev.Reset()
	ev.Kind = kindOf("", []byte(name))
	if hasPrefix([]byte(name), "sys_enter") || hasPrefix([]byte(name), "sys_exit") {
		ev.Kind = kindOf("syscalls", []byte(name))
	}
	if ev.Kind == event.Other || ev.Kind == event.Gap {
		return
	}
	ev.Name, ev.Flags, ev.Arg, ev.Func = e.names.Intern(name), event.FlagsKnown, 1, 1
	ev.Arg2 = 0
	e.shape(&ev)
}

// Encode appends the record of ev to dst; it has no time and no CPU. Texts and names that
// a record cannot hold are cut: names at 15 bytes, as the kernel does, texts at MaxText.
// A Gap has no record: the error says so. What no record of this kernel can say (a
// process, a lazy flag that it does not have) is left out.
func (e *Encoder) Encode(dst []byte, ev *event.Event) ([]byte, error) {
	if ev.Kind == event.Gap || ev.Kind >= event.NumKinds {
		return dst, fmt.Errorf("event of kind %s: %w", ev.Kind, event.ErrNotSupported)
	}
	s := e.shape(ev)
	start := len(dst)
	// Padding is zero in the kernel's records, too: the same events give the same bytes.
	dst = append(dst, zeroes[:s.size]...)
	e.putCommon(dst[start:], s, ev)
	for i := range s.ops {
		dst = e.put(dst, start, &s.ops[i], ev)
	}
	return dst, nil
}

// zeroes are more than the fixed part of any record.
var zeroes [128]byte

// putCommon fills what every record has.
func (e *Encoder) putCommon(rec []byte, s *shape, ev *event.Event) {
	binary.LittleEndian.PutUint16(rec, uint16(s.id))
	binary.LittleEndian.PutUint32(rec[4:], uint32(ev.PID))
	if s.variant&withoutFlags != 0 {
		return
	}
	// One byte each in every kernel: deeper nesting shows as the deepest that fits.
	rec[2] = e.flags[ev.Flags&(1<<10-1)]
	rec[3] = ev.PreemptDepth
	if e.common.Bits.MigrateDisable {
		rec[3] = min(ev.PreemptDepth, 0xf) | min(ev.MigrateDisable, 0xf)<<4
	}
	if e.common.LazyCount {
		rec[8] = ev.LazyDepth
	}
}

// put writes one field of the record that begins at start, and appends what it refers to.
func (e *Encoder) put(dst []byte, start int, o *encodeOp, ev *event.Event) []byte {
	var v uint64
	switch o.from {
	case toNothing: // the same in every record of the shape
		v = o.value
	case toTask:
		v = uint64(ev.Task)
	case toTaskPrio:
		v = uint64(ev.TaskPrio)
	case toNext:
		v = uint64(ev.Next)
	case toNextPrio:
		v = uint64(ev.NextPrio)
	case toState:
		v = e.states.raw(ev.State)
	case toOrig:
		v = uint64(ev.Orig)
	case toTarget:
		v = uint64(ev.Target)
	case toArg, toArgU32:
		v = uint64(ev.Arg)
	case toArg2:
		v = uint64(ev.Arg2)
	case toArg3:
		v = uint64(ev.Arg3)
	case toTaskComm, toNextComm:
		name := ev.TaskComm
		if o.from == toNextComm {
			name = ev.NextComm
		}
		copy(dst[start+o.off:], e.comm(name))
		return dst
	default:
		return e.putReference(dst, start, o, ev)
	}
	return putInt(dst, start+o.off, o.size, v)
}

// putReference writes the fields that name or contain something else.
func (e *Encoder) putReference(dst []byte, start int, o *encodeOp, ev *event.Event) []byte {
	var v uint64
	switch o.from {
	case toFunc:
		v = e.functions.of(ev.Func)
	case toDepth:
		v = e.depth(ev)
	case toCaller:
		v = e.functions.of(ev.Func) - textStart
	case toTextString:
		v = e.texts.of(ev.Text)
	case toFormat: // the message itself follows as its only argument
		v = e.texts.of(e.percentS)
	case toStart: // the lengths of functions lie on the clock of the trace, or on another one
		v = uint64(int64(ev.Time) - ev.Arg)
	case toDuration:
		v = uint64(ev.Time)
	case toMessage:
		return e.appendText(dst, ev.Text)
	case toText, toTargetMask:
		at := len(dst) - start
		if o.from == toText {
			dst = e.appendText(dst, ev.Text)
		} else {
			dst = appendMask(dst, ev.Target)
		}
		v = uint64(len(dst)-start-at)<<16 | uint64(at) // __data_loc: length, place
	}
	return putInt(dst, start+o.off, o.size, v)
}

// depth is how many functions a task has open.
type depth struct {
	pid  event.PID
	open uint32
}

// depth follows the functions that a task enters and leaves; programs indent by it. Where
// two tasks share a place, or entries were lost, it begins at 0 again.
func (e *Encoder) depth(ev *event.Event) uint64 {
	d := &e.depths[uint32(ev.PID)%uint32(len(e.depths))]
	if d.pid != ev.PID {
		*d = depth{pid: ev.PID}
	}
	if ev.Kind == event.FuncEntry {
		d.open++
		return uint64(d.open - 1)
	}
	if d.open > 0 {
		d.open--
	}
	return uint64(d.open)
}

// putInt writes an integer of 4 or 8 bytes.
func putInt(dst []byte, at, size int, v uint64) []byte {
	if size == 8 {
		binary.LittleEndian.PutUint64(dst[at:], v)
	} else {
		binary.LittleEndian.PutUint32(dst[at:], uint32(v))
	}
	return dst
}

// appendText writes a text with its NUL, up to a multiple of four.
func (e *Encoder) appendText(dst []byte, name event.Name) []byte {
	text := e.names.String(name)
	if len(text) > MaxText {
		text = text[:MaxText]
	}
	from := len(dst)
	dst = append(append(dst, text...), 0)
	for (len(dst)-from)%4 != 0 {
		dst = append(dst, 0)
	}
	return dst
}

// appendMask writes a mask with one CPU, or none where the event names none.
func appendMask(dst []byte, cpu event.CPU) []byte {
	words := 1
	if cpu >= 0 {
		words = int(cpu)/64 + 1
	}
	for w := range words {
		var v uint64
		if cpu >= 0 && int(cpu)/64 == w {
			v = 1 << (cpu % 64)
		}
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

// commText is a name as a record has it.
type commText struct {
	name event.Name
	text [commSize]byte
}

// comm returns the 16 bytes of a task's name, NUL included, from the cache where it is
// there: the table of names is behind a lock.
func (e *Encoder) comm(name event.Name) []byte {
	slot := &e.comms[name%event.Name(len(e.comms))]
	if slot.name != name {
		slot.name, slot.text = name, [commSize]byte{}
		copy(slot.text[:commSize-1], e.names.String(name))
	}
	return slot.text[:]
}
