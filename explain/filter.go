package explain

import (
	"path"
	"slices"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// wants reports whether the options choose the wait at all.
func (o *Options) wants(w *latency.Wait, comm string) bool {
	if o.From != event.NoTime && w.End < o.From || o.To != event.NoTime && w.Woken > o.To {
		return false
	}
	if len(o.PIDs) > 0 && !slices.Contains(o.PIDs, w.Task.PID) {
		return false
	}
	if len(o.CPUs) > 0 && !slices.Contains(o.CPUs, w.CPUAt(w.End)) {
		return false
	}
	return len(o.Tasks) == 0 || slices.ContainsFunc(o.Tasks, func(pattern string) bool {
		ok, err := path.Match(pattern, comm)
		return ok && err == nil || pattern == comm
	})
}

// rank says for whom people look first: deadline and real-time user tasks and interrupt
// threads, then fair tasks, last the threads of the kernel itself.
type rank uint8

const (
	rankUserRT rank = iota
	rankFair
	rankKernel
)

func (rs *rows) rankOf(c cause.Class, t *timeline.Task, comm string) rank {
	known := cause.TaskOf(rs.snap, rs.names, t) // interrupt threads are users'
	switch {
	case c == cause.ClassStop || kernel.IsKernelThread(comm) || known != nil && known.Kernel && !kernel.IsIRQThread(comm):
		return rankKernel
	case c == cause.ClassRT || c == cause.ClassDeadline:
		return rankUserRT
	}
	return rankFair
}
