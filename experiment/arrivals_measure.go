package experiment

import (
	"context"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
)

// What is measured of the jobs of a task, a job being what it does between two of its sleeps.
type What uint8

// The measures.
const (
	Response What = iota // from the release to the end of the job
	Lateness             // from when the timer was due, slack included, to when the task has the CPU
	Wait                 // from the wake to when the task has the CPU
)

// String is the word for it on the command line.
func (w What) String() string { return [...]string{"response", "lateness", "wait"}[w] }

// Seen is the worst of one run.
type Seen struct {
	// Value is 0 where there was no job.
	Value event.Time
	Job   scenario.Job
	// Woken and OnCPU are of the wait; NoTime where there was none, OnCPU also where it has
	// not ended.
	Woken, OnCPU event.Time
	// Number is that of the job among those of its thread, from 1.
	Number int
	Jobs   int // how many were looked at
	End    event.Time
	Start  event.Time // when the program began
}

// Measure runs the scenario with the arrivals of a point and returns the worst of it, for
// Search.Run. Jobs count from the first sleep of their thread on; where settled is set only
// those that were released after all threads had come to theirs and no real-time task was left
// on the CPU, which is what theory speaks about.
func (a *Arrivals) Measure(ctx context.Context, at []event.Time, what What, settled bool) (Seen, error) {
	return a.measure(ctx, at, what, settled, what != Response || settled)
}

// measure is Measure, with the waits of a response too where they are wanted.
func (a *Arrivals) measure(ctx context.Context, at []event.Time, what What, settled, waits bool) (Seen, error) {
	l := &looker{a: a, what: what, from: event.NoTime}
	l.threads = make([]lookedAt, len(a.PIDs()))
	l.first = a.PIDs()[0]
	for i := range l.threads {
		l.threads[i] = lookedAt{woken: event.NoTime}
	}
	p := &l.probe
	p.Job = l.job
	if settled {
		l.from = event.Time(1<<63 - 1)
	}
	if waits {
		p.Event, p.Want = l.event, event.Kinds(event.SchedWaking, event.SchedSwitch)
	}
	err := p.Run(ctx, a.Setup(at))
	l.best.End, l.best.Start = p.End, p.Start
	return l.best, err
}

// looker follows the jobs of a task.
type looker struct {
	a       *Arrivals
	probe   scenario.Probe
	what    What
	first   event.PID // of its threads, which are numbered on
	threads []lookedAt
	from    event.Time // jobs count from here; NoTime: all
	best    Seen
}

// lookedAt is one thread of the task.
type lookedAt struct {
	woken event.Time // it waits since then; NoTime: not
	waits []waited   // of the job at hand, and before the first one
	jobs  int
}

type waited struct{ woken, onCPU event.Time }

func (l *looker) thread(pid event.PID) *lookedAt {
	if i := int(pid - l.first); i >= 0 && i < len(l.threads) {
		return &l.threads[i]
	}
	return nil
}

func (l *looker) event(ev *event.Event) {
	switch ev.Kind {
	case event.SchedWaking:
		if t := l.thread(ev.Task); t != nil && t.woken == event.NoTime {
			t.woken = ev.Time
		}
	case event.SchedSwitch:
		if t := l.thread(ev.Next); t != nil && t.woken != event.NoTime {
			t.waits = append(t.waits, waited{t.woken, ev.Time})
			t.woken = event.NoTime
		}
		if l.settling() && ev.NextPrio >= event.MaxRTPrio && l.probe.Begun() != event.NoTime {
			l.from = ev.Time
		}
	}
}

func (l *looker) settling() bool { return l.from == event.Time(1<<63-1) }

// job takes in a job that is done, or at the end one that is not.
func (l *looker) job(j scenario.Job) {
	if j.Task != l.a.task {
		return
	}
	t := l.thread(j.PID)
	if t == nil {
		return
	}
	waits := t.waits
	t.waits = t.waits[:0]
	t.jobs++
	if l.from != event.NoTime && j.Released < l.from {
		return
	}
	l.best.Jobs++
	if j.Done == event.NoTime && t.woken != event.NoTime {
		waits = append(waits, waited{t.woken, event.NoTime})
	}
	s := Seen{Job: j, Number: t.jobs, Woken: event.NoTime, OnCPU: event.NoTime}
	now := l.probe.Now()
	for _, w := range waits {
		if w.woken < j.Released {
			continue // before its first sleep
		}
		end := w.onCPU
		if end == event.NoTime {
			end = now
		}
		var v event.Time
		switch {
		case l.what == Wait:
			v = end - w.woken
		case l.what == Lateness && s.Woken == event.NoTime:
			// Within its slack a timer fires with any other one.
			v = end - min(j.Expires, w.woken)
		}
		if s.Woken == event.NoTime || v > s.Value {
			s.Value, s.Woken, s.OnCPU = v, w.woken, w.onCPU
		}
	}
	if l.what == Response {
		s.Value = j.Response(now)
	}
	if s.Value > l.best.Value || l.best.Number == 0 {
		s.Jobs = l.best.Jobs
		l.best = s
	}
}
