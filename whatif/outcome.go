package whatif

import (
	"slices"
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/sched"
)

// outcome is a run together with what its tasks got done.
type outcome struct {
	load  *replay.Load
	waits []replay.Wait // by key
	tasks []done        // by index of the load
}

// done is how far a task came, and its jobs. A job is what a task does from the end of one
// sleep to the beginning of the next; waiting for a lock is part of it.
type done struct {
	cycles int   // operations that sleep and are over
	wakes  []int // the job that begins with, or goes on after, the wake of cycle i
	runs   []int // the job that the task is in, in cycle i
	jobs   []turn
}

// turn is one of the jobs of a task by its script, in ns.
type turn struct {
	waits   event.Time // time in which it could have run and did not
	work    event.Time
	release event.Time // when its timer was due, NoTime: it begins with no timer
	limit   event.Time // its period or deadline, 0: none is known
	over    bool
	dying   bool       // the task's exit
	seen    bool       // it has waits
	carry   event.Time // by how much the job before was over later than this one's timer was due
	delay   event.Time // by how much it was over later than with the CPU for itself
}

// newOutcome sums up a run. Its jobs are measured by what those of the unchanged run, base, may take,
// nil: by what the load says; a task that is no longer a deadline task has its deadlines all the same.
func newOutcome(l *replay.Load, run *replay.Run, base *outcome) *outcome {
	o := &outcome{load: l, waits: run.Waits, tasks: make([]done, len(l.Tasks))}
	reached := make([]int, len(l.Tasks))
	for i := range l.Tasks {
		reached[i] = len(l.Tasks[i].Ops)
	}
	for _, left := range run.Left {
		reached[left.Task] = min(left.Op, reached[left.Task])
	}
	scripts := make([]*replay.Task, len(l.Tasks))
	for i := range l.Tasks {
		scripts[i] = &l.Tasks[i]
	}
	for _, later := range run.Later {
		scripts[later.Task] = later.Begin(scripts[later.Task])
	}
	for i := range l.Tasks {
		o.tasks[i] = jobsOf(scripts[i], reached[i])
		if base != nil {
			o.tasks[i].limitAs(&base.tasks[i])
		}
	}
	for i := range o.waits {
		w := &o.waits[i]
		d := &o.tasks[w.Key.Task]
		if w.Key.Extra() {
			continue
		}
		list := d.wakes
		if w.Key.Kind != latency.Wakeup || w.Key == (replay.WaitKey{Task: w.Key.Task}) && l.Tasks[w.Key.Task].Begin == replay.BeginNew {
			list = d.runs // also the first wake of a new task, which ends no sleep
		}
		if w.Key.Cycle < len(list) {
			j := &d.jobs[list[w.Key.Cycle]]
			j.seen = true
			if i := w.Key.Cycle; w.Key.Kind == latency.Wakeup && list[i] == 0 {
				j.release = w.Woken // by who created it
			}
			if w.Key.Kind == latency.Wakeup {
				j.waits += w.Lateness()
			} else {
				j.waits += w.Length()
			}
		}
	}
	for i := range o.tasks {
		o.tasks[i].delays(l.To)
	}
	return o
}

// delays sums up the delay of each job: its waits and, where the job before was over only
// after the timer of this one, what was left of that. A job that is not over when the run
// ends, at end, is delayed until then at least. Time asleep for others is not counted.
func (d *done) delays(end event.Time) {
	free := event.NoTime // when the job before was over
	for i := range d.jobs {
		j := &d.jobs[i]
		j.delay = j.waits
		if j.release == event.NoTime {
			free = event.NoTime
			continue
		}
		if free != event.NoTime {
			j.carry = max(0, free-j.release)
			j.delay += j.carry
		}
		if !j.over {
			j.delay = max(j.delay, end-j.release-j.work)
		}
		free = j.release + j.delay + j.work
	}
}

