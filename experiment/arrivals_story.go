package experiment

import (
	"context"
	"fmt"
	"slices"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
)

// Story runs the scenario at a point once more and tells the worst of it from its events: when
// the job was released, what it waited for, and what else came around it.
func (a *Arrivals) Story(ctx context.Context, at []event.Time, what What, settled bool) (*result.WorstCase, error) {
	seen, err := a.measure(ctx, at, what, settled, true)
	if err != nil {
		return nil, err
	}
	t := &a.setup.Load.Tasks[a.task]
	r := &result.WorstCase{Schema: "whylate.worst/1", Scenario: a.plan.Name, Kernel: a.setup.Kernel.Profile.Name, CPUs: a.setup.Machine.Sched.CPUs,
		Task: t.Name, Measure: what.String(), WorstNS: int64(seen.Value), Waits: []result.Late{}, Blocked: []result.Blocked{}, Notes: []result.Diagnostic{}}
	r.Arrivals = result.Arrivals{Changes: a.Changes(at), ReleasesNS: []int64{}, Others: []result.OtherRelease{}}
	if r.Arrivals.Changes == nil {
		r.Arrivals.Changes = []string{}
	}
	for _, d := range a.setup.Limits {
		r.Notes = append(r.Notes, result.Diagnostic{Kind: d.Kind, Count: d.Count, Text: d.Text})
	}
	if seen.Number == 0 {
		return r, nil // no job at all
	}
	w := &witness{a: a, seen: seen, r: r, last: event.NoTime}
	if err := w.look(ctx, at); err != nil {
		return nil, err
	}
	return r, w.explain(ctx, at, what)
}

// witness follows the run of the worst job.
type witness struct {
	a     *Arrivals
	seen  Seen
	r     *result.WorstCase
	probe scenario.Probe

	ran      event.Time // of the job, so far
	last     event.Time // it has the CPU since then; NoTime: not
	blocked  blocked
	releases []event.Time
	others   map[int]scenario.Job // by thread, the nearest
}

// look runs it for the releases and for how long the job itself ran.
func (w *witness) look(ctx context.Context, at []event.Time) error {
	w.others = map[int]scenario.Job{}
	w.probe = scenario.Probe{Event: w.event, Job: w.job, Want: event.Kinds(event.SchedSwitch, event.SchedWaking)}
	w.blocked = blocked{names: w.probe.Name, pid: w.seen.Job.PID, from: w.seen.Job.Released, to: w.seen.Job.Done, slept: event.NoTime}
	if w.seen.Job.Done == event.NoTime {
		w.blocked.to = w.seen.End
	}
	if err := w.probe.Run(ctx, w.a.Setup(at)); err != nil {
		return err
	}
	w.pause(w.probe.End)
	job := &w.seen.Job
	known := func(t event.Time) *int64 {
		if t == event.NoTime {
			return nil
		}
		ns := int64(t)
		return &ns
	}
	w.r.PID = int32(job.PID)
	w.r.Job = result.WorstJob{Number: w.seen.Number, ReleasedNS: int64(job.Released), WokenNS: known(w.seen.Woken), OnCPUNS: known(w.seen.OnCPU), DoneNS: known(job.Done)}
	const most = 8
	for _, t := range w.releases[max(0, len(w.releases)-most):] {
		w.r.Arrivals.ReleasesNS = append(w.r.Arrivals.ReleasesNS, int64(t))
	}
	threads := make([]int, 0, len(w.others))
	for k := range w.others {
		threads = append(threads, k)
	}
	slices.Sort(threads)
	for _, k := range threads {
		o := w.others[k]
		w.r.Arrivals.Others = append(w.r.Arrivals.Others, result.OtherRelease{Comm: w.a.setup.Load.Tasks[o.Task].Called(o.Thread), PID: int32(o.PID), FromNS: int64(o.Released - job.Released)})
	}
	w.r.Comm = w.a.setup.Load.Tasks[job.Task].Called(job.Thread)
	return nil
}

