package replay

import (
	"fmt"

	"github.com/whylate/whylate/event"
)

// awaited is a wait of a task that another one ended by waking it.
type awaited struct {
	holder, waiter int
	taken          int // operation of the holder before which it took what the waiter waited for
	given          int // operation of the holder that wakes
	wait           int // operation of the waiter
}

// takeForLocks makes locks of what tasks waited for until one of the holders woke them. Without
// priority inheritance nothing in a trace tells a lock from any other wait; that it is one says the
// change. A holder is taken to have had it since its own last wake, as where a boost shows a lock; a
// waiter that slept before that waits for something else. Returns how many.
func (l *Load) takeForLocks(holders []int) int {
	var list []awaited
	for _, h := range holders {
		list = append(list, l.awaitedBy(h)...)
	}
	if len(list) == 0 {
		return 0
	}
	type edit struct {
		before, after []Op
		instead       *Op
	}
	edits := make(map[[2]int]edit, 3*len(list)) // by task and operation
	for _, c := range list {
		m := len(l.Mutexes)
		given := l.Tasks[c.holder].Ops[c.given]
		wait := l.Tasks[c.waiter].Ops[c.wait]
		held := -1
		if c.taken == 0 && l.Tasks[c.holder].Begin != BeginNew {
			held = c.holder // since before the trace, as somebody may wait for it then
		} else {
			e := edits[[2]int{c.holder, c.taken}]
			e.before = append(e.before, Op{Kind: OpLock, Ref: m, At: given.At, Slept: given.At, By: Assumed})
			edits[[2]int{c.holder, c.taken}] = e
		}
		l.Mutexes = append(l.Mutexes, Mutex{Held: held})

		e := edits[[2]int{c.holder, c.given}]
		e.instead = &Op{Kind: OpUnlock, Ref: m, At: given.At, By: Assumed}
		edits[[2]int{c.holder, c.given}] = e

		wait.Kind, wait.Ref, wait.By = OpLock, m, Assumed
		e = edits[[2]int{c.waiter, c.wait}]
		e.instead = &wait
		e.after = append(e.after, Op{Kind: OpUnlock, Ref: m, At: wait.At, By: Assumed})
		edits[[2]int{c.waiter, c.wait}] = e
	}
	for i := range l.Tasks {
		var out []Op
		for j, op := range l.Tasks[i].Ops {
			e := edits[[2]int{i, j}]
			out = append(out, e.before...)
			if e.instead != nil {
				op = *e.instead
			}
			out = append(append(out, op), e.after...)
		}
		l.Tasks[i].Ops = out
	}
	for _, h := range holders {
		n := int64(0)
		for _, c := range list {
			if c.holder == h {
				n++
			}
		}
		if n > 0 {
			l.assume("lock_named", n, fmt.Sprintf("waits that %s ended by a wake, taken for a lock that it had since it was last woken, as the change says",
				l.Names.String(l.Tasks[h].Comm)))
		}
	}
	return len(list)
}

// awaitedBy finds the waits that task h ended.
func (l *Load) awaitedBy(h int) (list []awaited) {
	next := make(map[int]int) // by waiter: where to look on
	taken, woken := 0, l.From
	if t := &l.Tasks[h]; t.Begin == BeginNew && len(t.Ops) > 0 {
		woken = max(woken, t.Ops[0].At) // when it was born
	}
	for i := range l.Tasks[h].Ops {
		op := &l.Tasks[h].Ops[i]
		switch {
		case op.Kind.Sleeps():
			taken, woken = i+1, op.At
		case op.Kind == OpWake && op.Ref != h:
			w := l.Tasks[op.Ref].Ops
			j := next[op.Ref]
			for j < len(w) && (w[j].Kind != OpWait || w[j].At < op.At) {
				j++
			}
			next[op.Ref] = j
			if j < len(w) && w[j].At == op.At && within(w[j].Slept, woken, op.At) {
				list = append(list, awaited{h, op.Ref, taken, i, j})
			}
		}
	}
	return list
}

func within(t, from, to event.Time) bool { return from <= t && t <= to }
