package latency

import (
	"strconv"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// Kind says how a wait began.
type Kind uint8

// The kinds of waits. They are separate series everywhere.
const (
	Wakeup    Kind = iota // woken, or newly created
	Preempted             // taken off the CPU although runnable
	Yielded               // gave up the CPU with sched_yield
)

// String is the word of the JSON: wakeup, preempted, yielded.
func (k Kind) String() string { return [...]string{"wakeup", "preempted", "yielded"}[k] }

// Context says in what context a task was woken.
type Context uint8

// The contexts of a wake. In an interrupt the current task is not the waker.
const (
	ContextUnknown Context = iota
	ContextTask
	ContextSoftIRQ
	ContextIRQ
)

// String is the word of the JSON: task, softirq, irq, or "" if unknown.
func (c Context) String() string { return [...]string{"", "task", "softirq", "irq"}[c] }

// Waker is who made a task runnable.
type Waker struct {
	Task    *timeline.Task // current task at the wake; nil: unknown
	PID     event.PID
	Comm    event.Name
	CPU     event.CPU // where the wake executed
	Context Context
}

// Move is a change of the CPU on which a waiting task is queued.
type Move struct {
	At event.Time
	To event.CPU
}

// Wait is one time in which a task could have run and did not.
type Wait struct {
	Task *timeline.Task
	Comm event.Name // its name when the wait ended
	Kind Kind
	New  bool // the task never ran before

	Left  event.Time // its switch-out before the wait; NoTime if that was not seen
	Woken event.Time // start: sched_waking, or the switch-out
	OnCPU event.Time // end: the sched_switch to it; NoTime: still open
	End   event.Time // OnCPU, or the end of the trace

	// Queued is the stamp of sched_wakeup on the target CPU, NoTime where there is none.
	Queued   event.Time
	QueuedBy event.CPU // where that sched_wakeup was executed
	// CPU is where it was queued first; Moves are the later ones, in order of time.
	CPU   event.CPU
	Moves []Move

	Waker Waker
	Prio  event.Prio // effective priority during the wait
	Base  event.Prio // without an inherited boost

	// GapFrom is the first moment from which the wait cannot be trusted: events were lost
	// on a CPU where the task was queued, or its own events do not fit together; NoTime:
	// it can. The length of such a wait is a number without meaning.
	GapFrom event.Time
}

// Length is the wait in ns, from Woken to End.
func (w *Wait) Length() int64 { return int64(w.End - w.Woken) }

// Open reports whether the task still waited when the trace ended.
func (w *Wait) Open() bool { return w.OnCPU == event.NoTime }

// MovedUnseen reports whether the task came to run on another CPU than the one where the
// events say it was queued.
func (w *Wait) MovedUnseen() bool {
	n := len(w.Moves)
	return n > 0 && !w.Open() && w.Moves[n-1].At == w.OnCPU
}

// CPUAt returns the CPU on which the task was queued at time t.
func (w *Wait) CPUAt(t event.Time) event.CPU {
	c := w.CPU
	for _, m := range w.Moves {
		if m.At > t {
			break
		}
		c = m.To
	}
	return c
}

// ID names the wait: pid, "@", and the second and microsecond of its start on the
// trace's clock.
func (w *Wait) ID() string { return ID(w.Task.PID, w.Woken) }

// ID makes the name of a wait of pid that starts at woken.
func ID(pid event.PID, woken event.Time) string {
	b := strconv.AppendInt(nil, int64(pid), 10)
	b = append(b, '@')
	ns := uint64(woken)
	if woken < 0 {
		b = append(b, '-')
		ns = -ns
	}
	b = strconv.AppendUint(b, ns/1e9, 10)
	b = append(b, '.')
	us := strconv.FormatUint(ns%1e9/1e3, 10)
	for range 6 - len(us) {
		b = append(b, '0')
	}
	return string(append(b, us...))
}
