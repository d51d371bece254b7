package replay

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// mutex is a lock of a run: with pi one of the kernel's rt_mutexes, whose holder inherits
// from who waits and which is handed over; else a futex, which is open from its release on,
// so that somebody may be faster than who was woken. What a holder inherits follows the same
// rules as in package workload.
type mutex struct {
	pi      bool
	owner   *thread
	waiters []*thread // by priority, then by arrival
}

// lock takes mu or waits for it, and is asked again whenever the task wakes.
func (p *thread) lock(mu *mutex, op *Op) (machine.Step, bool) {
	block := machine.Step{Kind: machine.StepBlock, State: sleepState(op.State)}
	switch {
	case mu.pi && p.waits == mu:
		return block, false // woken by something else
	case p.granted == mu:
		p.granted = nil
		return p.proceed(), true
	case mu.owner == p:
		return p.proceed(), true // what the recording shows of it is not all
	case mu.owner == nil, p.steals(mu):
		p.take(mu)
		return p.proceed(), true
	}
	p.await(mu)
	return block, false
}

// await puts p among those who wait for mu. The boost comes before p leaves its CPU.
func (p *thread) await(mu *mutex) {
	if slices.Contains(mu.waiters, p) {
		return
	}
	p.run.arrivals++
	p.order = p.run.arrivals
	p.deadline, _ = p.th.Task.Deadline()
	p.key = queueKey(p.th.Task.Prio())
	if mu.pi {
		p.waits = mu
	} else {
		p.key = queueKey(workload.NormalPrio(&p.th.Task.Attr)) // a plain futex does not look at boosts
	}
	mu.insert(p)
	if mu.pi {
		p.run.boost(p.th.Task.CPU(), mu.owner)
	}
}

// steals takes a PI lock back from whom it was handed to, if that has not run since and goes
// after p; rt_mutex_steal().
func (p *thread) steals(mu *mutex) bool {
	heir := mu.owner
	if !mu.pi || heir.granted != mu || queueKey(p.th.Task.Prio()) >= heir.key {
		return false
	}
	heir.granted, heir.waits = nil, mu
	heir.held = without(heir.held, mu)
	mu.insert(heir)
	return true
}

func without(list []*mutex, mu *mutex) []*mutex {
	return slices.DeleteFunc(list, func(m *mutex) bool { return m == mu })
}

// take makes p the owner of mu.
func (p *thread) take(mu *mutex) {
	mu.owner = p
	p.held = append(p.held, mu)
}

// unlock gives mu up. With priority inheritance the first waiter gets it; else the first
// waiter wakes and tries again.
func (p *thread) unlock(mu *mutex) {
	if mu.owner != p {
		p.held = without(p.held, mu)
		return
	}
	var next *thread
	if len(mu.waiters) > 0 {
		next = mu.waiters[0]
		mu.waiters = slices.Delete(mu.waiters, 0, 1)
	}
	mu.owner = nil
	p.held = without(p.held, mu)
	cpu := p.th.Task.CPU()
	if mu.pi {
		p.run.boost(cpu, p) // first down, then the wake: rt_mutex_futex_unlock()
		if next != nil {
			next.take(mu)
			next.waits, next.granted = nil, mu
			p.run.boost(cpu, next)
		}
	}
	if next != nil {
		p.run.m.Wake(cpu, next.th)
	}
}

// insert keeps key and order of p, for one that comes back after a change of priority.
func (mu *mutex) insert(p *thread) {
	i := len(mu.waiters)
	for i > 0 {
		q := mu.waiters[i-1]
		if !p.before(q) && (q.before(p) || q.order < p.order) {
			break
		}
		i--
	}
	mu.waiters = slices.Insert(mu.waiters, i, p)
}

// before reports whether p goes first in a queue, whoever came first.
func (p *thread) before(q *thread) bool {
	if p.key == q.key && p.key.Deadline() && p.waits != nil && q.waits != nil {
		return p.deadline < q.deadline
	}
	return p.key < q.key
}

// boost gives p the priority of the first waiter of its mutexes, if that is higher than its
// own, and goes on with the holder of the mutex for which p itself waits;
// rt_mutex_adjust_prio_chain().
func (r *runner) boost(cpu event.CPU, p *thread) {
	for p != nil {
		t := p.th.Task
		r.m.Sched.Boost(cpu, t, p.donor())
		mu, deadline := p.waits, p.deadline
		if t.Prio().Deadline() {
			deadline, _ = t.Deadline()
		}
		if mu == nil || queueKey(t.Prio()) == p.key && deadline == p.deadline {
			return
		}
		i := slices.Index(mu.waiters, p)
		if i < 0 {
			return
		}
		mu.waiters = slices.Delete(mu.waiters, i, i+1)
		p.key, p.deadline = queueKey(t.Prio()), deadline
		mu.insert(p)
		p = mu.owner
	}
}

// donor is the first waiter of the PI mutexes that p holds, nil if p goes before all.
func (p *thread) donor() *sched.Task {
	var first *thread
	for _, mu := range p.held {
		if !mu.pi || len(mu.waiters) == 0 {
			continue
		}
		if w := mu.waiters[0]; first == nil || w.before(first) {
			first = w
		}
	}
	if first == nil || first.key >= event.MaxRTPrio {
		return nil // a nice value is not inherited
	}
	prio, own := first.th.Task.Prio(), workload.NormalPrio(&p.th.Task.Attr)
	if prio > own || prio == own && !own.Deadline() {
		return nil
	}
	return first.th.Task
}

// reboost looks again at what p inherits, after its own priority changed.
func (p *thread) reboost() {
	if len(p.held) > 0 {
		p.run.boost(p.th.Task.CPU(), p)
	}
}

// queueKey is the place of a task in a queue of waiters: all fair tasks are equal there.
func queueKey(prio event.Prio) event.Prio { return min(prio, event.MaxRTPrio) }
