package event

// Flags is the context in which an event was recorded: the trace's common_flags, or
// the flag columns of a text trace.
type Flags uint16

// The flags of an event. FlagsKnown is set where the trace carries them at all: without
// it the other bits mean nothing.
const (
	FlagsKnown      Flags = 1 << iota
	IRQsOff               // hard interrupts are disabled
	NeedResched           // TIF_NEED_RESCHED is set
	PreemptResched        // the preempt count says that a reschedule is wanted
	NeedReschedLazy       // a lazy reschedule is wanted (-rt, 6.13 and later)
	HardIRQ               // in a hard interrupt
	SoftIRQ               // in a softirq, or in a task that runs softirqs
	NMI                   // in a non-maskable interrupt
	BHOff                 // softirqs are disabled
	IRQsNoSupport         // the architecture does not tell whether interrupts are disabled
)

// Has reports whether the flags are known and all of want are set.
func (f Flags) Has(want Flags) bool { return f&(want|FlagsKnown) == want|FlagsKnown }

// InInterrupt reports whether the event was recorded in interrupt context, so that the
// current task is not its author. The softirq bit alone does not say so: threads that
// run softirqs carry it too.
func (f Flags) InInterrupt() bool { return f&FlagsKnown != 0 && f&(HardIRQ|NMI) != 0 }
