package whatif

import (
	"fmt"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/result"
)

// Fidelity tells how well the model meets a recording: its decisions, history-forced, and the
// waits of the unchanged load, free-running. Of the options it uses File, Kernel, Tasks, PIDs
// and Progress. The load is returned for who wants the events of its run.
func Fidelity(src explain.Source, o explain.Options) (*result.Replay, *replay.Load, error) {
	o.Tasks, o.PIDs, o.CPUs, o.From, o.To = nil, nil, nil, event.NoTime, event.NoTime
	walked, err := explain.Walk(src, o, false, func() func(*explain.Told) { return func(*explain.Told) {} })
	if err != nil {
		return nil, nil, err
	}
	l, err := replay.Read(src, replay.Options{Kernel: o.Kernel, Progress: step(o.Progress, 0, 4)})
	if err != nil {
		return nil, nil, err
	}
	run, err := l.Run(replay.RunOptions{Progress: step(o.Progress, 1, 4)})
	if err != nil {
		return nil, nil, fmt.Errorf("replaying the recording: %w", err)
	}
	forced, err := replay.Force(src, replay.Options{Kernel: o.Kernel, Progress: step(o.Progress, 2, 4)})
	if err != nil {
		return nil, nil, fmt.Errorf("asking the model at each decision of the recording: %w", err)
	}
	r := &result.Replay{Schema: "whylate.replay/1", Input: walked.Input, Decisions: []result.Decisions{}, Misses: []result.Missed{},
		Unfinished: []result.Unfinished{}, Assumed: assumed(both(l.Assumed, forced.Assumed)),
		Diagnostics: append(walked.Diagnostics, diagnostics(run.Diagnostics)...), Waits: replayed(l, run)}
	fillDecisions(r, forced, src.Names(), event.Time(r.Input.StartNS))
	for _, left := range run.Left {
		// The recording ended in the middle of somebody's last sleep or work as well.
		if left.Op >= left.Ops-1 {
			continue
		}
		t := &l.Tasks[left.Task]
		r.Unfinished = append(r.Unfinished, result.Unfinished{Comm: l.Names.String(t.Comm), PID: int32(t.PID), Done: int64(left.Op), Steps: int64(left.Ops), Stuck: left.Stuck})
	}
	return r, l, nil
}

// step scales the progress of step n of m to the whole.
func step(progress func(done, total int64), n, m int64) func(done, total int64) {
	if progress == nil {
		return nil
	}
	return func(done, total int64) { progress(n*total+done, m*total) }
}

// both returns a, and what b has of kinds that a has not: the same trace gives the same guesses.
func both(a, b []replay.Assumption) []replay.Assumption {
	list := slices.Clone(a)
	for _, g := range b {
		if !slices.ContainsFunc(a, func(o replay.Assumption) bool { return o.Kind == g.Kind }) {
			list = append(list, g)
		}
	}
	return list
}

func assumed(list []replay.Assumption) []result.Diagnostic {
	out := []result.Diagnostic{}
	for _, a := range list {
		out = append(out, result.Diagnostic{Kind: a.Kind, Count: a.Count, Text: a.Text})
	}
	return out
}

func diagnostics(list []event.Diagnostic) []result.Diagnostic {
	out := []result.Diagnostic{}
	for _, d := range list {
		out = append(out, result.Diagnostic{Kind: d.Kind, Count: d.Count, Text: d.Text})
	}
	return out
}

// mostMissed bounds the misses of decisions that are told.
const mostMissed = 200

func fillDecisions(r *result.Replay, d *replay.Decisions, names *event.Names, start event.Time) {
	for _, row := range d.Rows {
		out := result.Decisions{Class: row.Class, Type: row.Type, N: row.N, Agree: row.Agree, Baseline: row.Baseline, Undecided: row.Undecided}
		for _, why := range row.Why {
			out.Why = append(out.Why, result.Reason{Reason: why.Word, Count: why.Count})
		}
		r.Decisions = append(r.Decisions, out)
	}
	r.Missed = d.Missed
	for i := range d.Misses {
		m := &d.Misses[i]
		if len(r.Misses) == mostMissed {
			break
		}
		r.Misses = append(r.Misses, result.Missed{AtNS: int64(m.At - start), CPU: int32(m.CPU), Class: m.Class, Type: m.Type,
			Recorded: choiceText(m.Type, &m.Recorded, names), Model: choiceText(m.Type, &m.Model, names), Reason: m.Reason, Text: m.Text})
	}
}

