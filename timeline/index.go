package timeline

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
)

// Run is one stay of a task on a CPU. It covers [Start, End).
type Run struct {
	Start, End event.Time // End of the last run of a CPU is the end of the trace
	Task       TaskID
	PrioIn     event.Prio // next_prio at the switch-in, NoPrio if unseen
	PrioOut    event.Prio // prev_prio at the switch-out, NoPrio if still running
	Comm       event.Name // at the switch-out
	State      event.State
	Marks      Mark
}

// Mark is something that was seen during a run.
type Mark uint16

// The marks.
const (
	MarkFromSleep   Mark = 1 << iota // the switch-in ended a sleep
	MarkNew                          // the first run of a new task
	MarkExec                         // the task executed a new program
	MarkRename                       // the task changed its name
	MarkFork                         // the task created another one
	MarkTimerStart                   // the task itself started a high-resolution timer
	MarkLast                         // the task died at the end of this run
	MarkOpen                         // the trace ended during the run
	MarkUnseenStart                  // the switch-in was not seen
	MarkRTCharged                    // sched_stat_runtime charged it as real-time (vruntime 0)
	MarkYielded                      // the task called sched_yield
	MarkRaised                       // its priority was raised while it did not run
	MarkPassedRT                     // a fair task or idle was chosen with a real-time task in the queue
)

// Has reports whether all of m are set.
func (m Mark) Has(want Mark) bool { return m&want == want }

// Span is a stretch of one CPU's time.
type Span struct {
	From, To event.Time
	Vec      int64      // interrupt number, softirq vector
	Name     event.Name // handler, event name
	Task     TaskID     // current task
	Expiries int        // timers that expired within it
	// Raised is the first softirq_raise of a softirq since its vector was last served,
	// Raises how many there were; NoTime and 0 if none was seen.
	Raised event.Time
	Raises int
}

// Expiry is a high-resolution timer that was served.
type Expiry struct {
	At      event.Time
	CPU     event.CPU
	Timer   int64
	Func    event.Name
	Now     int64 // the timer base's clock, read once per interrupt
	Current TaskID
	Woke    TaskID     // whose sched_waking came directly after it, NoTask if none did
	WokeAt  event.Time // when that was
	Hard    bool       // in hard-interrupt context
	// Flags, Depth and Migrate are the context that the interrupt found: preemption is off
	// where Depth is above 0, and the task cannot be moved where Migrate is.
	Flags          event.Flags
	Depth, Migrate uint8
}

// PrioChange is a sched_pi_setprio.
type PrioChange struct {
	At       event.Time
	Old, New event.Prio
	Boosted  bool       // the new priority is an inherited one
	Base     event.Prio // the task's own
}

// Charge is a sched_stat_runtime of a real-time or deadline task.
type Charge struct {
	At   event.Time
	Task TaskID
	NS   int64
}

// Arming is the newest hrtimer_start of a timer before an expiry.
type Arming struct {
	By            TaskID
	At            event.Time
	CPU           event.CPU
	Soft, Expires int64 // on the clock of the timer's base
}

// DLStart is an hrtimer_start of a dl_task_timer: of a deadline task that is throttled, or of
// a deadline server.
type DLStart struct {
	At    event.Time
	CPU   event.CPU
	Timer int64  // its address, event.NoArg if hidden
	By    TaskID // the current task, which it interrupts or is its own; NoTask: unknown
	For   TaskID // the task that is being woken there, NoTask: none
}

// Stay is a CPU on which a task ran.
type Stay struct {
	CPU  event.CPU
	Last event.Time // its last switch-in there
	Off  event.Time // when the stopper took it off that CPU for the last time; NoTime: never
}

// Pull is a task that was brought to a CPU while it waited.
type Pull struct {
	At   event.Time
	From event.CPU
	By   event.CPU // that executed it
	Task TaskID
	// Softirq: in a softirq, or its thread: by periodic balancing. Stopper: by the thread of
	// the CPU where it was, which also moves tasks of another affinity. Else the CPU By was about to
	// take another task.
	Softirq, Stopper bool
}

// ExpiryKey names one expiry: N is its position in CPUIndex.Expiries.
type ExpiryKey struct {
	CPU event.CPU
	N   int
}

// CPUIndex is what happened on one CPU, each list in order of time.
type CPUIndex struct {
	Runs     []Run
	Gaps     []Span
	IRQs     []Span
	Softirqs []Span
	Charges  []Charge
	Expiries []Expiry
	Idle     []event.Time // cpu_idle exits and IPIs: signs that the CPU was woken
	OffSpans []Span       // interrupts or preemption off, where those events are recorded
	// Kept is from when a real-time task was queued to when the scheduler was asked and a fair
	// task stayed.
	Kept []Span
	// Pulls are the waiting fair tasks that were brought to this CPU.
	Pulls []Pull
}

// TaskIndex is what happened to one task.
type TaskIndex struct {
	PrioChanges []PrioChange
	// ExitMark is the first event that only a dying task has: exit or exit_group,
	// do_exit, exit_mm, or sched_process_exit; NoTime: it did not die.
	ExitMark event.Time
	// ProcessExit is its sched_process_exit, NoTime if none was seen.
	ProcessExit event.Time
	AliveAt     event.Time // its last sign of life: what a task in its exit does not do
	WokeAt      event.Time // when it came to a CPU from its last sleep in life, or as a new task
	SignalAt    event.Time // a signal was delivered to it that may end it, NoTime: none
	LastOff     event.Time // its final switch-out, NoTime if not seen
	RanOn       []Stay
	// Refused counts, by CPU, up to 255, how often since it came there last the task was woken to wait
	// although that CPU idled: the scheduler would rather have taken it. nil: never.
	Refused    []uint8
	lastOut    event.Prio   // at its newest switch-out
	ClassCalls []event.Time // its calls of sched_setscheduler and the like, for itself or others
	TimerWakes []event.Time // its wakes from interrupts and by softirq threads
}

