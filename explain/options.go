package explain

import (
	"github.com/whylate/whylate/event"
)

// Source is a trace together with the names of its events; *trace.File is one.
type Source interface {
	event.Source
	Names() *event.Names
}

// Options chooses what is looked at and how much of it is told.
type Options struct {
	File string // as the user named it; only printed

	// Kernel, unless empty, is the release to believe instead of what the trace says;
	// text traces do not say it.
	Kernel string

	Tasks    []string    // names or shell patterns (path.Match) of tasks; empty: all
	PIDs     []event.PID // empty: all
	CPUs     []event.CPU // CPUs whose waits are told; empty: all
	From, To event.Time  // part of the trace, on its own clock; NoTime: open
	Over     event.Time  // tell every wait at least this late; 0: the default choice
	Floor    event.Time  // the default choice leaves out waits of fair tasks and kernel threads below this
	Top      int         // at most this many late waits; 0: no bound beyond the default choice
	WaitID   string      // tell only this wait ("311@290.333201")
	Evidence bool        // fill Cause.Evidence with event lines
	By       By          // rows of Latency and of the blame
	Hist     HistOptions // Latency only
	Progress func(done, total int64)
}

// By is what a row of the answer stands for.
type By string

// The rows that --by knows.
const (
	ByTask    By = "task"
	ByComm    By = "comm"
	ByProcess By = "process"
	ByCGroup  By = "cgroup"
	ByCPU     By = "cpu"
)

// HistOptions asks for histograms of the wakeup waits, one per row.
type HistOptions struct {
	BucketNS int64 // width of a bucket; 0: no histograms
	Buckets  int   // number of buckets before waits count as overflow
}
