package truth

import (
	"slices"

	"github.com/whylate/whylate/event"
)

// CPUSet is a set of CPUs, 64 in each word.
type CPUSet []uint64

// Has reports whether c is in s.
func (s CPUSet) Has(c event.CPU) bool {
	return c >= 0 && int(c)/64 < len(s) && s[c/64]&(1<<(c%64)) != 0
}

// allowedFrom is on which CPUs a task may run from a moment on.
type allowedFrom struct {
	at   event.Time
	cpus CPUSet
}

// Allow says on which CPUs pid may run from now on. The log keeps no part of cpus.
func (l *Log) Allow(at event.Time, pid event.PID, cpus CPUSet) {
	l.end = max(l.end, at)
	t := l.task(pid)
	if n := len(t.allowed); n > 0 && slices.Equal(t.allowed[n-1].cpus, cpus) {
		return
	}
	t.allowed = append(t.allowed, allowedFrom{at, slices.Clone(cpus)})
}

// Allowed reports whether pid might run on c at t. Whoever was never said to be bound may run
// everywhere; before the first word on a task that holds, too.
func (l *Log) Allowed(pid event.PID, c event.CPU, t event.Time) bool {
	x := l.tasks[pid]
	if x == nil || len(x.allowed) == 0 {
		return true
	}
	for i := len(x.allowed) - 1; i > 0; i-- {
		if x.allowed[i].at <= t {
			return x.allowed[i].cpus.Has(c)
		}
	}
	return x.allowed[0].cpus.Has(c)
}
