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
	robust  bool
	spin    bool      // of a kernel without PREEMPT_RT, or with it: then pi too
	ceiling int       // PTHREAD_PRIO_PROTECT; 0: none
	owner   *thread   // nil: open. Who died with it stays its owner
	waiters []*thread // by priority, then by arrival
	// ownerDied: the next owner is told so.
	ownerDied bool
}

func newMutex(mu Mutex, model sched.PreemptModel) *mutex {
	if mu.Spin {
		return &mutex{spin: true, pi: model == sched.PreemptRT}
	}
	return &mutex{pi: mu.PI, robust: mu.Robust, ceiling: mu.Ceiling}
}

// lock takes mu or waits for it, and is asked again whenever the thread wakes. A thread
// that already holds it waits for ever: glibc does so for a normal mutex, also where the
// kernel says EDEADLK.
func (p *thread) lock(mu *mutex) (machine.Step, bool) {
	if mu.spin && !mu.pi {
		return p.spinLock(mu)
	}
	switch {
	case mu.pi && p.waits == mu:
		return mu.wait(), false // woken by something else: FUTEX_LOCK_PI goes on waiting
	case p.granted == mu:
		p.granted = nil
		return p.locked(mu), true
	case mu.ceiling > 0 && !p.raise(mu):
		return gone, false
	case mu.owner == nil, p.steals(mu):
		p.take(mu)
		p.quiet = mu.ceiling == 0 // else no system call
		return p.locked(mu), true
	}
	if mu.pi && mu.owner.dying >= released && !mu.spin {
		// ESRCH: the kernel finds no such task, and glibc lets the thread wait for ever.
		return blocked, false
	}
	waiting := slices.Contains(mu.waiters, p)
	if !waiting && !mu.spin {
		if step, enters := p.enterFutex(); enters {
			return step, false
		}
	}
	if !waiting {
		p.key = queueKey(p.th.Task.Prio())
		if !mu.pi {
			p.key = queueKey(NormalPrio(&p.th.Task.Attr)) // a plain futex does not look at boosts
		} else {
			p.waits = mu
		}
		mu.waiters = p.run.enqueue(mu.waiters, p)
	}
	if mu.pi {
		// The boost comes before the waiter leaves the CPU, so sched_pi_setprio before its
		// sched_switch; task_blocks_on_rt_mutex().
		p.run.boost(p.th.Task.CPU(), mu.owner)
	}
	return mu.wait(), false
}

// steals takes a PI lock back from whom it was handed to, if that has not run since and goes
// after p; rt_mutex_steal(). Who is robbed waits again, in his old place.
func (p *thread) steals(mu *mutex) bool {
	heir := mu.owner
	if !mu.pi || heir.granted != mu {
		return false
	}
	key := queueKey(p.th.Task.Prio())
	earlier := false
	if key.Deadline() && key == heir.key {
		at, _ := p.th.Task.Deadline()
		earlier = at < heir.deadline
	}
	if key >= heir.key && !earlier {
		return false
	}
	heir.granted, heir.waits = nil, mu
	heir.held, heir.robust = without(heir.held, mu), without(heir.robust, mu)
	mu.waiters = insert(mu.waiters, heir)
	return true
}

func without(list []*mutex, mu *mutex) []*mutex {
	return slices.DeleteFunc(list, func(m *mutex) bool { return m == mu })
}

// wait is the step of a thread that has to wait for mu.
func (mu *mutex) wait() machine.Step {
	if mu.spin {
		return machine.Step{Kind: machine.StepBlock, State: event.StateDisk} // TASK_RTLOCK_WAIT
	}
	return blocked
}

// locked is the step of a thread that has got mu.
func (p *thread) locked(mu *mutex) machine.Step {
	if mu.spin {
		p.quiet = false
		if p.spins++; p.spins == 1 {
			p.run.m.Sched.MigrateDisable(p.th.Task.CPU())
		}
	}
	return proceed
}

// enqueue puts p into a queue that is ordered by priority, equal ones by arrival; the
// kernel's plist of a futex and the tree of an rt_mutex.
func (r *Run) enqueue(list []*thread, p *thread) []*thread {
	r.arrivals++
	p.deadline, _ = p.th.Task.Deadline()
	p.order = r.arrivals
	p.woken = false
	return insert(list, p)
}

// insert keeps key and order of p, for one that comes back after a change of priority.
func insert(list []*thread, p *thread) []*thread {
	i := len(list)
	for i > 0 && (p.before(list[i-1]) || !list[i-1].before(p) && list[i-1].order > p.order) {
		i--
	}
	return slices.Insert(list, i, p)
}

// before reports whether p goes first in a queue, whoever came first. Among the deadline
// tasks that wait for an rt_mutex the one whose deadline was earlier when it came;
// rt_waiter_node_less(). A plain futex does not look at deadlines.
func (p *thread) before(q *thread) bool {
	if p.key == q.key && p.key.Deadline() && p.waits != nil && q.waits != nil {
		return p.deadline < q.deadline
	}
	return p.key < q.key
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
	if mu.spin && !mu.pi {
		p.spinUnlock(mu)
		return
	}
	p.quiet = len(mu.waiters) == 0 && mu.ceiling == 0 && !mu.spin
	p.release(mu)
	if mu.ceiling > 0 {
		p.lower(mu)
	}
	if mu.spin {
		if p.spins--; p.spins == 0 {
			p.run.m.Sched.MigrateEnable(p.th.Task.CPU())
		}
	}
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
	p.robust = without(p.robust, mu)
	if mu.pi {
		p.held = without(p.held, mu)
		p.run.boost(cpu, p) // first down, then the wake: rt_mutex_futex_unlock()
		if next != nil {
			next.take(mu)
			next.waits, next.granted = nil, mu
			p.run.boost(cpu, next)
		}
	}
	if next != nil {
		next.woken = true
		p.run.m.Wake(cpu, next.th)
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
		r.m.Sched.Boost(cpu, t, p.donor())
		mu, deadline := p.waits, p.deadline
		if t.Prio().Deadline() {
			deadline, _ = t.Deadline()
		}
		if mu == nil || queueKey(t.Prio()) == p.key && deadline == p.deadline {
			return
		}
		// p stands elsewhere in its own queue now, and may lend more, or less, to the next.
		mu.waiters = remove(mu.waiters, p)
		p.key, p.deadline = queueKey(t.Prio()), deadline
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
		if w := mu.waiters[0]; first == nil || w.before(first) {
			first = w
		}
	}
	// A waiter that would not go first lends nothing. Fair tasks never do: a nice value is
	// not inherited. Whether one deadline task goes before another is for the class to say.
	if first == nil || first.key >= event.MaxRTPrio {
		return nil
	}
	prio, own := first.th.Task.Prio(), NormalPrio(&p.th.Task.Attr)
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
