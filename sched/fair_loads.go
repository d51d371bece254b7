package sched

import "github.com/whylate/whylate/event"

// Load is what load tracking says of a task or a queue, as of its last update: how much of a
// CPU's time it runs, wants to run, and wants by weight. 1024 is all the time of one task of
// nice 0.
type Load struct {
	LoadAvg, RunnableAvg, UtilAvg int64
}

func (sa *schedAvg) load() Load {
	return Load{int64(sa.loadAvg), int64(sa.runnableAvg), int64(sa.utilAvg)}
}

// Load returns the load of p.
func (p *Task) Load() Load { return p.se.avg.load() }

// QueueLoad returns the load of the queue of g on CPU c; nil is the root. shown is what a kernel
// shows, as of the end of the last period, and summed what it would show if the period had ended
// with the last update.
func (s *Sched) QueueLoad(c event.CPU, g *Group) (shown, summed Load) {
	q := &s.rqs[c].cfs
	if g != nil {
		q = &g.cpus[c].cfs
	}
	now := q.avg
	now.updateLoadAvg(1)
	return q.avg.load(), now.load()
}

// LoadAvg returns the load of g on all CPUs, as far as its queues have told; load_avg of
// task_group.
func (g *Group) LoadAvg() int64 { return g.loadAvg }

// EntityWeight returns what g weighs on CPU c beside others, 1024 for a task of nice 0.
func (g *Group) EntityWeight(c event.CPU) int64 { return g.cpus[c].se.load.weight >> weightShift }

// ForceLoad says what the load of p is, which is in no queue. The next one that it comes to
// gets that beside its own.
func (s *Sched) ForceLoad(p *Task, l Load) {
	s.detachEntityCfsRQ(&p.se)
	p.se.avg = schedAvg{loadAvg: uint64(l.LoadAvg), runnableAvg: uint64(l.RunnableAvg), utilAvg: uint64(l.UtilAvg)}
}
