package workload

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// mutex is a pthread mutex of the normal kind. Without contention it costs no system call
// and leaves no trace. With pi it is a FUTEX_LOCK_PI with an rt_mutex behind it, else a
// plain futex.
type mutex struct {
	pi      bool
	owner   *thread   // nil: open. Who died with it stays its owner
	waiters []*thread // by priority, then by arrival
}

// lock takes mu or waits for it, and is asked again whenever the thread wakes. A thread
// that already holds it waits for ever: glibc does so for a normal mutex, also where the
// kernel says EDEADLK.
func (p *thread) lock(mu *mutex) (machine.Step, bool) {
	switch {
	case mu.pi && p.waits == mu:
		return blocked, false // woken by something else: FUTEX_LOCK_PI goes on waiting
	case p.granted == mu:
		p.granted = nil
		return proceed, true
	case mu.owner == nil:
		mu.owner = p
		if mu.pi {
			p.held = append(p.held, mu)
		}
		p.quiet = true // no system call
		return proceed, true
	}
	if !slices.Contains(mu.waiters, p) {
		p.key = queueKey(p.th.Task.Prio())
		if !mu.pi {
			p.key = queueKey(NormalPrio(&p.th.Task.Attr)) // a plain futex does not look at boosts
		}
		mu.waiters = p.run.enqueue(mu.waiters, p)
	}
	if mu.pi {
		// The boost comes before the waiter leaves the CPU, so sched_pi_setprio before its
		// sched_switch; task_blocks_on_rt_mutex().
		p.waits = mu
		p.run.boost(p.th.Task.CPU(), mu.owner)
	}
	return blocked, false
}

// enqueue puts p into a queue that is ordered by priority, equal ones by arrival; the
// kernel's plist of a futex and the tree of an rt_mutex.
func (r *Run) enqueue(list []*thread, p *thread) []*thread {
	r.arrivals++
	p.order = r.arrivals
	p.woken = false
	return insert(list, p)
}

// insert keeps key and order of p, for one that comes back after a change of priority.
func insert(list []*thread, p *thread) []*thread {
	i := len(list)
	for i > 0 && (list[i-1].key > p.key || list[i-1].key == p.key && list[i-1].order > p.order) {
		i--
	}
	return slices.Insert(list, i, p)
}

func remove(list []*thread, p *thread) []*thread {
	if i := slices.Index(list, p); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// unlock gives mu up. With priority inheritance the first waiter gets it; else the first
// waiter wakes and tries again, and somebody may be faster. Who does not hold a PI mutex
// cannot give it up (EPERM); a plain one is simply open then.
func (p *thread) unlock(mu *mutex) {
	if mu.pi && mu.owner != p {
		return
	}
	p.quiet = len(mu.waiters) == 0
	p.release(mu)
}

func (p *thread) release(mu *mutex) {
	var next *thread
	if len(mu.waiters) > 0 {
		next = mu.waiters[0]
		mu.waiters = slices.Delete(mu.waiters, 0, 1)
	}
	// A plain lock is open from here on, so whoever runs next can take it; what was woken
	// will have to wait again.
	mu.owner = nil
	cpu := p.th.Task.CPU()
	if mu.pi {
		p.held = slices.DeleteFunc(p.held, func(h *mutex) bool { return h == mu })
		p.run.boost(cpu, p) // first down, then the wake: rt_mutex_futex_unlock()
		if next != nil {
			mu.owner = next
			next.held = append(next.held, mu)
			next.waits, next.granted = nil, mu
			p.run.boost(cpu, next)
		}
	}
	if next != nil {
		next.woken = true
		p.run.m.Wake(cpu, next.th)
	}
}

// releaseAll is what the kernel does for a task that dies: PI mutexes that somebody waits
// for are handed over. All others stay locked for ever.
func (p *thread) releaseAll() {
	for _, mu := range slices.Clone(p.held) {
		if len(mu.waiters) > 0 {
			p.release(mu)
		}
	}
}

// boost gives p the priority of the first waiter of its mutexes, if that is higher than
// its own, and goes on with the holder of the mutex for which p itself waits;
// rt_mutex_adjust_prio_chain(). A ring of holders ends at its first member: nothing
// changes there any more. The kernel gives up such a chain at 1,024 members; here it ends
// when a priority stays as it is, which each step makes higher or lower for good.
func (r *Run) boost(cpu event.CPU, p *thread) {
	for p != nil {
		t := p.th.Task
		before := t.Prio()
		r.m.Sched.Boost(cpu, t, p.donor())
		if t.Prio() == before || p.waits == nil {
			return
		}
		// p stands elsewhere in its own queue now, and may lend more, or less, to the next.
		mu := p.waits
		mu.waiters = remove(mu.waiters, p)
		p.key = queueKey(t.Prio())
		mu.waiters = insert(mu.waiters, p)
		p = mu.owner
	}
}

// donor is the first waiter of the mutexes that p holds, nil if p goes before all.
func (p *thread) donor() *sched.Task {
	var first *thread
	for _, mu := range p.held {
		if len(mu.waiters) == 0 {
			continue
		}
		if w := mu.waiters[0]; first == nil || w.key < first.key {
			first = w
		}
	}
	// A waiter that would not go first lends nothing. Fair tasks never do: a nice value is
	// not inherited.
	if first == nil || first.th.Task.Prio() >= NormalPrio(&p.th.Task.Attr) || first.key >= event.MaxRTPrio {
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
