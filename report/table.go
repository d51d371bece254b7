package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/whylate/whylate/result"
)

// Latency prints the answer of `whylate latency`: a table of wakeup waits with a row per
// task (or what r.By says), then one of preemption waits. Deadline and real-time rows
// come first; apart from that the order of r.Tasks is kept. Only writing to w can fail.
func Latency(w io.Writer, r *result.Latency, o Options) error {
	p := newPrinter(w, o)
	p.input(&r.Input)
	rows := make([]*result.Task, len(r.Tasks))
	for i := range r.Tasks {
		rows[i] = &r.Tasks[i]
	}
	p.waitTables(rows, r.By)
	p.diagnostics(r.Diagnostics)
	return p.flush()
}

// waitTables prints the wakeup waits of rows, then their preemption waits. Rows without
// waits of the sort are left out.
func (p *printer) waitTables(rows []*result.Task, by string) {
	some := p.waitTable("wakeup waits", by, rows, func(t *result.Task) *result.Waits { return &t.Wakeup })
	some = p.waitTable("preemption waits", by, rows, func(t *result.Task) *result.Waits { return &t.Preempted }) || some
	if !some {
		p.line("\nno waits")
	}
}

// waitTable prints one table and reports whether there was anything to print. The unit
// stands in the title alone, so that the columns hold plain numbers.
func (p *printer) waitTable(title, by string, rows []*result.Task, of func(*result.Task) *result.Waits) bool {
	head := []string{"TASK", "PID", "CLASS", "PRIO", "WAITS", "P50", "P90", "P99", "P99.9", "MAX", "TOTAL"}
	if by != "" {
		head[0] = strings.ToUpper(escape(by))
	}
	cells := [][]string{head}
	for _, t := range rows {
		if s := of(t); s.Waits > 0 {
			cells = append(cells, p.waitRow(t, s))
		}
	}
	if len(cells) == 1 {
		return false
	}
	p.line("\n%s, %s", p.bold(title), p.unit())
	p.columns("", "lrlrrrrrrrr", cells)
	return true
}

// waitRow has the cells of one row in the order of the head. A group of tasks has no pid,
// and class and priority only if all its tasks share them.
func (p *printer) waitRow(t *result.Task, s *result.Waits) []string {
	name, pid := p.name(t.Comm), "-"
	if t.Group != "" {
		name = p.name(t.Group)
	}
	if t.PID >= 0 {
		pid = strconv.Itoa(int(t.PID))
	}
	class, prio := classColumns(t.Class, t.Prio)
	if t.PID < 0 && t.Class == "unknown" {
		class = "several"
	}
	row := []string{name, pid, class, prio, count(s.Waits)}
	for _, ns := range []int64{s.P50NS, s.P90NS, s.P99NS, s.P999NS} {
		row = append(row, approximately(s)+p.number(ns))
	}
	return append(row, p.number(s.MaxNS), p.number(s.TotalNS))
}

// rowName names a row: the task, or what the group stands for.
func (p *printer) rowName(t *result.Task) string {
	if t.Group != "" {
		return p.name(t.Group)
	}
	return p.task(t.Comm, t.PID)
}

// diagnostics prints what the reader must know about the result, a line each: the kind,
// how often if more than once, and the text. Lost events come first, since they bear on
// every number above.
func (p *printer) diagnostics(list []result.Diagnostic) {
	if len(list) == 0 {
		return
	}
	p.gap()
	for _, lost := range []bool{true, false} {
		for _, d := range list {
			if (d.Kind == "lost_events") != lost {
				continue
			}
			text := escape(strings.ReplaceAll(d.Kind, "_", " "))
			if d.Count > 1 || lost {
				text += " (" + count(d.Count) + ")"
			}
			if d.Text != "" {
				text += ": " + escape(d.Text)
			}
			if lost {
				text = p.paint(ansiRed, text)
			}
			p.say("note: %s", text)
		}
	}
}

// columns prints rows as aligned columns after indent.
func (p *printer) columns(indent, alignment string, rows [][]string) {
	for _, s := range align(alignment, rows) {
		p.line("%s%s", indent, s)
	}
}

// align returns rows as lines of aligned columns. alignment has a letter per column, r
// for right; columns beyond it are left-aligned. The last cell of a row is not padded,
// and a column without text takes no room.
func align(alignment string, rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if widths[i] == 0 {
				continue
			}
			// Three blanks: numbers have single ones between their thousands.
			if b.Len() > 0 {
				b.WriteString("   ")
			}
			if i < len(alignment) && alignment[i] == 'r' {
				b.WriteString(right(cell, widths[i]))
			} else {
				b.WriteString(left(cell, widths[i]))
			}
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
