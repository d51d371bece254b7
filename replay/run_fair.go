package replay

import (
	"fmt"

	"github.com/whylate/whylate/sched"
)

// makeGroups makes the groups of the load, where fair tasks run by the rules of their class. An error is
// what the kernel of the model refuses.
func (r *runner) makeGroups() error {
	l := r.load
	if !l.FairClass {
		return nil
	}
	forceQueues(r.m.Sched, nil, l.Root, l.CPUs)
	for i := range l.Groups {
		g := &l.Groups[i]
		if g.Auto && r.m.NoAutogroup() {
			r.groups = append(r.groups, nil)
			continue
		}
		var above *sched.Group
		if g.Parent >= 0 {
			above = r.groups[g.Parent]
		}
		made, err := g.make(r.m.Sched, above, r.model(0), r.m.Now())
		if err != nil {
			return fmt.Errorf("group %s: %w", g.Path, err)
		}
		forceQueues(r.m.Sched, made, g.Queues, l.CPUs)
		r.groups = append(r.groups, made)
	}
	return nil
}

// groupOf is the group of t, nil for the root.
func (r *runner) groupOf(t *Task) *sched.Group {
	if t.Group == 0 || t.Group > len(r.groups) {
		return nil
	}
	return r.groups[t.Group-1]
}

// stand puts the fair tasks that are there at Load.From where they stood.
func (r *runner) stand() {
	if !r.load.FairClass {
		return
	}
	for i := range r.threads {
		p := &r.threads[i]
		if p.th != nil && p.task.VirtualBy != Assumed && isFair(&p.task.Attr) && !p.task.Stopper {
			r.m.Sched.ForceVirtual(p.th.Task, p.task.Virtual)
		}
	}
}
