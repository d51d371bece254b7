package eventformat

import (
	"encoding/binary"
	"errors"

	"github.com/whylate/whylate/event"
)

// ErrShort says that a record ends before a field that its format promises.
var ErrShort = errors.New("record is shorter than its format")

// Context is what a trace knows beside its formats. Everything in it may be absent.
type Context struct {
	Names   *event.Names // required
	Bits    CommonBits   // what the bits of common_flags and common_preempt_count mean
	Comms   map[event.PID]event.Name
	TGIDs   map[event.PID]event.PID
	Symbols Symbolizer
	Strings Strings
	// OtherText asks for the fields of events of kind Other as text.
	OtherText bool
}

// Symbolizer names addresses of kernel code.
type Symbolizer interface {
	// Lookup returns the function that contains addr, "" if unknown.
	Lookup(addr uint64) []byte
	// Address returns where the symbol is, 0 if unknown.
	Address(name string) uint64
}

// Decoder fills events from records. It keeps caches and must not be used by several
// goroutines at once; several Decoders may share a Set.
type Decoder struct {
	set     *Set
	ctx     Context
	head    *Format // any format: all have the same common fields
	byID    []*program
	unknown *program
	typ     access
	flags   [256]event.Flags

	// Caches in front of Names, Symbols and the saved command lines.
	comms commCache
	addrs addrCache
	tasks tasks
	text  []byte // scratch for appendFields
	stext uint64 // address of _stext, 0 until it is needed
}

// NewDecoder prepares decoding of the records that set describes. It fails with a
// *event.FormatError if no format can be read.
func (s *Set) NewDecoder(ctx Context) (*Decoder, error) {
	head, err := s.common()
	if err != nil {
		return nil, err
	}
	d := &Decoder{set: s, ctx: ctx, head: head, typ: newAccess(head.Field("common_type"), s.BigEndian), byID: make([]*program, s.Len()),
		tasks: newTasks(ctx.Comms, ctx.TGIDs)}
	d.flags = flagTable(ctx.Bits, head.Field("common_preempt_lazy_count") != nil)
	d.unknown = d.compile(-1)
	return d, nil
}

// Type returns the common_type of a record, −1 if it is too short to have one.
func (d *Decoder) Type(rec []byte) int {
	v, ok := d.typ.get(rec)
	if !ok {
		return -1
	}
	return int(v)
}

// program is a format bound to the parts of an event.
type program struct {
	kind   event.Kind
	name   event.Name
	format *Format // nil where the trace does not describe the type

	pid, flags, count, lazy, migrate access
	ops                              []op
	states                           *stateTable
}

// op fills one part of an event.
type op struct {
	to    target
	comm  bool // a 16-byte inline name
	acc   access
	field *Field
}

// Decode fills e from a record, except for Time and CPU. An event of an unknown type
// becomes kind Other without a name. It returns ErrShort, and what could be read, for a
// record that ends too early.
func (d *Decoder) Decode(e *event.Event, rec []byte) error {
	id := d.Type(rec)
	if id < 0 {
		e.Reset()
		return ErrShort
	}
	// A type that no format describes still has pid and flags, which all records share.
	p := d.unknown
	if id < len(d.byID) {
		if p = d.byID[id]; p == nil {
			p = d.compile(id)
			d.byID[id] = p
		}
	}
	// Reset writes every field: e may hold an event of another kind.
	e.Reset()
	e.Kind, e.Name = p.kind, p.name
	ok := d.fillCommon(p, e, rec)
	for i := range p.ops {
		ok = d.fill(p, &p.ops[i], e, rec) && ok
	}
	d.complete(p, e, rec)
	if !ok {
		return ErrShort
	}
	return nil
}

// fillCommon fills what every record has; false if it is too short for that.
func (d *Decoder) fillCommon(p *program, e *event.Event, rec []byte) bool {
	pid, ok := p.pid.get(rec)
	if !ok {
		e.PID = event.NoPID
		return false
	}
	e.PID = event.PID(pid)
	t := d.tasks.slot(e.PID)
	e.Comm, e.TGID = t.name, t.tgid
	// A trace without flags leaves FlagsKnown unset, which is not the same as no flag.
	if v, ok := p.flags.get(rec); ok {
		e.Flags = d.flags[uint8(v)]
	}
	if v, ok := p.count.get(rec); ok {
		e.PreemptDepth = uint8(v)
		if d.ctx.Bits.MigrateDisable {
			e.PreemptDepth, e.MigrateDisable = uint8(v)&0xf, uint8(v)>>4
		}
	}
	if p.lazy.code != absent {
		v, _ := p.lazy.get(rec)
		e.LazyDepth = uint8(v)
	}
	if p.migrate.code != absent {
		v, _ := p.migrate.get(rec)
		e.MigrateDisable = uint8(v)
	}
	return true
}

