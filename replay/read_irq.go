package replay

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/timeline"
)

// lineReader makes the interrupts of a load: what they took, whom they woke, and what their
// devices waited for.
type lineReader struct {
	r      *reader
	tasks  []Task // as they are in the load
	lines  []Line
	known  map[lineKey]int       // looked up only
	sleeps map[int][]sleepOp     // by task, looked up only
	soonOn map[wakeOf]event.Time // see soon
	asks   []ask
	spans  [][]interrupt // by CPU, those of interrupts and softirqs in interrupt context, in order
}

// lineKey is what interrupts of one line have in common.
type lineKey struct {
	softirq bool
	number  int64
	name    event.Name
}

// interrupt is one of them: an arrival of a line, by numbers.
type interrupt struct {
	timeline.Span
	softirq bool
	line, n int
}

// end is when what it did is over: its exit, and a little more in which a kernel wakes the
// thread of a handler.
func (i *interrupt) end() event.Time {
	if i.softirq {
		return i.To
	}
	return i.To + afterHandler
}

// wakeLine is the number of what woke tasks in interrupt context and left no events: other
// timers than that of a sleep, irq_work. It takes no time of its own.
const wakeLine int64 = -1

// readLines makes the interrupts of r's trace. tasks are those of the load, finished.
func readLines(r *reader, tasks []Task) []Line {
	q := &lineReader{r: r, tasks: tasks, known: make(map[lineKey]int), sleeps: make(map[int][]sleepOp), spans: make([][]interrupt, len(r.x.CPUs))}
	for c := range r.x.CPUs {
		q.spansOf(event.CPU(c))
	}
	q.arrivals()
	q.follow()
	sort.SliceStable(r.posts, func(i, j int) bool { return r.posts[i].at < r.posts[j].at })
	for _, p := range r.posts {
		q.post(p)
	}
	q.threads()
	for i := range q.lines {
		q.closeLoop(&q.lines[i])
		q.count(&q.lines[i])
	}
	q.writeAsks()
	return q.lines
}

// count counts what is guessed of l.
func (q *lineReader) count(l *Line) {
	for i := range l.Arrivals {
		switch a := &l.Arrivals[i]; {
		case l.Number < 0:
			q.r.guess[wakeFixed] += int64(len(a.Wakes))
		case a.Loop:
			q.r.guess.add(closedLoop)
		case a.After != nil:
			q.r.guess.add(loopAsked)
		case !a.Follows:
			q.r.guess.add(irqFixed)
		}
	}
}

// spansOf lists what was in front of the tasks of c. A softirq that a task thread of the
// kernel does is that task's work, as all of them are on PREEMPT_RT.
func (q *lineReader) spansOf(c event.CPU) {
	ci := &q.r.x.CPUs[c]
	list := make([]interrupt, 0, len(ci.IRQs))
	for _, s := range ci.IRQs {
		list = append(list, interrupt{Span: s})
	}
	for _, s := range ci.Softirqs {
		if !q.r.rt && !q.r.softirqThread(s.Task) {
			list = append(list, interrupt{Span: s, softirq: true})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].From < list[j].From })
	q.spans[c] = list
}

// softirqThread reports whether a task is there for softirqs.
func (r *reader) softirqThread(id timeline.TaskID) bool {
	return id != timeline.NoTask && kernel.IsSoftirqThread(r.x.Names.String(r.x.Tracker.Task(id).Comm))
}

// arrivals gives each interrupt its line and its place there: the lines in the order in which
// they first came, their arrivals in time.
func (q *lineReader) arrivals() {
	type place struct {
		c event.CPU
		i int
	}
	var all []place
	for c := range q.spans {
		for i := range q.spans[c] {
			all = append(all, place{event.CPU(c), i})
		}
	}
	at := func(p place) *interrupt { return &q.spans[p.c][p.i] }
	sort.SliceStable(all, func(i, j int) bool { return at(all[i]).From < at(all[j]).From })
	for _, p := range all {
		s := at(p)
		s.line = q.line(lineKey{s.softirq, s.Vec, s.Name}, p.c)
		l := &q.lines[s.line]
		s.n = len(l.Arrivals)
		l.Arrivals = append(l.Arrivals, Arrival{At: s.From, CPU: p.c, NS: q.net(p.c, p.i, s.To)})
	}
}

