package report

import (
	"fmt"
	"slices"
	"strings"
)

// mdText makes text safe in Markdown: names of tasks are chosen by whoever owns them, and none
// must become a link, a mention or a column.
func mdText(s string) string {
	s = escape(s)
	if !strings.ContainsAny(s, "\\`*_[]<>|#~&!@$") {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '@':
			b.WriteString("&#64;")
		case '<':
			b.WriteString("&lt;")
		case '&':
			b.WriteString("&amp;")
		case '\\', '`', '*', '_', '[', ']', '>', '|', '#', '~', '!', '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// mdCode makes text code in Markdown, to be copied into a shell as it is.
func mdCode(s string) string {
	s = escape(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 { // a backquote at an end would lengthen the fence
		s = " " + s + " "
	}
	return fence + s + fence
}

// mdTable prints rows, of which the first is the head, as a table of GitHub's Markdown. The
// cells are text. alignment is that of align; a column without text is left out.
func (p *printer) mdTable(alignment string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	used := make([]bool, len(rows[0]))
	for _, row := range rows[1:] {
		for i, cell := range row {
			if i < len(used) && cell != "" {
				used[i] = true
			}
		}
	}
	for n, row := range rows {
		p.mdRow(used, row, mdText)
		if n > 0 {
			continue
		}
		rule := make([]string, len(rows[0]))
		for i := range rule {
			rule[i] = "---"
			if i < len(alignment) && alignment[i] == 'r' {
				rule[i] = "---:"
			}
		}
		p.mdRow(used, rule, func(s string) string { return s })
	}
}

func (p *printer) mdRow(used []bool, row []string, text func(string) string) {
	line := "|"
	for i, u := range used {
		if !u {
			continue
		}
		cell := ""
		if i < len(row) {
			cell = text(row[i])
		}
		line += " " + cell + " |"
	}
	p.line("%s", line)
}

// table prints rows, of which the first is the head, as columns or as a table of Markdown,
// after a title. A column of which only the head is there is left out.
func (p *printer) table(title, alignment string, rows [][]string) {
	if !p.Markdown {
		for i := range rows[0] {
			if !slices.ContainsFunc(rows[1:], func(row []string) bool { return i < len(row) && row[i] != "" }) {
				rows[0][i] = ""
			}
		}
		p.line("\n%s", p.bold(title))
		p.columns("", alignment, rows)
		return
	}
	p.line("\n**%s**\n", mdText(title))
	p.mdTable(alignment, rows)
}

// say prints a sentence: on a page as a paragraph of its own, so that it is no row of a table
// before it.
func (p *printer) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.Markdown {
		p.line("\n%s", mdText(strings.TrimSpace(text)))
		return
	}
	p.line("%s", text)
}

// gap is a blank line, which sentences on a page have anyway.
func (p *printer) gap() {
	if !p.Markdown {
		p.line("")
	}
}
