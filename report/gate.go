package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/whylate/whylate/result"
)

// Gate prints the answer of `whylate gate`: whether all budgets hold, then a table of what was
// found for each. Of the tasks that a budget was asked of those print that failed or are
// unreliable; where all are well the one with the largest value. Only writing to w can fail.
func Gate(w io.Writer, r *result.Gate, o Options) error {
	p := newPrinter(w, o)
	verdict := p.gateVerdict(r)
	if o.Markdown {
		p.line("### %s", mdText(verdict))
		p.line("")
		p.line("%s", mdText(p.inputText(&r.Input)))
	} else {
		p.input(&r.Input)
		p.line("")
		p.line("%s", p.status(r.Status, verdict))
	}
	rows := [][]string{{"", "BUDGET", "TASK", "AS", "VALUE", "LIMIT", "OF", "", ""}}
	for i := range r.Budgets {
		rows = append(rows, p.budget(&r.Budgets[i])...)
	}
	p.table("budgets", "llllrrr", rows)
	p.diagnostics(r.Diagnostics)
	return p.flush()
}

// gateVerdict says in a line how many hold.
func (p *printer) gateVerdict(r *result.Gate) string {
	n := make(map[string]int64)
	for i := range r.Budgets {
		n[r.Budgets[i].Status]++
	}
	total := int64(len(r.Budgets))
	text := fmt.Sprintf("%s of %s failed", count(n["failed"]), plural(total, "budget", "budgets"))
	switch {
	case n["failed"] == 0 && n["unreliable"] > 0:
		text = fmt.Sprintf("%s: none failed", plural(total, "budget", "budgets"))
	case n["failed"] == 0 && total == 1:
		return "the budget held"
	case n["failed"] == 0:
		return "all " + plural(total, "budget", "budgets") + " held"
	}
	if n["unreliable"] > 0 {
		text += fmt.Sprintf(", %s held unreliably", count(n["unreliable"]))
	}
	return text
}

// status paints text by what came of a condition.
func (p *printer) status(status, text string) string {
	switch status {
	case "failed":
		return p.paint(ansiRed, text)
	case "unreliable":
		return p.paint(ansiYellow, text)
	}
	return p.bold(text)
}

// mostJudged bounds the tasks of a budget without All.
const mostJudged = 12

// budget has the rows of one budget.
func (p *printer) budget(b *result.Budget) [][]string {
	var rows [][]string
	name := b.Budget
	ok, hidden := 0, 0
	for i := range b.Tasks {
		j := &b.Tasks[i]
		if j.Status == "ok" {
			ok++
		}
		if !p.All && (len(rows) >= mostJudged || j.Status == "ok" && len(rows) > 0) {
			hidden++
			continue
		}
		rows = append(rows, p.judged(name, b.Note, j))
		name = ""
	}
	if hidden > 0 {
		more := plural(int64(hidden), "task more", "tasks more")
		if ok >= hidden {
			more += ", well"
		}
		rows = append(rows, []string{"", "", more})
	}
	return rows
}

// judged is the row of one task.
func (p *printer) judged(name, note string, j *result.Judged) []string {
	number := p.amount
	if j.Unit == "count" {
		number = count
	}
	value := number(j.Value)
	if j.AtLeast {
		value = "≥ " + value
	}
	if j.Before != nil {
		value = number(*j.Before) + " → " + value
	}
	why := j.Why
	if j.Wait != "" && j.Status == "failed" {
		why = strings.TrimPrefix(why+fmt.Sprintf(", longest: --wait %s", j.Wait), ", ")
	}
	if name != "" && note != "" {
		why = strings.TrimPrefix(why+"   "+note, "   ")
	}
	task, class := p.task(j.Comm, j.PID), classWord(j.Class, j.Prio)
	if j.Group != "" {
		task = p.name(j.Group)
	}
	if j.PID < 0 && j.Class == "unknown" {
		class = "several"
	}
	return []string{j.Status, escape(name), task, class, value, number(j.Limit), plural(j.Waits, "wait", "waits"), escape(why)}
}
