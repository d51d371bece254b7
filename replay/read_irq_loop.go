package replay

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
)

// A device is in a closed loop with its handler if it raises its interrupt a short, regular
// time after it was served. That is said of a line if
//
//   - there are leastLoop pairs of arrivals one behind the other,
//   - in nine of ten of them the second comes at most longestGap after the service of the
//     first: the exit of the handler, or where that has a thread, its going to sleep until the
//     second arrival wakes it; one that comes to a thread that has not slept comes at once,
//   - the middle half of these gaps lies within half the length of the middle one, and
//   - within less than that of the distances of the same arrivals: it is the gap that is
//     regular, not a clock.
//
// The arrivals with such a gap are of the loop; each keeps its own. The first of a transfer
// is not. If a task that was woken by the service of the transfer's last arrival had gone to
// sleep at most longestGap before the first, it had asked for the transfer, and the first
// comes as long after that sleep, or where it was so much faster, when the task has as much work
// left before the sleep. Of a transfer that is not over at the end of the trace it is
// who asked for the one before, if that sleeps so until the end. Else it stands in time, as all
// arrivals of other lines.
const (
	leastLoop             = 20
	longestGap event.Time = 200_000
)

// served writes down that an interrupt came while its own thread had the CPU. On PREEMPT_RT a
// line is masked until its thread is through with the handler (IRQF_ONESHOT), so it was; a kernel
// whose handlers have threads by their own will may do without.
func (r *reader) served(ev *event.Event) {
	s := r.script(r.cpus[ev.CPU].cur)
	if s == nil || !r.rt {
		return
	}
	comm := r.x.Names.String(r.tr.Task(s.id).Comm)
	if !strings.HasPrefix(comm, "irq/"+strconv.FormatInt(ev.Arg, 10)+"-") {
		return
	}
	r.until(ev.CPU, ev.Time)
	s.add(Op{Kind: OpServed, At: ev.Time, Slept: ev.Time, By: FromEvents})
}

// sleepOp is a sleep of a task, or an OpServed: when it began, when the wake came, and its place
// in the ops.
type sleepOp struct {
	slept, woken event.Time
	op           int
}

// threads finds the threads of handlers: those of that name that the line wakes.
func (q *lineReader) threads() {
	irq := make([]bool, len(q.tasks))
	for i := range q.tasks {
		irq[i] = kernel.IsIRQThread(q.r.x.Names.String(q.tasks[i].Comm))
	}
	for i := range q.lines {
		l := &q.lines[i]
		if l.Softirq || l.Number < 0 {
			continue
		}
		times, most := make(map[int]int), 0
		for j := range l.Arrivals {
			for _, t := range l.Arrivals[j].Wakes {
				if !irq[t] {
					continue
				}
				if times[t]++; times[t] > most {
					most, l.Thread = times[t], t
				}
			}
		}
	}
}

// sleepsOf lists the sleeps of task t in the order of their ends.
func (q *lineReader) sleepsOf(t int) []sleepOp {
	list, ok := q.sleeps[t]
	if ok {
		return list
	}
	for i := range q.tasks[t].Ops {
		if op := &q.tasks[t].Ops[i]; (op.Kind.Sleeps() || op.Kind == OpServed) && op.At != event.NoTime {
			list = append(list, sleepOp{op.Slept, op.At, i})
		}
	}
	q.sleeps[t] = list
	return list
}

// wokenIn is the first sleep in list that ended in [from, to]; nil: none.
func wokenIn(list []sleepOp, from, to event.Time) *sleepOp {
	i := sort.Search(len(list), func(i int) bool { return list[i].woken >= from })
	if i < len(list) && list[i].woken <= to {
		return &list[i]
	}
	return nil
}

// serviceEnd is what arrival i of l waited for if its device is in a closed loop; false if
// the service of the one before is not seen to have ended.
func serviceEnd(l *Line, i int, sleeps []sleepOp) (After, bool) {
	before, a := &l.Arrivals[i-1], &l.Arrivals[i]
	if l.Thread < 0 {
		return After{Task: -1, Gap: a.At - before.At - before.NS}, a.At >= before.At+before.NS
	}
	s := wokenIn(sleeps, a.At, a.At+a.NS+afterHandler)
	if s == nil || s.slept < before.At || s.slept > a.At {
		return After{}, false
	}
	return After{Task: l.Thread, Slept: s.slept, Gap: a.At - s.slept}, true
}

