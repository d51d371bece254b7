package replay

import (
	"cmp"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/timeline"
)

// scores counts what Force finds.
type scores struct {
	rows    [sched.RankIdle + 1][len(decisionTypes)]score
	misses  []Miss
	told    [sched.RankIdle + 1]int
	missed  int64
	periods int64 // expiries of sched_rt_period_timer
}

// decisionTypes are the types in the order of the rows.
var decisionTypes = [...]string{Pick, ClassPick, Preempt, Placement, Balance}

// score is a row while it is counted.
type score struct {
	n, agree, baseline int64
	yes                int64 // of Preempt: where the kernel made the current task leave
	why                []Reason
}

func (s *scores) row(rank int, typ string) *score {
	return &s.rows[rank][slices.Index(decisionTypes[:], typ)]
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func (r *score) count(agree, baseline bool) {
	r.n++
	r.agree += one(agree)
	r.baseline += one(baseline)
}

func (r *score) countPreempt(agree, yes bool) {
	r.count(agree, false)
	r.yes += one(yes)
}

func (r *score) undecide(why string) {
	for i := range r.why {
		if r.why[i].Word == why {
			r.why[i].Count++
			return
		}
	}
	r.why = append(r.why, Reason{why, 1})
}

// miss notes a decision of which the model thought otherwise.
func (f *forcer) miss(rank int, typ string, c event.CPU, recorded, model Choice, tasks ...*sched.Task) {
	s := &f.scores
	s.missed++
	if s.told[rank] >= MostMisses {
		return
	}
	s.told[rank]++
	m := Miss{At: f.now, CPU: c, Class: rankNames[rank], Type: typ, Recorded: recorded, Model: model, Reason: f.reasonOf(rank, typ, c, tasks...)}
	m.Text = reasonTexts[m.Reason]
	if typ != Placement && typ != Balance {
		for _, o := range f.sched.Candidates(c).Candidates {
			m.Candidates = append(m.Candidates, DecisionCandidate{o.Task.PID, o.Task.Comm, o.KeyName, o.Key})
		}
	}
	s.misses = append(s.misses, m)
}

var rankNames = [...]string{"stop", "dl", "rt", "fair", "idle"}

// end answers what stayed open, and counts what all rests on.
func (f *forcer) end() {
	for c := range f.cpus {
		if o := &f.cpus[c].open; o.on {
			f.undecidePreempt(o, "trace_ended")
		}
	}
	if f.first.kernelUnknown {
		f.guess.add(kernelUnknown)
	}
	for i := range f.first.tasks {
		if i < len(f.tasks) && f.tasks[i] != nil && f.first.tasks[i].pid > 0 {
			f.guessed(&f.first.tasks[i], f.tasks[i])
		}
	}
}

// guessed counts what is assumed of a task.
func (f *forcer) guessed(b *beginning, t *forced) {
	if !b.told && len(f.cpus) > 1 {
		f.guess.add(cpusSeen)
	}
	if len(b.wakes) > 0 && f.known[b.pid].inferred {
		f.guess.add(deadlineSeen)
	}
	if b.status == timeline.StatusReady {
		f.guess.add(beginUnseen)
	}
	if t.task.Rank() == sched.RankFair && t.fairBy != FromSnapshot && b.status != timeline.StatusNew {
		f.guess.add(fairInferred)
	}
	switch {
	case !t.wasRT || t.policySure:
	case t.task.Attr.Policy == sched.RR:
		f.guess.add(policyRR)
	default:
		f.guess.add(policyFIFO)
	}
}

// result makes the public form.
func (f *forcer) result() *Decisions {
	d := &Decisions{Misses: f.scores.misses, Missed: f.scores.missed, Assumed: append(f.guess.list(), f.assumed...)}
	slices.SortStableFunc(d.Misses, func(a, b Miss) int { return cmp.Compare(a.At, b.At) })
	for rank := sched.RankDL; rank <= sched.RankFair; rank++ {
		for i, typ := range decisionTypes {
			r := &f.scores.rows[rank][i]
			row := DecisionRow{Class: rankNames[rank], Type: typ, N: r.n, Agree: r.agree, Baseline: r.baseline, Why: r.why}
			if typ == Preempt {
				row.Baseline = max(r.yes, r.n-r.yes)
			}
			for _, w := range r.why {
				row.Undecided += w.Count
			}
			if row.N+row.Undecided > 0 {
				d.Rows = append(d.Rows, row)
			}
		}
	}
	return d
}
