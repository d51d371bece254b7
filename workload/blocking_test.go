package workload_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/workload"
)

// A random set of tasks on one CPU: each runs, takes some locks one inside the other or one
// after the other, and sleeps. Lower numbers have lower priorities, all are different.
type lockSet struct {
	tasks    []workload.Task
	sections [][]section // of each task: its outermost critical sections
	uses     [][]bool    // [task][lock]
}

// section is an outermost critical section with all locks that are taken in it.
type section struct {
	length event.Time
	locks  []int
}

const locksOfSet = 3

func randomLockSet(random *rand.Rand) *lockSet {
	s := &lockSet{}
	n := 3 + random.IntN(4)
	for i := range n {
		var ops []workload.Op
		uses := make([]bool, locksOfSet)
		var sections []section
		run := func() event.Time { return event.Time(1+random.IntN(200)) * us }
		for range 1 + random.IntN(3) {
			ops = append(ops, runFor(run()))
			// Nested locks are taken in the order of their numbers, so that nothing deadlocks.
			var in []int
			length := event.Time(0)
			for l := range locksOfSet {
				if random.IntN(2) == 0 {
					work := run()
					length += work
					ops = append(ops, lock(l), runFor(work))
					in, uses[l] = append(in, l), true
				}
			}
			for _, l := range slices.Backward(in) {
				ops = append(ops, unlock(l))
			}
			if len(in) > 0 {
				sections = append(sections, section{length, in})
			}
		}
		ops = append(ops, workload.Op{Kind: workload.OpSleep, NS: 500 * us, Jitter: 3 * ms})
		t := task("t", 10+i, ops...)
		t.Comm = string(rune('a' + i))
		s.tasks, s.sections, s.uses = append(s.tasks, t), append(s.sections, sections), append(s.uses, uses)
	}
	return s
}

// ceiling is the number of the most important task that uses lock l.
func (s *lockSet) ceiling(l int) int {
	for i := range slices.Backward(s.tasks) {
		if s.uses[i][l] {
			return i
		}
	}
	return -1
}

// reach is the number of the most important task that can come to wait for lock l, if only
// because somebody takes it who holds a lock for which that task waits.
func (s *lockSet) reach() [locksOfSet]int {
	var reach [locksOfSet]int
	for l := range reach {
		reach[l] = s.ceiling(l)
	}
	for range locksOfSet {
		for i := range s.sections {
			for _, x := range s.sections[i] {
				for k := 1; k < len(x.locks); k++ {
					reach[x.locks[k]] = max(reach[x.locks[k]], reach[x.locks[k-1]])
				}
			}
		}
	}
	return reach
}

// bounds are how long lower tasks can keep a job of task i: at most one critical section of
// each lower task (inherit), at most one in all (protect).
func (s *lockSet) bounds(i int) (inherit, protect event.Time) {
	reach := s.reach()
	for j := range i {
		most := event.Time(0)
		for k := range s.sections[j] {
			x := &s.sections[j][k]
			if slices.ContainsFunc(x.locks, func(l int) bool { return reach[l] >= i }) {
				most = max(most, x.length)
			}
			if slices.ContainsFunc(x.locks, func(l int) bool { return s.ceiling(l) >= i }) {
				protect = max(protect, x.length)
			}
		}
		inherit += most
	}
	return inherit, protect
}

// perLock bounds what lower tasks can take from task i where locks are not nested: at most
// one critical section of each lock.
func (s *lockSet) perLock(i int) event.Time {
	total := event.Time(0)
	for l := range locksOfSet {
		most := event.Time(0)
		for j := range i {
			for k := range s.sections[j] {
				if x := &s.sections[j][k]; x.locks[0] == l && s.ceiling(l) >= i {
					most = max(most, x.length)
				}
			}
		}
		total += most
	}
	return total
}