// fill does one op; false if the record does not reach that far.
func (d *Decoder) fill(p *program, o *op, e *event.Event, rec []byte) bool {
	if o.comm {
		// The most frequent content: 16 bytes, from the cache without a look at the text.
		end := int(o.acc.off) + commSize
		if end > len(rec) {
			return false
		}
		o.setComm(e, d.comms.intern(rec[o.acc.off:end], d.ctx.Names))
		return true
	}
	if o.acc.code == absent {
		return d.fillContent(o, e, rec)
	}
	var v int64
	if end := int(o.acc.off) + 4; o.acc.code == s32le && end <= len(rec) { // nearly all fields
		v = int64(int32(binary.LittleEndian.Uint32(rec[o.acc.off:end])))
	} else if long, ok := o.acc.get(rec); ok {
		v = long
	} else {
		return false
	}
	switch o.to {
	case toTask:
		e.Task = event.PID(v)
	case toTaskPrio:
		e.TaskPrio = event.Prio(v)
	case toNext:
		e.Next = event.PID(v)
	case toNextPrio:
		e.NextPrio = event.Prio(v)
	case toState:
		e.State = p.states.state(uint64(v))
	case toOrig:
		e.Orig = event.CPU(v)
	case toTarget:
		e.Target = event.CPU(v)
	case toArg:
		e.Arg = v
	case toArg2:
		e.Arg2 = v
	case toArg3:
		e.Arg3 = v
	case toArgU32:
		e.Arg = int64(uint32(v))
	case toFunc:
		e.Func = d.function(uint64(v))
	case toCaller:
		e.Func = d.caller(uint64(v))
	case toTextString:
		e.Text = d.stringAt(uint64(v))
	case toMessage: // bputs: the address of a constant text
		e.Text = d.stringAt(uint64(v))
	case toFormat:
		e.Text = d.message(o, rec, p.format.Field("buf"))
	case toStart:
		e.Arg2 = v // kept until toDuration
	case toDuration:
		e.Arg, e.Arg2 = v-e.Arg2, event.NoArg
	}
	return true
}

// setComm puts a text where the op wants it.
func (o *op) setComm(e *event.Event, name event.Name) {
	switch o.to {
	case toTaskComm:
		e.TaskComm = name
	case toNextComm:
		e.NextComm = name
	case toText:
		e.Text = name
	}
}

// fillContent fills from a field that is no integer.
func (d *Decoder) fillContent(o *op, e *event.Event, rec []byte) bool {
	b := o.field.content(rec, d.set.BigEndian)
	if b == nil { // it points behind the end of the record
		return false
	}
	switch o.to {
	case toTargetMask:
		e.Target = onlyCPU(b, o.field.Elem, d.set.BigEndian)
	case toMessage:
		e.Text = d.ctx.Names.InternBytes(trimLine(cstring(b)))
	case toTextString:
		e.Text = d.ctx.Names.InternBytes(cstring(b))
	default:
		o.setComm(e, d.ctx.Names.InternBytes(cstring(b)))
	}
	return true
}

// complete fills what follows from the absence of a field.
func (d *Decoder) complete(p *program, e *event.Event, rec []byte) {
	switch p.kind {
	case event.Other:
		if d.ctx.OtherText && p.format != nil {
			d.text = d.otherText(d.text[:0], p.format, rec)
			e.Text = d.ctx.Names.InternBytes(d.text)
		}
	case event.SchedWakeup, event.SchedWakeupNew: // later kernels have no success any more: it was always 1
		if e.Arg == event.NoArg {
			e.Arg = 1
		}
	case event.FuncExit:
		e.Arg2 = event.NoArg // calltime stays there where a record ends before rettime
	case event.TaskRename:
		if e.Task == event.NoPID { // only the current task renames itself there
			e.Task = e.PID
		}
	case event.SysEnter, event.SysExit:
		if e.Arg == event.NoArg {
			e.Arg = -1
		}
	}
}

// compile binds the format of type id. Types that the trace does not describe, or
// describes badly, get a program that fills the kind Other and the common fields.
func (d *Decoder) compile(id int) *program {
	big := d.set.BigEndian
	// At the first record of its type: most of 2,000 described types never occur.
	f, err := d.set.Format(id)
	p := &program{kind: event.Other}
	head := d.head
	if f != nil && err == nil {
		p.kind, _ = d.set.Kind(id)
		p.name, p.format, p.states = d.ctx.Names.Intern(f.Name), f, newStateTable(f)
		p.bind(f, big)
		head = f
	}
	p.pid = newAccess(head.Field("common_pid"), big)
	p.flags = newAccess(head.Field("common_flags"), big)
	p.count = newAccess(head.Field("common_preempt_count"), big)
	p.lazy = newAccess(head.Field("common_preempt_lazy_count"), big)
	p.migrate = newAccess(head.Field("common_migrate_disable"), big)
	return p
}

// bind finds the fields that the kind of p asks for.
func (p *program) bind(f *Format, bigEndian bool) {
	wants := bindings[p.kind]
	if p.kind == event.Print && f.Field("fmt") != nil {
		wants = bprintBinding
	}
	for _, want := range wants { // a field that the format lacks stays absent in the event
		for _, name := range want.names {
			if field := f.Field(name); field != nil {
				p.ops = append(p.ops, newOp(want.to, field, bigEndian))
				break
			}
		}
	}
}

// newOp binds one field. Names of tasks are 16 bytes of text in the record itself and
// get a path of their own.
func newOp(to target, f *Field, bigEndian bool) op {
	o := op{to: to, field: f, acc: newAccess(f, bigEndian)}
	if f.Loc == Inline && f.Elem == 1 && f.Size == commSize {
		o.comm, o.acc.off = true, uint32(f.Offset)
	}
	return o
}
