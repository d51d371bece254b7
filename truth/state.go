package truth

import (
	"iter"
	"sort"

	"github.com/whylate/whylate/event"
)

// Span is a time during which something held. Times are ns, To is the first moment after it.
type Span struct{ From, To event.Time }

// spans is a list of them in the order of time; the last one may be open.
type spans []Span

// set says that from at on it holds, or no longer does.
func (s *spans) set(at event.Time, on bool) {
	n := len(*s)
	switch open := n > 0 && (*s)[n-1].To == event.NoTime; {
	case on && !open:
		*s = append(*s, Span{at, event.NoTime})
	case !on && open:
		(*s)[n-1].To = at
	}
}

// cut yields the parts of s in [from, to) of a run that ended at end.
func (s spans) cut(from, to, end event.Time) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		i := sort.Search(len(s), func(i int) bool { return closed(s[i].To, end) > from })
		for ; i < len(s) && s[i].From < to; i++ {
			p := Span{max(s[i].From, from), min(closed(s[i].To, end), to)}
			if p.From < p.To && !yield(p) {
				return
			}
		}
	}
}

// RTThrottle says that the real-time runqueue of cpu is throttled from now on, or no longer.
func (l *Log) RTThrottle(at event.Time, cpu event.CPU, on bool) {
	l.end = max(l.end, at)
	l.cpu(cpu).dark.set(at, on)
}

// RTThrottled yields when, from from to to, the real-time runqueue of cpu was throttled.
// A task that ran may still have been current at its beginning.
func (l *Log) RTThrottled(cpu event.CPU, from, to event.Time) iter.Seq[Span] {
	return l.seen(cpu).dark.cut(from, to, l.end)
}

// RTPeriod says that real-time tasks get new runtime now, on every CPU.
func (l *Log) RTPeriod(at event.Time) {
	l.end = max(l.end, at)
	l.periods = append(l.periods, at)
}

// RTPeriodBefore returns when real-time tasks got new runtime last, before t; 0 if never.
func (l *Log) RTPeriodBefore(t event.Time) event.Time {
	if i := sort.Search(len(l.periods), func(i int) bool { return l.periods[i] >= t }); i > 0 {
		return l.periods[i-1]
	}
	return 0
}

// FairServe says that from now on the deadline server of cpu chooses its fair tasks, in
// front of the real-time ones, or no longer does.
func (l *Log) FairServe(at event.Time, cpu event.CPU, on bool) {
	l.end = max(l.end, at)
	l.cpu(cpu).served.set(at, on)
}

// FairServed yields when, from from to to, cpu was given to fair tasks by its server.
func (l *Log) FairServed(cpu event.CPU, from, to event.Time) iter.Seq[Span] {
	return l.seen(cpu).served.cut(from, to, l.end)
}

// Throttle says that the deadline task pid is out of runtime from now on, or has some
// again.
func (l *Log) Throttle(at event.Time, pid event.PID, on bool) {
	l.end = max(l.end, at)
	l.task(pid).throttled.set(at, on)
}

// Throttled yields when, from from to to, the deadline task pid was throttled.
func (l *Log) Throttled(pid event.PID, from, to event.Time) iter.Seq[Span] {
	return l.task(pid).throttled.cut(from, to, l.end)
}

// ThrottledNS returns for how long of from to to the deadline task pid was throttled.
func (l *Log) ThrottledNS(pid event.PID, from, to event.Time) event.Time {
	total := event.Time(0)
	for s := range l.Throttled(pid, from, to) {
		total += s.To - s.From
	}
	return total
}

// Exit says that pid has begun to exit: nothing of its own work is left. What it does
// before, such as a core dump, is none of it. Only the first call counts.
func (l *Log) Exit(at event.Time, pid event.PID) {
	l.end = max(l.end, at)
	l.task(pid).exits.set(at, true)
}

// ExitOf returns when pid began to exit; NoTime: it did not.
func (l *Log) ExitOf(pid event.PID) event.Time {
	if s := l.task(pid).exits; len(s) > 0 {
		return s[0].From
	}
	return event.NoTime
}
