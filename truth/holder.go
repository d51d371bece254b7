package truth

import "github.com/whylate/whylate/event"

// Rule is why a task holds a CPU: the class that chose it.
type Rule uint8

// The rules, in the order in which a kernel asks its classes.
const (
	Stop Rule = iota
	Deadline
	RealTime
	Fair
	Idle
)

// String is the class as results spell it.
func (r Rule) String() string {
	return [...]string{"stop", "dl", "rt", "fair", "idle"}[r]
}

// Mode is where a task works: what keeps it on its CPU although it should leave.
type Mode uint8

// The modes.
const (
	User       Mode = iota
	Kernel          // in the kernel: it leaves where the kernel's preemption model lets it
	PreemptOff      // in the kernel with preemption off
	IRQsOff         // with interrupts off: those of this CPU wait, too
)

// String is the mode in words.
func (m Mode) String() string {
	return [...]string{"user", "kernel", "preempt off", "irqs off"}[m]
}

// Holder is the task that holds a CPU. Two Holders are equal if nothing changed.
type Holder struct {
	PID    event.PID
	Prio   event.Prio // effective, with what it inherited
	Normal event.Prio // its own
	Rule   Rule
	Mode   Mode
	// Boosted: a lock lends it the priority of somebody who waits.
	Boosted bool
	// Dying: it has begun to exit.
	Dying bool
}

// Stretch is a time on a CPU during which nothing about its holder changed. Times are ns,
// To is the first moment after it.
type Stretch struct {
	Holder
	From, To event.Time
}