// blocked measures for each task the longest time that lower tasks had the CPU between a
// waking of it and its next sleep. It reads the events and the tasks' own priorities only.
func (r *record) blocked(tasks int) []event.Time {
	worst := make([]event.Time, tasks)
	since := make([]event.Time, tasks) // what lower tasks had in the job at hand; −1: none
	for i := range since {
		since[i] = -1
	}
	number := func(n event.Name) int {
		if name := r.names.String(n); len(name) == 1 {
			return int(name[0] - 'a')
		}
		return -1
	}
	running, at := -1, event.Time(0)
	woken := make([]event.Time, tasks)
	asleep := make([]bool, tasks) // by its own sleep, not for a lock
	for i := range r.events {
		ev := &r.events[i]
		switch ev.Kind {
		case event.HrtimerStart:
			if n := number(ev.Comm); n >= 0 {
				asleep[n] = true
			}
		case event.SchedWaking:
			if n := number(ev.TaskComm); n >= 0 && asleep[n] {
				asleep[n], since[n], woken[n] = false, 0, ev.Time
			}
		case event.SchedSwitch:
			for n := range since {
				if since[n] >= 0 && running >= 0 && running < n {
					since[n] += ev.Time - max(at, woken[n])
					worst[n] = max(worst[n], since[n])
				}
			}
			if n := number(ev.TaskComm); n >= 0 && asleep[n] {
				since[n] = -1
			}
			running, at = number(ev.NextComm), ev.Time
		case event.SchedProcessExit:
			return worst // the end: locks are worked off
		}
	}
	return worst
}

// TestBlockedAtMostOneSectionPerResource is what Sha, Rajkumar and Lehoczky proved in 1990:
// with priority inheritance lower tasks keep a job for at most one critical section each,
// and of each resource; with ceilings for one in all. Without either there are sets that
// break these bounds.
func TestBlockedAtMostOneSectionPerResource(t *testing.T) {
	broken, near := 0, 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		s := randomLockSet(random)
		for protocol, mutex := range map[string]workload.Mutex{"inherit": {PI: true}, "protect": {}, "none": {}} {
			mutexes := make([]workload.Mutex, locksOfSet)
			for l := range mutexes {
				if mutexes[l] = mutex; protocol == "protect" {
					mutexes[l].Ceiling = 10 + max(0, s.ceiling(l))
				}
			}
			r := play(t, 1, 400*ms, &workload.Spec{Duration: 200 * ms, Seed: seed, Mutexes: mutexes, Tasks: s.tasks})
			for i, got := range r.blocked(len(s.tasks)) {
				inherit, protect := s.bounds(i)
				bound := inherit
				if protocol == "protect" {
					bound = protect
				}
				switch {
				case got <= bound:
					if got > 0 && got*10 >= bound*9 {
						near++
					}
				case protocol == "none":
					broken++
				default:
					t.Errorf("seed %d, %s: task %d was blocked for %d ns, at most %d are possible", seed, protocol, i, got, bound)
				}
			}
		}
	}
	t.Logf("%d tasks came near their bound; without a protocol %d broke that of inheritance", near, broken)
	if near < 100 || broken < 20 {
		t.Error("the sets do not test much")
	}
}

// TestBlockedOncePerLock: where locks are not nested, also at most one critical section of
// each lock, however many tasks share it.
func TestBlockedOncePerLock(t *testing.T) {
	near := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 11))
		s := randomLockSet(random)
		flatten(s)
		mutexes := slices.Repeat([]workload.Mutex{{PI: true}}, locksOfSet)
		r := play(t, 1, 400*ms, &workload.Spec{Duration: 200 * ms, Seed: seed, Mutexes: mutexes, Tasks: s.tasks})
		for i, got := range r.blocked(len(s.tasks)) {
			inherit, _ := s.bounds(i)
			bound := min(inherit, s.perLock(i))
			if got > bound {
				t.Errorf("seed %d: task %d was blocked for %d ns, at most %d are possible", seed, i, got, bound)
			}
			if got > 0 && got*10 >= bound*9 {
				near++
			}
		}
	}
	if near < 50 {
		t.Errorf("only %d tasks came near their bound", near)
	}
}

// flatten puts every lock of a set before the next one is taken.
func flatten(s *lockSet) {
	for i := range s.tasks {
		s.sections[i] = nil
		ops := &s.tasks[i].Phases[0].Ops
		var flat []workload.Op
		for k, op := range *ops {
			switch op.Kind {
			case workload.OpUnlock:
				continue
			case workload.OpLock:
				work := (*ops)[k+1]
				flat = append(flat, op, work, unlock(op.Ref))
				s.sections[i] = append(s.sections[i], section{work.NS, []int{op.Ref}})
			case workload.OpRun:
				if k > 0 && (*ops)[k-1].Kind == workload.OpLock {
					continue
				}
				flat = append(flat, op)
			default:
				flat = append(flat, op)
			}
		}
		*ops = flat
	}
}
