package replay

import (
	"cmp"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// unseenChange is another class or priority that a task took during a run without an event:
// sched_setscheduler() has none.
type unseenChange struct {
	id   timeline.TaskID
	turn int64 // the run began with this switch of the trace
	// at is the event of the run after which it counts. With sure the accounting or a system
	// call shows it. Else it is after the first
	// charge of the run that neither the tick nor a switch can have made: to change the class
	// charges; without one the beginning of the run for a better priority, and the end for a
	// worse one.
	at   int64
	sure bool
	prio event.Prio
	done bool
}

// currentRun is the current run of a CPU in the first look.
type currentRun struct {
	turn  int64
	n     int64 // events on its CPU
	prio  event.Prio
	lent  bool // sched_pi_setprio changed it
	begun bool
	call  int64 // the last system call that may have changed it, or the charge that it made
	calls int
	// inCall is when it began, while it has neither ended nor charged.
	inCall event.Time
	// The last charges as a fair and as a real-time task, by whether vruntime is told, and
	// the first one out of turn.
	asFair, asRT, odd, maybe int64
}

// ran takes in an event of the current run of a CPU.
func (s *firstSight) ran(ev *event.Event, t *timeline.Task) {
	for len(s.runs) < s.cpus {
		s.runs = append(s.runs, currentRun{})
	}
	r := &s.runs[ev.CPU]
	r.n++
	switch ev.Kind {
	case event.SchedSwitch:
		if out := ev.TaskPrio; r.begun && t != nil && !t.Idle() && !r.lent && out != event.NoPrio && r.prio != event.NoPrio && out != r.prio {
			s.change(r, ev, t)
		}
		*r = currentRun{turn: s.state.Switches, prio: ev.NextPrio, inCall: event.NoTime, begun: true}
	case event.SchedPISetprio:
		for i := range s.runs {
			if c := s.state.CPU(event.CPU(i)); c != nil && c.Current == t {
				s.runs[i].lent = true
			}
		}
	case event.SchedStatRuntime:
		r.charged(ev)
	case event.SysEnter:
		if kernel.IsClassSyscall(s.machine, ev.Arg, s.names.String(ev.Name)) {
			r.call, r.inCall = r.n, ev.Time
			r.calls++
		}
	case event.SysExit:
		r.inCall = event.NoTime
	case event.Gap:
		r.begun = false
	}
}

// longCall is how long after its beginning a call may charge for the old class.
const longCall event.Time = 50_000

// charged takes in a sched_stat_runtime.
func (r *currentRun) charged(ev *event.Event) {
	if ev.Task != ev.PID {
		return
	}
	if r.inCall != event.NoTime && ev.Time-r.inCall <= longCall && (ev.Arg2 != 0 || r.prio < event.MaxRTPrio) && !ev.Flags.InInterrupt() {
		r.call = r.n // to leave the old class charges; a tick may come in between
	}
	r.inCall = event.NoTime
	switch {
	case ev.Arg2 == 0:
		r.asRT = r.n // vruntime is only told of fair tasks
	case ev.Arg2 != event.NoArg:
		r.asFair = r.n
	}
	if r.maybe > 0 && r.odd == 0 {
		r.odd = r.maybe // it was not the last, which going to sleep charges
	}
	if r.maybe == 0 && ev.Flags&(event.FlagsKnown|event.HardIRQ|event.NeedResched|event.NeedReschedLazy) == event.FlagsKnown {
		r.maybe = r.n
	}
}

// change notes that a run ended with another priority than it began with.
func (s *firstSight) change(r *currentRun, ev *event.Event, t *timeline.Task) {
	c := unseenChange{id: t.ID, turn: r.turn, at: r.n, prio: ev.TaskPrio}
	was, is := r.prio < event.MaxRTPrio, ev.TaskPrio < event.MaxRTPrio
	switch {
	case r.calls > 0:
		c.at, c.sure = r.call, r.calls == 1
	case !was && is && r.asRT > 0:
		c.at, c.sure = r.asFair, true
	case was && !is && r.asFair > 0:
		c.at, c.sure = r.asRT, true
	case r.odd > 0:
		c.at = r.odd
	case ev.TaskPrio < r.prio:
		c.at = 0
	}
	if len(s.changes) < mostChanges {
		s.changes = append(s.changes, c)
	}
}

// mostChanges bounds the changes that are kept; a real machine shows some hundreds.
const mostChanges = 1 << 20

// sortChanges puts them into the order in which their runs begin.
func (s *firstSight) sortChanges() {
	slices.SortStableFunc(s.changes, func(a, b unseenChange) int { return cmp.Compare(a.turn, b.turn) })
}

// beginRun finds out whether the run of t that begins on c has an unseen change.
func (f *forcer) beginRun(c event.CPU, t *forced) {
	cp := &f.cpus[c]
	cp.change, cp.runEvents = noChange, 0
	list := f.first.changes
	for f.nextChange < len(list) && list[f.nextChange].turn < f.state.Switches {
		f.nextChange++
	}
	if f.nextChange < len(list) && list[f.nextChange].turn == f.state.Switches && list[f.nextChange].id == t.id {
		cp.change = list[f.nextChange]
	}
}

// changeUnseen lets the current task of c become what it became, after the event at hand.
func (f *forcer) changeUnseen(c event.CPU) {
	ch := &f.cpus[c].change
	if ch.done || ch.prio == event.NoPrio || ch.at > f.cpus[c].runEvents {
		return
	}
	ch.done = true
	if t := f.tasks[ch.id]; t != nil && t.task.Running() && t.task.CPU() == c {
		f.sync(c, t, ch.prio)
	}
}

// noChange is that of a run that has none.
var noChange = unseenChange{prio: event.NoPrio}

// changing reports whether it is not known what the current task of c is now.
func (f *forcer) changing(c event.CPU) bool {
	ch := &f.cpus[c].change
	return ch.prio != event.NoPrio && !(ch.sure && ch.done)
}
