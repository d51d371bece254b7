package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Options chooses how results print, never what they say.
type Options struct {
	Color   bool // emphasis by ANSI sequences; without it the output is plain text
	Verbose bool // each interval with its evidence, who woke, and the table of all other tasks
	Nano    bool // lengths of time as whole ns instead of µs with one decimal
	All     bool // every late wait on its own instead of groups, and the table of all other tasks
	// Markdown prints for a page instead of a terminal, where the answer has such a form.
	Markdown bool
	Width    int // columns of the terminal: longer names are cut. 0: never cut
}

// printer writes to a buffered writer that keeps the first error until flush, so that
// nothing in between has to look at it.
type printer struct {
	Options
	w *bufio.Writer
}

func newPrinter(w io.Writer, o Options) *printer {
	return &printer{Options: o, w: bufio.NewWriter(w)}
}

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

// line writes one line without the blanks that columns leave at its end.
func (p *printer) line(format string, args ...any) {
	p.w.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	p.w.WriteByte('\n')
}

func (p *printer) flush() error {
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// The ANSI sequences in use: all from the basic set, which every terminal has.
const (
	ansiBold   = "\x1b[1m"
	ansiRed    = "\x1b[1;31m"
	ansiYellow = "\x1b[33m"
	ansiDim    = "\x1b[2m"
	ansiReset  = "\x1b[0m"
)

// paint wraps s, already padded and escaped, in an ANSI sequence where colour is wanted.
func (p *printer) paint(ansi, s string) string {
	if !p.Color || s == "" {
		return s
	}
	return ansi + s + ansiReset
}

func (p *printer) bold(s string) string { return p.paint(ansiBold, s) }

// verdict prints the verdict of a wait so that it is seen: in capitals, what is proven
// in red, because that is what somebody can act on.
func (p *printer) verdict(v string) string {
	s := strings.ToUpper(escape(v))
	switch v {
	case "proven":
		return p.paint(ansiRed, s)
	case "likely":
		return p.paint(ansiYellow, s)
	}
	return p.paint(ansiDim, s)
}
