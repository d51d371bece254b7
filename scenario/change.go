package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// ErrNotModelled is the reason for which a change or a part of a file is refused although
// it means something to a kernel.
var ErrNotModelled = errors.New("not modelled yet")

// Change applies one change of the common grammar; see ParseChange. The name of a task is the
// one in the file, also that of a mutex; that of an interrupt may also be without its
// number, and what irq= changes is the thread of its handler. Nothing is half done: after an
// error the plan must not be used, since some of its tasks may be changed.
func (p *Plan) Change(text string) error {
	c, err := ParseChange(text)
	if err != nil {
		return err
	}
	if err := p.Apply(&c); err != nil {
		return fmt.Errorf("change %q: %w", text, err)
	}
	return nil
}

// Apply makes a change that was parsed.
func (p *Plan) Apply(c *Change) error {
	switch c.Kind {
	case ChangeTask:
		return p.changeTask(c)
	case ChangeIRQ:
		return p.changeIRQ(c)
	case ChangeSet:
		p.Values = append(p.Values, c.Values...)
	case ChangeKernel:
		p.Kernel = c.Kernel
	case ChangeCPUs:
		p.CPUs = c.CPUs
	case ChangeTeardown:
		p.Load.Teardown = p.Load.Teardown.Times(c.Scale())
	case ChangeRemove:
		return p.remove(c)
	case ChangeMutex:
		return p.changeMutex(c)
	case ChangeArrivals:
		return p.changeArrivals(c)
	case ChangeCGroup:
		return p.changeCGroup(c)
	}
	return nil
}

// Vary applies the changes of the variant called name, in their order.
func (p *Plan) Vary(name string) error {
	known := make([]string, 0, len(p.Variants))
	for _, v := range p.Variants {
		if v.Name != name {
			known = append(known, v.Name)
			continue
		}
		for _, c := range v.Changes {
			if err := p.Change(c); err != nil {
				return fmt.Errorf("variant %s: %w", name, err)
			}
		}
		return nil
	}
	return nearest.Unknown("variant", name, known)
}

// matching returns the indices of tasks that the change means.
func (p *Plan) matching(c *Change) ([]int, error) {
	var found []int
	var known []string
	for i := range p.Load.Tasks {
		name := p.Load.Tasks[i].Name
		known = append(known, name)
		if c.Matches(name) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return nil, nearest.Unknown("task of the scenario", c.Pattern, known)
	}
	return found, nil
}

// changeTask changes all tasks that match.
func (p *Plan) changeTask(c *Change) error {
	found, err := p.matching(c)
	if err != nil {
		return err
	}
	for _, i := range found {
		alter(&p.Load.Tasks[i], c)
	}
	return p.moveTasks(c, found)
}

// alter applies the change to a task. What its phases set themselves is changed there too:
// else the change would last until the first of them.
func alter(t *workload.Task, c *Change) {
	var attrs []**sched.Attr
	if c.AltersAttr() {
		attrs = append(attrs, &t.Attr)
		for i := range t.Phases {
			if t.Phases[i].Attr != nil {
				attrs = append(attrs, &t.Phases[i].Attr)
			}
		}
	}
	for _, a := range attrs {
		changed := sched.Attr{}
		if *a != nil {
			changed = **a
		}
		changed = c.Alter(changed)
		*a = &changed
	}
	if list := c.AllowedCPUs(); list != nil {
		t.CPUs = list
		for i := range t.Phases {
			t.Phases[i].CPUs = nil
		}
	}
	if how, ok := c.ExitNormalize(); ok {
		t.Normalize = &how
	}
	if work, ok := c.Work(); ok {
		for i := range t.Phases {
			scaleWork(t.Phases[i].Ops, work, func(workload.Op) bool { return true })
		}
	}
}

// scaleWork scales the work among ops for which its condition holds, asked in their order.
func scaleWork(ops []workload.Op, by workload.Scale, when func(workload.Op) bool) {
	for i := range ops {
		if when(ops[i]) && (ops[i].Kind == workload.OpRun || ops[i].Kind == workload.OpRuntime || ops[i].Kind == workload.OpSpin) {
			ops[i].NS, ops[i].Jitter = by.Of(ops[i].NS), by.Of(ops[i].Jitter)
		}
	}
}

