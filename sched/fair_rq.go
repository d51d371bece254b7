package sched

import "github.com/whylate/whylate/event"

// schedEntity is a task of the fair class, or a group on one CPU; sched_entity.
type schedEntity struct {
	task   *Task        // nil for a group
	myQ    *cfsRQ       // what a group owns; nil for a task
	parent *schedEntity // the group that it belongs to; nil at the root
	cfsRQ  *cfsRQ       // the queue that it is in, or was last
	depth  int          // groups above it

	load  loadWeight
	onRQ  bool
	node  node     // in cfsRQ.timeline, while it is not current
	group fairLink // of a task in RQ.cfsTasks

	execStart          event.Time // of a group; a task has its own
	sumExecRuntime     event.Time // of a group; a task has its own
	prevSumExecRuntime event.Time // sum when it was picked

	vruntime int64 // ns of run time at nice 0
	placed   bool  // vruntime is a place that SetFairPlace gave it
	forked   bool  // taskFork has placed it

	// EEVDF
	deadline    int64 // virtual
	vlag        int64 // while it is not queued; deadline while its turn is protected (ProtectShortest: vprot)
	vprot       int64 // the vruntime up to which its turn is protected
	slice       event.Time
	customSlice bool
	relDeadline bool // deadline is relative to vruntime
	delayed     bool // sched_delayed: it sleeps, and is in the queue until its lag is paid

	avg            schedAvg
	runnableWeight int64
}

// fairLink is a place in the list of a CPU's fair tasks.
type fairLink struct{ prev, next *Task }

// sumExec returns how long the task or the group has run, ns.
func (se *schedEntity) sumExec() event.Time {
	if se.task != nil {
		return se.task.sumExecRuntime
	}
	return se.sumExecRuntime
}

// isIdle is se_is_idle(): of policy SCHED_IDLE, or a group with cpu.idle.
func (se *schedEntity) isIdle() bool {
	if se.task != nil {
		return se.task.Attr.Policy == Idle
	}
	return se.myQ.idle
}

// cfsRQ is the queue of a CPU, or of a group on a CPU; cfs_rq.
type cfsRQ struct {
	rq *RQ
	tg *Group       // nil: the root
	se *schedEntity // what stands for it in the queue above; nil for the root

	load       loadWeight
	nrRunning  int  // entities; with the current one
	hNrRunning int  // tasks in it and below; h_nr_queued from 6.12 on
	idleNr     int  // entities that are idle; idle_nr_running
	idleHNr    int  // tasks below that are SCHED_IDLE or in idle groups; idle_h_nr_running
	hNrDelayed int  // tasks below that sleep and are still in a queue
	idle       bool // cpu.idle of the group

	timeline         tree // all entities but the current one
	curr             *schedEntity
	next, last, skip *schedEntity // buddies
	minVruntime      int64

	// EEVDF. minVruntime is the 0-lag point of a while ago then; zero_vruntime.
	avgVruntime int64 // Σ (vruntime − minVruntime) × weight of the timeline
	avgLoad     int64 // Σ weight of the timeline

	leafLink
	cfsLoad
	cfsRuntime
}

// firstVruntime is min_vruntime of an empty queue.
const firstVruntime int64 = -1 << 20

func (cfs *cfsRQ) init(rq *RQ, g *Group) {
	cfs.rq, cfs.tg, cfs.minVruntime = rq, g, firstVruntime
}

// initTask makes se the entity of a new task.
func (se *schedEntity) initTask(p *Task, root *cfsRQ) {
	se.task = p
	se.node.task, se.node.se = p, se
	se.cfsRQ = root
}

// setTaskRQ is set_task_rq(): p belongs to the queue of its group on CPU c from now on.
func (s *Sched) setTaskRQ(p *Task, c event.CPU) {
	se := &p.se
	if g := p.group; g != nil && !s.cfg.FairPlaced {
		s.setTaskRQLoad(se, &g.cpus[c].cfs)
		se.cfsRQ, se.parent, se.depth = &g.cpus[c].cfs, &g.cpus[c].se, g.depth
		return
	}
	s.setTaskRQLoad(se, &s.rqs[c].cfs)
	se.cfsRQ, se.parent, se.depth = &s.rqs[c].cfs, nil, 0
}

// initGroupCFS gives g a queue and an entity on every CPU; alloc_fair_sched_group().
func (s *Sched) initGroupCFS(g *Group) {
	g.shares = nice0Load
	if g.parent != nil {
		g.depth = g.parent.depth
	}
	g.depth++
	for c := range g.cpus {
		q := &g.cpus[c]
		q.cfs.init(s.rqs[c], g)
		q.cfs.se = &q.se
		q.se = schedEntity{myQ: &q.cfs, load: s.groupWeight(g.shares), depth: g.depth - 1, slice: s.cfg.Fair.BaseSlice}
		q.se.node.se = &q.se
		q.se.cfsRQ = &s.rqs[c].cfs
		if g.parent != nil {
			up := &g.parent.cpus[c]
			q.se.parent, q.se.cfsRQ = &up.se, &up.cfs
		}
		s.initEntityLoad(&q.se)
	}
}

// linkTask puts p at the head of the fair tasks of rq, unlinkTask takes it out.
func (rq *RQ) linkTask(p *Task) {
	p.se.group = fairLink{nil, rq.cfsTasks}
	if rq.cfsTasks != nil {
		rq.cfsTasks.se.group.prev = p
	} else {
		rq.cfsLast = p
	}
	rq.cfsTasks = p
}

// linkTaskLast puts p at the end.
func (rq *RQ) linkTaskLast(p *Task) {
	p.se.group = fairLink{rq.cfsLast, nil}
	if rq.cfsLast != nil {
		rq.cfsLast.se.group.next = p
	} else {
		rq.cfsTasks = p
	}
	rq.cfsLast = p
}

func (rq *RQ) unlinkTask(p *Task) {
	l := p.se.group
	if l.prev != nil {
		l.prev.se.group.next = l.next
	} else {
		rq.cfsTasks = l.next
	}
	if l.next != nil {
		l.next.se.group.prev = l.prev
	} else {
		rq.cfsLast = l.prev
	}
	p.se.group = fairLink{}
}

// accountEntityEnqueue is account_entity_enqueue().
func (cfs *cfsRQ) accountEntityEnqueue(se *schedEntity) {
	cfs.setLoad(cfs.load.weight + se.load.weight)
	cfs.nrRunning++
	if se.isIdle() {
		cfs.idleNr++
	}
	if se.task != nil {
		cfs.rq.linkTask(se.task)
	}
}

// accountEntityDequeue is account_entity_dequeue().
func (cfs *cfsRQ) accountEntityDequeue(se *schedEntity) {
	cfs.setLoad(cfs.load.weight - se.load.weight)
	cfs.nrRunning--
	if se.isIdle() {
		cfs.idleNr--
	}
	if se.task != nil {
		cfs.rq.unlinkTask(se.task)
	}
}

// setLoad is update_load_add() and update_load_sub(): the inverse is computed when it is needed.
func (cfs *cfsRQ) setLoad(weight int64) { cfs.load = loadWeight{weight: weight} }

// inverted returns the weight of all that is queued, with its inverse.
func (cfs *cfsRQ) inverted(s *Sched) *loadWeight {
	if cfs.load.inverse == 0 {
		cfs.load = s.groupWeight(cfs.load.weight)
	}
	return &cfs.load
}
