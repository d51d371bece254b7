package explain

import (
	"slices"
	"sort"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/timeline"
)

// The default choice of late waits.
const (
	worstWakeups   = 20               // of each deadline or real-time user task
	worstPreempted = 5                // of each deadline or real-time user task
	leastWakeup    = event.Time(50e3) // below this a wakeup wait of these is not late
	worstFair      = 20               // of all fair tasks together
	worstKernel    = 20               // of all threads of the kernel together
	leastOpen      = event.Time(1e6)  // open waits from here on are always told
	mostLate       = 100_000          // with --over: no more than this many are kept
)

// lateWait is a wait that is told.
type lateWait struct {
	*cause.Explanation
	class cause.Class
	rank  rank
}

// chosen keeps the late waits while the second pass runs.
type chosen struct {
	o       *Options
	buckets map[bucketKey]*worst
	always  []lateWait
	dropped int64
}

// bucketKey names a group of waits of which the worst few are told.
type bucketKey struct {
	rank rank
	task timeline.TaskID // NoTask: all tasks of this rank together
	kind latency.Kind
}

// worst keeps the most late of a group, the least late first (a small sorted list).
type worst struct {
	most int
	list []lateWait
}

// add takes in an explained wait and reports whether it is among the late for now.
func (c *chosen) add(l lateWait) bool {
	w, wanted := l.Wait, false
	switch {
	case c.o.WaitID != "":
		wanted = w.ID() == c.o.WaitID
	case c.o.Over > 0:
		wanted = event.Time(l.LatenessNS) >= c.o.Over
	case w.Open():
		wanted = event.Time(l.LatenessNS) >= leastOpen
	default:
		return c.addDefault(l)
	}
	if wanted {
		c.keep(l)
	}
	return wanted
}

func (c *chosen) addDefault(l lateWait) bool {
	k := bucketKey{rank: l.rank, task: timeline.NoTask}
	most := worstKernel
	switch l.rank {
	case rankUserRT:
		k.task, k.kind, most = l.Wait.Task.ID, latency.Wakeup, worstWakeups
		if l.Wait.Kind != latency.Wakeup {
			k.kind, most = latency.Preempted, worstPreempted
		} else if event.Time(l.LatenessNS) < leastWakeup {
			return false
		}
	case rankFair:
		most = worstFair
	}
	if l.rank != rankUserRT && event.Time(l.LatenessNS) < c.o.Floor {
		return false
	}
	b := c.buckets[k]
	if b == nil {
		b = &worst{most: most}
		c.buckets[k] = b
	}
	return b.add(l)
}

func (c *chosen) keep(l lateWait) {
	if len(c.always) >= mostLate {
		c.dropped++
		return
	}
	l.hold()
	c.always = append(c.always, l)
}

// hold gives the explanation its own copy of the wait, whose memory the tracker reuses.
func (l *lateWait) hold() {
	w := *l.Wait
	w.Moves = slices.Clone(w.Moves)
	l.Wait = &w
}

func (b *worst) add(l lateWait) bool {
	if len(b.list) == b.most && l.LatenessNS <= b.list[0].LatenessNS {
		return false
	}
	l.hold()
	if len(b.list) == b.most {
		b.list = b.list[1:]
	}
	at := sort.Search(len(b.list), func(i int) bool { return b.list[i].LatenessNS >= l.LatenessNS })
	b.list = slices.Insert(b.list, at, l)
	return true
}

// ordered returns what was chosen: by rank, then the most late first.
func (c *chosen) ordered() []lateWait {
	all := c.always
	for _, b := range c.buckets {
		all = append(all, b.list...)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		switch {
		case a.rank != b.rank:
			return a.rank < b.rank
		case a.LatenessNS != b.LatenessNS:
			return a.LatenessNS > b.LatenessNS
		case a.Wait.Woken != b.Wait.Woken:
			return a.Wait.Woken < b.Wait.Woken
		}
		return a.Wait.Task.ID < b.Wait.Task.ID
	})
	if c.o.Top > 0 && len(all) > c.o.Top {
		all = all[:c.o.Top]
	}
	return all
}

// fill turns a late wait into its public form; idle has the CPUs that stood idle meanwhile.
func (l *lateWait) fill(f *explained, names *event.Names, idle []cause.Elsewhere) result.Late {
	start := f.start
	w := l.Wait
	out := result.Late{ID: w.ID(), Comm: names.String(w.Comm), PID: int32(w.Task.PID), Class: l.class.String(),
		Prio: result.Prio(w.Base), CPU: int32(w.CPUAt(w.End)), WaitKind: w.Kind.String(),
		Waker:   result.Waker{Comm: names.String(w.Waker.Comm), PID: int32(w.Waker.PID), Context: w.Waker.Context.String()},
		WokenNS: int64(w.Woken - start), WaitNS: w.Length(), LatenessNS: l.LatenessNS, Verdict: l.Verdict.String(),
		Causes: []result.Cause{}, IdleElsewhere: []result.IdleElsewhere{}, Advice: []result.Advice{}, Needs: []string{}}
	if w.Kind != latency.Wakeup {
		out.Waker = result.Waker{PID: int32(event.NoPID)}
	}
	if l.Due != event.NoTime {
		due := int64(l.Due - start)
		out.DueNS, out.DueVerdict, out.DueDetail = &due, l.DueVerdict.String(), l.DueDetail
	}
	if !w.Open() {
		on := int64(w.OnCPU - start)
		out.OnCPUNS = &on
	}
	for i := range l.Causes {
		c := &l.Causes[i]
		out.Causes = append(out.Causes, result.Cause{Kind: c.Kind.Name, NS: c.NS, StartNS: int64(c.Start - start),
			CPU: int32(c.CPU), Comm: names.String(c.Comm), PID: int32(c.PID), Prio: result.Prio(c.Prio),
			Verdict: c.Verdict.String(), Detail: c.Detail, Intervals: c.Pieces})
	}
	for i := range idle {
		out.IdleElsewhere = append(out.IdleElsewhere, f.elsewhere(&idle[i], names))
	}
	out.Needs = append(out.Needs, l.Needs...)
	return out
}
