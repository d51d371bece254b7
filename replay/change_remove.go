package replay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario"
)

// timedPost is a wake that comes at its recorded time, since who made it is not there any more.
type timedPost struct {
	at   event.Time
	task int
}

// remove takes tasks out of the load. Whom they woke is still woken, at the recorded times,
// and whom they forked still comes: the load knows how others waited for them, not what these
// would do without them. Both are noted.
func (l *Load) remove(c *scenario.Change) error {
	found, err := l.matching(c)
	if err != nil {
		return err
	}
	gone := make([]bool, len(l.Tasks))
	for _, i := range found {
		if l.Tasks[i].Stopper {
			return fmt.Errorf("%s belongs to the kernel: nothing can be without it", l.Names.String(l.Tasks[i].Comm))
		}
		gone[i] = true
	}
	for i := range l.Lines {
		if line := &l.Lines[i]; line.Thread >= 0 && line.Thread < len(gone) && gone[line.Thread] {
			return fmt.Errorf("%s handles an interrupt: its device would wait for ever", l.Names.String(l.Tasks[line.Thread].Comm))
		}
	}
	for _, i := range found {
		l.release(i, gone)
	}
	slices.SortStableFunc(l.posts, func(a, b timedPost) int { return cmp.Compare(a.at, b.at) })
	return nil
}

// release takes task i out: what it did for others is done at the recorded time.
func (l *Load) release(i int, gone []bool) {
	t := &l.Tasks[i]
	name := l.Names.String(t.Comm)
	woken := make(map[int]int64) // by task, how often
	for j := range t.Ops {
		op := &t.Ops[j]
		if op.Kind != OpWake && op.Kind != OpFork || op.Ref < 0 || op.Ref >= len(gone) || gone[op.Ref] {
			continue
		}
		other := &l.Tasks[op.Ref]
		if op.Kind == OpWake {
			l.posts = append(l.posts, timedPost{op.At, op.Ref})
			woken[op.Ref]++
			continue
		}
		if len(other.Ops) > 0 {
			other.Ops[0].At = max(other.Ops[0].At, op.At)
		}
		l.assume("removed_forks", 1, fmt.Sprintf("%s is not there, and %s comes all the same, when it was created by it", name, l.Names.String(other.Comm)))
	}
	for _, other := range slices.Sorted(maps.Keys(woken)) {
		l.assume("removed_wakes", woken[other], fmt.Sprintf("%s is not there, and %s is woken all the same, when it was by it", name, l.Names.String(l.Tasks[other].Comm)))
	}
	for j := range l.Mutexes {
		if l.Mutexes[j].Held == i {
			l.Mutexes[j].Held = -1
		}
	}
	t.Ops, t.Removed = nil, true
}
