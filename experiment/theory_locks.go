package experiment

import (
	"errors"
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/workload"
)

// locks finds how long tasks of lower priority can block the task: each at most once, in a
// section of a lock that the task or a higher one takes too, and each lock at most once.
func (t *theory) locks(task int) error {
	ceiling := t.ceilings()
	byTask, byLock := event.Time(0), map[int]event.Time{}
	for i := range t.load.Tasks {
		x := &t.load.Tasks[i]
		if x.Instances == 0 {
			continue
		}
		sections, err := sectionsOf(x)
		if err != nil {
			if len(ceiling) == 0 {
				continue // nobody of importance takes a lock
			}
			return fmt.Errorf("task %s: %w", x.Name, err)
		}
		lower := !realTime(x.Attr) || x.Attr.Priority < t.prio
		here := t.machine.Sched.CPUs == 1 || len(x.CPUs) == 1 && x.CPUs[0] == t.cpu
		longest := event.Time(0)
		for mutex, ns := range sections {
			if !ceiling[mutex] {
				continue
			}
			mu := &t.load.Mutexes[mutex]
			switch {
			case !here:
				return fmt.Errorf("task %s takes a lock of this CPU's tasks from another one", x.Name)
			case mu.Spin:
				return errors.New("there are spinlocks")
			case lower && !mu.PI && mu.Ceiling == 0:
				return errors.New("a lock does not inherit priorities: who holds it may be kept from the CPU for any time")
			}
			if lower {
				longest = max(longest, ns)
				byLock[mutex] = max(byLock[mutex], ns)
			}
		}
		if lower {
			byTask += event.Time(x.Instances) * longest
		}
	}
	sum := event.Time(0)
	for _, ns := range byLock {
		sum += ns
	}
	t.block = min(byTask, sum)
	return nil
}

// ceilings are the locks that matter: those that a task of this priority or a higher one takes
// on this CPU, or whose own ceiling is that high.
func (t *theory) ceilings() map[int]bool {
	m := map[int]bool{}
	for i := range t.load.Tasks {
		x := &t.load.Tasks[i]
		high := realTime(x.Attr) && x.Attr.Priority >= t.prio
		if !high || x.Instances == 0 || t.machine.Sched.CPUs > 1 && (len(x.CPUs) != 1 || x.CPUs[0] != t.cpu) {
			continue
		}
		for _, ph := range x.Phases {
			for _, op := range ph.Ops {
				if op.Kind == workload.OpLock {
					m[op.Ref] = true
				}
			}
		}
	}
	for i := range t.load.Mutexes {
		if mu := &t.load.Mutexes[i]; mu.Ceiling >= t.prio || mu.Spin {
			m[i] = true
		}
	}
	return m
}

// sectionsOf are the longest times for which a task holds each lock. It must hold one at a
// time and only work meanwhile.
func sectionsOf(x *workload.Task) (map[int]event.Time, error) {
	longest := map[int]event.Time{}
	for _, ph := range x.Phases {
		held, ns := -1, event.Time(0)
		for _, op := range ph.Ops {
			switch {
			case op.Kind == workload.OpLock && held < 0:
				held, ns = op.Ref, 0
			case op.Kind == workload.OpLock:
				return nil, errors.New("it takes a lock while it holds another one")
			case op.Kind == workload.OpUnlock && op.Ref == held:
				longest[held] = max(longest[held], ns)
				held = -1
			case op.Kind == workload.OpUnlock:
				return nil, errors.New("it gives back a lock that it does not hold")
			case held >= 0 && op.Kind == workload.OpRun:
				ns += op.NS
			case held >= 0:
				return nil, errors.New("it does more than work while it holds a lock")
			case waitsForOthers(op.Kind):
				return nil, errors.New("it waits for others")
			}
		}
		if held >= 0 {
			return nil, errors.New("it keeps a lock to its next round")
		}
	}
	return longest, nil
}

// waitsForOthers reports operations that take locks of their own.
func waitsForOthers(k workload.OpKind) bool {
	switch k {
	case workload.OpWait, workload.OpSync, workload.OpBarrier, workload.OpSuspend, workload.OpResume:
		return true
	}
	return false
}
