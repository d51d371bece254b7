package cause

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
)

// piece is a stretch of a wait in which nothing changes on the CPU where the task was
// queued.
type piece struct {
	a        *Analysis
	w        *latency.Wait
	waiter   waiter
	cpu      event.CPU
	ci       *timeline.CPUIndex
	from, to event.Time

	// since is when the task came to this CPU's queue, or was on its way there: the
	// start of the wait or its last move.
	since event.Time
	// end is when it left the queue.
	end event.Time

	n   int           // index of the run that covers the piece, −1: nobody known
	run *timeline.Run // nil: nobody known
	cur running

	// dlUntil is until when a deadline task has no runtime by the snapshot, NoTime: not known.
	dlUntil event.Time

	irq, softirq *timeline.Span
	gap          bool
	lingered     lingered
	refusal      refusal
}

// waiter is the task that waits, with its effective priority at one moment.
type waiter struct {
	class Class
	rank  int
}

// waiterAt returns what the task of w is at t: it may be boosted while it waits.
func (a *Analysis) waiterAt(w *latency.Wait, t event.Time) waiter {
	prio := w.Prio
	if int(w.Task.ID) < len(a.x.Tasks) {
		changes := a.x.Tasks[w.Task.ID].PrioChanges
		i := sort.Search(len(changes), func(i int) bool { return changes[i].At > t })
		switch {
		case i > 0 && changes[i-1].At >= w.Woken:
			prio = changes[i-1].New
		case i < len(changes) && changes[i].At <= w.End:
			prio = changes[i].Old
		}
	}
	return waiterOf(prio, a.comm(w.Comm))
}

func waiterOf(prio event.Prio, comm string) waiter {
	c := ClassOf(prio, comm, false)
	return waiter{c, rank(c, prio)}
}

// nextChange returns when the priority of task id changes after t, at most limit.
func (a *Analysis) nextChange(id timeline.TaskID, t, limit event.Time) event.Time {
	if int(id) >= len(a.x.Tasks) {
		return limit
	}
	changes := a.x.Tasks[id].PrioChanges
	if i := sort.Search(len(changes), func(i int) bool { return changes[i].At > t }); i < len(changes) {
		return min(limit, changes[i].At)
	}
	return limit
}

// interval returns the piece as a cause of kind k blamed on nobody.
func (p *piece) interval(k *Kind, v Verdict) Interval {
	return Interval{Kind: k, Start: p.from, End: p.to, NS: int64(p.to - p.from), Pieces: 1, CPU: p.cpu,
		Culprit: timeline.NoTask, PID: event.NoPID, Prio: event.NoPrio, Verdict: v}
}

// blame returns the piece as a cause of kind k of the current task, shown by the switch
// to it.
func (p *piece) blame(k *Kind, v Verdict) Interval {
	i := p.interval(k, v)
	i.blameTask(p.cur.task, p.run.Comm, p.cur.prio)
	if !p.run.Marks.Has(timeline.MarkUnseenStart) {
		i.Evidence = append(i.Evidence, Ref{p.run.Start, p.cpu})
	}
	return i
}

func (i *Interval) blameTask(t *timeline.Task, comm event.Name, prio event.Prio) {
	i.Culprit, i.PID, i.Comm, i.Prio = t.ID, t.PID, comm, prio
}

// cut splits [from, to) on cpu where the current task, its priority, interrupts, gaps
// or windows change, and calls visit for each piece.
func (a *Analysis) cut(w *latency.Wait, cpu event.CPU, since, from, to, end event.Time, visit func(*piece)) {
	ci := a.x.CPU(cpu)
	p := piece{a: a, w: w, cpu: cpu, ci: ci, since: since, end: end, n: -1, dlUntil: event.NoTime}
	if ci != nil {
		p.dlUntil = a.throttledUntil(w)
	}
	for at := from; at < to; {
		next := to
		p.from = at
		p.waiter = a.waiterAt(w, at)
		if ci != nil {
			next = a.look(&p, ci, at, to)
		}
		p.to = next
		visit(&p)
		at = next
	}
}

