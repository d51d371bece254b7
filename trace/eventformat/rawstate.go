package eventformat

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/whylate/whylate/event"
)

// stateBits are the numbers that an Encoder writes for the bits of an event.State, in the
// order of its constants: S D T t X Z P I x K W N n, preempted, unknown. Programs that do
// not read the print format know the kernel's by heart, so they are kept; letters that it
// does not have follow in bits of their own.
type stateBits [15]uint64

var (
	// reportedStates are those of 4.14 and later, made for being shown.
	reportedStates = stateBits{1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x200, 0x400, 0x800, 0x1000, 0x2000, 0x100, 0x4000}
	// taskStates are the flags of the task itself that kernels up to 4.13 showed, with the
	// bit for "preempted" above them.
	taskStates = stateBits{1, 2, 4, 8, 0x10, 0x20, 0x200, 0x2000, 0x40, 0x80, 0x100, 0x400, 0x800, 0x1000, 0x4000}
)

// statePreempted and stateUnknown are places in stateBits.
const (
	statePreempted = 13
	stateUnknown   = 14
)

// raw is the number of a state.
func (b *stateBits) raw(s event.State) uint64 {
	if s&event.StateUnknown != 0 { // whatever else it says
		return b[stateUnknown]
	}
	raw := uint64(0)
	for ; s != 0; s &= s - 1 {
		raw |= b[bits.TrailingZeros16(uint16(s))%len(b)]
	}
	return raw
}

// print is the argument of a print format, for the verbs %s%s.
func (b *stateBits) print() string {
	all := uint64(0)
	var flags strings.Builder
	for i, bit := range b {
		if i != statePreempted {
			all |= bit
			fmt.Fprintf(&flags, `, { %#x, "%s" }`, bit, event.State(1<<i))
		}
	}
	return fmt.Sprintf(`(REC->prev_state & %#x) ? __print_flags(REC->prev_state & %#x, "|"%s) : "R", (REC->prev_state & %#x) ? "+" : ""`,
		all, all, flags.String(), b[statePreempted])
}
