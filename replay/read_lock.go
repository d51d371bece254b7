package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// locks finds the locks behind boosts: a task that raises another one and goes to sleep waits
// for something that the other holds, until that wakes it.
type locks struct {
	of      map[int]*contention // by the index of who waits
	mutexes []Mutex
}

// contention is one task that waits for a lock.
type contention struct {
	holder int // index of who has it
	at     event.Time
	taken  int // the holder took it before this one of its operations, −1: before the trace
	mutex  int // −1: the waiter has not gone to sleep
	sleep  int // the operation in which it waits
}

// setprio takes in a change of a task's priority by inheritance.
func (r *reader) setprio(ev *event.Event, step timeline.Step) {
	h, w := r.taskOf(step.Task), r.waker(ev)
	if h == nil || ev.NextPrio >= ev.TaskPrio {
		return
	}
	if w == nil || w == h {
		r.guess.add(boostUnknown)
		return
	}
	if r.locks.of == nil {
		r.locks.of = make(map[int]*contention)
	}
	if c := r.locks.of[w.index]; c != nil && c.mutex < 0 && c.at+atOnce >= ev.Time {
		return // whoever the holder itself waits for is raised too
	}
	r.locks.of[w.index] = &contention{holder: h.index, at: ev.Time, taken: h.tookLock(), mutex: -1}
}

// mostBack bounds how far back a task's last wake is looked for.
const mostBack = 1000

// tookLock returns the operation before which s is taken to have got a lock that it holds: the
// first after its last wake.
func (s *script) tookLock() int {
	n := s.sleep
	if s.doing == sleeping { // it holds it in its sleep
		for n--; n >= 0 && !s.ops[n].Kind.Sleeps(); n-- {
			if s.sleep-n > mostBack {
				return n
			}
		}
	}
	if n < 0 && s.begin != BeginNew {
		return -1
	}
	return n + 1
}

// sleeps takes in that s went to sleep: for the lock whose holder it has just raised, if it
// did that.
func (k *locks) sleeps(s *script) {
	c := k.of[s.index]
	if c == nil {
		return
	}
	if s.left-c.at > atOnce {
		delete(k.of, s.index)
		return
	}
	c.mutex, c.sleep = len(k.mutexes), s.sleep
	k.mutexes = append(k.mutexes, Mutex{PI: true, Held: -1})
	op := &s.ops[s.sleep]
	op.Kind, op.Ref, op.By = OpLock, c.mutex, Inferred
}

// given takes in that w wakes s at t. It reports whether that gives s the lock for which it
// waits; else s waited for something else.
func (k *locks) given(r *reader, w, s *script, t event.Time) bool {
	c := k.of[s.index]
	if c == nil {
		return false
	}
	if c.mutex < 0 || c.sleep != s.sleep || w == nil || w.index != c.holder {
		k.drop(r, s)
		return false
	}
	delete(k.of, s.index)
	if c.taken < 0 {
		k.mutexes[c.mutex].Held = w.index
	} else {
		w.insert(c.taken, Op{Kind: OpLock, Ref: c.mutex, At: t, Slept: t, By: Inferred})
	}
	w.add(Op{Kind: OpUnlock, Ref: c.mutex, At: t, By: Inferred})
	// For how long s has it then nothing tells, and nobody else waits for it.
	s.insert(c.sleep+1, Op{Kind: OpUnlock, Ref: c.mutex, At: t, By: Assumed})
	r.guess.add(lockHolder)
	return true
}

// drop forgets that s waits for a lock: it is an ordinary wait.
func (k *locks) drop(r *reader, s *script) {
	c := k.of[s.index]
	if c == nil {
		return
	}
	delete(k.of, s.index)
	r.guess.add(boostUnknown)
	if c.mutex >= 0 {
		s.ops[c.sleep].Kind, s.ops[c.sleep].Ref, s.ops[c.sleep].By = OpWait, 0, FromEvents
	}
}

// finish drops what still waits at the end of the trace.
func (k *locks) finish(r *reader) {
	for i := range r.tasks {
		k.drop(r, &r.tasks[i])
	}
}
