package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/whylate/whylate/result"
)

// Diff prints the answer of `whylate diff`: the largest change in a sentence, the tasks in
// both recordings side by side, then the causes that changed. Cells are "A → B". Only writing
// to w can fail.
func Diff(w io.Writer, r *result.Diff, o Options) error {
	p := newPrinter(w, o)
	p.diffHead(r)
	if len(r.Conditions) > 0 {
		rows := [][]string{{"", "MUST NOT BE", "TASK", "AS", "VALUE", "LIMIT", "OF", "", ""}}
		for i := range r.Conditions {
			rows = append(rows, p.budget(&r.Conditions[i])...)
		}
		p.table("conditions", "llllrrr", rows)
	}
	shown, hidden := p.diffShown(r)
	p.diffWaits("wakeup waits", shown, func(t *result.DiffTask) *result.DiffWait { return &t.Wakeup })
	p.diffWaits("preemption waits", shown, func(t *result.DiffTask) *result.DiffWait { return &t.Preempted })
	p.diffCauses(r, shown)
	p.diffOnly(r)
	if hidden > 0 {
		p.gap()
		p.say("%s more changed less or waited too seldom; --task chooses, --all shows them", plural(int64(hidden), "task", "tasks"))
	}
	p.diffTests(r)
	p.diagnostics(r.Diagnostics)
	return p.flush()
}

// diffHead names the recordings and says the answer.
func (p *printer) diffHead(r *result.Diff) {
	answer := p.diffAnswer(r.Answer)
	if p.Markdown {
		p.line("### %s", mdText(answer))
		p.line("")
	}
	for _, s := range []struct {
		name string
		side *result.DiffSide
	}{{"A", &r.A}, {"B", &r.B}} {
		for i := range s.side.Inputs {
			in := &s.side.Inputs[i]
			if p.Markdown {
				p.line("- **%s** %s: %s", s.name, mdText(in.File), mdText(p.inputText(in)))
				continue
			}
			p.line("%s   %s   %s", p.bold(s.name), p.bold(escape(in.File)), p.inputText(in))
		}
	}
	if !p.Markdown {
		p.line("\n%s", p.bold(answer))
	}
}

// diffAnswer is the largest change in a sentence.
func (p *printer) diffAnswer(a *result.DiffAnswer) string {
	if a == nil {
		return "no task waits in both"
	}
	task := p.task(a.Comm, a.PIDB)
	if a.PIDA != a.PIDB {
		task = p.name(a.Comm)
	}
	var text string
	switch delta := a.MaxB - a.MaxA; {
	case delta == 0:
		return fmt.Sprintf("the longest wait of %s is the same in both: %s", task, p.amount(a.MaxB))
	case delta > 0:
		text = fmt.Sprintf("%s is %s later at most (%s → %s)", task, p.amount(delta), p.number(a.MaxA), p.amount(a.MaxB))
	default:
		text = fmt.Sprintf("%s is %s earlier at most (%s → %s)", task, p.amount(-delta), p.number(a.MaxA), p.amount(a.MaxB))
	}
	if a.Kind != "" {
		verb := "grew"
		if a.InB < a.InA {
			verb = "shrank"
		}
		by := ""
		if a.By != "" {
			by = " by " + p.name(a.By)
		}
		text += fmt.Sprintf(": %s%s %s from %s to %s of that", KindWord(a.Kind), by, verb, p.number(a.InA), p.amount(a.InB))
	}
	if a.Few {
		text += "; but it had few waits"
	}
	return text
}

// mostDiffTasks bounds the tasks that print without All.
const mostDiffTasks = 12

// diffShown chooses the tasks that print, in order, and says how many are left out: those that
// are no real-time tasks and had too few waits to compare, and all beyond the first dozen.
func (p *printer) diffShown(r *result.Diff) (list []*result.DiffTask, hidden int) {
	for i := range r.Tasks {
		t := &r.Tasks[i]
		switch {
		case t.Only != "":
		case p.All || len(list) < mostDiffTasks && (t.User || !t.Few):
			list = append(list, t)
		default:
			hidden++
		}
	}
	return list, hidden
}

func (p *printer) diffName(t *result.DiffTask) string {
	switch {
	case t.Group != "":
		return p.name(t.Group)
	case t.PIDA == t.PIDB && t.PIDA >= 0:
		return p.task(t.Comm, t.PIDA)
	case max(t.TasksA, t.TasksB) > 1:
		return p.name(t.Comm) + fmt.Sprintf(" (%d tasks)", max(t.TasksA, t.TasksB))
	}
	return p.name(t.Comm)
}

// diffClass says nothing of a group with tasks of several classes.
func diffClass(class string, prio result.Prio, t *result.DiffTask) string {
	if class == "unknown" && t.PIDA < 0 && t.PIDB < 0 {
		return "several"
	}
	return classWord(class, prio)
}

// arrow joins what was and what is; once where they are the same.
func arrow(a, b string) string {
	if a == b {
		return a
	}
	return a + " → " + b
}

// diffWaits prints one series of the tasks.
func (p *printer) diffWaits(title string, tasks []*result.DiffTask, of func(*result.DiffTask) *result.DiffWait) {
	rows := [][]string{{"TASK", "AS", "WAITS", "P50", "P99", "MAX", "P50 MOVED", "P99 MOVED", "LONGEST MOVED"}}
	for _, t := range tasks {
		w := of(t)
		if w.A.Waits+w.B.Waits == 0 {
			continue
		}
		class := arrow(diffClass(t.ClassA, t.PrioA, t), diffClass(t.ClassB, t.PrioB, t))
		rows = append(rows, []string{p.diffName(t), class, arrow(count(w.A.Waits), count(w.B.Waits)),
			arrow(p.number(w.A.P50NS), p.number(w.B.P50NS)), arrow(p.number(w.A.P99NS), p.number(w.B.P99NS)), arrow(p.number(w.A.MaxNS), p.number(w.B.MaxNS)),
			p.moved(w.P50), p.moved(w.P99), p.moved(w.Max)})
	}
	if len(rows) > 1 {
		p.table(title+", "+p.unit()+", A → B", "llrrrr", rows)
	}
}

