package whatif

import (
	"cmp"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/replay"
	"github.com/whylate/whylate/result"
)

// A task is harmed if one of these percentiles of the delays of its jobs grows by more than a fifth
// and by more than leastHarm, or if more of its jobs take longer than they may. p99 alone would not
// do: of less than 200 jobs it is one of the two longest, and those of before would hide
// whatever comes up to them. The jobs in which a task exits are left out: that is what some
// changes are for.
const leastHarm = 50_000

// compared are the percentiles, in the order in which one of them is told.
var compared = [...]int{99, 90, 50}

// tasks fills what becomes of each task, and whom the changes harm.
func (s *Study) tasks(c *result.Changed, changed *outcome) {
	typical := make([]*replay.Wait, len(s.Load.Tasks))
	for i := range typical {
		typical[i] = s.typical(i, changed)
	}
	// What a program waited before it asked for its priority is none of these.
	usual := func(w *replay.Wait) bool {
		prio, ok := s.prios[w.Key]
		return !ok || prio == typical[w.Key.Task].Prio
	}
	recorded, before, after := series(s.Load.Recorded, usual), series(s.base.waits, usual), series(changed.waits, usual)
	for i := range s.Load.Tasks {
		t, first := &s.Load.Tasks[i], typical[i]
		if t.Stopper || first == nil {
			continue
		}
		comm := s.Load.Names.String(t.Comm)
		b, a := s.base.tasks[i].sum(s.Load.To), changed.tasks[i].sum(s.Load.To)
		c.Tasks = append(c.Tasks, result.ChangedTask{Comm: comm, PID: int32(t.PID), Class: first.Class, Prio: result.Prio(first.Prio),
			Recorded: points(recorded[i]), Replayed: points(before[i]), Changed: points(after[i]),
			MissesBefore: b.misses, MissesAfter: a.misses, Jobs: b.limited})
		h := result.Harm{Comm: comm, PID: int32(t.PID), Class: first.Class, Prio: result.Prio(first.Prio), Kernel: kernel.IsKernelThread(comm),
			MissesBefore: b.misses, MissesAfter: a.misses, Jobs: b.limited}
		if harmed(&h, b, a) && !changed.load.Tasks[i].Removed {
			c.Harm = append(c.Harm, h)
		}
	}
	slices.SortStableFunc(c.Harm, func(a, b result.Harm) int {
		return cmp.Or(cmp.Compare(importance(&a), importance(&b)),
			cmp.Compare(b.MissesAfter-b.MissesBefore, a.MissesAfter-a.MissesBefore),
			cmp.Compare(b.AfterNS-b.BeforeNS, a.AfterNS-a.BeforeNS))
	})
}

// harmed fills the percentile that says that a task is harmed, and reports whether it is.
func harmed(h *result.Harm, before, after sums) bool {
	longer := func(i int) bool {
		return after.delays[i]-before.delays[i] > max(leastHarm, before.delays[i]/5)
	}
	at := 0
	for at < len(compared) && !longer(at) {
		at++
	}
	worse := at < len(compared) || after.misses > before.misses
	at %= len(compared)
	h.Percentile, h.BeforeNS, h.AfterNS = compared[at], before.delays[at], after.delays[at]
	return worse
}

// importance is the order in which people are told of harm: as in explain, real-time user
// tasks come first and threads of the kernel last.
func importance(h *result.Harm) int {
	switch {
	case h.Kernel:
		return 2
	case h.Class == "rt" || h.Class == "dl":
		return 0
	}
	return 1
}

// typical is a wait of task i with the priority that most of its waits have, nil: it has none.
// A program often has another one until it asks for its own.
func (s *Study) typical(i int, changed *outcome) *replay.Wait {
	for _, list := range [][]replay.Wait{s.Load.Recorded, s.base.waits, changed.waits} {
		at, _ := slices.BinarySearchFunc(list, i, func(w replay.Wait, task int) int { return cmp.Compare(w.Key.Task, task) })
		var best *replay.Wait
		count := make(map[event.Prio]int)
		for ; at < len(list) && list[at].Key.Task == i; at++ {
			w := &list[at]
			if count[w.Prio]++; best == nil || count[w.Prio] > count[best.Prio] {
				best = w
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// row is a task with one of its priorities, as explain has a row for each: what a program
// waited for before it asked for its priority is another matter.
type row struct {
	task int
	prio event.Prio
}

// worsened is the longest wakeup wait of each row that the change makes longer. Jobs that only
// the changed run has count for all rows of their task.
func worsened(before, after []replay.Wait) map[row]event.Time {
	m := make(map[row]event.Time)
	extra := make(map[int]event.Time)
	rows := make(map[row]bool)
	for _, p := range replay.Match(before, after) {
		if p.Recorded != nil {
			rows[row{p.Recorded.Key.Task, p.Recorded.Prio}] = true
		}
		if p.Run == nil || p.Run.Key.Kind != latency.Wakeup {
			continue
		}
		is, task := p.Run.Lateness(), p.Run.Key.Task
		switch {
		case p.Recorded == nil && is > leastHarm:
			extra[task] = max(extra[task], is)
		case p.Recorded != nil && is-p.Recorded.Lateness() > max(leastHarm, p.Recorded.Lateness()/5):
			r := row{task, p.Recorded.Prio}
			m[r] = max(m[r], is)
		}
	}
	for r := range rows {
		if is := extra[r.task]; is > m[r] {
			m[r] = is
		}
	}
	return m
}

// series are the wakeup waits of each task that are wanted, as lateness in order of size.
func series(waits []replay.Wait, wanted func(*replay.Wait) bool) map[int][]event.Time {
	m := make(map[int][]event.Time)
	for i := range waits {
		if w := &waits[i]; w.Key.Kind == latency.Wakeup && wanted(w) {
			m[w.Key.Task] = append(m[w.Key.Task], w.Lateness())
		}
	}
	for _, list := range m {
		slices.Sort(list)
	}
	return m
}

func points(sorted []event.Time) result.Points {
	n := len(sorted)
	if n == 0 {
		return result.Points{}
	}
	return result.Points{Waits: int64(n), P50NS: int64(rank(sorted, 50)), P99NS: int64(rank(sorted, 99)), MaxNS: int64(sorted[n-1])}
}

// rank is the percentile of a list that is not empty.
func rank(sorted []event.Time, percent int) event.Time {
	return sorted[latency.Rank(int64(percent), 100, int64(len(sorted)))-1]
}

// sums are the jobs of a task.
type sums struct {
	delays          [len(compared)]int64
	limited, misses int64
}

func (d *done) sum(end event.Time) sums {
	var s sums
	var waits []event.Time
	for i := range d.jobs {
		j := &d.jobs[i]
		if j.dying || i == 0 && len(d.jobs) > 1 {
			continue // what it does before its first sleep is mostly to become what it is
		}
		if j.seen || j.release != event.NoTime && j.release < end {
			waits = append(waits, j.delay)
		}
		if j.counts(end) {
			s.limited++
			if j.late() {
				s.misses++
			}
		}
	}
	slices.Sort(waits)
	for i := range compared {
		if len(waits) > 0 {
			s.delays[i] = int64(rank(waits, compared[i]))
		}
	}
	return s
}
