package ftracetext

import (
	"io"
	"strconv"

	"github.com/whylate/whylate/event"
)

// stream reads the events of a File once.
type stream struct {
	f     *File
	opt   event.Options
	lines lineReader
	cache nameCache

	queue    queue            // events not yet handed out, in the order of time
	events   map[string]known // the event names met so far
	cpus     []cpuState       // by CPU number, as far as lines were seen
	leaves   []event.Event    // exits of leaf functions that are still to come
	lastKind event.Kind       // of the line before: free text may go on in the next line
	gaps     int              // CPUs with a pending gap
	draining bool             // the file is at its end
	err      error            // why it ended, if not regularly

	head     header        // changes where a file is several traces one after the other
	inLegend bool          // the lines of a legend are being read
	evidence stateEvidence // what prev_state showed; only findStates looks at it

	diags    []event.Diagnostic
	strange  int64  // lines that nothing explained
	firstBad string // the first of them, with its line number
	wrapped  int64  // lines taken for the rest of a marker's text
	badFlags int64  // flags that do not fit the columns
	unparsed int64  // events whose fields are not those of their print
	firstUnp string
	noCPU    int64 // events without a CPU
	passed   int64 // events that are not wanted
}

// cpuState is what the stream remembers of a CPU.
type cpuState struct {
	last event.Time // stamp of its last event, NoTime before the first
	lost int64      // of the pending gap; 0 none, −1 unknown
}

// newStream begins at the first line of the file, the header included: it is read again,
// since further headers may follow.
func newStream(f *File, opt event.Options) *stream {
	s := &stream{f: f, opt: opt, head: f.head, events: make(map[string]known, 64),
		cache: newNameCache(f.names, &f.texts)}
	s.diags = append(s.diags, f.diags...)
	s.queue.out = event.NoTime
	s.lines = lineReader{r: f.r, size: f.size}
	if opt.Progress != nil {
		s.lines.refill = func(done int64) { opt.Progress(done, f.size) }
	}
	return s
}

// Next returns the next event; see event.Stream.
func (s *stream) Next() (*event.Event, error) {
	for {
		// An event leaves when the window is full: an older line could still come.
		if s.queue.full() || s.draining && s.queue.n > 0 {
			return s.queue.pop(), nil
		}
		if s.draining {
			// What is pending at the end may be more than the window takes at once.
			if s.finish(); s.queue.n > 0 {
				continue
			}
			if s.err != nil {
				return nil, s.err
			}
			return nil, io.EOF
		}
		line, err := s.lines.next()
		if err == nil {
			s.line(line)
			continue
		}
		s.draining = true
		s.finish()
		if err != io.EOF {
			s.err = &event.FormatError{Format: s.f.info.Format, Offset: s.lines.num + 1, Line: true,
				Field: "line", Err: err}
		}
	}
}

// Names resolves the names of the events.
func (s *stream) Names() *event.Names { return s.f.names }

// PassedOver counts events that are not wanted; see event.Counter.
func (s *stream) PassedOver() int64 { return s.passed }

// Close does nothing: the stream holds no resource.
func (s *stream) Close() error { return nil }

// line takes one line of the file: a comment, a note about lost events, or an event, which
// is parsed into its place in the queue.
func (s *stream) line(b []byte) {
	b, ok := s.head.html.line(b)
	if len(b) == 0 || !ok {
		return
	}
	switch {
	case b[0] == '#':
		if cpu, lost, ok := lossLine(b); ok {
			s.lose(cpu, lost)
		} else {
			s.comment(b)
		}
		return
	case b[0] == 'C' && s.reportNoise(b):
		return
	}
	if s.head.dialect == dialectPerf && b[0] == '\t' {
		return // a frame of a callchain
	}
	var p prefix
	ev := s.queue.slot()
	ev.Reset()
	if !s.prefix(b, ev, &p) {
		s.noEvent(b)
		return
	}
	s.inLegend = false // an event ends the header
	s.context(ev, &p)
	s.stamp(ev.CPU, ev.Time)
	ev = s.queue.slot() // it moved on where a gap or an exit came in front of it
	keep := s.decode(ev, &p)
	s.lastKind = ev.Kind
	if keep {
		s.queue.commit()
	} else {
		s.passed++
	}
}

// prefix reads the start of the line in the dialect of the file. The dialects are not
// tried in turn: "a-1 2 [003] 1.0:" is a thread of perf and could be a task of tracefs.
func (s *stream) prefix(b []byte, ev *event.Event, p *prefix) bool {
	if s.head.dialect == dialectPerf {
		return parsePerfPrefix(b, ev, p)
	}
	return parsePrefix(b, ev, p)
}