// jobsOf are the jobs of a task of which the first reached operations are over.
func jobsOf(t *replay.Task, reached int) done {
	d := done{runs: []int{0}, jobs: []turn{{release: event.NoTime}}}
	attr := t.Attr
	for i := range t.Ops {
		op := &t.Ops[i]
		now := len(d.jobs) - 1
		switch {
		case op.Kind == replay.OpAttr:
			attr = op.Attr
		case op.Kind == replay.OpRun:
			d.jobs[now].work += op.NS
			d.jobs[now].dying = d.jobs[now].dying || op.Dying
		case op.Kind.Sleeps():
			if op.Kind != replay.OpLock {
				d.jobs[now].over = i <= reached
				release := event.NoTime
				if op.Kind == replay.OpSleep {
					release = op.At
				}
				d.jobs = append(d.jobs, turn{limit: limitOf(op, &attr), release: release})
				now++
			}
			if op.Second {
				continue // no cycle of its own
			}
			d.wakes, d.runs = append(d.wakes, now), append(d.runs, now)
			if i < reached {
				d.cycles++
			}
		}
	}
	d.jobs[len(d.jobs)-1].over = reached == len(t.Ops)
	return d
}

// limitAs gives the jobs the limits that those of was have. A change that makes other jobs of
// the same work, by what is a lock, has its own.
func (d *done) limitAs(was *done) {
	if len(d.jobs) != len(was.jobs) {
		return
	}
	for i := range d.jobs {
		d.jobs[i].limit = was.jobs[i].limit
	}
}

// limitOf is by when the job that begins with op must be over.
func limitOf(op *replay.Op, a *sched.Attr) event.Time {
	switch {
	case a.Policy == sched.Deadline && a.Deadline > 0:
		return a.Deadline
	case a.Policy == sched.Deadline:
		return a.Period
	case op.Kind == replay.OpSleep:
		return op.Every
	}
	return 0
}

// counts reports whether the job has to be over before the run ends, at end.
func (j *turn) counts(end event.Time) bool {
	return j.limit > 0 && !j.dying && j.release != event.NoTime && j.release+j.limit <= end
}

// late reports whether the job takes longer than it may.
func (j *turn) late() bool { return j.delay+j.work > j.limit }

// RemovedTask is why nothing is predicted for the waits of a task that a change removes: there
// is nothing to predict.
const RemovedTask = "the task is removed"

// find returns what became of a recorded wait, in ns: 0 if the task did not have to wait there,
// or how late it was by its own fault where its timer was due before it had done its last
// job. why: that cannot be told.
func (o *outcome) find(w *replay.Wait) (ns event.Time, why string) {
	const short = "with the change the task does not come so far in the recorded time"
	d := &o.tasks[w.Key.Task]
	if o.load.Tasks[w.Key.Task].Removed {
		return 0, RemovedTask
	}
	var after *replay.Wait
	if w.Key.Kind != latency.Wakeup {
		after = o.longest(w)
		if after == nil && d.cycles < w.Key.Cycle {
			return 0, short
		}
	} else {
		i, ok := slices.BinarySearchFunc(o.waits, w.Key, func(a replay.Wait, k replay.WaitKey) int { return a.Key.Compare(k) })
		switch {
		case ok:
			after = &o.waits[i]
		case d.cycles <= w.Key.Cycle:
			return 0, short
		case w.Key.Cycle < len(d.wakes):
			return d.jobs[d.wakes[w.Key.Cycle]].carry, ""
		}
	}
	switch {
	case after == nil:
		return 0, ""
	case after.OnCPU == event.NoTime && w.OnCPU != event.NoTime:
		return 0, "with the change it still waits when the recording ends"
	}
	_, ns = (&replay.Pair{Recorded: w, Run: after}).Times()
	return max(ns, 0), ""
}

// longest is the longest wait of the kind of w that the task has where w was. Which of several
// preemptions is the same one when they come at other times, nobody can say.
func (o *outcome) longest(w *replay.Wait) *replay.Wait {
	key := replay.WaitKey{Task: w.Key.Task, Cycle: w.Key.Cycle}
	from := sort.Search(len(o.waits), func(i int) bool { return o.waits[i].Key.Compare(key) >= 0 })
	var best *replay.Wait
	for i := from; i < len(o.waits) && o.waits[i].Key.Task == key.Task && o.waits[i].Key.Cycle == key.Cycle; i++ {
		c := &o.waits[i]
		if c.Key.Kind == w.Key.Kind && c.Woken < w.End && c.End > w.Woken && (best == nil || c.Length() > best.Length()) {
			best = c
		}
	}
	return best
}
