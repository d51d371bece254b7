package explain

import (
	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/result"
)

// Walked is what Walk tells of a trace as a whole.
type Walked struct {
	Input       result.Input
	Rows        []Row // by Told.Row
	Diagnostics []result.Diagnostic
}

// Row is a task in one class and priority, or what Options.By makes of it. It has no numbers.
type Row struct {
	result.Task
	// User: among its tasks is a deadline or real-time one that is no thread of the kernel,
	// apart from those of interrupts.
	User bool
	// Kernel: all its tasks are threads of the kernel.
	Kernel bool
}

// Told is one wait of a trace. It is valid during the call only.
type Told struct {
	*latency.Wait
	Row  int
	Comm string
	// Explanation says why; nil where no causes were asked for.
	Explanation *cause.Explanation
}

// Counts reports whether the length of the wait is a number: events were not lost meanwhile,
// and it ended.
func (t *Told) Counts() bool { return t.GapFrom == event.NoTime && !t.Open() }

// Walk hands every wait that the options choose to one visitor, in the order in which they
// end, with their causes if wanted: that takes two passes and more memory. Where events were
// lost it begins again with a new visitor. Of the options it uses File, Kernel, the selection,
// By and Progress. Errors are those of the reader.
func Walk(src Source, o Options, causes bool, visitor func() func(*Told)) (*Walked, error) {
	var rs *rows
	index := make(map[*row]int)
	one := func(visit func(*Told), w *latency.Wait, a *cause.Analysis) {
		comm := rs.names.String(w.Comm)
		if !o.wants(w, comm) {
			return
		}
		r := rs.of(w, cause.ClassOf(w.Base, comm, false))
		n, ok := index[r]
		if !ok {
			n = len(index)
			index[r] = n
		}
		t := Told{Wait: w, Row: n, Comm: comm}
		if a != nil {
			t.Explanation = a.Explain(w)
		}
		visit(&t)
	}
	begin := func() func(*Told) {
		rs = o.newRows(src)
		clear(index)
		return visitor()
	}
	out := &Walked{}
	if causes {
		visit := begin()
		x, err := o.explained(src, func(a *cause.Analysis, w *latency.Wait) { one(visit, w, a) })
		if err != nil {
			return nil, err
		}
		out.Input, out.Diagnostics = x.input(src, &o, x.tr.CPUs()), diagnostics(&x.facts, x.tr, x.lt)
	} else {
		c, err := o.counted(src, func() func(*latency.Wait) {
			visit := begin()
			return func(w *latency.Wait) { one(visit, w, nil) }
		})
		if err != nil {
			return nil, err
		}
		out.Input, out.Diagnostics = c.input(src, &o, c.tr.CPUs()), diagnostics(&c.facts, c.tr, c.lt)
	}
	out.Rows = make([]Row, len(index))
	for r, n := range index {
		out.Rows[n] = Row{Task: rs.result(r), User: r.rank == rankUserRT, Kernel: r.rank == rankKernel}
	}
	return out, nil
}
