package replay

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// Input is a trace together with the names of its events; *trace.File is one.
type Input interface {
	event.Source
	Names() *event.Names
}

// Options says how a trace is to be read.
type Options struct {
	// Kernel, unless empty, is the release to believe instead of what the trace says; text
	// traces do not say it.
	Kernel string
	// Snapshot is the machine that was recorded; nil: the one that belongs to the trace, if any.
	Snapshot *sysinfo.Snapshot
	// Progress, where set, is told from time to time how much of the whole is done.
	Progress func(done, total int64)
}

// mostEvents bounds a trace that becomes a load, which takes some 330 bytes for each event while
// it is read.
const mostEvents = 10_000_000

// ErrTooLong says that a trace has more events than a load can hold.
var ErrTooLong = errors.New("the trace is too long to be replayed")

// Read makes a load of src, which it reads three times: who ran, what was awaited, what was
// done. Errors are those of the reader, and ErrTooLong.
func Read(src Input, o Options) (*Load, error) {
	info := *src.Info()
	if o.Kernel != "" {
		info.Kernel = o.Kernel
	}
	names := src.Names()
	tr := timeline.NewTracker(info.Machine, names)
	b := timeline.NewBuilder(tr, kernel.Of(info.Kernel), names)
	if err := pass(src, o.part(0), tr, b.Push); err != nil {
		return nil, err
	}
	b.Finish()
	x := b.Index()
	snap := o.Snapshot
	if snap == nil {
		snap = sysinfo.Of(src)
	}
	a := cause.New(x, snap)

	k := newLook(x, a)
	k.fair = snap != nil && slices.ContainsFunc(snap.Tasks, func(t sysinfo.Task) bool { return t.VRuntimeNS != nil })
	tr = timeline.NewTracker(info.Machine, names)
	lt := latency.NewTracker(tr, k.wait)
	lt.KnowGaps(x.Gaps())
	if err := pass(src, o.part(1), tr, lt.Push); err != nil {
		return nil, fmt.Errorf("second pass: %w", err)
	}
	lt.Finish()
	k.finish()

	r := newReader(x, a, k)
	r.snap = snap
	r.l.Info, r.l.Names, r.l.Snapshot = info, names, snap
	r.tr = timeline.NewTracker(info.Machine, names)
	r.lt = latency.NewTracker(r.tr, r.wait)
	r.lt.KnowGaps(x.Gaps())
	if err := pass(src, o.part(2), r.tr, r.push); err != nil {
		return nil, fmt.Errorf("third pass: %w", err)
	}
	return r.load(), nil
}

// part scales the progress of pass n of three to the whole.
func (o *Options) part(n int64) func(done, total int64) {
	if o.Progress == nil {
		return nil
	}
	return func(done, total int64) { o.Progress(n*total+done, 3*total) }
}

// pass reads src once and hands each event with its step to visit. A trace that cannot be
// read to its end is one that ends there.
func pass(src Input, progress func(done, total int64), tr *timeline.Tracker, visit func(*event.Event, timeline.Step)) error {
	s, err := src.Events(event.Options{Progress: progress})
	if err != nil {
		return fmt.Errorf("starting to read events: %w", err)
	}
	defer s.Close()
	for n := 0; ; n++ {
		ev, err := s.Next()
		switch {
		case errors.Is(err, io.EOF) && n == 0:
			return errors.New("the trace holds no events that whylate can use; `whylate info` shows what is in it")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && n == 0:
			return fmt.Errorf("reading events: %w", err)
		case err != nil:
			return nil
		case n == mostEvents:
			return fmt.Errorf("more than %d events: %w; record for a shorter time", mostEvents, ErrTooLong)
		}
		visit(ev, tr.Push(ev))
	}
}
