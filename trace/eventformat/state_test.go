package eventformat

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
)

// The ways in which kernels print prev_state; the numbers are their own.
const (
	// Before 4.14 the raw task state was recorded, and TASK_STATE_MAX when preempted.
	statePrint32 = `REC->prev_state & (1024-1) ? __print_flags(REC->prev_state & (1024-1), "|", { 1, "S"} , { 2, "D" }, { 4, "T" }, { 8, "t" }, ` +
		`{ 16, "Z" }, { 32, "X" }, { 64, "x" }, { 128, "K" }, { 256, "W" }, { 512, "P" }) : "R", REC->prev_state & 1024 ? "+" : ""`
	statePrint44 = `REC->prev_state & (2048-1) ? __print_flags(REC->prev_state & (2048-1), "|", { 1, "S"} , { 2, "D" }, { 4, "T" }, { 8, "t" }, ` +
		`{ 16, "X" }, { 32, "Z" }, { 64, "x" }, { 128, "K" }, { 256, "W" }, { 512, "P" }, { 1024, "N" }) : "R", REC->prev_state & 2048 ? "+" : ""`
	statePrint49 = `REC->prev_state & (4096-1) ? __print_flags(REC->prev_state & (4096-1), "|", { 1, "S"} , { 2, "D" }, { 4, "T" }, { 8, "t" }, ` +
		`{ 16, "X" }, { 32, "Z" }, { 64, "x" }, { 128, "K" }, { 256, "W" }, { 512, "P" }, { 1024, "N" }, { 2048, "n" }) : "R", REC->prev_state & 4096 ? "+" : ""`
	// From 4.14 the state is masked before it is recorded.
	statePrint414 = `(REC->prev_state & ((((0x0000 | 0x0001 | 0x0002 | 0x0004 | 0x0008 | 0x0010 | 0x0020 | 0x0040) + 1) << 1) - 1)) ? ` +
		`__print_flags(REC->prev_state & ((((0x0000 | 0x0001 | 0x0002 | 0x0004 | 0x0008 | 0x0010 | 0x0020 | 0x0040) + 1) << 1) - 1), "|", ` +
		`{ 0x0001, "S" }, { 0x0002, "D" }, { 0x0004, "T" }, { 0x0008, "t" }, { 0x0010, "X" }, { 0x0020, "Z" }, { 0x0040, "P" }, { 0x0080, "I" }) : "R", ` +
		`REC->prev_state & (((0x0000 | 0x0001 | 0x0002 | 0x0004 | 0x0008 | 0x0010 | 0x0020 | 0x0040) + 1) << 1) ? "+" : ""`
	// A table of single values, as some vendors write.
	statePrintSymbolic = `__print_symbolic(REC->prev_state, { 0, "R" }, { 1, "S" }, { 2, "D" }, { 0x100, "R+" })`
)

func TestPrevStateFollowsThePrintFormat(t *testing.T) {
	const sleeping, disk, dead, zombie = event.StateSleeping, event.StateDisk, event.StateDead, event.StateZombie
	for _, test := range []struct {
		kernel, print string
		want          map[uint64]event.State
	}{
		{"3.2", statePrint32, map[uint64]event.State{0: event.StateRunnable, 1: sleeping, 2: disk, 0x400: event.StatePreempted,
			16: zombie, 32: dead, 64: event.StateDeadOld, 130: disk | event.StateWakekill, 256: event.StateWaking, 0x401: sleeping | event.StatePreempted}},
		{"4.4", statePrint44, map[uint64]event.State{0x800: event.StatePreempted, 16: dead, 32: zombie, 0x402: disk | event.StateNoLoad}},
		{"4.9", statePrint49, map[uint64]event.State{0x1000: event.StatePreempted, 0x800: event.StateNew, 0x200: event.StateParked, 0x1001: sleeping | event.StatePreempted}},
		{"4.14", statePrint414, map[uint64]event.State{0: event.StateRunnable, 1: sleeping, 2: disk, 4: event.StateStopped, 8: event.StateTraced,
			0x10: dead, 0x20: zombie, 0x40: event.StateParked, 0x80: event.StateIdle, 0x100: event.StatePreempted,
			0x200: event.StateRunnable /* masked away, as in the kernel's own text */}},
		{"symbolic", statePrintSymbolic, map[uint64]event.State{0: event.StateRunnable, 1: sleeping, 0x100: event.StatePreempted, 77: event.StateUnknown}},
		{"not understood", `my_print(REC->prev_state)`, map[uint64]event.State{0: event.StateRunnable, 1: event.StateUnknown, 0x100: event.StateUnknown}},
		{"a number", `REC->prev_state`, map[uint64]event.State{1: event.StateUnknown}},
	} {
		t.Run(test.kernel, func(t *testing.T) {
			text := formatText("sched_switch", 5, commonText, []string{"pid_t prev_pid;8;4;1", "long prev_state;16;8;1"},
				`"prev_pid=%d prev_state=%s%s", REC->prev_pid, `+test.print)
			d, _ := one(t, "sched", text, false, 8, Context{})
			for raw, want := range test.want {
				for range 2 { // the second time from the cache
					rec := recordOf(binary.LittleEndian, 5, 0, 0, 1, 24)
					binary.LittleEndian.PutUint64(rec[16:], raw)
					var e event.Event
					if err := d.Decode(&e, rec); err != nil || e.State != want {
						t.Errorf("%#x is %v, want %v (%v)", raw, e.State, want, err)
					}
				}
			}
		})
	}
}

// TestHostileExpressionsEnd: depth and size are bounded, so parsing returns at once.
func TestHostileExpressionsEnd(t *testing.T) {
	for name, arg := range map[string]string{
		"nested":  strings.Repeat("(", 100000) + "REC->prev_state",
		"unary":   strings.Repeat("~", 100000) + "REC->prev_state",
		"long":    "REC->prev_state" + strings.Repeat("|1", 100000),
		"table":   `__print_flags(REC->prev_state, "|"` + strings.Repeat(`, {1,"S"}`, 100000) + ")",
		"ternary": strings.Repeat("1?", 100000) + "REC->prev_state",
		"open":    `__print_flags(REC->prev_state, "|", { 1, "S`,
	} {
		if n := parseExpr(arg, "prev_state"); n != nil {
			t.Errorf("%s: was accepted", name)
		}
	}
}
