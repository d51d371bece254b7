package ftracetext

import "github.com/whylate/whylate/event"

// stateTable says what the bits of a numeric prev_state mean, and the letters of
// trace-cmd's plugin, which name bits by a fixed table whatever the kernel.
type stateTable struct {
	preempted int64 // the bit that marks preemption: R+
	old       bool  // a kernel before 4.14, with its raw task flags
	plugin    bool  // letters are those of the fixed table of old libtraceevent
}

// stateEvidence is what decides the table: which values and letters the file shows.
type stateEvidence struct {
	bits    int64    // all numeric values or-ed
	exact   [13]bool // 1<<i was seen as a value of its own
	letters event.State
	oldPair bool // "D|W": an old kernel's D|K
	plugin  bool
}

// maxEvidence bounds the lines looked at for it.
const maxEvidence = 200_000

func (e *stateEvidence) number(v int64) {
	e.bits |= v
	for i := range e.exact {
		if v == 1<<i {
			e.exact[i] = true
		}
	}
}

// table decides. Task flags were handed out as they were until 4.13, with a bit above
// all of them for preemption that moved: 0x400 (3.9), 0x800 (4.2), 0x1000 (4.8). Since
// 4.14 states are reported in a form of their own: X 0x10, Z 0x20, P 0x40, I 0x80, and
// 0x100 for preemption. A dying task shows x (0x40) before, X or Z since.
func (e *stateEvidence) table() stateTable {
	t := stateTable{preempted: 0x100}
	// The highest bit decides: a lower one also means something else on such a kernel,
	// 0x400 for example "not counted as load", but always together with D.
	for _, bit := range []int64{0x1000, 0x800, 0x400, 0x200} {
		if e.bits&bit != 0 && e.exactly(bit) {
			t.preempted, t.old = bit, true
			break
		}
	}
	dying := e.exactly(0x10) || e.exactly(0x20) || e.letters&(event.StateDead|event.StateZombie) != 0
	if !t.old && !e.exactly(0x100) && !dying && e.exactly(0x40) {
		t.old = true
		t.preempted = 0x1000
	}
	// With letters there is no preempt bit; x and D|W only exist before 4.14.
	if e.plugin {
		t.old = e.oldPair || e.letters&event.StateDeadOld != 0 && !dying
		t.plugin = e.letters&event.StateWaking != 0 && !t.old
	}
	return t
}

func (e *stateEvidence) exactly(bit int64) bool {
	for i := range e.exact {
		if bit == 1<<i {
			return e.exact[i]
		}
	}
	return false
}

// newStates are the states of 4.14 and later, oldStates the task flags of 4.13; index is
// the bit. include/linux/sched.h.
var (
	newStates = [...]event.State{event.StateSleeping, event.StateDisk, event.StateStopped, event.StateTraced,
		event.StateDead, event.StateZombie, event.StateParked, event.StateIdle}
	oldStates = [...]event.State{event.StateSleeping, event.StateDisk, event.StateStopped, event.StateTraced,
		event.StateDead, event.StateZombie, event.StateDeadOld, event.StateWakekill, event.StateWaking,
		event.StateParked, event.StateNoLoad, event.StateNew}
)

// number translates a numeric prev_state.
func (t *stateTable) number(v int64) event.State {
	var s event.State
	if v&t.preempted != 0 {
		s, v = event.StatePreempted, v&^t.preempted
	}
	bits := newStates[:]
	if t.old {
		bits = oldStates[:]
	}
	for i, bit := range bits {
		if v&(1<<i) != 0 {
			s |= bit
			v &^= 1 << i
		}
	}
	if v != 0 { // a bit that no kernel known here has
		return event.StateUnknown
	}
	return s
}

// pluginLetters is the order of bits in the fixed table of old libtraceevent, written as
// the letters it prints.
const pluginLetters = "SDTtZXxW"

// fixed translates the letters of the fixed table back into bits, and those into states.
func (t *stateTable) fixed(b []byte) event.State {
	var v int64
	for _, c := range b {
		if c == 'R' || c == '|' {
			continue
		}
		// A letter outside the table is that of a newer plugin.
		i := 0
		for i < len(pluginLetters) && pluginLetters[i] != c {
			i++
		}
		if i == len(pluginLetters) {
			return event.ParseState(b)
		}
		v |= 1 << i
	}
	return t.number(v)
}

// state reads the prev_state of the kernel's print: letters, or a number from
// `trace-cmd report -R`.
func (s *stream) state(b []byte) event.State {
	if len(b) > 0 && isDigit(b[0]) {
		v, ok := anyNumber(b)
		if !ok {
			return event.StateUnknown
		}
		s.evidence.number(v)
		return s.f.state.number(v)
	}
	return event.ParseState(b)
}

// pluginState reads the letters of the sched_switch plugin. Before libtraceevent took
// them from the event's format it named bits by a fixed table: an idle kernel thread (I)
// shows as W, a zombie as X. W alone gives the table away.
func (s *stream) pluginState(b []byte) event.State {
	e := &s.evidence
	e.plugin = true
	switch string(b) {
	case "D|W", "S|W", "T|W", "D|K":
		e.oldPair = true
	default:
		e.letters |= event.ParseState(b)
	}
	if s.f.state.plugin || s.f.state.old {
		return s.f.state.fixed(b)
	}
	return event.ParseState(b)
}

// findStates looks through the first switches for what prev_state means in this file.
func (f *File) findStates() error {
	// tracefs itself prints letters, always right for its own kernel.
	if f.head.dialect != dialectReport && f.head.dialect != dialectPerf {
		f.state = stateTable{preempted: 0x100}
		return nil
	}
	s := newStream(f, event.Options{Want: event.Kinds(event.SchedSwitch)})
	for s.lines.num < maxEvidence {
		line, err := s.lines.next()
		if err != nil {
			break // a reader that fails here fails again where it matters
		}
		s.line(line)
		for s.queue.full() {
			s.queue.pop()
		}
	}
	f.state = s.evidence.table()
	return nil
}
