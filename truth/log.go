package truth

import (
	"iter"
	"sort"

	"github.com/whylate/whylate/event"
)

// Rule is why a task holds a CPU: the class that chose it.
type Rule uint8

// The rules, in the order in which a kernel asks its classes.
const (
	Stop Rule = iota
	Deadline
	RealTime
	Fair
	Idle
)

// String is the class as results spell it.
func (r Rule) String() string {
	switch r {
	case Stop:
		return "stop"
	case Deadline:
		return "dl"
	case RealTime:
		return "rt"
	case Fair:
		return "fair"
	}
	return "idle"
}

// Holder is the task that holds a CPU. Two Holders are equal if nothing changed.
type Holder struct {
	PID    event.PID
	Prio   event.Prio // effective, with what it inherited
	Normal event.Prio // its own
	Rule   Rule
	// Boosted: a lock lends it the priority of somebody who waits.
	Boosted bool
	// Dying: it has begun to exit.
	Dying bool
}

// Stretch is a time on a CPU during which nothing about its holder changed. Times are ns,
// To is the first moment after it.
type Stretch struct {
	Holder
	From, To event.Time
}

// Log is the truth about a run. The zero Log is ready to use.
type Log struct {
	cpus      [][]Stretch
	throttled map[event.PID][]span
	end       event.Time
}

type span struct{ from, to event.Time }

// Hold says that from now on h holds cpu. Calls must come in the order of time.
func (l *Log) Hold(at event.Time, cpu event.CPU, h Holder) {
	for int(cpu) >= len(l.cpus) {
		l.cpus = append(l.cpus, nil)
	}
	l.end = max(l.end, at)
	list := l.cpus[cpu]
	if n := len(list); n > 0 {
		last := &list[n-1]
		switch {
		case last.Holder == h:
			return
		case last.From == at:
			last.Holder = h // it held the CPU for no time at all
			return
		}
		last.To = at
	}
	l.cpus[cpu] = append(list, Stretch{h, at, event.NoTime})
}

// Throttle says that the deadline task pid is out of runtime from now on, or has some
// again.
func (l *Log) Throttle(at event.Time, pid event.PID, on bool) {
	if l.throttled == nil {
		l.throttled = make(map[event.PID][]span)
	}
	l.end = max(l.end, at)
	list := l.throttled[pid]
	switch n := len(list); {
	case on && (n == 0 || list[n-1].to != event.NoTime):
		l.throttled[pid] = append(list, span{at, event.NoTime})
	case !on && n > 0 && list[n-1].to == event.NoTime:
		list[n-1].to = at
	}
}

// End says when the run was over: what is still open ends there.
func (l *Log) End(at event.Time) { l.end = max(l.end, at) }

// CPUs returns how many CPUs anything is known of.
func (l *Log) CPUs() int { return len(l.cpus) }

// On yields what held cpu from from to to, cut to that part; a stretch at the end of the
// run ends with it.
func (l *Log) On(cpu event.CPU, from, to event.Time) iter.Seq[Stretch] {
	return func(yield func(Stretch) bool) {
		if cpu < 0 || int(cpu) >= len(l.cpus) {
			return
		}
		list := l.cpus[cpu]
		i := sort.Search(len(list), func(i int) bool { return list[i].From > from })
		for i = max(i-1, 0); i < len(list) && list[i].From < to; i++ {
			s := list[i]
			if s.To == event.NoTime {
				s.To = l.end
			}
			s.From, s.To = max(s.From, from), min(s.To, to)
			if s.From < s.To && !yield(s) {
				return
			}
		}
	}
}

// At returns who held cpu at t; ok is false outside the run.
func (l *Log) At(cpu event.CPU, t event.Time) (h Holder, ok bool) {
	for s := range l.On(cpu, t, t+1) {
		return s.Holder, true
	}
	return Holder{}, false
}

// ThrottledNS returns for how long of from to to the deadline task pid was throttled.
func (l *Log) ThrottledNS(pid event.PID, from, to event.Time) event.Time {
	total := event.Time(0)
	for _, s := range l.throttled[pid] {
		end := s.to
		if end == event.NoTime {
			end = l.end
		}
		total += max(0, min(end, to)-max(s.from, from))
	}
	return total
}
