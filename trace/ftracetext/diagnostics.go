package ftracetext

import (
	"fmt"

	"github.com/whylate/whylate/event"
)

// finish ends the stream: gaps after which a CPU has no further event, and exits of leaf
// functions that are still to come.
func (s *stream) finish() {
	// A CPU that lost events and then was silent has a gap up to the end of the trace.
	end := s.queue.out
	for _, c := range s.cpus {
		end = max(end, c.last)
	}
	for i := range s.leaves {
		s.queue.insert(&s.leaves[i])
	}
	s.leaves = nil
	if s.gaps == 0 || !end.Valid() {
		return
	}
	for i := range s.cpus {
		if s.cpus[i].lost != 0 && s.queue.n < len(s.queue.ring)-4 {
			s.gap(event.CPU(i), &s.cpus[i], end)
		}
	}
}

// Diagnostics says what was wrong so far; see event.Stream.
func (s *stream) Diagnostics() []event.Diagnostic {
	list := append([]event.Diagnostic(nil), s.diags...)
	add := func(kind string, count int64, text string) {
		if count > 0 {
			list = event.Diagnose(list, kind, count, text)
		}
	}
	// The counters become diagnostics here, and not at each line: that would cost a search.
	add("unknown_line", s.strange, "lines not understood, the first: "+s.firstBad)
	add("unknown_fields", s.unparsed, "events whose fields were not understood, the first: "+s.firstUnp)
	add("wrapped_line", s.wrapped, "lines taken for the rest of a marker's text")
	add("long_line", s.lines.long, fmt.Sprintf("lines longer than %d bytes skipped", maxLine))
	add("flags", s.badFlags, fmt.Sprintf("flag columns that are not the %d of the layout", s.head.layout.n))
	add("no_cpu", s.noCPU, "events without a CPU: record and print with the cpu field (perf script -F +cpu)")
	add("out_of_order", s.queue.late, fmt.Sprintf(
		"events older than one more than %d lines before them; taken as of its stamp", windowSize))
	add("text_cut", s.f.texts.cut, "texts shortened or left out: they take too much memory")
	return list
}