// line is the index of a line, which is made when its first interrupt comes, on c.
func (q *lineReader) line(k lineKey, c event.CPU) int {
	if k.number == event.NoArg || k.number < 0 {
		k.number = wakeLine
	}
	n, ok := q.known[k]
	if !ok {
		n = len(q.lines)
		q.known[k] = n
		q.lines = append(q.lines, Line{Number: k.number, Name: k.name, Softirq: k.softirq, CPU: c, Thread: -1})
	}
	return n
}

// net is how long interrupt i of c had worked at t. Interrupts that came in front of a softirq
// are not its work.
func (q *lineReader) net(c event.CPU, i int, t event.Time) event.Time {
	list := q.spans[c]
	s := &list[i]
	t = min(t, s.To)
	ns, from := event.Time(0), s.From
	for j := i + 1; s.softirq && j < len(list) && list[j].From < t; j++ {
		if in := &list[j]; !in.softirq {
			ns += max(0, in.From-from)
			from = max(from, in.To)
		}
	}
	return ns + max(0, t-from)
}

// follow finds the softirqs that were done at the end of an interrupt, before any task had
// the CPU again: those that were raised in it, and what the same pass does behind them.
func (q *lineReader) follow() {
	for c, list := range q.spans {
		last := -1 // what ended last
		for i := range list {
			s := &list[i]
			if last >= 0 && s.softirq && q.behind(event.CPU(c), &list[last], s) {
				q.arrival(s).Follows = true
			}
			if last < 0 || s.To >= list[last].To {
				last = i
			}
		}
	}
}

// behind reports whether s was done at the end of before.
func (q *lineReader) behind(c event.CPU, before, s *interrupt) bool {
	if s.From < before.To {
		return false
	}
	x := q.r.x
	if n := x.RunAt(c, s.From); n < 0 || x.CPUs[c].Runs[n].Start > before.To {
		return false // a task came between
	}
	raised := s.Raised != event.NoTime && s.Raised >= before.From && s.Raised <= before.To
	return raised || before.softirq && s.From-before.To <= afterHandler
}

func (q *lineReader) arrival(s *interrupt) *Arrival { return &q.lines[s.line].Arrivals[s.n] }

// post lets the interrupt that covers p make that wake.
func (q *lineReader) post(p posted) {
	if int(p.cpu) >= len(q.spans) || p.cpu < 0 {
		return
	}
	list := q.spans[p.cpu]
	i := sort.Search(len(list), func(i int) bool { return list[i].From > p.at }) - 1
	// The last that began may be over, and the one before it go on.
	for back := 0; i >= 0 && back < mostNested; i, back = i-1, back+1 {
		s := &list[i]
		if p.at > s.end() {
			continue
		}
		a, done := q.arrival(s), q.net(p.cpu, i, p.at)
		if p.at > s.To {
			done++ // behind its exit
		}
		a.Wakes, a.WakeAt = append(a.Wakes, p.task), append(a.WakeAt, done)
		return
	}
	n := q.line(lineKey{number: wakeLine, name: q.r.x.Names.Intern("wake")}, p.cpu)
	l := &q.lines[n]
	if k := len(l.Arrivals) - 1; k >= 0 && l.Arrivals[k].At == p.at && l.Arrivals[k].CPU == p.cpu {
		l.Arrivals[k].Wakes = append(l.Arrivals[k].Wakes, p.task)
		return
	}
	l.Arrivals = append(l.Arrivals, Arrival{At: p.at, CPU: p.cpu, Wakes: []int{p.task}})
}

// mostNested is how far before a wake the interrupt may have begun that made it, in interrupts
// of the CPU: those that came in front of a softirq.
const mostNested = 16
