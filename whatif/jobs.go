package whatif

import (
	"cmp"
	"slices"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// jobs are what one task does between its sleeps: from when it was to be woken to when it
// sleeps again. That end is seen with the next wakeup wait, which says when the task had left.
type jobs struct {
	pid   event.PID
	dues  []event.Time
	done  []job
	limit int64 // how long one may take, ns; 0: not known
}

type job struct {
	began    event.Time
	response int64
	id       string // of its wait
}

// openJob is one that goes on.
type openJob struct {
	of    *jobs
	began event.Time
	id    string
}

// mostJobs bounds the jobs of a task that are looked at for misses.
const mostJobs = 1_000_000

// job takes in a wakeup wait: the end of one job and the beginning of the next. A task that
// changed its class meanwhile is in another row by then, so open has the jobs of all rows.
func (t *tally) job(w *explain.Told, open map[timeline.TaskID]openJob) {
	if o, ok := open[w.Task.ID]; ok && w.Left != event.NoTime && w.Left >= o.began && len(o.of.done) < mostJobs {
		o.of.done = append(o.of.done, job{o.began, int64(w.Left - o.began), o.id})
	}
	delete(open, w.Task.ID)
	if !w.Counts() {
		return
	}
	j := t.jobs[w.Task.ID]
	if j == nil {
		j = &jobs{pid: w.Task.PID}
		t.jobs[w.Task.ID] = j
	}
	began := w.Woken
	if due := w.Explanation.Due; due != event.NoTime {
		began = due
		if len(j.dues) < mostJobs {
			j.dues = append(j.dues, due)
		}
	}
	open[w.Task.ID] = openJob{j, began, w.ID()}
}

// leastDues is how many times a timer must have been due to make a period.
const leastDues = 10

// period is the distance of the task's due times, in ns, if three of four turns agree with it
// within a twentieth; else 0.
func (j *jobs) period() int64 {
	if len(j.dues) < leastDues {
		return 0
	}
	turns := make([]int64, 0, len(j.dues)-1)
	for i := 1; i < len(j.dues); i++ {
		turns = append(turns, int64(j.dues[i]-j.dues[i-1]))
	}
	slices.Sort(turns)
	middle := turns[(len(turns)-1)/2]
	near := 0
	for _, n := range turns {
		if max(n-middle, middle-n)*20 <= middle {
			near++
		}
	}
	if middle <= 0 || near*4 < len(turns)*3 {
		return 0
	}
	return middle
}

// limits finds how long the jobs of each task may take: the deadline that the snapshot of the
// machine gives a deadline task, else the period of its timer.
func (t *tally) limits(machine *sysinfo.Snapshot) {
	deadlines := make(map[event.PID]int64)
	if machine != nil && t.row.Class == cause.ClassDeadline.String() {
		for i := range machine.Tasks {
			if s := &machine.Tasks[i]; s.Policy == sysinfo.Deadline {
				deadlines[event.PID(s.PID)] = cmp.Or(s.DeadlineNS, s.PeriodNS)
			}
		}
	}
	for _, j := range t.jobs {
		j.limit = max(deadlines[j.pid], 0)
		if j.limit == 0 {
			j.limit = j.period()
		}
	}
}

// misses counts the jobs that took longer than they may. known: some task of the row has a
// limit.
func (t *tally) misses() (missed, jobs int64, worst worstWait, known bool) {
	for _, o := range t.joined {
		m, n, w, k := o.misses()
		missed, jobs, known = missed+m, jobs+n, known || k
		worst.join(w)
	}
	for _, id := range t.tasksWithJobs() {
		j := t.jobs[id]
		if j.limit == 0 {
			continue
		}
		known = true
		for i := range j.done {
			d := &j.done[i]
			jobs++
			if d.response > j.limit {
				missed++
				worst.see(func() string { return d.id }, d.response)
			}
		}
	}
	return missed, jobs, worst, known
}

// finish makes the responses of what the jobs were.
func (t *tally) finish(want wanted, machine *sysinfo.Snapshot) {
	if !want.jobs {
		return
	}
	t.limits(machine)
	for _, id := range t.tasksWithJobs() {
		for i := range t.jobs[id].done {
			d := &t.jobs[id].done[i]
			t.series[Response].Add(d.response)
			t.worst[Response].see(func() string { return d.id }, d.response)
		}
	}
}

// tasksWithJobs has the tasks of the row in the order of the trace.
func (t *tally) tasksWithJobs() []timeline.TaskID {
	ids := make([]timeline.TaskID, 0, len(t.jobs))
	for id := range t.jobs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
