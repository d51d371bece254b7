package replay

import (
	"io"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sysinfo"
)

// RunSource is the run of a load as a source of events, for who reads a file otherwise. Every
// stream runs the model anew and yields the same events, on the clock of the trace.
type RunSource struct {
	load   *Load
	info   event.Info
	server *sysinfo.FairServer // of each CPU; nil: the kernel of the run has none
}

// Source returns the run of the load as a source. The load must not be changed afterwards.
// Errors are those of Run.
func (l *Load) Source() (*RunSource, error) {
	r, err := newRunner(l, func(*event.Event) {})
	if err != nil {
		return nil, err
	}
	s := &RunSource{load: l, info: l.Info}
	s.info.Format = "model"
	s.info.CPUs = r.m.CPUs()
	s.info.Resolution = 1
	s.info.Events = scenario.Emitted(&r.setup.Machine)
	if cfg := &r.setup.Machine.Sched; cfg.FairServerPeriod > 0 {
		s.server = &sysinfo.FairServer{RuntimeNS: int64(cfg.FairServerRuntime), PeriodNS: int64(cfg.FairServerPeriod)}
	}
	if l.Info.Kernel == "" || l.kernelChanged {
		s.info.Kernel = r.setup.Kernel.Release
	}
	return s, nil
}

// Info describes the run as a reader describes its file.
func (s *RunSource) Info() *event.Info { return &s.info }

// Names resolves the names of the events.
func (s *RunSource) Names() *event.Names { return s.load.Names }

// Close releases nothing: the model holds no files.
func (s *RunSource) Close() error { return nil }

// Events lets the load begin.
func (s *RunSource) Events(o event.Options) (event.Stream, error) {
	st := &stream{src: s, opts: o, slice: firstSlice}
	r, err := newRunner(s.load, st.take)
	if err != nil {
		return nil, err
	}
	st.run = r
	return st, nil
}

// firstSlice is how far the model runs before somebody looks at its events. It shrinks and
// grows with their number, so that the buffer stays small.
const firstSlice event.Time = 1_000_000

// The numbers of events in a slice at which the next one becomes longer or shorter.
const (
	fewEvents  = 256
	manyEvents = 4096
)

// stream pulls events out of a run: the model goes on for a while whenever the last ones are
// used up.
type stream struct {
	src    *RunSource
	opts   event.Options
	run    *runner
	buf    []event.Event
	at     int
	slice  event.Time
	passed int64
	err    error
	closed bool
}

// take is the sink of the run.
func (s *stream) take(ev *event.Event) {
	if !s.opts.Want.Has(ev.Kind) {
		s.passed++
		return
	}
	s.buf = append(s.buf, *ev)
}

// Next returns the next event of the run.
func (s *stream) Next() (*event.Event, error) {
	for s.at == len(s.buf) {
		switch {
		case s.err != nil:
			return nil, s.err
		case s.closed || s.run.over():
			return nil, io.EOF
		}
		s.goOn()
	}
	ev := &s.buf[s.at]
	s.at++
	return ev, nil
}

// goOn lets the model run for a slice. Where slices begin and end changes nothing in the run.
func (s *stream) goOn() {
	s.buf, s.at = s.buf[:0], 0
	s.err = s.run.goOn(s.slice)
	switch n := len(s.buf); {
	case n < fewEvents:
		s.slice = min(2*s.slice, progressEvery)
	case n > manyEvents && s.slice > 1000:
		s.slice /= 2
	}
	if l := s.src.load; s.opts.Progress != nil {
		s.opts.Progress(int64(s.run.now()-l.From), int64(l.To-l.From))
	}
}

// Names resolves the names of the events.
func (s *stream) Names() *event.Names { return s.src.load.Names }

// Diagnostics says what the model leaves out and what its kernel refused.
func (s *stream) Diagnostics() []event.Diagnostic { return s.run.diags }

// PassedOver counts the events that nobody wanted.
func (s *stream) PassedOver() int64 { return s.passed }

// Close ends the run.
func (s *stream) Close() error {
	s.closed = true
	return nil
}
