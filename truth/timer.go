package truth

import (
	"sort"

	"github.com/whylate/whylate/event"
)

// Timer is one sleep timer of a task. Times are ns.
type Timer struct {
	Armed event.Time
	// Due is when the sleeper should have been woken, slack included; not before Armed.
	Due event.Time
	// Served is when somebody acted on it; NoTime: nobody did, it was cancelled or is open.
	Served event.Time
	CPU    event.CPU // on which it was served
	By     event.PID // the thread that carried it out (ktimers/N, ksoftirqd/N), 0: an interrupt
}

// Arm says that pid starts its sleep timer, which replaces one that is still open.
func (l *Log) Arm(at event.Time, pid event.PID, due event.Time) {
	l.end = max(l.end, at)
	t := l.task(pid)
	t.timers = append(t.timers, Timer{Armed: at, Due: max(due, at), Served: event.NoTime, CPU: event.NoCPU})
}

// Serve says that the sleep timer of pid is carried out on cpu: by the thread by, 0 in an
// interrupt. Without an open timer it changes nothing.
func (l *Log) Serve(at event.Time, pid event.PID, cpu event.CPU, by event.PID) {
	l.end = max(l.end, at)
	list := l.task(pid).timers
	if n := len(list); n > 0 && list[n-1].Served == event.NoTime {
		list[n-1].Served, list[n-1].CPU, list[n-1].By = at, cpu, by
	}
}

// TimerOf returns the timer that was carried out at the very moment at which pid was woken;
// false if something else woke it.
func (l *Log) TimerOf(pid event.PID, woken event.Time) (Timer, bool) {
	list := l.task(pid).timers
	for i := sort.Search(len(list), func(i int) bool { return list[i].Armed > woken }) - 1; i >= 0; i-- {
		switch s := list[i].Served; {
		case s == woken:
			return list[i], true
		case s != event.NoTime && s < woken:
			return Timer{}, false
		}
	}
	return Timer{}, false
}
