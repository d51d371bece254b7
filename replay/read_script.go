package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/timeline"
)

// doing is what a task was last seen doing, for who writes down its operations.
type doing uint8

const (
	unheard doing = iota // no event told of it yet
	unseen               // events were lost since, or do not say
	newborn              // created, not runnable yet
	onCPU
	queued // off the CPU although it could go on
	sleeping
	woken // and not on a CPU yet
	gone
)

// script is the task of a load while it is read.
type script struct {
	id    timeline.TaskID
	index int // in Load.Tasks
	ops   []Op
	doing doing
	begin Begin
	cpu   event.CPU  // at the beginning
	born  event.Time // BeginNew without a parent: when it appeared; NoTime: a parent forks it
	left  event.Time // its newest switch-out
	sleep int        // its newest operation that sleeps, −1: none yet
	run   int        // how many operations there were when it last came to a CPU
	since event.Time // when that was
	fair  fairSight
	early early

	servedBy int64 // the interrupt whose thread woke it last, until one of that came; noIRQ: none

	prio  event.Prio // its own, NoPrio: not known yet
	first event.Prio // the first that was known
	rr    bool       // an equal took its place although it could go on
	call  int        // how many operations there were at its newest call that may change its class, −1: none in this run
	// charges are the newest times in this run at which it was charged by itself: as a fair task,
	// as another one, and the one before the newest.
	charges [3]place
	newest  place
	pin     event.CPU   // a fair task: where it may run
	birth   event.CPU   // the first of these
	freed   []event.CPU // where it ran as something else than a fair task

	attr   *sched.Attr // at the beginning, where more than its priority is known; else nil
	in     []insertion
	timers []timerSleep
}

// place is a place among the operations; at 0: none.
type place struct {
	op int
	at event.Time
}

// early is a wake of a task that has not left its CPU yet. Whether it ended a sleep is known
// only when that goes to sleep without sched_wakeup in between.
type early struct {
	at     event.Time // NoTime: there is none
	cpu    event.CPU
	by, op int // the waker and its OpWake; −1: an interrupt
}

// insertion is an operation that was found out too late to be appended: it comes before ops[at],
// or where after is set into that, after so many ns of its work.
type insertion struct {
	at    int
	after event.Time
	op    Op
}

// posted is a wake that no task and no sleep timer of the sleeper did.
type posted struct {
	at   event.Time
	cpu  event.CPU // where it was done
	task int
}

// add appends an operation.
func (s *script) add(op Op) { s.ops = append(s.ops, op) }

// insert notes op for the place before ops[at].
func (s *script) insert(at int, op Op) { s.in = append(s.in, insertion{at: at, op: op}) }

// goSleep appends a sleep that began at t, of which it is not known yet what ends it.
func (s *script) goSleep(t event.Time, state event.State) {
	s.sleep = len(s.ops)
	s.add(Op{Kind: OpWait, State: state, Slept: t, At: event.NoTime, By: FromEvents})
	s.doing = sleeping
}

// pay takes ns off the newest stretches of work, up to the last operation of another kind.
func (s *script) pay(ns event.Time) {
	for i := len(s.ops) - 1; i >= s.run && ns > 0 && s.ops[i].Kind == OpRun; i-- {
		part := min(ns, s.ops[i].NS)
		s.ops[i].NS -= part
		ns -= part
	}
}
