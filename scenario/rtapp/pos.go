package rtapp

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Pos is a place in the file, both counted from 1. Column counts bytes, as compilers do.
// The zero Pos means that the file does not say it: a default.
type Pos struct{ Line, Column int }

// String prints "12:5", or "-" for the zero Pos.
func (p Pos) String() string {
	if p.Line == 0 {
		return "-"
	}
	return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}

// Error says where in a file something is wrong, and what. Several of them come joined
// (errors.Join) in the order of the file.
type Error struct {
	File string
	Pos
	Path string // where in the tree: tasks.ctl.phases.p0.run; "" for the file as a whole
	Msg  string
}

// Error prints "file.json:12:5: tasks.ctl.run: must be …".
func (e *Error) Error() string { return located(e.File, e.Pos, e.Path, e.Msg) }

// Warning is something that rt-app does not reject but that hardly anybody means, or that
// the model cannot follow. It has the fields of an Error.
type Warning struct {
	File string
	Pos
	Path string
	Msg  string
}

// String prints "file.json:12:5: tasks.ctl.run: …".
func (w Warning) String() string { return located(w.File, w.Pos, w.Path, w.Msg) }

// located prints a message as compilers do, so that editors find the place.
func located(file string, pos Pos, path, msg string) string {
	var b strings.Builder
	b.WriteString(file)
	if pos.Line > 0 {
		b.WriteString(":" + pos.String())
	}
	b.WriteString(": ")
	if path != "" {
		b.WriteString(path + ": ")
	}
	b.WriteString(msg)
	return b.String()
}

// place is a node of the tree for messages; its text is made only when one is printed.
type place struct {
	up    *place
	key   string
	index int // of an array element; −1 for a member
}

// member and element return a place inside p.
func (p *place) member(key string) *place { return &place{up: p, key: key, index: -1} }

func (p *place) element(i int) *place { return &place{up: p, index: i} }

// String prints "tasks.ctl.cpus[1]"; keys that are not plain words are quoted.
func (p *place) String() string {
	var parts []string
	for ; p != nil && p.up != nil; p = p.up {
		switch {
		case p.index >= 0:
			parts = append(parts, "["+strconv.Itoa(p.index)+"]")
		case plainKey(p.key) && len(p.key) <= mostQuoted:
			parts = append(parts, "."+p.key)
		default:
			parts = append(parts, "."+quoted(p.key))
		}
	}
	slices.Reverse(parts)
	return strings.TrimPrefix(strings.Join(parts, ""), ".")
}

// plainKey reports whether key reads well in a path without quotes.
func plainKey(key string) bool {
	for _, c := range key {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return key != ""
}

// mostQuoted bounds what is shown of a string, which a hostile file can make long.
const mostQuoted = 60

// quoted prints s for a message.
func quoted(s string) string {
	if len(s) > mostQuoted {
		return strconv.Quote(strings.ToValidUTF8(s[:mostQuoted], "")) + "…"
	}
	return strconv.Quote(s)
}

// The numbers of messages that are kept. A hostile file must not make them grow, and
// nobody reads more.
const (
	mostErrors   = 20
	mostWarnings = 200
)

// short is quoted for a number, which needs no quotes.
func short(number string) string {
	if len(number) > mostQuoted {
		return number[:mostQuoted] + "…"
	}
	return number
}

// notes collects what is wrong with one file.
type notes struct {
	file     string
	text     string
	lines    []int32 // offsets at which lines begin; made at the first message
	errors   []*Error
	warnings []Warning
	silenced int // warnings beyond the number that is kept

	suggestions int // that were looked for
	cpus        int // of the machine, 0 where the file does not say
	listed      int // CPUs in lists like "0-3"
}

// pos returns the line and column of a byte offset; a negative one has none.
func (n *notes) pos(off int) Pos {
	if off < 0 {
		return Pos{}
	}
	if n.lines == nil {
		n.lines = append(make([]int32, 0, 1+strings.Count(n.text, "\n")), 0)
		for i := 0; i < len(n.text); i++ {
			if n.text[i] == '\n' {
				n.lines = append(n.lines, int32(i+1)) // a file has at most mostBytes
			}
		}
	}
	line, _ := slices.BinarySearch(n.lines, int32(off+1))
	return Pos{Line: line, Column: off - int(n.lines[line-1]) + 1}
}

// errorf and warnf are errorAt and warnAt for a byte offset.
func (n *notes) errorf(off int, at *place, format string, args ...any) {
	n.errorAt(n.pos(off), at, format, args...)
}

func (n *notes) warnf(off int, at *place, format string, args ...any) {
	n.warnAt(n.pos(off), at, format, args...)
}

// errorAt keeps an error unless it is there already: some values are read twice.
func (n *notes) errorAt(pos Pos, at *place, format string, args ...any) {
	if len(n.errors) > mostErrors {
		return
	}
	e := &Error{n.file, pos, at.String(), fmt.Sprintf(format, args...)}
	for _, old := range n.errors {
		if *old == *e {
			return
		}
	}
	n.errors = append(n.errors, e)
}

// warnAt keeps a warning unless it is there already.
func (n *notes) warnAt(pos Pos, at *place, format string, args ...any) {
	if len(n.warnings) >= mostWarnings {
		n.silenced++
		return
	}
	w := Warning{n.file, pos, at.String(), fmt.Sprintf(format, args...)}
	if !slices.Contains(n.warnings, w) {
		n.warnings = append(n.warnings, w)
	}
}

// result sorts the messages by their place in the file and joins the errors.
func (n *notes) result() ([]Warning, error) {
	before := func(a, b Pos) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	}
	slices.SortStableFunc(n.warnings, func(a, b Warning) int { return before(a.Pos, b.Pos) })
	if n.silenced > 0 {
		n.warnings = append(n.warnings, Warning{File: n.file, Msg: fmt.Sprintf("%d further warnings", n.silenced)})
	}
	slices.SortStableFunc(n.errors, func(a, b *Error) int { return before(a.Pos, b.Pos) })
	var list []error
	for _, e := range n.errors[:min(len(n.errors), mostErrors)] {
		list = append(list, e)
	}
	if len(n.errors) > mostErrors {
		list = append(list, &Error{File: n.file, Msg: fmt.Sprintf("more than %d errors; the others are not told", mostErrors)})
	}
	return n.warnings, errors.Join(list...)
}