// closeLoop finds out whether the device of l is in a closed loop.
func (q *lineReader) closeLoop(l *Line) {
	if l.Softirq || l.Number < 0 {
		return
	}
	var sleeps []sleepOp
	if l.Thread >= 0 {
		sleeps = q.sleepsOf(l.Thread)
	}
	n := len(l.Arrivals)
	afters := make([]*After, n)
	var gaps, distances []event.Time
	for i := 1; i < n; i++ {
		if after, ok := serviceEnd(l, i, sleeps); ok && after.Gap <= longestGap {
			afters[i] = &after
			gaps = append(gaps, after.Gap)
			distances = append(distances, l.Arrivals[i].At-l.Arrivals[i-1].At)
		}
	}
	if n-1 < leastLoop || len(gaps)*10 < (n-1)*9 {
		return
	}
	gap, spread := middle(gaps)
	if _, apart := middle(distances); spread > gap/2 || spread >= apart {
		return
	}
	l.Loop, l.Gap = true, gap
	for i := n - 1; i >= 0; i-- {
		if afters[i] != nil {
			l.Arrivals[i].Loop, l.Arrivals[i].After = true, afters[i]
		}
	}
	var before *After
	for first := 0; first < n; {
		last := first
		for last+1 < n && l.Arrivals[last+1].Loop {
			last++
		}
		a := &l.Arrivals[first]
		a.After = q.asker(l, first, last, sleeps)
		if a.After == nil && last == n-1 && before != nil {
			a.After = q.stillAsks(before.Task, a.At)
		}
		before, first = a.After, last+1
	}
}

// stillAsks is the request of task t for a transfer that began at begin and is not over.
func (q *lineReader) stillAsks(t int, begin event.Time) *After {
	ops := q.tasks[t].Ops
	for i := len(ops) - 1; i >= 0; i-- {
		if op := &ops[i]; op.Kind.Sleeps() {
			if op.At != event.NoTime || op.Slept > begin || begin-op.Slept > longestGap {
				return nil
			}
			return &After{Task: t, Slept: op.Slept, Gap: begin - op.Slept}
		}
	}
	return nil
}

// middle is the median of list and the distance of its quartiles.
func middle(list []event.Time) (median, spread event.Time) {
	slices.Sort(list)
	n := len(list)
	return list[n/2], list[n*3/4] - list[n/4]
}

// asker finds who asked for the transfer of the arrivals first to last.
func (q *lineReader) asker(l *Line, first, last int, sleeps []sleepOp) *After {
	a := &l.Arrivals[last]
	woken := a.Wakes
	from, to := a.At, a.At+a.NS+afterHandler
	if l.Thread >= 0 {
		s := wokenIn(sleeps, from, to)
		if s == nil {
			return nil
		}
		woken = nil
		for _, op := range q.tasks[l.Thread].Ops[s.op+1:] {
			if op.Kind.Sleeps() {
				to = op.Slept
				break
			}
			if op.Kind == OpWake {
				woken = append(woken, op.Ref)
			}
		}
	}
	begin := l.Arrivals[first].At
	for _, t := range woken {
		s := wokenIn(q.sleepsOf(t), from, to)
		switch {
		case s == nil || t == l.Thread:
		case s.slept <= begin && begin-s.slept <= longestGap:
			return &After{Task: t, Slept: s.slept, Gap: begin - s.slept}
		case s.slept-begin-l.Arrivals[first].NS <= q.r.l.HandOver:
			return &After{Task: t, Slept: s.slept} // all that it still did was to make way
		case s.slept-begin <= longestGap:
			q.asks = append(q.asks, ask{t, s.op, s.slept - begin - l.Arrivals[first].NS, begin})
			return &After{Task: t, Slept: begin}
		}
	}
	return nil
}

// ask is a request that a task makes so much work before it goes to sleep with operation op:
// the device was faster than that. It is at a time of the trace.
type ask struct {
	task, op int
	before   event.Time
	at       event.Time
}

// writeAsks writes the requests into the scripts of their tasks, as OpServed.
func (q *lineReader) writeAsks() {
	sort.SliceStable(q.asks, func(i, j int) bool {
		a, b := &q.asks[i], &q.asks[j]
		return a.task < b.task || a.task == b.task && a.op < b.op
	})
	for i := 0; i < len(q.asks); {
		t := &q.tasks[q.asks[i].task]
		ops := make([]Op, 0, len(t.Ops)+1)
		for n, task := 0, q.asks[i].task; n < len(t.Ops); n++ {
			op := t.Ops[n]
			if i < len(q.asks) && q.asks[i].task == task && q.asks[i].op <= n+1 {
				a := &q.asks[i]
				i++
				if rest := op.NS - max(a.before, 0); op.Kind == OpRun && rest > 0 {
					first := op
					first.NS = rest
					ops = append(ops, first)
					op.NS -= rest
				}
				ops = append(ops, Op{Kind: OpServed, At: a.at, Slept: a.at, By: Inferred})
			}
			ops = append(ops, op)
		}
		t.Ops = ops
	}
}
