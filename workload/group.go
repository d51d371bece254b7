package workload

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// Memory is the address space of a task that is a process of its own.
type Memory struct {
	Pages, VMAs int64
	// Locked is mlockall(): all pages are there from the start. Else they come one by one
	// when they are touched.
	Locked bool
}

// Exit is how a task ends beside the end of its loops.
type Exit struct {
	// After is when, from the common start, of a forked task from its own; negative: with
	// its loops.
	After event.Time
	// Signal is the number of the signal that ends it then; 0: it ends by itself, as soon as
	// it is in user mode. Both end the whole process.
	Signal int64
	// Core is the size of the core dump in bytes that the signal makes.
	Core int64
	// Post is the semaphore that is raised when the parent learns of the death; negative:
	// none.
	Post int
}

// process reports whether t is a process of its own, not a thread of the main one.
// Its own end, or one that somebody waits for, is that of a process.
func (t *Task) process() bool {
	e := t.Exit
	return t.Memory != nil || e != nil && (e.Signal > 0 || e.After != event.NoTime || e.Post >= 0)
}

// group is a process: threads that share an address space and die of a signal together.
type group struct {
	mm      Memory
	touched int64 // pages that are there
	users   int   // threads that have not given mm up
	left    int   // threads whose exit is not over
	threads []*thread
	parent  *machine.Thread
	forked  bool // made while the others ran: its start takes time
	loaded  bool // exec and mlockall() are done
	dying   bool // one of them ends all
	dumping bool // a core is being written
}

// groupFor returns the process of a new thread of task t. The instances that begin with the
// others are threads of one process; each fork makes a process.
func (r *Run) groupFor(t *Task, parent *machine.Thread, fork bool) *group {
	if !t.process() {
		r.shared.users++
		return r.shared
	}
	if !fork {
		for _, p := range r.threads {
			if p.task == t && !p.fork {
				p.group.users++
				p.group.left++
				return p.group
			}
		}
	}
	g := &group{users: 1, left: 1, parent: parent, forked: fork, loaded: !fork}
	if t.Memory != nil {
		g.mm = *t.Memory
	}
	// Who begins with the others was there before: his memory is already populated.
	if g.loaded && g.mm.Locked {
		g.touched = g.mm.Pages
	}
	return g
}

// own reports whether g is a process of its own.
func (g *group) own() bool { return g.parent != nil }

// leader is the thread after which the process is called.
func (g *group) leader() *thread { return g.threads[0] }

// load is what a new process does before its program begins: exec, and where its memory is
// locked a fault for every page.
func (p *thread) load() machine.Step {
	r, g := p.run, p.group
	if p.part == 0 {
		p.part = 1
		r.m.Exec(p.th)
		return machine.Step{Kind: machine.StepRun, Mode: machine.Kernel, NS: r.spec.Costs.Exec}
	}
	if p.part == 1 {
		p.part = 2
		p.takeName()
		r.emitExec(p.th)
		if g.mm.Locked {
			g.touched = g.mm.Pages
			each := r.spec.Costs.Fault
			return machine.Step{Kind: machine.StepRun, Mode: machine.Kernel, NS: pages(g.mm.Pages, each), CondResched: each}
		}
	}
	p.part, g.loaded = 0, true
	return proceed
}

// leave takes p out of whatever it waits in: a later wake must not be lost on a dead one.
func (r *Run) leave(p *thread) {
	for i := range r.conds {
		r.conds[i].leave(p)
	}
	for i := range r.barriers {
		r.barriers[i].cond.leave(p)
		r.barriers[i].mutex.leave(p)
	}
	for _, mu := range r.mutexes {
		mu.leave(p)
	}
	for i := range r.sems {
		r.sems[i].waiters = remove(r.sems[i].waiters, p)
	}
	for i := range r.queues {
		r.queues[i].waiters, r.queues[i].keepers = remove(r.queues[i].waiters, p), remove(r.queues[i].keepers, p)
	}
	if slices.Contains(r.start.waiters, p) {
		r.start.waiters = remove(r.start.waiters, p)
		r.start.parties--
	}
}

func (c *cond) leave(p *thread) { c.older, c.newer = remove(c.older, p), remove(c.newer, p) }

// leave gives up waiting for mu; what p lent to its owner is gone then.
func (mu *mutex) leave(p *thread) {
	mu.waiters = remove(mu.waiters, p)
	if p.waits == mu {
		p.waits = nil
		p.run.boost(p.th.Task.CPU(), mu.owner)
	}
}
