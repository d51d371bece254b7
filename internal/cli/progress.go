package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progress shows on a terminal how much of a long input is read: one line, rewritten at
// most ten times a second, erased at the end. The zero value shows nothing.
type progress struct {
	w     io.Writer
	what  string // is counted; "": MB that are read
	now   func() time.Time
	next  time.Time // when to write again
	shown bool
}

// How long to stay silent, since most traces are read before anybody looks, and how
// often to write after that.
const (
	progressDelay = time.Second
	progressEvery = 100 * time.Millisecond
)

// newProgress returns a progress line on w, or one that shows nothing if w is not a
// terminal.
func newProgress(w io.Writer, quiet bool) *progress {
	if quiet || !isTerminal(w) {
		return &progress{}
	}
	return &progress{w: w, now: time.Now, next: time.Now().Add(progressDelay)}
}

// update is told from time to time that done of total bytes are read.
func (p *progress) update(done, total int64) {
	if p.w == nil || total <= 0 {
		return
	}
	now := p.now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	p.shown = true
	percent := int64(float64(done) / float64(total) * 100)
	what := p.what
	if what == "" {
		what = fmt.Sprintf("reading %d MB", total/1e6)
	}
	fmt.Fprintf(p.w, "\r%s: %d %%\x1b[K", what, min(percent, 100))
}

// erase removes the line, so that what is printed next starts on a clean one.
func (p *progress) erase() {
	if p.shown {
		io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// isTerminal reports whether w is a terminal rather than a file, pipe or buffer.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
