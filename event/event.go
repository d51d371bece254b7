package event

// Event is one tracepoint hit. Which fields are filled is told at each Kind; the others
// hold their zero value. An Event from a Stream is valid until the next call.
type Event struct {
	Time Time
	CPU  CPU  // where it was recorded
	PID  PID  // the task that was current there (common_pid)
	Comm Name // its name where the trace's line has one; names inside the payload win
	TGID PID  // its process; NoPID where the trace does not say

	Kind           Kind
	PreemptDepth   uint8 // preempt_count as recorded; may be one too high in function traces
	LazyDepth      uint8 // preempt_lazy_count of -rt kernels
	MigrateDisable uint8
	Flags          Flags

	State    State
	Task     PID
	TaskComm Name
	TaskPrio Prio
	Next     PID
	NextComm Name
	NextPrio Prio

	Orig   CPU
	Target CPU

	Arg  int64
	Arg2 int64
	Arg3 int64

	From Time // Gap only

	Func Name // timer function, traced function
	Name Name // the event's name as the kernel spells it
	Text Name // handler, file, message; for Other all fields as text where asked for
}

// Reset makes e an event of no kind with every optional field absent.
func (e *Event) Reset() {
	*e = Event{TGID: NoPID, Task: NoPID, Next: NoPID, TaskPrio: NoPrio, NextPrio: NoPrio,
		Orig: NoCPU, Target: NoCPU, Arg: NoArg, Arg2: NoArg, Arg3: NoArg, From: NoTime}
}