func (w *witness) event(ev *event.Event) {
	w.blocked.event(ev)
	if ev.Kind != event.SchedSwitch {
		return
	}
	pid := w.seen.Job.PID
	if ev.PID == pid {
		w.pause(ev.Time)
	}
	if ev.Next == pid {
		w.last = ev.Time
	}
}

// pause counts what the job ran until now.
func (w *witness) pause(now event.Time) {
	if w.last == event.NoTime {
		return
	}
	from, to := max(w.last, w.seen.Job.Released), now
	if done := w.seen.Job.Done; done != event.NoTime {
		to = min(to, done)
	}
	w.ran += max(to-from, 0)
	w.last = event.NoTime
}

// job notes the releases before the worst one, and of each other thread the one nearest to it.
func (w *witness) job(j scenario.Job) {
	worst := &w.seen.Job
	if j.Thread == worst.Thread {
		if j.Released <= worst.Released {
			w.releases = append(w.releases, j.Released)
		}
		return
	}
	d := abs(j.Released - worst.Released)
	if o, ok := w.others[j.Thread]; d <= 2*max(w.a.cycle, 1_000_000) && (!ok || d < abs(o.Released-worst.Released)) {
		w.others[j.Thread] = j
	}
}

// explain takes the waits within the job out of the answer that explain gives of the run.
func (w *witness) explain(ctx context.Context, at []event.Time, what What) error {
	src, err := scenario.NewSource(w.a.Setup(at))
	if err != nil {
		return err
	}
	job, r := &w.seen.Job, w.r
	end := job.Done
	if end == event.NoTime {
		end = w.seen.End
	}
	// What is explained must not lie outside of what is looked at.
	const around = 1_000_000
	x, err := explain.Explain(explain.Interruptible(ctx, src), explain.Options{File: r.Scenario, PIDs: []event.PID{job.PID}, Over: 1, From: job.Released - around, To: end + around})
	if err != nil {
		return fmt.Errorf("explaining the worst run: %w", err)
	}
	r.Input = x.Input
	for i := range x.Late {
		l := &x.Late[i]
		woken := event.Time(x.Input.StartNS + l.WokenNS)
		if woken < job.Released || woken >= end || what != Response && woken != w.seen.Woken {
			continue
		}
		r.Waits = append(r.Waits, *l)
	}
	slices.SortStableFunc(r.Waits, func(a, b result.Late) int { return int(a.WokenNS - b.WokenNS) })
	t := &w.a.setup.Load.Tasks[w.a.task]
	r.Class, r.Prio = cause.ClassFair.String(), result.Prio(120)
	if len(r.Waits) > 0 {
		r.Class, r.Prio = r.Waits[0].Class, r.Waits[0].Prio
	} else if realTime(t.Attr) {
		r.Class, r.Prio = cause.ClassRT.String(), result.Prio(99-t.Attr.Priority)
	}
	for i := range r.Waits {
		if l := &r.Waits[i]; what == Wait {
			r.WaitsNS += l.WaitNS
		} else {
			r.WaitsNS += l.LatenessNS
		}
	}
	r.Open = job.Done == event.NoTime && (what == Response || w.seen.OnCPU == event.NoTime)
	due := min(job.Expires, end)
	if w.seen.Woken != event.NoTime {
		due = min(due, w.seen.Woken)
	}
	if len(r.Waits) > 0 && what != Wait && event.Time(x.Input.StartNS+r.Waits[0].WokenNS) == w.seen.Woken {
		l := &r.Waits[0]
		r.WakeNS = max(int64(w.seen.Woken-due)-(l.LatenessNS-l.WaitNS), 0)
	}
	if what == Response {
		r.Blocked = append(r.Blocked, w.blocked.list...)
		r.SlackNS, r.OwnNS = int64(due-job.Released), int64(w.ran)
		r.BlockedNS = r.WorstNS - r.WaitsNS - r.WakeNS - r.SlackNS - r.OwnNS
	}
	return nil
}