// moved prints what a test says of the parts: by how much their middle moved, or that nothing
// is shown.
func (p *printer) moved(d *result.Difference) string {
	switch {
	case d == nil:
		return ""
	case d.Verdict == "none_shown":
		return "none shown"
	}
	sign := ""
	if d.Delta > 0 {
		sign = "+"
	}
	note := ""
	if d.Note != "" {
		note = ", " + escape(d.Note)
	}
	return fmt.Sprintf("%s%s (%s%s)", sign, p.number(d.Delta), chance(d.P), note)
}

// mostDiffCauses bounds the causes of a task, and leastDiffShare those that print by their
// share of the waiting, in millionths.
const (
	mostDiffCauses = 4
	leastDiffShare = 10_000
)

// diffCauses prints the kinds of all tasks together, then those of each task that prints.
func (p *printer) diffCauses(r *result.Diff, tasks []*result.DiffTask) {
	rows := [][]string{{"CAUSE", "PER SECOND", "SHARE", "IN ONE WAIT", "BY", "PER WAIT MOVED"}}
	for i := range r.Causes {
		c := &r.Causes[i]
		rows = append(rows, []string{KindWord(c.Kind), arrow(p.number(c.A.PerS), p.number(c.B.PerS)), arrow(ofMillion(c.A.SharePPM), ofMillion(c.B.SharePPM)),
			arrow(p.number(c.A.MostNS), p.number(c.B.MostNS)), p.culprits(c), p.moved(c.Test)})
	}
	if len(rows) > 1 {
		p.table("causes of all waits, "+p.unit()+", A → B", "lrrr", rows)
	}
	rows = [][]string{{"TASK", "CAUSE", "PER WAIT", "SHARE", "IN ONE WAIT", "BY", "PER WAIT MOVED"}}
	for _, t := range tasks {
		name, n := p.diffName(t), 0
		for i := range t.Causes {
			c := &t.Causes[i]
			if !p.All && (n >= mostDiffCauses || max(c.A.SharePPM, c.B.SharePPM) < leastDiffShare) {
				continue
			}
			rows = append(rows, []string{name, KindWord(c.Kind), arrow(p.number(c.A.PerWait), p.number(c.B.PerWait)), arrow(ofMillion(c.A.SharePPM), ofMillion(c.B.SharePPM)),
				arrow(p.number(c.A.MostNS), p.number(c.B.MostNS)), p.culprits(c), p.moved(c.Test)})
			name = ""
			n++
		}
	}
	if len(rows) > 1 {
		p.table("causes by task, "+p.unit()+", A → B", "llrrr", rows)
	}
}

// culprits names who accounts for most of a cause on both sides.
func (p *printer) culprits(c *result.DiffCause) string {
	a, b := p.name(c.A.Comm), p.name(c.B.Comm)
	switch {
	case a == "" && b == "":
		return ""
	case a == "":
		a = "–"
	case b == "":
		b = "–"
	}
	return arrow(a, b)
}

// ofMillion prints millionths as percent.
func ofMillion(ppm int64) string { return percent(ppm, 1_000_000) }

// diffOnly names the tasks that wait on one side only.
func (p *printer) diffOnly(r *result.Diff) {
	for _, s := range []struct{ only, name string }{{"a", "A"}, {"b", "B"}} {
		var names []string
		hidden := 0
		for i := range r.Tasks {
			t := &r.Tasks[i]
			if t.Only != s.only {
				continue
			}
			if !p.All && len(names) >= mostDiffTasks {
				hidden++
				continue
			}
			class, prio, pid := t.ClassA, t.PrioA, t.PIDA
			if s.only == "b" {
				class, prio, pid = t.ClassB, t.PrioB, t.PIDB
			}
			name := p.task(t.Comm, pid)
			if t.Group != "" {
				name = p.name(t.Group)
			}
			names = append(names, strings.TrimSpace(name+" "+classWord(class, prio)))
		}
		if len(names) == 0 {
			continue
		}
		text := "only in " + s.name + ": " + strings.Join(names, ", ")
		if hidden > 0 {
			text += fmt.Sprintf(" and %s more", count(int64(hidden)))
		}
		p.gap()
		p.say("%s", text)
	}
}

// diffTests says what the tests are worth.
func (p *printer) diffTests(r *result.Diff) {
	t := &r.Test
	if t.Tests == 0 {
		p.gap()
		p.say("nothing tested: no task has enough waits in both")
		return
	}
	what := fmt.Sprintf("%s and %s recordings", count(r.A.Parts), count(r.B.Parts))
	if t.Parts == "stretches" {
		what = fmt.Sprintf("%s stretches of A (%s each) and %s of B (%s)", count(r.A.Parts), seconds(r.A.PartNS), count(r.B.Parts), seconds(r.B.PartNS))
	}
	text := fmt.Sprintf("%s tests (%s) of %s, p adjusted for their number (Holm): %s shown to differ. They assume that %s.",
		count(t.Tests), t.Test, what, count(t.Shown), t.Assumes)
	if t.Drifting > 0 {
		text += fmt.Sprintf(" %s of those shown do not look so: they drift within a recording, so it may be a phase of the machine.", count(t.Drifting))
	}
	p.gap()
	p.say("%s", text)
}
