package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
)

// Gate asks conditions of the waits of a trace. Errors are those of the reader, conditions
// that compare two traces, and conditions that no task is asked: a budget that nothing can
// break would hold for ever.
func Gate(src explain.Source, o explain.Options, list []*Condition) (*result.Gate, error) {
	want := wanted{}
	for _, c := range list {
		if c.Change {
			return nil, fmt.Errorf("condition %s: a change is between two traces; diff compares them, with --fail-on '%s'", c.Text, c.Text)
		}
		want.need(&c.Measure)
	}
	rows, walked, err := tallies(src, o, want)
	if err != nil {
		return nil, err
	}
	g := &result.Gate{Schema: "whylate.gate/1", Input: walked.Input, Status: StatusOK, Budgets: []result.Budget{},
		Holes: explain.Holes(&walked.Input, walked.Diagnostics), Diagnostics: walked.Diagnostics}
	if g.Holes == nil {
		g.Holes = []string{}
	}
	missing := ""
	if len(g.Holes) > 0 {
		missing = "the trace has holes: " + strings.Join(g.Holes, ", ")
	}
	for _, c := range list {
		b := result.Budget{Budget: c.Text, Note: c.Note, Status: StatusOK, Tasks: []result.Judged{}}
		for _, t := range c.asked(rows, &g.Diagnostics) {
			j := c.judge(t)
			if j.Status == StatusOK && missing != "" {
				j.Status, j.Why = StatusUnreliable, missing
			}
			b.Tasks = append(b.Tasks, j)
			b.Status = worse(b.Status, j.Status)
		}
		sortJudged(b.Tasks)
		if len(b.Tasks) == 0 {
			return nil, c.nobody(&walked.Input)
		}
		g.Status = worse(g.Status, b.Status)
		g.Budgets = append(g.Budgets, b)
	}
	return g, nil
}

// sortJudged puts first what somebody must look at.
func sortJudged(list []result.Judged) {
	rank := map[string]int{StatusFailed: 0, StatusUnreliable: 1, StatusOK: 2}
	slices.SortStableFunc(list, func(a, b result.Judged) int {
		return cmp.Or(cmp.Compare(rank[a.Status], rank[b.Status]), cmp.Compare(b.Value, a.Value))
	})
}

// asked has the rows that the condition is asked of. What a real-time task waited before it
// became one is no part of it, unless a cause is looked for: that is said.
func (c *Condition) asked(rows []*tally, diags *[]result.Diagnostic) []*tally {
	var list []*tally
	type who struct {
		pid  int32
		comm string
	}
	user := make(map[who]bool)
	for _, t := range rows {
		if c.judges(t) {
			list = append(list, t)
			user[who{t.row.PID, t.row.Comm}] = user[who{t.row.PID, t.row.Comm}] || t.row.User
		}
	}
	if c.Measure.Kind != "" {
		return list
	}
	waits, tasks := int64(0), 0
	list = slices.DeleteFunc(list, func(t *tally) bool {
		out := t.row.PID >= 0 && !t.row.User && user[who{t.row.PID, t.row.Comm}]
		if n := t.series[Wakeup].Count() + t.series[Preempted].Count(); out && n > 0 {
			waits, tasks = waits+n, tasks+1
		}
		return out
	})
	if tasks > 0 {
		*diags = append(*diags, result.Diagnostic{Kind: "not_judged", Count: waits,
			Text: fmt.Sprintf("%s is asked of real-time tasks; what %d of them waited as fair ones is not judged", c.Text, tasks)})
	}
	return list
}

// need adds what the measure needs.
func (w *wanted) need(m *Measure) {
	w.causes = w.causes || m.Kind != "" || m.Series == Lateness
	w.jobs = w.jobs || m.Stat == Misses || m.Series == Response
}

// nobody is the error for a condition that is asked of no task.
func (c *Condition) nobody(in *result.Input) error {
	switch {
	case c.Task == "" && c.Measure.Stat == Misses:
		return fmt.Errorf("condition %s: no timer shows the period of a task of %s; record timer:hrtimer_start and timer:hrtimer_expire_entry, or demand response.max<…", c.Text, in.File)
	case c.Task == "":
		return fmt.Errorf("condition %s: no deadline or real-time user task waits in %s; name tasks, as in '*:%s'", c.Text, in.File, c.Text)
	}
	return fmt.Errorf("condition %s: no task of %s matches %q in the chosen part; `whylate latency %s` lists its tasks", c.Text, in.File, c.Task, in.File)
}
