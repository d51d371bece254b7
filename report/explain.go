package report

import (
	"io"
	"strings"

	"github.com/whylate/whylate/result"
)

// Explain prints the answer of `whylate explain`: one line about the input, then a block
// for each task that was late, in the order of r.Late, then what else the reader must
// know. Only writing to w can fail.
//
// Several waits of one task with the same main kind and culprit print as one group: the
// first of them in full, then how many more there are and their range. Intervals of one
// wait with the same kind and culprit print as one line. Options.All and Verbose take
// the one and the other apart.
func Explain(w io.Writer, r *result.Explain, o Options) error {
	p := newPrinter(w, o)
	p.input(&r.Input)
	blocks := groupLate(r, o.All)
	for _, b := range blocks {
		p.block(r, b)
	}
	p.otherRows(r, blocks)
	p.groups(r.Groups)
	p.diagnostics(r.Diagnostics)
	return p.flush()
}

// groups prints what control groups used, and what became of their quotas.
func (p *printer) groups(list []result.Group) {
	if len(list) > 0 {
		p.line("")
	}
	for i := range list {
		g := &list[i]
		quota := ""
		if g.QuotaNS >= 0 {
			quota = "; quota " + p.amount(g.QuotaNS) + " of each " + p.amount(g.PeriodNS)
			if g.BurstNS > 0 {
				quota += ", burst " + p.amount(g.BurstNS) + " (used in " + plural(g.NrBursts, "period", "periods") + ")"
			}
			quota += ", throttled in " + count(g.NrThrottled) + " of " + plural(g.NrPeriods, "period", "periods") + ", for " + p.amount(g.ThrottledNS)
		}
		p.line("group %s used %s%s", p.bold(p.name(g.CGroup)), p.amount(g.UsageNS), quota)
	}
}

// input prints what was read: "machine.dat   trace.dat v7 · 6.1.0 · 4 CPUs · 2.310 s ·
// 41 203 events · none lost". What the trace does not say is left out.
func (p *printer) input(in *result.Input) {
	file := ""
	if in.File != "" {
		file = p.bold(escape(in.File)) + "   "
	}
	p.line("%s%s", file, p.inputText(in))
}

// inputText is input without the name of the file.
func (p *printer) inputText(in *result.Input) string {
	var facts []string
	for _, s := range []string{in.Format, in.Kernel} {
		if s != "" {
			facts = append(facts, escape(s))
		}
	}
	if in.CPUs > 0 {
		facts = append(facts, plural(int64(in.CPUs), "CPU", "CPUs"))
	}
	facts = append(facts, seconds(in.EndNS-in.StartNS), plural(in.Events, "event", "events"))
	switch {
	case in.Lost == 0:
		facts = append(facts, "none lost")
	case in.Lost < 0:
		facts = append(facts, p.paint(ansiRed, "an unknown number lost"))
	default:
		facts = append(facts, p.paint(ansiRed, count(in.Lost)+" lost"))
	}
	return strings.Join(facts, " · ")
}

// block prints one task: its wakeups, what its waiting was made of, its late waits.
func (p *printer) block(r *result.Explain, b *block) {
	first := &r.Late[b.groups[0].late[0]]
	if b.row == nil {
		p.line("\n%s  %s", p.bold(p.task(first.Comm, first.PID)), classWord(first.Class, first.Prio))
	} else {
		p.row(b.row, classWord(first.Class, first.Prio), b.preempted(r))
	}
	said := make(map[string]bool) // hints that one block tells once
	for _, g := range b.groups {
		p.line("")
		p.group(r, g, said)
	}
}

