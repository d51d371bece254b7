package report

import (
	"io"
	"strings"

	"github.com/whylate/whylate/result"
)

// Case prints the answer of `whylate case`: the question, the table of the variants side by
// side and why the longest wait of each was so long, the same for each further part, then
// the objections with their numbers, and the limits. Only writing to w can fail.
func Case(w io.Writer, r *result.Case, o Options) error {
	p := newPrinter(w, o)
	quick := ""
	if r.Quick {
		quick = "   (quick: fewer runs, parts and variants)"
	}
	p.line("%s%s", p.bold("case "+escape(r.Case)+": "+escape(r.Title)), quick)
	p.paragraph("", r.Question)
	p.paragraph("", r.Symptom)
	p.paragraph("", r.Conclusion)
	p.part(&r.Comparison, "")
	for i := range r.Parts {
		p.part(&r.Parts[i], r.Parts[i].Question)
	}
	p.objections(r.Objections)
	if len(r.Limits) > 0 {
		p.line("\n%s", p.bold("limits"))
		for _, l := range r.Limits {
			p.paragraph("  ", l)
		}
	}
	p.diagnostics(r.Diagnostics)
	return p.flush()
}

// Part prints the tables of one comparison of a case.
func Part(w io.Writer, c *result.Comparison, o Options) error {
	p := newPrinter(w, o)
	p.tables(c, c.Question == "")
	return p.flush()
}

// part prints one comparison of a case with its question and answer.
func (p *printer) part(c *result.Comparison, question string) {
	p.line("\n%s", p.bold(strings.TrimSpace(escape(c.ID)+"  "+escape(question))))
	p.tables(c, question == "")
	if c.Answer != "" {
		p.line("")
		p.paragraph("  ", "→ "+c.Answer)
	}
}

// tables prints what came out. The main part of a case shows all; of the others the table of
// tasks is left to Verbose where measures say it.
func (p *printer) tables(c *result.Comparison, main bool) {
	p.line("%s · %s", escape(c.Scenario), p.sampling(c))
	if main || p.Verbose || len(c.Measures) == 0 {
		p.variedTasks(c)
	}
	p.measures(c)
	if main || p.Verbose {
		p.worsts(c)
	} else {
		p.worstLines(c)
	}
}

// worstLines prints the longest wait of each variant with its largest cause, a line each.
func (p *printer) worstLines(c *result.Comparison) {
	rows := [][]string{{"", "LONGEST WAIT", "OF", "MOST OF IT", "", "BY", "WAIT"}}
	for i := range c.Variants {
		v := &c.Variants[i]
		if v.Worst == nil {
			continue
		}
		row := []string{escape(v.Name), p.amount(v.Worst.LatenessNS), p.name(v.Worst.Comm)}
		if shares := sumCauses(v.Worst.Causes); len(shares) > 0 {
			s := shares[0]
			row = append(row, p.amount(s.ns), KindWord(s.Kind)+" ("+escape(s.Verdict)+")", p.who(s.Comm, s.PID, s.Prio))
		} else {
			row = append(row, "", "", "")
		}
		rows = append(rows, append(row, escape(v.Worst.ID)))
	}
	if len(rows) > 1 {
		p.line("")
		p.columns("", "lrlr", rows)
	}
}

func (p *printer) objections(list []result.Objection) {
	if len(list) == 0 {
		return
	}
	p.line("\n%s", p.bold("what was asked"))
	for i := range list {
		o := &list[i]
		p.paragraph("  ", "? "+o.Text)
		answer := o.Answer
		if answer == "" {
			answer = "not part of a quick run"
		}
		p.paragraph("    ", answer+" ["+strings.Join(o.Parts, ", ")+"]")
	}
}

// paragraphWidth is how long lines of prose are where the terminal is not known.
const paragraphWidth = 110

// paragraph prints text in lines, each after indent.
func (p *printer) paragraph(indent, text string) {
	limit := paragraphWidth
	if p.Width > 40 {
		limit = min(limit, p.Width)
	}
	line := indent
	for _, word := range strings.Fields(escape(text)) {
		if width(line)+1+width(word) > limit && strings.TrimSpace(line) != "" {
			p.line("%s", line)
			line = indent
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	if strings.TrimSpace(line) != "" {
		p.line("%s", line)
	}
}
