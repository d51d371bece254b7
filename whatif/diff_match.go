package whatif

import (
	"maps"
	"slices"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/result"
)

// merged are rows of one side that stand for the same thing.
type merged struct {
	tally
	by     explain.By
	begun  bool
	pid    int32 // event.NoPID: several
	tasks  int   // in one recording
	most   int64 // waits of the row whose class and priority are shown
	points []placed
	pieces []placedPiece
	file   string // of the longest wait
}

// placed is a wait in a file of the side, placedPiece a kind of cause in one.
type placed struct {
	point
	file int
}

type placedPiece struct {
	piece
	file int
}

// pair is one task, or what else rows stand for, on both sides; one of them is nil where only
// the other has it.
type pair struct {
	a, b *merged
	out  *result.DiffTask
}

// matchKey names what is the same on both sides.
type matchKey struct {
	name string
	pid  event.PID // event.NoPID: the name is enough
	// rt: in a class before the fair one. What a real-time task waited before it became one
	// is no part of its waits.
	rt bool
}

// match pairs the rows of both sides, in the order in which they are met.
func match(a, b *side, by explain.By) []*pair {
	numbered := numberedNames(a, b, by)
	left, leftOrder := a.gather(by, numbered)
	right, rightOrder := b.gather(by, numbered)
	var pairs []*pair
	used := make(map[matchKey]bool)
	for _, k := range leftOrder {
		p := &pair{a: left[k]}
		other := k
		if right[k] == nil {
			// It may have changed its class, if the other side has nothing else to compare it with.
			other.rt = !k.rt
			if left[other] != nil {
				other = k
			}
		}
		if m := right[other]; m != nil && !used[other] {
			p.b = m
			used[other] = true
		}
		pairs = append(pairs, p)
	}
	for _, k := range rightOrder {
		if !used[k] {
			pairs = append(pairs, &pair{b: right[k]})
		}
	}
	return pairs
}

// numberedNames are the names that several tasks of a recording bear, with the same pids in all
// recordings: these are matched by pid.
func numberedNames(a, b *side, by explain.By) map[string]bool {
	numbered := make(map[string]bool)
	if by != explain.ByTask {
		return numbered
	}
	var all []map[string][]int32
	for _, s := range []*side{a, b} {
		for _, f := range s.files {
			pids := make(map[string][]int32)
			for _, r := range f.rows {
				pids[r.row.Comm] = append(pids[r.row.Comm], r.row.PID)
			}
			for name, list := range pids {
				slices.Sort(list)
				pids[name] = slices.Compact(list) // a task has a row for each class
			}
			all = append(all, pids)
		}
	}
	for name, list := range all[0] {
		numbered[name] = len(list) > 1 && !slices.ContainsFunc(all, func(m map[string][]int32) bool { return !slices.Equal(m[name], list) })
	}
	return numbered
}

// gather merges the rows of the side that have the same key.
func (s *side) gather(by explain.By, numbered map[string]bool) (map[matchKey]*merged, []matchKey) {
	found := make(map[matchKey]*merged)
	var order []matchKey
	for n, f := range s.files {
		type member struct {
			key matchKey
			pid int32
		}
		seen, tasks := make(map[member]bool), make(map[matchKey]int)
		for _, r := range f.rows {
			k := keyOf(r, by, numbered)
			m := found[k]
			if m == nil {
				m = &merged{by: by}
				found[k] = m
				order = append(order, k)
			}
			if who := (member{k, r.row.PID}); !seen[who] {
				seen[who] = true
				tasks[k]++
				m.tasks = max(m.tasks, tasks[k])
			}
			m.add(r, n, f.walked.Input.File)
		}
	}
	return found, order
}

func keyOf(r *tally, by explain.By, numbered map[string]bool) matchKey {
	k := matchKey{name: r.row.Comm, pid: event.NoPID}
	switch by {
	case explain.ByTask:
		k.rt = r.row.Class != cause.ClassFair.String() && r.row.Class != cause.ClassUnknown.String()
		if numbered[k.name] {
			k.pid = event.PID(r.row.PID)
		}
	case explain.ByProcess:
		// The key of a process holds its pid, which differs between recordings.
	default:
		k.name = r.row.Group
	}
	return k
}

// add merges a row of the n-th file of the side.
func (m *merged) add(r *tally, n int, file string) {
	if before := m.worst[Wakeup]; m.file == "" || r.worst[Wakeup].id != "" && (before.id == "" || r.worst[Wakeup].ns > before.ns) {
		m.file, m.longest = file, r.longest
	}
	m.join(r)
	waits := r.series[Wakeup].Count() + r.series[Preempted].Count()
	switch {
	case !m.begun:
		m.begun, m.pid, m.most, m.row = true, r.row.PID, waits, r.row
	case waits > m.most:
		m.most, m.row = waits, r.row
	}
	if m.pid != r.row.PID {
		m.pid = int32(event.NoPID)
	}
	m.row.PID = m.pid
	if m.row.Group != "" && m.by == explain.ByProcess {
		m.row.Group = "" // it holds a pid, and processes of one name are taken together
	}
	for _, p := range r.points {
		m.points = append(m.points, placed{p, n})
	}
	for _, p := range r.pieces {
		m.pieces = append(m.pieces, placedPiece{p, n})
	}
}

// merge adds what another merged one of the same side has.
func (m *merged) merge(other *merged) {
	m.join(&other.tally)
	m.tasks += other.tasks
	m.points = append(m.points, other.points...)
	m.pieces = append(m.pieces, other.pieces...)
}

// join adds the numbers of another tally.
func (t *tally) join(o *tally) {
	for s := range t.series {
		t.series[s].Merge(&o.series[s])
		t.worst[s].join(o.worst[s])
	}
	for s := range t.open {
		t.open[s].join(o.open[s])
	}
	t.untrusted += o.untrusted
	if t.kinds == nil {
		t.kinds = make(map[string]*kindTally)
	}
	for name, k := range o.kinds {
		mine := t.kinds[name]
		if mine == nil {
			mine = &kindTally{kind: k.kind, by: make(map[string]int64)}
			t.kinds[name] = mine
		}
		mine.ns += k.ns
		mine.waits += k.waits
		mine.most.join(k.most)
		for _, who := range slices.Sorted(maps.Keys(k.by)) {
			mine.culprit(who, k.by[who])
		}
	}
	t.joined = append(t.joined, o)
}

func (w *worstWait) join(o worstWait) {
	if o.id != "" {
		w.see(func() string { return o.id }, o.ns)
	}
}