// context fills what the prefix says beside the stamp: the current task and the flags. A
// line whose flags do not fit keeps its event, with flags unknown.
func (s *stream) context(ev *event.Event, p *prefix) {
	// <...> is a task whose name the kernel no longer had; <idle> is a name.
	if string(p.comm) != "<...>" {
		ev.Comm = s.cache.name(p.comm)
	}
	switch {
	case p.flags == nil:
	case p.rawFlags:
		rawFlags(ev, p.flags)
	case !s.flags(ev, p.flags):
		s.badFlags++
	}
	// perf prints no CPU for a recording of single tasks. Without it nobody can tell who
	// else ran there.
	if ev.CPU == event.NoCPU {
		s.noCPU++
	}
}

// flags reads the flag columns in the layout of the legend. Without one each line may
// have its own width: AppendEvent writes five columns or seven.
func (s *stream) flags(ev *event.Event, b []byte) bool {
	if parseFlags(ev, &s.head.layout, b) {
		return true
	}
	if s.head.legend {
		return false
	}
	l, ok := layoutOfWidth(len(b))
	return ok && parseFlags(ev, &l, b)
}

// stamp keeps the time of the last event of each CPU, and puts a gap in front of the
// first event after a loss, and the exits of leaf functions where they belong.
func (s *stream) stamp(cpu event.CPU, now event.Time) {
	if len(s.leaves) > 0 {
		s.flushLeaves(cpu, now)
	}
	if cpu < 0 {
		return
	}
	c := s.cpu(cpu)
	if c.lost != 0 {
		s.gap(cpu, c, now)
	}
	c.last = now
}

// cpu returns the state of CPU n, which is at most maxCPU.
func (s *stream) cpu(n event.CPU) *cpuState {
	for int(n) >= len(s.cpus) {
		s.cpus = append(s.cpus, cpuState{last: event.NoTime})
	}
	return &s.cpus[n]
}

// lose notes that events of a CPU are missing before its next one. The gap is made when
// that comes: only then its end is known.
func (s *stream) lose(cpu event.CPU, lost int64) {
	c := s.cpu(cpu)
	if c.lost == 0 {
		s.gaps++
	}
	// Several notes before the next event of the CPU are one gap.
	if lost < 0 || c.lost < 0 {
		c.lost = -1
	} else {
		c.lost += lost
	}
	if lost < 0 {
		s.diags = event.Diagnose(s.diags, "lost_events", 1, "places where the recording lost an unknown number of events")
		return
	}
	s.diags = event.Diagnose(s.diags, "lost_events", lost, "lost in the recording, counted by the kernel")
}

// gap inserts the pending gap of a CPU, which ends with the event being parsed.
func (s *stream) gap(cpu event.CPU, c *cpuState, until event.Time) {
	var g event.Event
	g.Reset()
	g.Kind, g.CPU, g.PID = event.Gap, cpu, event.NoPID
	g.From, g.Time, g.Arg = c.last, until, c.lost
	g.Name = s.cache.name([]byte("gap"))
	c.lost = 0
	s.gaps--
	s.queue.insert(&g)
}

// comment reads a header line: of the file, or of a further trace that follows in it.
func (s *stream) comment(b []byte) {
	c, ok := legendColumn(b)
	if !ok {
		return
	}
	// The first line of a legend begins new columns: files are sometimes several traces
	// of different kernels, one after the other.
	if !s.inLegend {
		s.head.layout, s.inLegend, s.head.legend = Layout{}, true, true
	}
	if c != colNone {
		s.head.layout.add(c)
	}
}

// reportNoise reads the lines that begin with "CPU".
func (s *stream) reportNoise(b []byte) bool {
	if cpu, lost, ok := lossLine(b); ok {
		s.lose(cpu, lost)
		return true
	}
	return isNoise(b) || s.head.reportLine(b)
}

// noEvent takes a line without event. Behind a marker it is taken for the rest of its
// text: markers may hold line ends. Everything else is counted and told.
func (s *stream) noEvent(b []byte) {
	if isNoise(b) || s.head.reportLine(b) {
		return
	}
	if s.lastKind == event.Print {
		s.wrapped++
		return
	}
	if s.strange++; s.firstBad == "" {
		s.firstBad = "line " + strconv.FormatInt(s.lines.num, 10) + ": " + quoteLine(b)
	}
}
