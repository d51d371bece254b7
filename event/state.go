package event

import "strings"

// State is what a task was when it was switched out (prev_state), as a set of the
// letters that the kernel's own print format gives to its bits. The bit values here are
// ours: the kernel moved its own several times (4.14 among others), so readers translate
// them with the table inside the sched_switch format of the trace.
type State uint16

// The letters of prev_state. No letter at all is R: still runnable.
const (
	StateSleeping  State = 1 << iota // S: interruptible sleep
	StateDisk                        // D: uninterruptible sleep
	StateStopped                     // T
	StateTraced                      // t
	StateDead                        // X
	StateZombie                      // Z
	StateParked                      // P
	StateIdle                        // I: uninterruptible, not counted as load
	StateDeadOld                     // x: TASK_DEAD of kernels before 4.14
	StateWakekill                    // K
	StateWaking                      // W
	StateNoLoad                      // N
	StateNew                         // n
	StatePreempted                   // +: preempted inside the kernel
	StateUnknown                     // the trace does not say

	// StateRunnable is R: the task left the CPU although it could go on.
	StateRunnable State = 0
)

// stateLetters has the letter of each bit, in the order of the constants.
const stateLetters = "SDTtXZPIxKWNn"

// Runnable reports whether the task could go on running (R or R+).
func (s State) Runnable() bool { return s&^StatePreempted == 0 }

// Dead reports whether the task will never run again.
func (s State) Dead() bool { return s&(StateDead|StateZombie|StateDeadOld) != 0 }

// String prints the letters as the kernel does: "R", "R+", "S", "D|W", "?" if unknown.
func (s State) String() string { return string(s.Append(nil)) }

// Append is String for who writes many of them.
func (s State) Append(dst []byte) []byte {
	if s&StateUnknown != 0 {
		return append(dst, '?')
	}
	from := len(dst)
	for i := 0; i < len(stateLetters); i++ {
		if s&(1<<i) == 0 {
			continue
		}
		if len(dst) > from {
			dst = append(dst, '|')
		}
		dst = append(dst, stateLetters[i])
	}
	if len(dst) == from {
		dst = append(dst, 'R')
	}
	if s&StatePreempted != 0 {
		dst = append(dst, '+')
	}
	return dst
}

// ParseState reads the letters of a text trace ("R", "R+", "S", "D|W", "x"). Letters
// that no kernel prints make the state unknown.
func ParseState(b []byte) State {
	if len(b) == 0 {
		return StateUnknown
	}
	var s State
	for _, c := range b {
		switch c {
		case 'R', '|':
		case '+':
			s |= StatePreempted
		default:
			i := strings.IndexByte(stateLetters, c)
			if i < 0 {
				return StateUnknown
			}
			s |= 1 << i
		}
	}
	return s
}

// StateLetter returns the bit of one letter, and false if no kernel prints it.
func StateLetter(c byte) (State, bool) {
	if c == 'R' {
		return StateRunnable, true
	}
	i := strings.IndexByte(stateLetters, c)
	if i < 0 {
		return StateUnknown, false
	}
	return 1 << i, true
}