// choiceText says what was chosen.
func choiceText(typ string, c *replay.Choice, names *event.Names) string {
	task := fmt.Sprintf("%s/%d", names.String(c.Comm), c.PID)
	switch typ {
	case replay.ClassPick:
		return c.Class
	case replay.Preempt:
		if c.Preempt {
			return "preempt"
		}
		return "stay"
	case replay.Placement:
		return fmt.Sprintf("CPU %d", c.CPU)
	case replay.Balance:
		return fmt.Sprintf("%s from CPU %d to %d", task, c.From, c.CPU)
	}
	return task
}

// replayed compares the waits of the load with those of its run: by class, and by task.
func replayed(l *replay.Load, run *replay.Run) result.ReplayedWaits {
	pairs := replay.Match(l.Recorded, run.Waits)
	out := result.ReplayedWaits{LongFromNS: int64(replay.LongWait), LateFromNS: int64(replay.LateFrom), Classes: []result.ReplayedClass{}, Tasks: []result.ReplayedClass{}}
	f := replay.Compare(pairs)
	for i := range f.Classes {
		c := classTold(l, &f.Classes[i])
		out.Classes = append(out.Classes, c)
		if c.Class == "rt" || c.Class == "dl" {
			out.Late += c.Late
			out.Answerable += c.Answerable
		}
	}
	for from := 0; from < len(pairs); {
		to, task := from, taskOf(&pairs[from])
		for to < len(pairs) && taskOf(&pairs[to]) == task {
			to++
		}
		one := replay.Compare(pairs[from:to])
		for i := range one.Classes {
			c := classTold(l, &one.Classes[i])
			c.Comm, c.PID = l.Names.String(l.Tasks[task].Comm), int32(l.Tasks[task].PID)
			out.Tasks = append(out.Tasks, c)
		}
		from = to
	}
	return out
}

func taskOf(p *replay.Pair) int {
	if p.Recorded != nil {
		return p.Recorded.Key.Task
	}
	return p.Run.Key.Task
}

// mostWorst bounds the long waits that are told one by one.
const mostWorst = 100

func classTold(l *replay.Load, f *replay.ClassFidelity) result.ReplayedClass {
	c := result.ReplayedClass{Class: f.Class, Waits: int64(f.Waits), Matched: int64(f.Matched), OnlyRun: int64(f.OnlyRun), Untrusted: int64(f.Untrusted),
		Late: int64(f.Late), Answerable: int64(f.Answerable), Long: int64(len(f.Long)), Within: int64(f.Within), Worst: []result.ReplayedWait{}}
	d := &f.Rest
	c.Rest = result.ReplayedRest{
		Recorded:      result.Points{Waits: int64(d.N), P50NS: int64(d.P50), P99NS: int64(d.P99), MaxNS: int64(d.Max)},
		Replayed:      result.Points{Waits: int64(d.RunN), P50NS: int64(d.RunP50), P99NS: int64(d.RunP99), MaxNS: int64(d.RunMax)},
		P99DistanceNS: int64(d.Distance), MissP99NS: int64(d.MissAtP99), MissMaxNS: int64(d.WorstMiss)}
	for i := range f.Long {
		if len(c.Worst) == mostWorst {
			break
		}
		c.Worst = append(c.Worst, waitTold(l, &f.Long[i]))
	}
	return c
}

func waitTold(l *replay.Load, p *replay.Pair) result.ReplayedWait {
	recorded, run := p.Times()
	t := &l.Tasks[taskOf(p)]
	w := result.ReplayedWait{Comm: l.Names.String(t.Comm), PID: int32(t.PID), RecordedNS: int64(recorded), ReplayedNS: int64(run),
		ErrorNS: int64(run - recorded), Error: p.ErrorPerMille(), Answerable: p.Answerable()}
	switch {
	case p.Recorded == nil:
		w.Only = "replay"
	case p.Run == nil:
		w.Only, w.ID = "recorded", p.Recorded.ID
	default:
		w.ID = p.Recorded.ID
	}
	return w
}
