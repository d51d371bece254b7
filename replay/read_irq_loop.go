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
//   - the middle half of these gaps lies within half the length of the middle one, or within
//     what it takes to switch, and
//   - within less than that of the distances of the same arrivals: it is the gap that is
//     regular, not a clock.
//
// The arrivals with such a gap are of the loop; each keeps its own. So are those before which the
// thread woke nobody who could have asked for more. The first of a transfer is not. It waits
//
//   - for the work of a task that the service before woke and that had the CPU when it came: that
//     had just asked for it (PREEMPT_RT);
//   - for the sleep of a task that the last service of the transfer woke and that had gone to sleep
//     at most longestAsk before it came, or where the device was so much faster, for the work
//     that is left before that sleep. Of a transfer that is not over at the end of the trace that
//     is who asked for the one before, if it sleeps so until the end;
//   - where nobody is seen to ask, for the service before, if that was so long before at most.
//
// Else it stands in time, as all arrivals of other lines.
const (
	leastLoop             = 20
	longestGap event.Time = 200_000
	longestAsk event.Time = 1_000_000
)

// served writes down what an interrupt says of the task that has the CPU.
//
// If that is the thread of its own handler, that is through with the interrupt before: on
// PREEMPT_RT a line is masked until then (IRQF_ONESHOT); a kernel whose handlers have threads by
// their own will may do without. If that thread had woken the task, the task has now asked for
// more, if anybody has: which is looked at later.
func (r *reader) served(ev *event.Event) {
	s := r.script(r.cpus[ev.CPU].cur)
	if s == nil || !r.rt {
		return
	}
	if irqOf(r.x.Names.String(r.tr.Task(s.id).Comm)) != ev.Arg {
		if s.servedBy != ev.Arg {
			return
		}
		s.servedBy = noIRQ
	}
	r.until(ev.CPU, ev.Time)
	s.add(Op{Kind: OpServed, At: ev.Time, Slept: ev.Time, By: FromEvents})
}

// noIRQ is the number of no interrupt.
const noIRQ int64 = -1

// irqOf is the number of the interrupt whose thread has that name, noIRQ if none has.
func irqOf(comm string) int64 {
	if name, is := strings.CutPrefix(comm, "irq/"); is {
		number, _, _ := strings.Cut(name, "-")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return noIRQ
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
	if _, apart := middle(distances); spread > max(gap/2, afterHandler) || spread >= apart {
		return
	}
	l.Loop, l.Gap = true, gap
	v := services{q: q, l: l, sleeps: sleeps}
	v.handOvers()
	for i := n - 1; i > 0; i-- {
		// Where nobody was told that the transfer is over, it goes on, however slow the device is.
		if afters[i] == nil && l.Thread >= 0 && len(v.woken(i-1)) == 0 {
			if after, ok := serviceEnd(l, i, sleeps); ok {
				afters[i] = &after
			}
		}
		if afters[i] != nil {
			afters[i].Gap = max(0, afters[i].Gap+v.over[i-1])
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
		if first > 0 {
			a.After = v.asksAgain(first)
		}
		if a.After == nil {
			a.After = v.asker(first, last)
		}
		if a.After == nil && last == n-1 && before != nil {
			a.After = q.stillAsks(before.Task, a.At)
		}
		if a.After == nil && first > 0 {
			a.After = v.soonAfter(first)
		}
		before, first = a.After, last+1
	}
}

// middle is the median of list and the distance of its quartiles.
func middle(list []event.Time) (median, spread event.Time) {
	slices.Sort(list)
	n := len(list)
	return list[n/2], list[n*3/4] - list[n/4]
}