// row prints a task, or a group of tasks, without its late waits. The series of preemption
// waits is left out where nobody asked and none of them was late: for fair tasks it says
// little more than that others ran, too.
func (p *printer) row(t *result.Task, class string, preempted bool) {
	head := p.bold(p.rowName(t))
	if class != "" {
		head += "  " + class
	}
	if t.CGroup != "" && t.CGroup != "/" && t.CGroup != t.Group { // where nothing else is said it is the root
		head += "  in " + p.name(t.CGroup)
	}
	p.line("\n%s%s", head, p.waits("wakeup", "wakeups", &t.Wakeup))
	if t.Preempted.Waits > 0 && (preempted || p.Verbose) {
		p.line("  preempted%s", p.waits("time", "times", &t.Preempted))
	}
	p.blame(t.Blame)
}

// waits prints a series: "   1 155 wakeups   p50 14.2 µs   p99 41.0 µs …". The longest
// wait is never approximate, so it carries no mark.
func (p *printer) waits(one, many string, s *result.Waits) string {
	text := "   " + plural(s.Waits, one, many)
	if s.Waits == 0 {
		return text
	}
	mark := approximately(s)
	for _, q := range []struct {
		name string
		ns   int64
	}{{"p50", s.P50NS}, {"p99", s.P99NS}, {"p99.9", s.P999NS}} {
		text += "   " + q.name + " " + mark + p.amount(q.ns)
	}
	return text + "   max " + p.bold(p.amount(s.MaxNS))
}

// approximately is the mark of percentiles that come from a histogram.
func approximately(s *result.Waits) string {
	if s.Approximate {
		return "≈"
	}
	return ""
}

// blame prints the shares of the kinds in all of a task's waiting, the largest first. This
// line tells whether the late waits below it are typical. With Verbose each culprit has
// a line.
func (p *printer) blame(list []result.Blame) {
	if len(list) == 0 {
		return
	}
	kinds, total := sumKinds(list)
	shares := make([]string, len(kinds))
	for i, k := range kinds {
		shares[i] = KindWord(k.Kind) + " " + percent(k.NS, total)
	}
	p.line("  its waiting:  %s", strings.Join(shares, "   "))
	if !p.Verbose {
		return
	}
	rows := make([][]string, len(list))
	for i, b := range list {
		rows[i] = []string{p.amount(b.NS), percent(b.NS, total), KindWord(b.Kind),
			p.task(b.Comm, b.PID), "in " + plural(b.Waits, "wait", "waits")}
	}
	p.columns("    ", "rr", rows)
}

// otherRows prints the rows that waited and have no block: groups of tasks (--by) with
// their blame, since their late waits stand in the blocks of tasks; tasks as a table
// where asked for, else their number. Where nothing was late it says so.
func (p *printer) otherRows(r *result.Explain, blocks []*block) {
	shown := make(map[*result.Task]bool)
	for _, b := range blocks {
		shown[b.row] = true
	}
	var tasks []*result.Task
	for i := range r.Tasks {
		t := &r.Tasks[i]
		switch {
		case shown[t] || t.Wakeup.Waits+t.Preempted.Waits == 0:
		case t.PID < 0:
			p.row(t, classWord(t.Class, t.Prio), t.Preempted.Waits > 0)
		default:
			tasks = append(tasks, t)
		}
	}
	if len(blocks) == 0 {
		p.nothingLate(&r.Input, r.Tasks)
	}
	n := int64(len(tasks))
	switch {
	case n == 0:
	case p.Verbose || p.All:
		p.line("\n%s waited without being late", plural(n, "task", "tasks"))
		p.waitTables(tasks, "task")
	case len(blocks) == 0:
		p.line("%s waited; -v lists them.", plural(n, "task", "tasks"))
	default:
		p.line("\n%s waited without being late; -v lists them.", plural(n, "more task", "more tasks"))
	}
}

// nothingLate closes a report without late waits. It claims no more than the trace shows:
// where events were lost, a late wait may be among them.
func (p *printer) nothingLate(in *result.Input, tasks []result.Task) {
	switch {
	case in.Lost != 0:
		p.line("\nNothing was late in what was recorded; what was lost may have been.")
	case len(tasks) == 0:
		p.line("\nNo wait for a CPU can be seen in this trace.")
	default:
		p.line("\nNothing was late.")
	}
}
