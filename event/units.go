package event

import "strconv"

// Time is a point on the trace's clock in nanoseconds, or a length of time in
// nanoseconds. NoTime marks "not known".
type Time int64

// NoTime is the absent time. It sorts before every real one.
const NoTime Time = -1 << 63

// Valid reports whether t is a known time.
func (t Time) Valid() bool { return t != NoTime }

// PID is a thread id, as the kernel's events call it (pid, not tgid). 0 is the idle
// task of whichever CPU the event speaks of. NoPID marks "not known".
type PID int32

// NoPID is the absent task.
const NoPID PID = -1

// CPU is a logical CPU number. NoCPU marks "not known".
type CPU int32

// NoCPU is the absent CPU.
const NoCPU CPU = -1

// Prio is the kernel's own priority number (task_struct.prio): −1 a deadline task,
// 0–98 real-time (99 − rt_priority), 100–139 fair (120 + nice). A SCHED_FIFO 99 task
// and the stop class both show 0; the idle task shows 120. NoPrio marks "not known".
type Prio int32

// NoPrio is the absent priority.
const NoPrio Prio = -1 << 31

// Priorities at the borders of the classes; include/linux/sched/prio.h.
const (
	PrioDeadline Prio = -1  // MAX_DL_PRIO - 1
	MaxRTPrio    Prio = 100 // the first fair priority
	DefaultPrio  Prio = 120 // nice 0
	MaxPrio      Prio = 140 // one past the last
)

// Deadline reports whether p is that of a deadline task (or of one boosted to it).
func (p Prio) Deadline() bool { return p == PrioDeadline }

// RealTime reports whether p lies in the real-time range 0–99.
func (p Prio) RealTime() bool { return p >= 0 && p < MaxRTPrio }

// Fair reports whether p lies in the fair range 100–139.
func (p Prio) Fair() bool { return p >= MaxRTPrio && p < MaxPrio }

// String prints the number, or "?" for NoPrio.
func (p Prio) String() string {
	if p == NoPrio {
		return "?"
	}
	return strconv.Itoa(int(p))
}
