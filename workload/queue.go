package workload

import (
	"slices"

	"github.com/whylate/whylate/machine"
)

// queue is how schbench's message thread and its workers wait for each other, on a futex of each: a list
// of those that want to be released, the last who came first, and a flag that tells the keeper of the list
// that somebody has come since it was released last.
type queue struct {
	waiters []*thread // the last who came first
	told    bool      // the flag
	keepers []*thread // who sleep until it is set
}

// enqueueIn joins q, tells its keeper where the flag says nothing yet, and sleeps. Its latency counts from
// the release, which has one stamp for all: who is woken last waits for the wakes of the others too.
func (p *thread) enqueueIn(q *queue) (machine.Step, bool) {
	if p.visit == 0 {
		p.woken = false
		q.waiters = slices.Insert(q.waiters, 0, p)
		if p.part = 1; q.told {
			p.part = 2 // no call: somebody else has said so
		}
		q.told = true
	}
	if p.part == 1 {
		if step, enters := p.enterFutex(); enters {
			return step, false
		}
		p.part = 2
		q.keepers = p.wakeFirst(q.keepers)
	}
	if !p.woken {
		return p.sleepIn()
	}
	p.loop.WakeupLatency += p.run.m.Now() - p.stamp
	p.quiet = true
	return proceed, true
}

// releaseQueue wakes all that are in q now, one after the other, each by a call of its own.
func (p *thread) releaseQueue(q *queue) (machine.Step, bool) {
	if p.visit == 0 {
		// Who queues again meanwhile is not meant: the list is taken before the first wake.
		q.told = false
		p.batch, q.waiters = q.waiters, p.batch[:0]
		for _, w := range p.batch {
			w.stamp = p.run.m.Now()
		}
	}
	if len(p.batch) > 0 {
		if step, enters := p.enterFutex(); enters {
			return step, false
		}
	}
	p.batch = p.wakeFirst(p.batch)
	return proceed, len(p.batch) == 0
}

// await sleeps until somebody has joined q since its last release.
func (p *thread) await(q *queue) (machine.Step, bool) {
	if q.told {
		q.told = false
		q.keepers = remove(q.keepers, p)
		return proceed, true
	}
	if !slices.Contains(q.keepers, p) {
		q.keepers = append(q.keepers, p)
	}
	return p.sleepIn()
}
