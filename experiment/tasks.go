package experiment

import (
	"sort"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/stats"
)

// pooled is a task over all runs of a variant. The pid finds it again in another one, where it
// may have another class. A task that has several names or classes in a run, as all threads
// have before they set their own, counts with those under which it waited most often.
type pooled struct {
	row
	p99, max []int64 // of each run
}

// taskKey finds a task again: by its number, or by the name of all that are told together.
type taskKey struct {
	pid  event.PID
	comm string
}

func (r *row) key() taskKey {
	if r.pid == 0 {
		return taskKey{comm: r.comm}
	}
	return taskKey{pid: r.pid}
}

// tasks returns the tasks by their number, and their order: real-time ones first.
func (t *trial) tasks() (map[taskKey]*pooled, []taskKey) {
	all := make(map[taskKey]*pooled)
	var order []taskKey
	for i := range t.runs {
		for _, r := range mainRows(t.runs[i].rows) {
			k := r.key()
			p := all[k]
			if p == nil {
				p = &pooled{row: row{comm: r.comm, pid: r.pid, class: r.class, prio: r.prio}}
				all[k] = p
				order = append(order, k)
			}
			p.add(r)
		}
	}
	sort.SliceStable(order, func(i, j int) bool {
		a, b := all[order[i]], all[order[j]]
		if a.urgent() != b.urgent() {
			return a.urgent() < b.urgent()
		}
		if a.pid != b.pid {
			return a.pid < b.pid
		}
		return a.comm < b.comm
	})
	return all, order
}

// mainRows keeps of each task the name and class with the most wakeups.
func mainRows(rows []*row) []*row {
	best := make(map[taskKey]int)
	var list []*row
	for _, r := range rows {
		k := r.key()
		at, ok := best[k]
		switch {
		case !ok:
			best[k] = len(list)
			list = append(list, r)
		case r.wakeup.Count() > list[at].wakeup.Count():
			list[at] = r
		}
	}
	return list
}

func (p *pooled) add(r *row) {
	p.rounds.latency.Merge(&r.rounds.latency)
	p.rounds.misses += r.rounds.misses
	p.preempted.Merge(&r.preempted)
	if r.wakeup.Count() == 0 {
		return
	}
	p.wakeup.Merge(&r.wakeup)
	ns, _ := r.wakeup.Percentile(99, 100)
	p.p99, p.max = append(p.p99, ns), append(p.max, r.wakeup.Max())
}

// urgent orders tasks for people: those of users that have to be in time, others, threads of
// the kernel.
func (r *row) urgent() int {
	switch {
	case r.class == cause.ClassStop || kernel.IsKernelThread(r.comm):
		return 2
	case r.class == cause.ClassRT || r.class == cause.ClassDeadline:
		return 0
	}
	return 1
}

func (p *pooled) result(random bool) result.Varied {
	return result.Varied{Comm: p.comm, PID: int32(p.pid), Class: p.class.String(), Prio: result.Prio(p.prio),
		Wakeup: explain.Waits(&p.wakeup), Preempted: explain.Waits(&p.preempted), Timer: explain.Waits(&p.rounds.latency), Misses: p.rounds.misses,
		RunP99: stats.Estimate(p.p99, stats.Nothing, random), RunMax: stats.Estimate(p.max, stats.Nothing, random)}
}