// look fills in what holds at t and returns when it may change, at most limit.
func (a *Analysis) look(p *piece, ci *timeline.CPUIndex, t, limit event.Time) event.Time {
	next := limit
	p.gap, next = within(ci.Gaps, t, next, nil)
	p.irq, p.softirq = nil, nil
	if in, n := within(ci.IRQs, t, next, &p.irq); !in {
		p.irq, next = nil, n
	} else {
		next = n
	}
	if in, n := within(ci.Softirqs, t, next, &p.softirq); !in {
		p.softirq, next = nil, n
	} else {
		next = n
	}
	for _, windows := range [][]window{a.throttled[p.cpu], a.served[p.cpu], a.quota[p.cpu]} {
		next = edge(windows, t, next)
	}
	for _, g := range a.groupsOfTask(p.w.Task.ID) {
		next = g.edge(t, next)
	}
	if p.dlUntil > t && p.dlUntil < next {
		next = p.dlUntil
	}
	if q := p.w.Queued; q > t && q < next {
		next = q
	}
	for _, list := range [][]timeline.Expiry{a.cfsPeriod, a.rtPeriod} {
		if i := sort.Search(len(list), func(i int) bool { return list[i].At > t }); i < len(list) {
			next = min(next, list[i].At)
		}
	}
	if own := a.ownTimer(p.w.Task.ID); own != nil {
		if end := own.next(t); end != event.NoTime {
			next = min(next, end)
		}
	}
	if g := p.w.GapFrom; g > t && g < next {
		next = g
	}
	next = a.nextChange(p.w.Task.ID, t, next)
	p.n, p.run = a.x.RunAt(p.cpu, t), nil
	if p.n < 0 {
		return min(next, a.nextRun(ci, t, next))
	}
	p.run = &ci.Runs[p.n]
	p.cur = a.runningAt(p.run, t, p.waiter.rank)
	next = min(next, p.run.End)
	calls := a.x.Tasks[p.run.Task].ClassCalls
	if i := sort.Search(len(calls), func(i int) bool { return calls[i] > t }); i < len(calls) {
		next = min(next, calls[i])
	}
	if p.cur.inferred && p.run.Marks.Has(timeline.MarkRTCharged) {
		for _, at := range [...]event.Time{p.cur.chargedFrom, p.cur.chargedTo} {
			if at > t && at < next {
				next = at
			}
		}
	}
	ti := &a.x.Tasks[p.run.Task]
	next = a.nextChange(p.run.Task, t, next)
	if p.cur.task.Idle() {
		if i := sort.Search(len(ci.Idle), func(i int) bool { return ci.Idle[i] > t }); i < len(ci.Idle) {
			next = min(next, ci.Idle[i])
		}
	}
	for _, mark := range []event.Time{ti.ExitMark, ti.ProcessExit, ti.AliveAt, a.exitFrom(p.run.Task)} {
		if mark != event.NoTime && mark > t && mark < next {
			next = mark
		}
	}
	return next
}

// within reports whether a span covers t, and the next edge after t up to limit.
func within(spans []timeline.Span, t, limit event.Time, hit **timeline.Span) (bool, event.Time) {
	i := firstEnding(spans, t)
	if i == len(spans) {
		return false, limit
	}
	s := &spans[i]
	if s.From > t {
		return false, min(limit, s.From)
	}
	if hit != nil {
		*hit = s
	}
	return true, min(limit, s.To)
}

// firstEnding returns the first span that ends after t.
func firstEnding(spans []timeline.Span, t event.Time) int {
	lo, hi := 0, len(spans)
	for lo < hi {
		mid := (lo + hi) / 2
		if spans[mid].To > t {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

func (a *Analysis) nextRun(ci *timeline.CPUIndex, t, limit event.Time) event.Time {
	lo, hi := 0, len(ci.Runs)
	for lo < hi {
		mid := (lo + hi) / 2
		if ci.Runs[mid].Start > t {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo < len(ci.Runs) {
		return min(limit, ci.Runs[lo].Start)
	}
	return limit
}
