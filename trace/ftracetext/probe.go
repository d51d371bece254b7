package ftracetext

import (
	"bytes"
	"errors"

	"github.com/whylate/whylate/event"
)

// Sniff reports whether a file that begins with head is a text trace: whether a header
// line or an event is recognised in it.
func Sniff(head []byte) bool {
	p := newProbe()
	p.html.page = isPage(head)
	if p.html.page {
		return true // the trace comes behind megabytes of viewer; Open says if there is none
	}
	for len(head) > 0 && !p.found {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		if !whole && p.lines > 0 {
			break // cut in the middle by the caller
		}
		p.line(trimCR(line))
	}
	return p.found || p.dialect != dialectUnknown
}

// probe finds out what a file is, from its lines up to the first event. Sniff feeds it the
// first bytes, Open as many lines as it takes.
type probe struct {
	header
	found bool // the first event was reached
	lines int64

	// the first line that nothing explained
	strange     string
	strangeLine int64
	strangers   int64

	bare         bool // events without task, CPU and time
	widthUnknown int  // width of flags that fit no known layout
}

func newProbe() probe {
	return probe{header: header{inBuffer: -1, written: -1}}
}

// line looks at one more line. Lines that only some printers write (how many CPUs, which
// of them are empty) name the printer before the first event does.
func (p *probe) line(b []byte) {
	p.lines++
	b, ok := p.html.line(b)
	if !ok {
		return
	}
	var ev event.Event
	var pre prefix
	// In this order: the prefix of perf, which is found last, is the least strict.
	switch {
	case len(bytes.TrimSpace(b)) == 0:
	case b[0] == '#':
		// Comments of people are only strange where nothing else tells what the file is.
		if !p.comment(b) && p.dialect == dialectUnknown {
			p.stranger(b)
		}
	case p.reportLine(b) || isNoise(b):
	case isLossLine(b):
	case parsePrefix(b, &ev, &pre):
		p.first(&pre)
	case parsePerfPrefix(b, &ev, &pre):
		p.dialect = dialectPerf
		p.first(&pre)
	default:
		p.stranger(b)
	}
}

// stranger keeps the first line that nothing explains, for the message.
func (p *probe) stranger(b []byte) {
	p.strangers++
	if name, _ := splitEvent(b); name != nil && kindOf(name) != event.Other {
		p.bare = true
	}
	if p.strange == "" {
		p.strange, p.strangeLine = quoteLine(b), p.lines
	}
}

// first takes from the first event what the header did not say.
func (p *probe) first(pre *prefix) {
	p.found = true
	// Without a header: trace-cmd prints no flags unless told -l, and then glues them to
	// the CPU; tracefs prints them unless told not to.
	if p.dialect == dialectUnknown {
		p.dialect = dialectFtrace
		if pre.flags == nil || (pre.glued && !pre.relative) {
			p.dialect = dialectReport
		}
	}
	if pre.relative {
		p.dialect = dialectLatency
	}
	// A first stamp of nanoseconds means that all have them: --ns and -t are for the file.
	p.rawClock = pre.stamp == stampRaw
	p.resolution = 1000
	if pre.stamp == stampNano || pre.stamp == stampRaw {
		p.resolution = 1
	}
	if p.legend || pre.flags == nil || pre.rawFlags {
		return
	}
	var ok bool
	if p.layout, ok = layoutOfWidth(len(pre.flags)); !ok {
		p.widthUnknown = len(pre.flags)
	}
}

// err is the reason why the file cannot be read, or nil. A header without events is fine:
// nothing happened, or nothing was enabled.
func (p *probe) err() error {
	if p.found {
		return nil
	}
	fail := func(line int64, field string, err error) error {
		return &event.FormatError{Format: "trace text", Offset: line, Line: true, Field: field, Err: err}
	}
	if p.graph {
		return fail(1, "layout", errors.New("function_graph output has no time stamps on its events: "+
			"record with `trace-cmd record -p function_graph` and read the .dat file"))
	}
	if p.bare {
		return fail(p.strangeLine, "task, CPU and time", errors.New("missing: options/context-info was off while "+
			"this was read; switch it on and read the trace again"))
	}
	if p.html.page {
		return fail(p.lines, "trace", errors.New("the page has no trace of tracefs in it"))
	}
	if p.strangers > 0 {
		return fail(p.strangeLine, "event", errors.New("not understood: "+p.strange))
	}
	if p.dialect == dialectUnknown {
		return fail(p.lines, "header", errors.New("no header and no event"))
	}
	return nil
}

// quoteLine is a line fit for a message: short and printable. The line may be anything,
// so control characters must not reach a terminal.
func quoteLine(b []byte) string {
	const most = 120
	cut := len(b) > most
	if cut {
		b = b[:most]
	}
	s := []byte{'"'}
	for _, c := range b {
		if c < ' ' || c == 0x7f {
			c = '.'
		}
		s = append(s, c)
	}
	s = append(s, '"')
	if cut {
		s = append(s, "…"...)
	}
	return string(bytes.ToValidUTF8(s, []byte("?")))
}
