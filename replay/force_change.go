package replay

import (
	"cmp"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// unseenChange is another class or priority that a task took during a run without an event:
// sched_setscheduler() has none.
type unseenChange struct {
	id       timeline.TaskID
	cpu      event.CPU
	from, to event.Time // of the run
	// at is from when it counts. With sure the accounting shows it. Else it is after the first
	// charge of the run that neither the tick nor a switch can have made: to change the class
	// charges; without one the beginning of the run for a better priority, and the end for a
	// worse one.
	at   event.Time
	sure bool
	prio event.Prio
	done bool
}

// currentRun is the current run of a CPU in the first look.
type currentRun struct {
	from  event.Time
	prio  event.Prio
	lent  bool // sched_pi_setprio changed it
	begun bool
	// The last charges as a fair and as a real-time task, by whether vruntime is told, and
	// the first one out of turn.
	asFair, asRT, odd event.Time
}

// ran takes in an event of the current run of a CPU.
func (s *firstSight) ran(ev *event.Event, t *timeline.Task) {
	for len(s.runs) < s.cpus {
		s.runs = append(s.runs, currentRun{})
	}
	r := &s.runs[ev.CPU]
	switch ev.Kind {
	case event.SchedSwitch:
		if out := ev.TaskPrio; r.begun && t != nil && !t.Idle() && !r.lent && out != event.NoPrio && r.prio != event.NoPrio && out != r.prio {
			s.change(r, ev, t)
		}
		*r = currentRun{from: ev.Time, prio: ev.NextPrio, asFair: event.NoTime, asRT: event.NoTime, odd: event.NoTime, begun: true}
	case event.SchedPISetprio:
		for i := range s.runs {
			if c := s.state.CPU(event.CPU(i)); c != nil && c.Current == t {
				s.runs[i].lent = true
			}
		}
	case event.SchedStatRuntime:
		r.charged(ev)
	case event.Gap:
		r.begun = false
	}
}

// charged takes in a sched_stat_runtime.
func (r *currentRun) charged(ev *event.Event) {
	if ev.Task != ev.PID {
		return
	}
	switch {
	case ev.Arg2 == 0:
		r.asRT = ev.Time // vruntime is only told of fair tasks
	case ev.Arg2 != event.NoArg:
		r.asFair = ev.Time
	}
	if r.odd == event.NoTime && ev.Flags&(event.FlagsKnown|event.HardIRQ|event.NeedResched|event.NeedReschedLazy) == event.FlagsKnown {
		r.odd = ev.Time
	}
}

// change notes that a run ended with another priority than it began with.
func (s *firstSight) change(r *currentRun, ev *event.Event, t *timeline.Task) {
	c := unseenChange{id: t.ID, cpu: ev.CPU, from: r.from, to: ev.Time, at: ev.Time, prio: ev.TaskPrio}
	was, is := r.prio < event.MaxRTPrio, ev.TaskPrio < event.MaxRTPrio
	switch {
	case !was && is && r.asRT != event.NoTime:
		c.at, c.sure = max(r.from, r.asFair)+1, true
	case was && !is && r.asFair != event.NoTime:
		c.at, c.sure = max(r.from, r.asRT)+1, true
	case r.odd != event.NoTime:
		c.at = r.odd + 1
	case ev.TaskPrio < r.prio:
		c.at = r.from
	}
	s.changes = append(s.changes, c)
}

// sortChanges puts them into the order in which their runs begin.
func (s *firstSight) sortChanges() {
	slices.SortStableFunc(s.changes, func(a, b unseenChange) int { return cmp.Compare(a.from, b.from) })
}

// changeUnseen lets tasks take what they took unseen, before the event at hand.
func (f *forcer) changeUnseen() {
	for f.nextChange < len(f.first.changes) && f.first.changes[f.nextChange].from < f.now {
		ch := &f.first.changes[f.nextChange]
		if f.exists(ch.cpu) {
			f.cpus[ch.cpu].change = *ch
		}
		f.nextChange++
	}
	for c := range f.cpus {
		ch := &f.cpus[c].change
		if ch.done || ch.at > f.now || ch.prio == event.NoPrio || int(ch.id) >= len(f.tasks) {
			continue
		}
		ch.done = true
		if t := f.tasks[ch.id]; t != nil && t.task.Running() && t.task.CPU() == event.CPU(c) {
			f.sync(event.CPU(c), t, ch.prio)
		}
	}
}

// changing reports whether it is not known what the current task of c is now.
func (f *forcer) changing(c event.CPU) bool {
	ch := &f.cpus[c].change
	return ch.from < f.now && f.now <= ch.to && !(ch.sure && f.now >= ch.at)
}
