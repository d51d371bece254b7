package replay

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
)

// services are those of a line, one for each arrival.
type services struct {
	q      *lineReader
	l      *Line
	sleeps []sleepOp // of its thread
	// over is by how much each took longer from the exit to the thread than it does in a run. In
	// a loop that would add up, so the device's next gap has it.
	over []event.Time
}

// handOvers finds over, where nothing but the switch stood between.
func (v *services) handOvers() {
	v.over = make([]event.Time, len(v.l.Arrivals))
	if v.l.Thread < 0 {
		return
	}
	r, on := v.q.r, v.q.soon()
	for i := range v.over {
		s, a := v.at(i), &v.l.Arrivals[i]
		if s == nil || v.q.tasks[v.l.Thread].Ops[s.op].Kind == OpServed {
			continue
		}
		began, short := on[wakeOf{v.l.Thread, s.woken}]
		n := r.x.RunAt(a.CPU, s.woken)
		if !short || n < 0 {
			continue
		}
		v.over[i] = began - (a.At + a.NS) - r.l.HandOver
		if r.x.Tracker.Task(r.x.CPUs[a.CPU].Runs[n].Task).Idle() {
			v.over[i] += r.l.HandOver - r.l.IdleHandOver
		}
	}
}

// wakeOf is a wake of a task.
type wakeOf struct {
	task int
	at   event.Time
}

// soon says for the wakes of the threads of lines after which those soon had a CPU when that was.
func (q *lineReader) soon() map[wakeOf]event.Time {
	if q.soonOn != nil {
		return q.soonOn
	}
	q.soonOn = make(map[wakeOf]event.Time)
	thread := make(map[int]bool)
	for i := range q.lines {
		thread[q.lines[i].Thread] = true
	}
	for i := range q.r.waits {
		if w := &q.r.waits[i].w; thread[w.Key.Task] && w.Key.Kind == latency.Wakeup && w.OnCPU != event.NoTime && w.OnCPU-w.Woken <= atOnce {
			q.soonOn[wakeOf{w.Key.Task, w.Woken}] = w.OnCPU
		}
	}
	return q.soonOn
}

// at is the sleep of the thread that arrival i ended, or its OpServed; nil: neither is seen.
func (v *services) at(i int) *sleepOp {
	a := &v.l.Arrivals[i]
	return wokenIn(v.sleeps, a.At, a.At+a.NS+afterHandler)
}

// woken are the tasks that the service of arrival i woke.
func (v *services) woken(i int) []int {
	if v.l.Thread < 0 {
		return v.l.Arrivals[i].Wakes
	}
	s := v.at(i)
	if s == nil {
		return nil
	}
	ops := v.q.tasks[v.l.Thread].Ops
	to, asleep := len(ops), false
	if i+1 < len(v.l.Arrivals) {
		if next := v.at(i + 1); next != nil {
			to = next.op
		} else {
			asleep = true // it has no service of its own, so nothing else tells where this one ends
		}
	}
	var woken []int
	for n := s.op + 1; n < to; n++ {
		op := &ops[n]
		if asleep && op.Kind.Sleeps() {
			break
		}
		if op.Kind == OpWake {
			woken = append(woken, op.Ref)
		}
	}
	return woken
}

// end is until when the service of arrival i goes on at most.
func (v *services) end(i int) event.Time {
	a := &v.l.Arrivals[i]
	switch {
	case v.l.Thread < 0:
		return a.At + a.NS + afterHandler
	case i+1 < len(v.l.Arrivals):
		return v.l.Arrivals[i+1].At
	}
	return v.q.r.x.To
}

// asker finds who asked for the transfer of the arrivals first to last.
func (v *services) asker(first, last int) *After {
	q, begin := v.q, v.l.Arrivals[first].At
	for _, t := range v.woken(last) {
		s := wokenIn(q.sleepsOf(t), v.l.Arrivals[last].At, v.end(last))
		switch {
		case s == nil || t == v.l.Thread:
		case s.slept <= begin && begin-s.slept <= longestAsk:
			return &After{Task: t, Slept: s.slept, Gap: begin - s.slept}
		case s.slept < begin:
		case s.slept-begin-v.l.Arrivals[first].NS <= q.r.l.HandOver:
			return &After{Task: t, Slept: s.slept} // all that it still did was to make way
		case s.slept-begin <= longestAsk:
			q.asks = append(q.asks, ask{t, s.op, s.slept - begin - v.l.Arrivals[first].NS, begin})
			return &After{Task: t, Slept: begin}
		}
	}
	return nil
}

// asksAgain finds the task that the service before arrival first woke, and that had the CPU when
// first came: it had just asked for more.
func (v *services) asksAgain(first int) *After {
	begin := v.l.Arrivals[first].At
	for _, t := range v.woken(first - 1) {
		if s := wokenIn(v.q.sleepsOf(t), begin, begin); s != nil && t != v.l.Thread && v.q.tasks[t].Ops[s.op].Kind == OpServed {
			return &After{Task: t, Slept: begin}
		}
	}
	return nil
}

// soonAfter lets arrival first of a transfer that nobody is seen to ask for come as long after the
// service of the one before as it did, or where the end of that is not seen, after its exit: who
// reads a disk asks for the next piece when it has the last. nil: that is too long ago.
func (v *services) soonAfter(first int) *After {
	if after, ok := serviceEnd(v.l, first, v.sleeps); ok && after.Gap <= longestAsk {
		return &after
	}
	before := &v.l.Arrivals[first-1]
	if gap := v.l.Arrivals[first].At - before.At - before.NS; gap >= 0 && gap <= longestGap {
		return &After{Task: -1, Gap: gap}
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

// stillAsks is the request of task t for a transfer that began at begin and is not over.
func (q *lineReader) stillAsks(t int, begin event.Time) *After {
	ops := q.tasks[t].Ops
	for i := len(ops) - 1; i >= 0; i-- {
		if op := &ops[i]; op.Kind.Sleeps() {
			if op.At != event.NoTime || op.Slept > begin || begin-op.Slept > longestAsk {
				return nil
			}
			return &After{Task: t, Slept: op.Slept, Gap: begin - op.Slept}
		}
	}
	return nil
}
