package explain

import (
	"errors"
	"fmt"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// ErrNoSuchWait says that Options.WaitID names no wait of the trace.
var ErrNoSuchWait = errors.New("no such wait in this trace")

// Explain tells each late wait of src with causes that sum to its lateness. Errors are
// those of the reader, and ErrNoSuchWait.
func Explain(src Source, o Options) (*result.Explain, error) {
	names := src.Names()
	rs := o.newRows(src)
	late := &chosen{o: &o, buckets: make(map[bucketKey]*worst)}
	f, err := o.explained(src, func(a *cause.Analysis, w *latency.Wait) { explainWait(a, w, names, &o, rs, late) })
	if err != nil {
		return nil, err
	}

	list := late.ordered()
	if o.WaitID != "" {
		rs.keepTold()
	}
	r := &result.Explain{Schema: "whylate.explain/1", Input: f.input(src, &o, f.tr.CPUs()), Tasks: rs.results(), Late: []result.Late{}}
	if o.WaitID != "" && len(list) == 0 {
		return nil, fmt.Errorf("wait %q: %w; `whylate explain` prints the names of the late ones", o.WaitID, ErrNoSuchWait)
	}
	idle := make([][]cause.Elsewhere, len(list))
	for i := range list {
		idle[i] = f.analysis.Elsewhere(list[i].Wait)
		r.Late = append(r.Late, list[i].fill(f, names, idle[i]))
	}
	if o.Evidence {
		if err := addEvidence(src, names, list, idle, r.Late); err != nil {
			return nil, err
		}
	}
	if late.dropped > 0 {
		f.diags = event.Diagnose(f.diags, "more", late.dropped, "late waits beyond the first 100,000 are not told")
	}
	r.Diagnostics = diagnostics(&f.facts, f.tr, f.lt)
	return r, nil
}

// explained is what the two passes over a trace leave behind.
type explained struct {
	facts
	tr       *timeline.Tracker
	lt       *latency.Tracker
	analysis *cause.Analysis
}

// explained reads src twice and hands every wait out, with the analysis that tells its causes.
func (o *Options) explained(src Source, visit func(*cause.Analysis, *latency.Wait)) (*explained, error) {
	info, names := o.info(src), src.Names()
	x := &explained{tr: timeline.NewTracker(info.Machine, names)}
	b := timeline.NewBuilder(x.tr, kernel.Of(info.Kernel), names)
	var err error
	x.facts, err = pass(src, event.Options{Progress: part(o.Progress, 0, 2)}, x.tr, b.Push)
	if err != nil {
		return nil, err
	}
	b.Finish()
	index := b.Index()
	x.analysis = cause.New(index, sysinfo.Of(src))

	again := timeline.NewTracker(info.Machine, names)
	x.lt = latency.NewTracker(again, func(w *latency.Wait) { visit(x.analysis, w) })
	x.lt.KnowGaps(index.Gaps())
	// All kinds again: a task's number depends on which event named it first, and the index
	// goes by these numbers.
	if _, err := pass(src, event.Options{Progress: part(o.Progress, 1, 2)}, again, x.lt.Push); err != nil {
		return nil, fmt.Errorf("second pass: %w", err)
	}
	x.lt.Finish()
	return x, nil
}

// explainWait takes in one wait of the second pass.
func explainWait(a *cause.Analysis, w *latency.Wait, names *event.Names, o *Options, rs *rows, late *chosen) {
	comm := names.String(w.Comm)
	if !o.wants(w, comm) {
		return
	}
	class := cause.ClassOf(w.Base, comm, false)
	r := rs.of(w, class)
	r.count(w)
	e := a.Explain(w)
	r.explain(e)
	if late.add(lateWait{e, class, rs.rankOf(class, w.Task, comm)}) {
		r.told = true
	}
}

// Latency tells the waits of src as one row per task, or what o.By says.
func Latency(src Source, o Options) (*result.Latency, error) {
	var rs *rows
	c, err := o.counted(src, func() func(*latency.Wait) {
		rs = o.newRows(src)
		return func(w *latency.Wait) { o.countWait(rs, w) }
	})
	if err != nil {
		return nil, err
	}
	r := &result.Latency{Schema: "whylate.latency/1", Input: c.input(src, &o, c.tr.CPUs()), By: string(rs.by), Tasks: rs.results()}
	for _, row := range rs.list {
		if row.hist != nil && row.hist.Waits() > 0 {
			r.Histograms = append(r.Histograms, rs.histogram(row))
		}
	}
	r.Diagnostics = diagnostics(&c.facts, c.tr, c.lt)
	return r, nil
}

// counted is what one pass leaves behind that looks for waits and not for their causes.
type counted struct {
	facts
	tr *timeline.Tracker
	lt *latency.Tracker
}

// counted reads src once and hands every wait out; once more, to a new visitor, where it
// turns out that events are missing, since that bears on waits before.
func (o *Options) counted(src Source, visitor func() func(*latency.Wait)) (*counted, error) {
	c, err := o.count(src, nil, visitor())
	if gaps := c.lt.Gaps(); err == nil && len(gaps) > 0 {
		c, err = o.count(src, gaps, visitor())
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// count is one pass of counted. gaps says where events are missing, nil: not known yet.
func (o *Options) count(src Source, gaps [][]timeline.Span, visit func(*latency.Wait)) (*counted, error) {
	c := &counted{tr: timeline.NewTracker(o.info(src).Machine, src.Names())}
	c.lt = latency.NewTracker(c.tr, visit)
	if gaps != nil {
		c.lt.KnowGaps(gaps)
	}
	var err error
	c.facts, err = pass(src, event.Options{Want: latency.Needs, Progress: o.Progress}, c.tr, c.lt.Push)
	c.lt.Finish()
	return c, err
}

// countWait takes in one wait of the latency verb.
func (o *Options) countWait(rs *rows, w *latency.Wait) {
	comm := rs.names.String(w.Comm)
	if !o.wants(w, comm) {
		return
	}
	r := rs.of(w, cause.ClassOf(w.Base, comm, false))
	if o.Hist.BucketNS > 0 && r.hist == nil {
		r.hist = latency.NewBuckets(o.Hist.BucketNS, o.Hist.Buckets)
	}
	r.count(w)
}

// info returns what src says of itself, with the kernel that the options name.
func (o *Options) info(src Source) *event.Info {
	info := src.Info()
	if o.Kernel == "" {
		return info
	}
	changed := *info
	changed.Kernel = o.Kernel
	return &changed
}

// part scales the progress of pass n of m to the whole.
func part(progress func(done, total int64), n, m int64) func(done, total int64) {
	if progress == nil {
		return nil
	}
	return func(done, total int64) { progress(n*total+done, m*total) }
}