// remove takes tasks out: nobody starts or forks them. Threads that come after them are
// numbered as in a file without them. Whoever waits for what they did waits for ever.
func (p *Plan) remove(c *Change) error {
	found, err := p.matching(c)
	if err != nil {
		return err
	}
	gone := func(op workload.Op) bool { return op.Kind == workload.OpFork && slices.Contains(found, op.Ref) }
	for _, i := range found {
		t := &p.Load.Tasks[i]
		for j := range t.Phases {
			if slices.ContainsFunc(t.Phases[j].Ops, func(op workload.Op) bool { return op.Kind == workload.OpBarrier }) {
				return fmt.Errorf("task %s cannot be removed: others wait for it at a barrier", t.Name)
			}
		}
		t.Instances = 0
	}
	for i := range p.Load.Tasks {
		for j := range p.Load.Tasks[i].Phases {
			ph := &p.Load.Tasks[i].Phases[j]
			ph.Ops = slices.DeleteFunc(ph.Ops, gone)
		}
	}
	return nil
}

// changeMutex changes the mutexes that match, and what tasks do while they hold them.
func (p *Plan) changeMutex(c *Change) error {
	found := false
	for i, name := range p.mutexes {
		if !c.Matches(name) {
			continue
		}
		found = true
		mu := &p.Load.Mutexes[i]
		if on, ok := c.PI(); ok {
			if mu.Spin {
				return fmt.Errorf("%s is a spinlock: its holder cannot inherit priorities", name)
			}
			mu.PI = on
			if on {
				mu.Ceiling = 0 // one protocol at most
			}
		}
		held, scaled := c.Held()
		for j := range p.Load.Tasks {
			t := &p.Load.Tasks[j]
			if scaled {
				scaleHeld(t, i, held)
			}
			if c.HeldOutside() {
				for k := range t.Phases {
					t.Phases[k].Ops = unheld(t.Phases[k].Ops, i)
				}
			}
		}
	}
	if !found {
		return nearest.Unknown("mutex of the scenario", c.Pattern, p.mutexes)
	}
	return nil
}

// scaleHeld scales the work of t between its taking mutex and giving it back.
func scaleHeld(t *workload.Task, mutex int, by workload.Scale) {
	has := false
	for i := range t.Phases {
		scaleWork(t.Phases[i].Ops, by, func(op workload.Op) bool {
			if op.Ref == mutex && (op.Kind == workload.OpLock || op.Kind == workload.OpUnlock) {
				has = op.Kind == workload.OpLock
			}
			return has
		})
	}
}

// unheld puts the work that is done between taking mutex and giving it back behind that, in
// its order. What is held beyond the end of ops stays.
func unheld(ops []workload.Op, mutex int) []workload.Op {
	out := make([]workload.Op, 0, len(ops))
	var moved []workload.Op
	end := 0 // of the section that ops[i] is in; 0: none
	for i, op := range ops {
		switch {
		case op.Kind == workload.OpLock && op.Ref == mutex:
			end = i + slices.IndexFunc(ops[i:], func(o workload.Op) bool { return o.Kind == workload.OpUnlock && o.Ref == mutex })
		case i < end && (op.Kind == workload.OpRun || op.Kind == workload.OpRuntime || op.Kind == workload.OpSpin):
			moved = append(moved, op)
			continue
		}
		out = append(out, op)
		if i == end {
			out = append(out, moved...)
			moved = nil
		}
	}
	return out
}

// changeIRQ changes the threads of all interrupts that match: the name in the file, the name
// without its number, or that of the thread.
func (p *Plan) changeIRQ(c *Change) error {
	bare := *c
	bare.Pattern = strings.TrimPrefix(c.Pattern, "irq/")
	found := false
	var known []string
	for i := range p.Load.IRQs {
		irq := &p.Load.IRQs[i]
		known = append(known, irq.Name)
		if !bare.Matches(irq.Name, strconv.FormatInt(irq.Number, 10)+"-"+irq.Name) {
			continue
		}
		found = true
		a := sched.Attr{Policy: sched.FIFO, Priority: 50}
		if irq.Attr != nil {
			a = *irq.Attr
		}
		a = c.Alter(a)
		irq.Attr = &a
		if list := c.AllowedCPUs(); list != nil {
			irq.CPUs = list
		}
	}
	if !found {
		return nearest.Unknown("interrupt of the scenario", bare.Pattern, known)
	}
	return nil
}
