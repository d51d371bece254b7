package replay

import (
	"errors"
	"slices"
	"strconv"

	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/scenario"
)

// changeMutexes changes mutexes, and what tasks do while they hold them. A mutex of a trace
// has no name but its number. By the name of a task the mutexes are meant that it takes or has
// from the beginning on, and of what is done under them only what this task does. Where priority
// inheritance is to be on and the named task is not seen to have any, what others waited for it to
// do is its lock.
func (l *Load) changeMutexes(c *scenario.Change) error {
	if err := l.check(); err != nil {
		return err
	}
	if on, ok := c.PI(); ok && on && !c.Matches("all") {
		if tasks, err := l.matching(c); err == nil && !slices.ContainsFunc(tasks, l.takesLock) {
			l.takeForLocks(tasks)
		}
	}
	if len(l.Mutexes) == 0 {
		return errors.New("no lock is seen in the trace; mutex=TASK pi=on takes for one what others waited for TASK to do")
	}
	meant := make([]bool, len(l.Mutexes))
	known := make([]string, 0, len(l.Mutexes)+1)
	for i := range meant {
		number := strconv.Itoa(i)
		known = append(known, number)
		meant[i] = c.Matches(number, "all")
	}
	holders := make([]int, 0, len(l.Tasks))
	if slices.Contains(meant, true) {
		for i := range l.Tasks {
			holders = append(holders, i)
		}
	} else if tasks, err := l.matching(c); err == nil {
		holders = tasks
		for i := range meant {
			meant[i] = slices.Contains(tasks, l.Mutexes[i].Held)
		}
		for _, i := range tasks {
			for j := range l.Tasks[i].Ops {
				if op := &l.Tasks[i].Ops[j]; op.Kind == OpLock {
					meant[op.Ref] = true
				}
			}
		}
	}
	if !slices.Contains(meant, true) {
		return nearest.Unknown("lock of the trace", c.Pattern, append(append(l.takers(), known...), "all"))
	}
	for i := range meant {
		if on, ok := c.PI(); ok && meant[i] {
			l.Mutexes[i].PI = on
		}
	}
	for _, i := range holders {
		l.changeHeld(i, meant, c)
	}
	return nil
}

// takesLock reports whether the task is seen to take a lock, or has one from the beginning on.
func (l *Load) takesLock(i int) bool {
	return slices.ContainsFunc(l.Mutexes, func(m Mutex) bool { return m.Held == i }) || slices.ContainsFunc(l.Tasks[i].Ops, func(op Op) bool { return op.Kind == OpLock })
}

// takers are the names of the tasks that are seen to take a lock.
func (l *Load) takers() []string {
	var names []string
	for i := range l.Tasks {
		if name := l.Names.String(l.Tasks[i].Comm); l.takesLock(i) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// changeHeld scales what task i does while it holds one of the mutexes, or lets it come after
// it has given up the last of them.
func (l *Load) changeHeld(i int, meant []bool, c *scenario.Change) {
	by, scaled := c.Held()
	if !scaled && !c.HeldOutside() {
		return
	}
	holds := make([]bool, len(meant))
	n := 0
	for j := range l.Mutexes {
		if meant[j] && l.Mutexes[j].Held == i {
			holds[j] = true
			n++
		}
	}
	t := &l.Tasks[i]
	out := make([]Op, 0, len(t.Ops))
	var moved []Op
	for _, op := range t.Ops {
		switch {
		case op.Kind == OpLock && meant[op.Ref] && !holds[op.Ref]:
			holds[op.Ref] = true
			n++
		case op.Kind == OpUnlock && meant[op.Ref] && holds[op.Ref]:
			holds[op.Ref] = false
			n--
		case op.Kind == OpRun && n > 0 && scaled:
			op.NS = by.Of(op.NS)
		case op.Kind == OpRun && n > 0:
			moved = append(moved, op)
			continue
		}
		out = append(out, op)
		if n == 0 {
			out = append(out, moved...)
			moved = nil
		}
	}
	t.Ops = append(out, moved...)
}