// Index holds a trace for random access. Its memory grows with the trace: about 80
// bytes for each switch and less for other events.
type Index struct {
	Tracker  *Tracker
	Facts    kernel.Facts
	Names    *event.Names
	CPUs     []CPUIndex
	Tasks    []TaskIndex
	From, To event.Time
	Seen     event.KindSet // the kinds that occur
	Counts   [event.NumKinds]int64
	// CountsPreempt: the kernel keeps a preempt count, so that a depth of 0 means
	// something.
	CountsPreempt bool
	// DLStarts are the starts of the timers of the deadline class, DLCancels those that were
	// stopped before they expired; both in order of time.
	DLStarts, DLCancels []DLStart
	// Armed has, for an expiry, who had started the timer, where that was a task.
	Armed map[ExpiryKey]Arming
}

// RunAt returns the index of the run of c that covers t, −1 if none does.
func (x *Index) RunAt(c event.CPU, t event.Time) int {
	ci := x.CPU(c)
	if ci == nil {
		return -1
	}
	i := sort.Search(len(ci.Runs), func(i int) bool { return ci.Runs[i].End > t })
	if i < len(ci.Runs) && ci.Runs[i].Start <= t {
		return i
	}
	return -1
}

// CPU returns the lists of c, nil for a CPU without events.
func (x *Index) CPU(c event.CPU) *CPUIndex {
	if c < 0 || int(c) >= len(x.CPUs) {
		return nil
	}
	return &x.CPUs[c]
}

// Gaps returns where events are missing, by CPU.
func (x *Index) Gaps() [][]Span {
	gaps := make([][]Span, len(x.CPUs))
	for c := range x.CPUs {
		gaps[c] = x.CPUs[c].Gaps
	}
	return gaps
}

// Overlapping returns the spans that share time with [from, to). Spans are in order and
// do not overlap each other.
func Overlapping(spans []Span, from, to event.Time) []Span {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].To > from })
	j := i
	for j < len(spans) && spans[j].From < to {
		j++
	}
	return spans[i:j]
}

// Occurs reports whether kind k occurs in the trace at all.
func (x *Index) Occurs(k event.Kind) bool { return x.Seen&(1<<k) != 0 }

// PrioAt returns the effective and the own priority that the task of r had at t, which
// lies in r. Priority inheritance is followed; a change of class within the run leaves
// no event and is not seen here: then PrioIn and PrioOut of r differ.
func (x *Index) PrioAt(r *Run, t event.Time) (prio, base event.Prio, boosted bool) {
	changes := x.Tasks[r.Task].PrioChanges
	i := sort.Search(len(changes), func(i int) bool { return changes[i].At > t })
	if i > 0 && changes[i-1].At >= r.Start {
		c := changes[i-1]
		return c.New, c.Base, c.Boosted
	}
	prio = r.PrioIn
	if prio == event.NoPrio && i < len(changes) && changes[i].At < r.End {
		prio = changes[i].Old
	}
	if prio == event.NoPrio {
		prio = r.PrioOut
	}
	if i > 0 && changes[i-1].Boosted && changes[i-1].New == prio {
		return prio, changes[i-1].Base, true
	}
	if i == 0 && len(changes) > 0 && changes[0].Old == prio && changes[0].New > prio {
		return prio, changes[0].New, true // the boost began before the trace
	}
	return prio, prio, false
}

// PrioChanges returns the changes of a task's priority by inheritance, in order of time.
func (x *Index) PrioChanges(id TaskID) []PrioChange {
	if int(id) >= len(x.Tasks) {
		return nil
	}
	return x.Tasks[id].PrioChanges
}

// Steady is a part of a run in which no inheritance changed the priority of its task. In and
// Out are its effective priorities at the two ends: where they differ, the task changed its
// class or priority itself, which leaves no event of the scheduler. Out is NoPrio where the
// trace ends before.
type Steady struct {
	From, To event.Time
	In, Out  event.Prio
	// Calls are the system calls within it that may have changed it, if these are recorded.
	Calls []event.Time
}

// SteadyAt returns the part of r around t.
func (x *Index) SteadyAt(r *Run, t event.Time) Steady {
	s := Steady{From: r.Start, To: r.End, In: r.PrioIn, Out: r.PrioOut}
	ti := &x.Tasks[r.Task]
	i := sort.Search(len(ti.PrioChanges), func(i int) bool { return ti.PrioChanges[i].At > t })
	if i > 0 && ti.PrioChanges[i-1].At >= r.Start {
		s.From, s.In = ti.PrioChanges[i-1].At, ti.PrioChanges[i-1].New
	}
	// One in the very moment of the switch came before it if that shows it.
	if i < len(ti.PrioChanges) && (ti.PrioChanges[i].At < r.End || ti.PrioChanges[i].At == r.End && ti.PrioChanges[i].New == r.PrioOut) {
		s.To, s.Out = ti.PrioChanges[i].At, ti.PrioChanges[i].Old
	}
	from := sort.Search(len(ti.ClassCalls), func(i int) bool { return ti.ClassCalls[i] >= s.From })
	to := sort.Search(len(ti.ClassCalls), func(i int) bool { return ti.ClassCalls[i] > s.To })
	s.Calls = ti.ClassCalls[from:to]
	return s
}
