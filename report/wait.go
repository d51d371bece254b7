package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/whylate/whylate/result"
)

// verdictColumn is where the verdict of a wait stands, so that verdicts of different
// waits are found at a glance in 80 columns.
const verdictColumn = 72

// maxShares is how many lines of causes a wait prints before the rest becomes one line;
// Verbose has no such bound.
const maxShares = 8

// group prints the first wait of g in full and sums up the others. said holds the lines
// of a block that need no second telling.
func (p *printer) group(r *result.Explain, g *group, said map[string]bool) {
	p.late(&r.Input, &r.Late[g.late[0]], said)
	if others := g.late[1:]; len(others) > 0 {
		p.others(r, r.Late[g.late[0]].Verdict, others)
		for _, i := range others {
			p.needs(r.Late[i].Needs, said)
		}
	}
}

// late prints one wait: when and how long, causes, and what would settle it. The order is
// that of the questions a reader asks: how bad, whose fault, was it avoidable, what can
// be done, and how sure is that.
func (p *printer) late(in *result.Input, l *result.Late, said map[string]bool) {
	how := ""
	switch l.WaitKind {
	case "wakeup": // the usual sort needs no word
	case "preempted":
		how = ", preempted"
	case "yielded":
		how = ", after it yielded"
	default:
		how = ", " + escape(l.WaitKind)
	}
	amount := p.amount(l.LatenessNS)
	head := fmt.Sprintf("  at %s s on %s%s   (wait %s)", p.clock(in.StartNS+l.WokenNS), cpuWord(l.CPU), how, escape(l.ID))
	p.line("  %s%s   %s", p.bold(amount), left(head, verdictColumn-2-width(amount)), p.verdict(l.Verdict))
	if l.OnCPUNS == nil { // so it was at least this late
		p.line("     it still waited when the trace ended")
	}
	if p.Verbose {
		p.waker(&l.Waker)
		p.intervals(in, l)
	} else {
		p.shares(l)
	}
	p.due(in, l)
	p.idleElsewhere(in, l)
	p.passes(l)
	p.advice(l)
	p.needs(l.Needs, said)
}

// shares prints the causes summed up by kind and culprit, so that a culprit who came on
// three CPUs has one line, and the lines still sum to the lateness. The own verdict of a
// cause stands in its line where it differs from that of the wait.
func (p *printer) shares(l *result.Late) {
	shares := sumCauses(l.Causes)
	var rows [][]string
	for i, s := range shares {
		// A line that stands for a single cause could as well show it.
		if i == maxShares && len(shares) > maxShares+1 {
			var rest int64
			for _, s := range shares[i:] {
				rest += s.ns
			}
			rows = append(rows, []string{p.amount(rest), fmt.Sprintf("%d shorter ones; -v lists them", len(shares)-i)})
			break
		}
		kind := KindWord(s.Kind)
		if s.Verdict != l.Verdict && s.Verdict != s.Kind {
			kind += " (" + escape(s.Verdict) + ")"
		}
		detail := escape(s.Detail)
		if s.causes > 1 && detail != "" {
			detail += " (the longest of " + count(s.causes) + ")"
		}
		rows = append(rows, []string{p.amount(s.ns), p.who(s.Comm, s.PID, s.Prio), kind, detail})
	}
	p.columns("     ", "r", rows)
}

// intervals prints every cause as the result has it: since when, where, its own verdict,
// and the event lines that show it. Who asks for these wants to look them up in the
// trace, so times are on its clock.
func (p *printer) intervals(in *result.Input, l *result.Late) {
	var rows [][]string
	for i := range l.Causes {
		c := &l.Causes[i]
		rows = append(rows, []string{p.amount(c.NS), "at " + p.clock(in.StartNS+c.StartNS) + " s", cpuWord(c.CPU),
			p.who(c.Comm, c.PID, c.Prio), KindWord(c.Kind), escape(c.Verdict), escape(c.Detail)})
	}
	for i, text := range align("rr", rows) {
		p.line("     %s", text)
		for _, e := range l.Causes[i].Evidence {
			p.line("           %s", p.paint(ansiDim, escape(e)))
		}
	}
}

// waker prints who woke. In an interrupt the task named is only the one it interrupted.
func (p *printer) waker(w *result.Waker) {
	who := p.task(w.Comm, w.PID)
	switch {
	case w.Context == "":
		return
	case w.Context == "task":
		p.line("     woken by %s", who)
		return
	case who != "":
		who = " while " + who + " ran"
	}
	p.line("     woken by %s%s", KindWord(w.Context), who)
}

// due prints when the wake should have happened, where that explains why the lateness is
// longer than the wait; with Verbose wherever it is known.
func (p *printer) due(in *result.Input, l *result.Late) {
	if l.DueNS == nil || l.LatenessNS == l.WaitNS && !p.Verbose {
		return
	}
	text := fmt.Sprintf("it was due at %s s, %s before it was woken", p.clock(in.StartNS+*l.DueNS), p.amount(l.WokenNS-*l.DueNS))
	if l.DueVerdict != "" {
		text += " (" + escape(l.DueVerdict) + ")"
	}
	if l.DueDetail != "" {
		text += ": " + escape(l.DueDetail)
	}
	p.line("     %s", text)
}

// needs prints the events that would settle the open questions of a wait, once per block:
// most waits of a task lack the same ones.
func (p *printer) needs(list []string, said map[string]bool) {
	if len(list) == 0 {
		return
	}
	clean := make([]string, len(list))
	for i, s := range list {
		clean[i] = escape(s)
	}
	text := strings.Join(clean, ", ")
	if !said[text] {
		said[text] = true
		p.line("     to settle it, also record: %s", text)
	}
}

// others prints how many more waits of a group there are and how late they were, which
// verdicts they have where those differ from the first one's, and with Verbose their ids.
func (p *printer) others(r *result.Explain, verdict string, indices []int) {
	shortest, longest := r.Late[indices[0]].LatenessNS, r.Late[indices[0]].LatenessNS
	var verdicts []string
	numbers := make(map[string]int64)
	var ids []string
	for _, i := range indices {
		l := &r.Late[i]
		shortest, longest = min(shortest, l.LatenessNS), max(longest, l.LatenessNS)
		if numbers[l.Verdict] == 0 {
			verdicts = append(verdicts, l.Verdict)
		}
		numbers[l.Verdict]++
		ids = append(ids, escape(l.ID))
	}
	// Lengths that print alike are one length to the reader.
	span := p.number(shortest) + "–" + p.amount(longest)
	if p.number(shortest) == p.number(longest) {
		span = p.amount(longest)
	}
	text := fmt.Sprintf("and %s more like it, %s", count(int64(len(indices))), span)
	if slices.ContainsFunc(verdicts, func(v string) bool { return v != verdict }) {
		for i, v := range verdicts {
			verdicts[i] = count(numbers[v]) + " " + escape(v)
		}
		text += " (" + strings.Join(verdicts, ", ") + ")"
	}
	p.line("  %s", text)
	if p.Verbose {
		p.line("     waits %s", strings.Join(ids, " "))
	}
}
