package ftracetext

import (
	"fmt"
	"io"
	"strconv"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
)

// Writer makes a text as tracefs shows it, but with stamps of nanoseconds. Reading it gives
// the same events, but for what a line has no place for: a line end within a text becomes
// a blank, and what the columns of the kernel do not show (a lazy preempt depth on a
// kernel without one) is lost. The same events give the same bytes.
type Writer struct {
	w      io.Writer
	names  *event.Names
	comms  map[event.PID]event.Name
	layout Layout
	buf    []byte
	err    error // the first one; nothing is written after it
}

// writeSize is how many bytes are written at once.
const writeSize = 64 << 10

// NewWriter starts a text; nothing is written to w before there is enough of it, or Close.
// The flag columns are those of the kernel that info names, of mainline where it names
// none. Tasks whose events have no name get that of info.Comms.
func NewWriter(w io.Writer, info event.Info, names *event.Names) *Writer {
	t := &Writer{w: w, names: names, comms: info.Comms, layout: Layout5}
	switch f := kernel.Of(info.Kernel).Flags; {
	case f.PreemptLazyCount == kernel.Yes:
		t.layout = Layout7
	case f.MigrateDisable == kernel.No:
		t.layout = Layout4
	}
	t.buf = appendHeader(make([]byte, 0, writeSize+4096), &info, &t.layout)
	return t
}

// Write takes one event, which may be reused when it returns.
func (t *Writer) Write(ev *event.Event) error {
	if t.err != nil {
		return t.err
	}
	if ev.Kind == event.Gap {
		t.buf = appendLoss(t.buf, ev)
	} else {
		comm := ev.Comm
		if comm == 0 {
			comm = t.comms[ev.PID]
		}
		t.buf = append(appendEvent(t.buf, &t.layout, ev, comm, t.names), '\n')
	}
	if len(t.buf) >= writeSize {
		t.flush()
	}
	return t.err
}

// Close writes what is left. It does not close what NewWriter was given.
func (t *Writer) Close() error {
	if t.err == nil {
		t.flush()
	}
	return t.err
}

func (t *Writer) flush() {
	if _, err := t.w.Write(t.buf); err != nil {
		t.err = fmt.Errorf("writing a trace as text: %w", err)
	}
	t.buf = t.buf[:0]
}

// appendLoss writes lost events as tracefs does, in front of the next event of their CPU,
// which ends the gap. Where no CPU is known there is nothing that a reader could use.
func appendLoss(dst []byte, gap *event.Event) []byte {
	if gap.CPU < 0 {
		return dst
	}
	dst = append(dst, "CPU:"...)
	dst = strconv.AppendInt(dst, int64(gap.CPU), 10)
	if gap.Arg > 0 {
		dst = append(dst, " [LOST "...)
		dst = strconv.AppendInt(dst, gap.Arg, 10)
		return append(dst, " EVENTS]\n"...)
	}
	return append(dst, " [LOST EVENTS]\n"...)
}
