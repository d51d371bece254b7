package eventformat

import (
	"strings"

	"github.com/whylate/whylate/event"
)

// stateTable turns prev_state into an event.State with the expression by which the
// kernel itself prints it: bits, mask and the bit for "preempted" changed with 3.5, 4.14
// and several releases between, and vendors keep their own.
type stateTable struct {
	exprs []node
	cache [64]struct {
		raw   uint64
		state event.State
		known bool
	}
}

// newStateTable finds the arguments of the print fmt that print prev_state; nil for an
// event without that field.
func newStateTable(f *Format) *stateTable {
	if f.Field("prev_state") == nil {
		return nil
	}
	t := &stateTable{}
	for _, arg := range arguments(f.PrintFmt) {
		if !strings.Contains(arg, "REC->prev_state") {
			continue
		}
		n := parseExpr(arg, "prev_state")
		if n == nil { // half of the arguments would give a wrong state, not a partial one
			t.exprs = nil
			return t
		}
		t.exprs = append(t.exprs, n)
	}
	return t
}

// state translates a raw value, from the cache where it was seen before.
func (t *stateTable) state(raw uint64) event.State {
	// Folding the upper bits in keeps R+ (0x100 to 0x1000) apart from R.
	slot := &t.cache[(raw^raw>>6^raw>>12)&63]
	if !slot.known || slot.raw != raw {
		slot.raw, slot.state, slot.known = raw, t.eval(raw), true
	}
	return slot.state
}

// eval evaluates the print format. Without a usable one only 0 is certain: it is R in
// every kernel.
func (t *stateTable) eval(raw uint64) event.State {
	if len(t.exprs) == 0 {
		if raw == 0 {
			return event.StateRunnable
		}
		return event.StateUnknown
	}
	var text strings.Builder
	for _, n := range t.exprs {
		v, ok := n.eval(raw)
		if !ok || !v.text {
			return event.StateUnknown
		}
		text.WriteString(v.s)
	}
	return stateOf(text.String())
}

// stateOf reads the letters. Bits without a letter ("0x200") are dropped, but a state
// that has nothing else is unknown.
func stateOf(text string) event.State {
	text, plus := strings.CutSuffix(text, "+")
	var s event.State
	letters := 0
	for part := range strings.SplitSeq(text, "|") {
		if strings.HasPrefix(part, "0x") || len(part) != 1 {
			continue
		}
		bit, ok := event.StateLetter(part[0])
		if !ok {
			continue
		}
		s |= bit
		letters++
	}
	if letters == 0 {
		return event.StateUnknown
	}
	if plus {
		s |= event.StatePreempted
	}
	return s
}
