package explain

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/timeline"
)

// rowKey tells rows apart. A task that changed its class or priority has a row for each.
type rowKey struct {
	task  timeline.TaskID
	class cause.Class
	prio  event.Prio
	group string
	pid   event.PID // of a process
}

// row gathers the waits of one task, or of one group of tasks.
type row struct {
	task              *timeline.Task // nil for a group
	comm              event.Name
	class             cause.Class
	prio              event.Prio
	group             string
	pid               event.PID
	rank              rank
	wakeup, preempted latency.Series
	worst             int64 // largest lateness
	hist              *latency.Buckets
	blame             map[blameKey]*blame
	told              bool // one of its waits is among the late
}

type blameKey struct {
	kind    *cause.Kind
	culprit timeline.TaskID
	name    event.Name // of an interrupt
}

type blame struct {
	pid   event.PID
	comm  event.Name
	waits int64
	ns    int64
}

// rows holds all rows of an answer.
type rows struct {
	by    By
	names *event.Names
	snap  *sysinfo.Snapshot
	tgid  func(*timeline.Task) event.PID
	byKey map[rowKey]*row
	list  []*row
}

func (o *Options) newRows(src Source) *rows {
	by, info := o.By, o.info(src)
	if by == "" {
		by = ByTask
	}
	return &rows{by: by, names: src.Names(), snap: sysinfo.Of(src), byKey: make(map[rowKey]*row), tgid: func(t *timeline.Task) event.PID {
		if t.TGID != event.NoPID {
			return t.TGID
		}
		if p, ok := info.TGIDs[t.PID]; ok {
			return p
		}
		return event.NoPID
	}}
}

// cgroup is the group of t in words.
func (rs *rows) cgroup(t *timeline.Task) string {
	if rs.snap == nil {
		return "not recorded" // no event names the group of a task
	}
	if path := cause.CGroupOf(rs.snap, rs.names, t); path != "" {
		return path
	}
	return "not known"
}

// of returns the row of w.
func (rs *rows) of(w *latency.Wait, class cause.Class) *row {
	k := rowKey{task: timeline.NoTask}
	switch rs.by {
	case ByTask:
		k.task, k.class, k.prio = w.Task.ID, class, w.Base
	case ByComm:
		k.group = rs.names.String(w.Comm)
	case ByProcess:
		k.pid = rs.tgid(w.Task)
		if k.pid == event.NoPID {
			k.pid = w.Task.PID // the trace does not say: then each thread stands for itself
		}
	case ByCGroup:
		k.group = rs.cgroup(w.Task)
	case ByCPU:
		k.group = fmt.Sprintf("CPU %d", w.CPUAt(w.End))
	}
	r := rs.byKey[k]
	if r == nil {
		r = &row{class: class, prio: w.Base, group: k.group, rank: rankKernel, blame: make(map[blameKey]*blame)}
		if rs.by == ByTask {
			r.task = w.Task
		}
		r.pid = k.pid
		rs.byKey[k] = r
		rs.list = append(rs.list, r)
	}
	if r.class != class {
		r.class = cause.ClassUnknown
	}
	if r.prio != w.Base {
		r.prio = event.NoPrio
	}
	if rs.by != ByProcess || r.comm == 0 || w.Task.PID == r.pid {
		r.comm = w.Comm // of a process the name of its leader, where it waited
	}
	r.rank = min(r.rank, rs.rankOf(class, w.Task, rs.names.String(w.Comm)))
	return r
}

// count adds the length of w to its series. The length of a wait across a gap is only
// an upper bound, and an open wait has none: neither is counted.
func (r *row) count(w *latency.Wait) {
	if w.GapFrom != event.NoTime || w.Open() {
		return
	}
	if w.Kind != latency.Wakeup {
		r.preempted.Add(w.Length())
		return
	}
	r.wakeup.Add(w.Length())
	if r.hist != nil {
		r.hist.Add(w.Length())
	}
}

// explain adds the causes of a wait to what the row's waiting is made of.
func (r *row) explain(e *cause.Explanation) {
	r.worst = max(r.worst, e.LatenessNS)
	for i := range e.Causes {
		c := &e.Causes[i]
		k := blameKey{kind: c.Kind, culprit: c.Culprit}
		if c.Culprit == timeline.NoTask {
			k.name = c.Comm
		}
		b := r.blame[k]
		if b == nil {
			b = &blame{pid: c.PID}
			r.blame[k] = b
		}
		b.comm = c.Comm
		b.waits++
		b.ns += c.NS
	}
}

// keepTold drops the rows of which no wait is told.
func (rs *rows) keepTold() {
	rs.list = slices.DeleteFunc(rs.list, func(r *row) bool { return !r.told })
}

// mostBlames bounds how many culprits one row names.
const mostBlames = 100

// results returns the rows for people: by rank, then by the largest lateness.
func (rs *rows) results() []result.Task {
	sort.SliceStable(rs.list, func(i, j int) bool {
		a, b := rs.list[i], rs.list[j]
		if a.rank != b.rank {
			return a.rank < b.rank
		}
		return max(a.worst, a.wakeup.Max(), a.preempted.Max()) > max(b.worst, b.wakeup.Max(), b.preempted.Max())
	})
	out := make([]result.Task, 0, len(rs.list))
	for _, r := range rs.list {
		out = append(out, rs.result(r))
	}
	return out
}

func (rs *rows) result(r *row) result.Task {
	t := result.Task{Comm: rs.names.String(r.comm), PID: int32(event.NoPID), Class: r.class.String(), Prio: result.Prio(r.prio),
		Group: r.group, Wakeup: Waits(&r.wakeup), Preempted: Waits(&r.preempted), Blame: []result.Blame{}}
	switch rs.by {
	case ByTask:
		t.PID, t.CGroup = int32(r.task.PID), cause.CGroupOf(rs.snap, rs.names, r.task)
	case ByCGroup:
		if strings.HasPrefix(r.group, "/") {
			t.CGroup = r.group
		}
	case ByProcess:
		t.Group = fmt.Sprintf("%s/%d", t.Comm, r.pid)
	}
	for k, b := range r.blame {
		t.Blame = append(t.Blame, result.Blame{Kind: k.kind.Name, Comm: rs.names.String(b.comm), PID: int32(b.pid),
			Waits: b.waits, NS: b.ns})
	}
	sort.Slice(t.Blame, func(i, j int) bool {
		a, b := &t.Blame[i], &t.Blame[j]
		switch {
		case a.NS != b.NS:
			return a.NS > b.NS
		case a.Kind != b.Kind:
			return a.Kind < b.Kind
		case a.PID != b.PID:
			return a.PID < b.PID
		case a.Comm != b.Comm:
			return a.Comm < b.Comm
		}
		return a.Waits > b.Waits // two that are equal in this too print alike
	})
	if len(t.Blame) > mostBlames {
		t.Blame = t.Blame[:mostBlames]
	}
	return t
}

// Waits returns the numbers that are told of a series.
func Waits(s *latency.Series) result.Waits {
	w := result.Waits{Waits: s.Count(), MaxNS: s.Max(), TotalNS: s.Total()}
	var a [4]bool
	w.P50NS, a[0] = s.Percentile(50, 100)
	w.P90NS, a[1] = s.Percentile(90, 100)
	w.P99NS, a[2] = s.Percentile(99, 100)
	w.P999NS, a[3] = s.Percentile(999, 1000)
	w.Approximate = a[0] || a[1] || a[2] || a[3]
	return w
}
