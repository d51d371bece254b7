package ftracetext

import (
	"strconv"

	"github.com/whylate/whylate/event"
)

// decoder fills the fields of one kind of event from the text b behind the event's name.
// It returns false, leaving ev as it likes, if b is not what that event prints.
type decoder func(s *stream, ev *event.Event, b []byte) bool

// decoders has the decoder of each kind but Other. A table, not a switch: each stands
// beside the print format that it reads.
var decoders = [event.NumKinds]decoder{
	event.Gap:                decodeGap,
	event.SchedSwitch:        decodeSwitch,
	event.SchedWaking:        decodeWakeup,
	event.SchedWakeup:        decodeWakeup,
	event.SchedWakeupNew:     decodeWakeup,
	event.SchedMigrateTask:   decodeMigrate,
	event.SchedStatRuntime:   decodeStatRuntime,
	event.SchedPISetprio:     decodePISetprio,
	event.SchedProcessFork:   decodeFork,
	event.SchedProcessExec:   decodeExec,
	event.SchedProcessExit:   decodeTask,
	event.SchedProcessFree:   decodeTask,
	event.SchedProcessWait:   decodeTask,
	event.TaskNewtask:        decodeNewtask,
	event.TaskRename:         decodeRename,
	event.SignalGenerate:     decodeSignalGenerate,
	event.SignalDeliver:      decodeSignalDeliver,
	event.IRQHandlerEntry:    decodeIRQ,
	event.IRQHandlerExit:     decodeIRQ,
	event.VectorEntry:        decodeVector,
	event.VectorExit:         decodeVector,
	event.SoftirqRaise:       decodeVector,
	event.SoftirqEntry:       decodeVector,
	event.SoftirqExit:        decodeVector,
	event.HrtimerStart:       decodeHrtimer,
	event.HrtimerExpireEntry: decodeHrtimer,
	event.HrtimerExpireExit:  decodeHrtimer,
	event.HrtimerCancel:      decodeHrtimer,
	event.CPUIdle:            decodeCPUIdle,
	event.IPIRaise:           decodeIPI,
	event.IPIEntry:           decodeIPI,
	event.IPIExit:            decodeIPI,
	event.SchedWakeIdle:      decodeWakeIdle,
	event.IRQDisable:         decodePreemptIRQ,
	event.IRQEnable:          decodePreemptIRQ,
	event.PreemptDisable:     decodePreemptIRQ,
	event.PreemptEnable:      decodePreemptIRQ,
	event.SysEnter:           decodeSyscall,
	event.SysExit:            decodeSyscall,
	event.FuncEntry:          decodeFuncEntry,
	event.FuncExit:           decodeFuncExit,
	event.Print:              decodePrint,
}

// decode reads the event on the line and reports whether it is wanted. An event that is
// not what its name promises becomes one of kind Other.
func (s *stream) decode(ev *event.Event, p *prefix) bool {
	var name, fields []byte
	if s.head.dialect == dialectPerf {
		name, fields = splitPerfEvent(p.body)
	} else {
		name, fields = splitEvent(p.body)
	}
	if name == nil {
		return s.decodeUnnamed(ev, p.body)
	}
	k := s.lookup(name)
	ev.Kind, ev.Name = k.kind, k.name
	if !s.opt.Want.Has(ev.Kind) && !s.hasExit(ev.Kind) {
		if ev.Kind == event.FuncEntry && isLeaf(fields) {
			s.passed++ // the exit that the same line stands for
		}
		return false // before the fields are read: a first pass wants few kinds
	}
	if ev.Kind == event.Other {
		s.otherText(ev, fields)
		return true
	}
	// --debug appends where the record lies in the file. It is cut first where the line has
	// the form that big machines are looked at with, else only if the event does not read
	// with it: a marker's text may end in brackets.
	if p.glued {
		fields = trimDebug(fields)
	}
	if decoders[ev.Kind](s, ev, fields) {
		return s.opt.Want.Has(ev.Kind)
	}
	if trimmed := trimDebug(fields); len(trimmed) < len(fields) && decoders[ev.Kind](s, ev, trimmed) {
		return s.opt.Want.Has(ev.Kind)
	}
	s.notUnderstood(ev, fields)
	return s.opt.Want.Has(event.Other)
}

// hasExit reports whether lines of kind k may hold a wanted exit of a leaf function.
func (s *stream) hasExit(k event.Kind) bool {
	return k == event.FuncEntry && s.opt.Want.Has(event.FuncExit)
}

// notUnderstood makes ev an event that is not interpreted, with its name and, where asked
// for, its text: better none than a wrong one. It is counted, and the first is shown.
func (s *stream) notUnderstood(ev *event.Event, fields []byte) {
	bare := event.Event{Time: ev.Time, CPU: ev.CPU, PID: ev.PID, Comm: ev.Comm, TGID: ev.TGID, Name: ev.Name,
		PreemptDepth: ev.PreemptDepth, LazyDepth: ev.LazyDepth, MigrateDisable: ev.MigrateDisable, Flags: ev.Flags}
	ev.Reset()
	ev.Time, ev.CPU, ev.PID, ev.Comm, ev.TGID, ev.Name = bare.Time, bare.CPU, bare.PID, bare.Comm, bare.TGID, bare.Name
	ev.PreemptDepth, ev.LazyDepth, ev.MigrateDisable, ev.Flags = bare.PreemptDepth, bare.LazyDepth, bare.MigrateDisable, bare.Flags
	s.otherText(ev, fields)
	if s.unparsed++; s.firstUnp == "" {
		s.firstUnp = "line " + strconv.FormatInt(s.lines.num, 10) + ": " + quoteLine(fields)
	}
}

// otherText keeps the fields of an event that is not interpreted, where asked for.
func (s *stream) otherText(ev *event.Event, fields []byte) {
	if s.opt.OtherText {
		ev.Text = s.cache.text(fields)
	}
}

// trimDebug cuts "[12770284:0x2e8:64]", which `trace-cmd report --debug` appends: time
// since the last event, offset in the page, length.
func trimDebug(b []byte) []byte {
	before, token := lastToken(b)
	n := len(token)
	if n < 7 || token[0] != '[' || token[n-1] != ']' {
		return b
	}
	_, i := digits(token, 1)
	if i == 1 || !hasPrefix(token[i:], ":0x") {
		return b
	}
	return before
}
