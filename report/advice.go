package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/whylate/whylate/result"
)

// How much of the advice of a wait is printed without Verbose.
const (
	mostAdvice  = 4
	mostHarm    = 2
	longCommand = 60 // characters, from which on a command has a line of its own
)

// advice prints what replay predicts for changes, the best first: what each makes of the
// wait, the command that makes it, and what it does to others. A prediction is called one and
// carries its error. What the kernel would refuse is said, and why nothing is predicted.
func (p *printer) advice(l *result.Late) {
	if len(l.Advice) > 0 {
		p.predictions(l)
	}
	for _, r := range l.Refused {
		p.line("     the kernel refuses %s: %s", escape(r.Change), escape(strings.TrimPrefix(r.Text, r.Change+": ")))
	}
	if l.Withheld != "" {
		p.line("     nothing is predicted for this wait: %s", escape(l.Withheld))
	}
}

func (p *printer) predictions(l *result.Late) {
	most := len(l.Advice)
	if !p.Verbose {
		most = min(most, mostAdvice)
	}
	first := &l.Advice[0]
	p.line("     predicted by replay (its error on this wait: %s)", percent(first.ErrorNS, first.BeforeNS))
	rows := make([][]string, most)
	for i := range rows {
		a := &l.Advice[i]
		what := a.Text
		if what == "" {
			what = a.Change
		}
		command := escape(a.Command)
		if width(command) > longCommand {
			command = ""
		}
		rows[i] = []string{escape(what), p.number(a.BeforeNS) + " → " + p.amount(a.AfterNS), command}
	}
	for i, text := range align("", rows) {
		a := &l.Advice[i]
		p.line("        %s", text)
		if rows[i][2] == "" && a.Command != "" {
			p.line("           %s", escape(a.Command))
		}
		if p.Verbose {
			p.line("           --change '%s'", escape(a.Change))
		}
		if a.WorseNS > 0 {
			p.line("           but another of its waits becomes %s", p.amount(a.WorseNS))
		}
		p.harm("           ", a.Harm)
	}
	if more := len(l.Advice) - most; more > 0 {
		p.line("        %s; -v lists them", plural(int64(more), "more change would help", "more changes would help"))
	}
	p.confirmed(l.Advice[:most])
}

// confirmed prints how well predictions of these sorts, committed before the changed machine was
// recorded, were met.
func (p *printer) confirmed(list []result.Advice) {
	var parts []string
	for i := range list {
		c := list[i].Confirmed
		if c == nil || c.Predictions == 0 {
			continue
		}
		text := fmt.Sprintf("%s %s of %s", escape(c.Mechanism), count(int64(c.Within)), count(int64(c.Predictions)))
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if len(parts) > 0 {
		p.line("        of waits predicted before they were recorded, within 10 %%: %s", strings.Join(parts, ", "))
	}
}

// harm prints who waits longer, or comes too late more often.
func (p *printer) harm(indent string, list []result.Harm) {
	if !p.Verbose { // who waits for a thread of the kernel is listed himself
		list = slices.DeleteFunc(slices.Clone(list), func(h result.Harm) bool { return h.Kernel })
	}
	most := len(list)
	if !p.Verbose {
		most = min(most, mostHarm)
	}
	for i := range list[:most] {
		h := &list[i]
		roughly := ""
		if h.Class == "fair" {
			roughly = "roughly " // often they only took turns as they were recorded
		}
		text := fmt.Sprintf("p%d of its waiting %s%s → %s", h.Percentile, roughly, p.number(h.BeforeNS), p.amount(h.AfterNS))
		if h.MissesAfter != h.MissesBefore {
			text += fmt.Sprintf(", %s → %s of %s late", count(h.MissesBefore), count(h.MissesAfter), plural(h.Jobs, "job", "jobs"))
		}
		p.say("%sharms %s: %s", indent, p.who(h.Comm, h.PID, h.Prio), text)
	}
	if more := len(list) - most; more > 0 {
		p.say("%sand %s more", indent, count(int64(more)))
	}
}
