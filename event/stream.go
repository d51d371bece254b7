package event

// Stream hands out the events of a trace or of a model run in the order (time, rank,
// sequence): by time, at equal times in the order in which they were recorded on a CPU,
// and between CPUs by CPU number.
type Stream interface {
	// Next returns the next event, valid until the following call. It returns io.EOF
	// after the last one. Any other error ends the stream; the events before it count.
	Next() (*Event, error)
	// Names resolves the names of the events.
	Names() *Names
	// Diagnostics says what was wrong with the input so far; complete after io.EOF.
	Diagnostics() []Diagnostic
	// Close releases what the stream holds.
	Close() error
}

// Counter is what a Stream may have beside: it knows how many events Options.Want left
// out, so that the size of a trace can be told without decoding all of it. Gaps are no
// events here. A Stream that wraps another one should pass the answer on.
type Counter interface {
	// PassedOver is the number of events that the stream met and did not deliver since
	// nobody wanted them; complete after io.EOF.
	PassedOver() int64
}

// PassedOver returns what s counted, 0 for a stream that does not count.
func PassedOver(s Stream) int64 {
	if c, ok := s.(Counter); ok {
		return c.PassedOver()
	}
	return 0
}

// Info is what a trace says about itself before its first event.
type Info struct {
	Format     string       // "trace.dat v7", "ftrace text", "perf script"
	Kernel     string       // uname release, "" if unknown
	Machine    string       // "x86_64", "" if unknown
	CPUs       int          // CPUs of the machine, 0 if unknown
	Clock      string       // trace clock, "" if unknown
	Resolution Time         // distance of two stamps that can be told apart: 1 ns, 1000 ns
	Comms      map[PID]Name // last known name of tasks, from the saved command lines
	TGIDs      map[PID]PID  // process of tasks, where recorded
	Commands   []string     // what recorded the trace, where it says so
	Buffers    []string     // ring-buffer instances in the file, "" is the main one
	Events     []string     // names of events that the trace describes; not all need occur
}

// Diagnostic is something that does not stop the analysis but that a reader of the
// result must know. Kinds are stable words: lost_events, truncated, corrupt_page,
// unknown_option, broken_chain, inferred, clock, …
type Diagnostic struct {
	Kind  string
	Count int64
	Text  string
}

// Diagnose adds d to list: a diagnostic with the same kind and text only raises the
// count. At most 1,000 different ones are kept, so hostile input cannot make it grow.
func Diagnose(list []Diagnostic, kind string, count int64, text string) []Diagnostic {
	for i := range list {
		if list[i].Kind == kind && list[i].Text == text {
			list[i].Count += count
			return list
		}
	}
	const most = 1000
	if len(list) >= most {
		list[most-1].Kind, list[most-1].Text = "more", "further diagnostics"
		list[most-1].Count += count
		return list
	}
	return append(list, Diagnostic{Kind: kind, Count: count, Text: text})
}
