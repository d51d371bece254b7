package truth

import (
	"iter"
	"slices"

	"github.com/whylate/whylate/event"
)

// Queued is how a task waits.
type Queued struct {
	CPU event.CPU // in whose queue it is, or will be
	// Flying: it is on its way there; the wake is not finished.
	Flying bool
	Prio   event.Prio // effective, with what it inherited
	Normal event.Prio // its own
	Rule   Rule       // the class that will choose it
}

// Part is a time of a wait during which nothing about it changed. Times are ns.
type Part struct {
	Queued
	From, To event.Time
}

// Wait is a time during which a task could have run and did not. Times are ns.
type Wait struct {
	PID event.PID
	// Slept: a wake began it; else the task had the CPU and lost it.
	Slept bool
	// Open: the run ended before the task ran.
	Open     bool
	From, To event.Time
	Parts    []Part
}

// Wait says that pid waits like this from now on. The first call since it ran begins a
// wait, and slept is how; the later ones tell what changed.
func (l *Log) Wait(at event.Time, pid event.PID, slept bool, q Queued) {
	l.end = max(l.end, at)
	t := l.task(pid)
	if t.waiting == 0 {
		l.waits = append(l.waits, Wait{PID: pid, Slept: slept, Open: true, From: at, To: event.NoTime})
		t.waiting = len(l.waits)
		l.passes.open = append(l.passes.open, len(l.waits)-1)
	}
	w := &l.waits[t.waiting-1]
	if n := len(w.Parts); n > 0 {
		last := &w.Parts[n-1]
		switch {
		case last.Queued == q:
			return
		case last.From == at:
			last.Queued = q
			return
		}
		last.To = at
	}
	w.Parts = append(w.Parts, Part{q, at, event.NoTime})
}

// Run says that pid has a CPU again, or wants none any more: its wait is over.
func (l *Log) Run(at event.Time, pid event.PID) {
	l.end = max(l.end, at)
	t := l.task(pid)
	if t.waiting == 0 {
		return
	}
	if i := slices.Index(l.passes.open, t.waiting-1); i >= 0 {
		l.passes.open = slices.Delete(l.passes.open, i, i+1)
	}
	w := &l.waits[t.waiting-1]
	w.To, w.Open = at, false
	w.Parts[len(w.Parts)-1].To = at
	t.waiting = 0
}

// Waits yields every wait in the order of its beginning, those of no length included. Open
// ones end with the run. A wait is valid until the next one.
func (l *Log) Waits() iter.Seq[*Wait] {
	return func(yield func(*Wait) bool) {
		for i := range l.waits {
			w := l.waits[i]
			if w.Open {
				w.To = l.end
				w.Parts = append([]Part(nil), w.Parts...)
				w.Parts[len(w.Parts)-1].To = l.end
			}
			if !yield(&w) {
				return
			}
		}
	}
}
