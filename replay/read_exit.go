package replay

import (
	"slices"

	"github.com/whylate/whylate/event"
)

// fewestJobs is how many jobs of a task tell what a job of it takes.
const fewestJobs = 3

// lastJob takes the last job of a periodic task out of its exit: where only signs of life in
// its last run tell when it began to die, it first did in that what it does in each of its jobs.
func (r *reader) lastJob(s *script) {
	if _, likely := r.a.ExitFrom(s.id); !likely {
		return
	}
	var jobs []event.Time
	var work event.Time
	var every event.Time // of the sleep before, if it was by a grid
	for i := range s.ops {
		switch op := &s.ops[i]; {
		case op.Kind == OpRun && op.Dying:
			if len(jobs) >= fewestJobs && every > 0 {
				slices.Sort(jobs)
				s.alive(i, jobs[len(jobs)/2]-work)
			}
			return
		case op.Kind == OpRun:
			work += op.NS
		case op.Kind.Sleeps():
			if every > 0 && op.Kind == OpSleep && op.Every == every {
				jobs = append(jobs, work)
			}
			every, work = 0, 0
			if op.Kind == OpSleep {
				every = op.Every
			}
		}
	}
}

// alive says of the first ns of work from operation i on that they are no part of the exit.
func (s *script) alive(i int, ns event.Time) {
	for ; i < len(s.ops) && ns > 0; i++ {
		op := &s.ops[i]
		if op.Kind != OpRun {
			continue
		}
		if op.NS <= ns {
			ns -= op.NS
			op.Dying = false
			continue
		}
		first := *op
		first.NS, first.Dying = ns, false
		// What lies between the two parts in time is not known better than by their work.
		first.Slept = op.At + ns
		op.At, op.NS = first.Slept, op.NS-ns
		s.insert(i, first)
		return
	}
}
