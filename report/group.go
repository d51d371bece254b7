package report

import (
	"cmp"
	"slices"

	"github.com/whylate/whylate/result"
)

// block is what prints about one task.
type block struct {
	row    *result.Task // its percentiles and blame, nil if the result has none
	groups []*group
}

// group is late waits that print as one: of one task, of one wait kind, with the same
// main kind and culprit. The first, which prints in full, is the worst by r.Late's order.
type group struct {
	late []int // indices into r.Late
}

// preempted reports whether a wait of the block was no wakeup wait.
func (b *block) preempted(r *result.Explain) bool {
	return slices.ContainsFunc(b.groups, func(g *group) bool {
		return r.Late[g.late[0]].WaitKind != "wakeup"
	})
}

// taskKey tells tasks apart as the definitions do: class and priority belong to a wait,
// so a task that changed them has a row for each. Its name may change; it is no key.
type taskKey struct {
	pid   int32
	class string
	prio  result.Prio
}

// groupKey is what the waits of a group have in common. Whether they are open is part of
// it, since an open wait is printed with a remark. The priority of the culprit is not:
// a task that was boosted for some of the waits is still the same culprit.
type groupKey struct {
	waitKind  string
	open      bool
	mainKind  string
	mainComm  string
	mainPID   int32
	exclusive int // index + 1 of a wait that must stay alone
}

// groupLate arranges r.Late: blocks and groups come where their first wait comes, so the
// order of the analysis is kept and the most important wait is the first to be printed.
// With single, every wait is a group of its own.
func groupLate(r *result.Explain, single bool) []*block {
	var blocks []*block
	rows := rowIndex(r.Tasks)
	byTask := make(map[any]*block)
	byGroup := make(map[*block]map[groupKey]*group)
	for i := range r.Late {
		l := &r.Late[i]
		row := rows.find(l)
		// A row of --by comm stands for several tasks: they share its block.
		var id any = taskKey{l.PID, l.Class, l.Prio}
		if row != nil {
			id = row
		}
		b := byTask[id]
		if b == nil {
			b = &block{row: row}
			byTask[id], byGroup[b] = b, make(map[groupKey]*group)
			blocks = append(blocks, b)
		}
		kind, comm, pid := mainCause(l.Causes)
		gk := groupKey{l.WaitKind, l.OnCPUNS == nil, kind, comm, pid, 0}
		if single {
			gk.exclusive = i + 1
		}
		g := byGroup[b][gk]
		if g == nil {
			g = &group{}
			byGroup[b][gk] = g
			b.groups = append(b.groups, g)
		}
		g.late = append(g.late, i)
	}
	return blocks
}

// rows finds the row of a late wait.
type rows struct {
	tasks map[taskKey]*result.Task
	comms map[commKey]*result.Task // rows of --by comm, which have no pid
}

// commKey finds a row of --by comm, which has no pid.
type commKey struct {
	comm  string
	class string
	prio  result.Prio
}

// rowIndex sorts list by what late waits know of their row. Rows of other groups
// (process, cgroup, CPU) cannot be found from a wait; otherRows prints them.
func rowIndex(list []result.Task) rows {
	x := rows{make(map[taskKey]*result.Task), make(map[commKey]*result.Task)}
	for i := range list {
		t := &list[i]
		if t.PID >= 0 {
			x.tasks[taskKey{t.PID, t.Class, t.Prio}] = t
		} else if t.Comm != "" {
			x.comms[commKey{t.Comm, t.Class, t.Prio}] = t
		}
	}
	return x
}

// find returns the row of l, nil if the result has none, as with a selection of rows.
func (x rows) find(l *result.Late) *result.Task {
	if t := x.tasks[taskKey{l.PID, l.Class, l.Prio}]; t != nil {
		return t
	}
	return x.comms[commKey{l.Comm, l.Class, l.Prio}]
}

// share is the causes of one wait that have kind, culprit and verdict in common: the
// result keeps them apart by CPU and detail.
type share struct {
	*result.Cause // the longest of them: its detail stands for all
	ns            int64
	causes        int64
}

// shareKey is what intervals of one share have in common.
type shareKey struct {
	kind, comm, verdict string
	pid                 int32
	prio                result.Prio
}

// sumCauses adds up the causes of a wait, the longest share first. The shares sum to what
// the causes sum to, so the contract that causes sum to the lateness holds in print too.
func sumCauses(causes []result.Cause) []share {
	var shares []share
	index := make(map[shareKey]int)
	for i := range causes {
		c := &causes[i]
		key := shareKey{c.Kind, c.Comm, c.Verdict, c.PID, c.Prio}
		at, ok := index[key]
		if !ok {
			at = len(shares)
			index[key] = at
			shares = append(shares, share{Cause: c})
		}
		s := &shares[at]
		if c.NS > s.NS {
			s.Cause = c
		}
		s.ns += c.NS
		s.causes++
	}
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(b.ns, a.ns) })
	return shares
}

// mainCause returns kind and culprit with the largest part in a wait; the earlier one of
// equals, "" without causes.
func mainCause(causes []result.Cause) (kind, comm string, pid int32) {
	type key struct {
		kind, comm string
		pid        int32
	}
	sums := make(map[key]int64)
	for i := range causes {
		sums[key{causes[i].Kind, causes[i].Comm, causes[i].PID}] += causes[i].NS
	}
	most := int64(-1)
	for i := range causes {
		k := key{causes[i].Kind, causes[i].Comm, causes[i].PID}
		if sums[k] > most {
			most, kind, comm, pid = sums[k], k.kind, k.comm, k.pid
		}
	}
	return kind, comm, pid
}

// sumKinds adds up the culprits of each kind, the largest kind first, and all of them.
func sumKinds(list []result.Blame) (kinds []result.Blame, total int64) {
	index := make(map[string]int)
	for i := range list {
		b := &list[i]
		total += b.NS
		at, ok := index[b.Kind]
		if !ok {
			at = len(kinds)
			index[b.Kind] = at
			kinds = append(kinds, result.Blame{Kind: b.Kind})
		}
		kinds[at].NS += b.NS
	}
	slices.SortStableFunc(kinds, func(a, b result.Blame) int { return cmp.Compare(b.NS, a.NS) })
	return kinds, total
}
