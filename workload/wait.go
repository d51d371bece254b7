package workload

import (
	"slices"

	"github.com/whylate/whylate/machine"
)

// cond is a condition variable of glibc 2.25 and later: two groups of waiters. Signals go
// to the older group; when that is empty, all who came meanwhile become the older one. In
// a group the futex wakes by priority.
type cond struct{ older, newer []*thread }

// barrier is rt-app's own, made of a mutex and a condition.
type barrier struct {
	waiting int // how many have yet to come before the last
	mutex   *mutex
	cond    cond
}

// semaphore is a POSIX semaphore.
type semaphore struct {
	value   int
	waiters []*thread
}

// wait does the operations in which threads wait for others.
func (p *thread) wait(op *Op) (machine.Step, bool) {
	r := p.run
	switch op.Kind {
	case OpSync, OpWait:
		if p.visit == 0 && op.Kind == OpSync {
			p.signal(&r.conds[op.Ref]) // rt-app takes no lock for it
		}
		return p.condWait(&r.conds[op.Ref], r.mutexes[op.Mutex])
	case OpSignal:
		p.signal(&r.conds[op.Ref])
	case OpBroadcast:
		p.broadcast(&r.conds[op.Ref])
	case OpBarrier:
		return p.meet(&r.barriers[op.Ref])
	case OpSuspend:
		return p.suspend(&r.conds[op.Ref], r.mutexes[op.Mutex])
	case OpResume:
		return p.resume(&r.conds[op.Ref], r.mutexes[op.Mutex])
	case OpSemPost:
		s := &r.sems[op.Ref]
		s.value++ // remembered if nobody waits
		s.waiters = p.wakeFirst(s.waiters)
	case OpSemWait:
		return p.semWait(&r.sems[op.Ref])
	case OpEnqueue:
		return p.enqueueIn(&r.queues[op.Ref])
	case OpRelease:
		return p.releaseQueue(&r.queues[op.Ref])
	case OpAwait:
		return p.await(&r.queues[op.Ref])
	}
	return proceed, true
}

// sleepIn blocks in a futex at a point at which a cancel ends the thread.
func (p *thread) sleepIn() (machine.Step, bool) {
	p.asleep = true
	return blocked, false
}

// wakeFirst wakes the first of list and returns the rest.
func (p *thread) wakeFirst(list []*thread) []*thread {
	if len(list) == 0 {
		return list
	}
	w := list[0]
	w.woken, w.wokenAt = true, p.run.m.Now()
	list = slices.Delete(list, 0, 1)
	p.run.m.Wake(p.th.Task.CPU(), w.th)
	return list
}

// condWait gives the mutex up, waits, and takes the mutex again: its own parts are 0 and 1.
func (p *thread) condWait(c *cond, mu *mutex) (machine.Step, bool) {
	if p.part == 0 {
		p.part = 1
		p.join(c)
		p.unlock(mu)
		return p.sleepIn()
	}
	if c.has(p) {
		return p.sleepIn() // woken by something else
	}
	return p.lock(mu)
}

// join puts p among those who came last.
func (p *thread) join(c *cond) {
	p.key = queueKey(NormalPrio(&p.th.Task.Attr))
	c.newer = p.run.enqueue(c.newer, p)
}

func (c *cond) has(p *thread) bool { return slices.Contains(c.older, p) || slices.Contains(c.newer, p) }

// signal is pthread_cond_signal(): lost if nobody waits.
func (p *thread) signal(c *cond) {
	if len(c.older) == 0 {
		c.older, c.newer = c.newer, c.older
	}
	c.older = p.wakeFirst(c.older)
}

// broadcast is pthread_cond_broadcast(): everybody, the older group first. None of them has
// the mutex then; nothing is requeued to it since glibc 2.25.
func (p *thread) broadcast(c *cond) {
	for len(c.older)+len(c.newer) > 0 {
		p.signal(c)
	}
}

// suspend is rt-app's: it locks, waits and unlocks.
func (p *thread) suspend(c *cond, mu *mutex) (machine.Step, bool) {
	if p.part == 0 {
		if step, locked := p.lock(mu); !locked {
			return step, false
		}
		p.part = 1
		p.join(c)
		p.unlock(mu)
		return p.sleepIn()
	}
	if step, locked := p.condWait(c, mu); !locked {
		return step, false
	}
	p.unlock(mu)
	return proceed, true
}

// resume is rt-app's: whoever it wakes still has to wait for the mutex.
func (p *thread) resume(c *cond, mu *mutex) (machine.Step, bool) {
	switch p.part {
	case 0:
		step, locked := p.lock(mu)
		if locked {
			p.part = 1
		}
		return step, false
	case 1:
		p.part = 2
		p.broadcast(c)
		return proceed, false
	}
	p.unlock(mu)
	return proceed, true
}

// meet is rt-app's barrier: the last one wakes the others, who then take the mutex in turn.
func (p *thread) meet(b *barrier) (machine.Step, bool) {
	switch p.part {
	case 0:
		if step, locked := p.lock(b.mutex); !locked {
			return step, false
		}
		// waiting counts up again only when those who are released come to run: a thread
		// that is faster than they finds the barrier open, as in rt-app.
		if b.waiting <= 0 {
			p.part = 2
			p.broadcast(&b.cond)
			return proceed, false
		}
		p.part = 1
		b.waiting--
		p.join(&b.cond)
		p.unlock(b.mutex)
		return p.sleepIn()
	case 1:
		if step, locked := p.condWait(&b.cond, b.mutex); !locked {
			return step, false
		}
		b.waiting++
	}
	p.unlock(b.mutex)
	return proceed, true
}

// semWait is sem_wait(): a post lets one waiter go, but the value is taken by who runs
// first.
func (p *thread) semWait(s *semaphore) (machine.Step, bool) {
	if p.visit == 0 {
		p.jobDone()
		p.wokenAt = p.run.m.Now()
	}
	if s.value > 0 {
		s.value--
		p.released, p.sleepOfJob, p.slackOfJob = p.wokenAt, -1, 0
		s.waiters = remove(s.waiters, p)
		return proceed, true
	}
	if !slices.Contains(s.waiters, p) {
		p.key = queueKey(NormalPrio(&p.th.Task.Attr))
		s.waiters = p.run.enqueue(s.waiters, p)
	}
	return p.sleepIn()
}

// gate is the pthread barrier at which all threads meet before they begin.
type gate struct {
	parties int
	waiters []*thread
}

// arrive reports whether p was the last: then the others are awake.
func (g *gate) arrive(p *thread) bool {
	if len(g.waiters) < g.parties-1 {
		p.key = queueKey(NormalPrio(&p.th.Task.Attr))
		g.waiters = p.run.enqueue(g.waiters, p)
		return false
	}
	for len(g.waiters) > 0 {
		g.waiters = p.wakeFirst(g.waiters)
	}
	return true
}
