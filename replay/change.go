package replay

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/nearest"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/workload"
)

// Clone returns a copy that can be changed while l stays as it is. The recorded waits and the
// names are shared.
func (l *Load) Clone() *Load {
	c := *l
	c.Values = slices.Clone(l.Values)
	c.Stolen, c.Late = slices.Clone(l.Stolen), slices.Clone(l.Late)
	c.Assumed = slices.Clone(l.Assumed)
	c.Mutexes = slices.Clone(l.Mutexes)
	c.posts = slices.Clone(l.posts)
	c.Tasks = slices.Clone(l.Tasks)
	for i := range c.Tasks {
		c.Tasks[i].Ops = slices.Clone(l.Tasks[i].Ops)
	}
	c.Groups = slices.Clone(l.Groups)
	c.Lines = slices.Clone(l.Lines)
	for i := range c.Lines {
		c.Lines[i].Arrivals = slices.Clone(l.Lines[i].Arrivals)
	}
	return &c
}

// Change applies one change of the common grammar (scenario.ParseChange). A task is named by
// its name, its pid or NAME/PID, or by a pattern of one of these; an interrupt by its name,
// its number or that of its thread; a mutex by its number, or
// all, and what a task does under its mutexes by the name of the task. What a change leaves open
// is noted in Assumed. After an error the load must not be used, since a part of the change
// may be made.
func (l *Load) Change(text string) error {
	c, err := scenario.ParseChange(text)
	if err != nil {
		return err
	}
	if err := l.Apply(&c); err != nil {
		return fmt.Errorf("change %q: %w", text, err)
	}
	return nil
}

// Apply makes a change that was parsed.
func (l *Load) Apply(c *scenario.Change) error {
	if !l.changed {
		l.changed, l.told = true, len(l.Values)
		for i := range l.Tasks {
			l.Tasks[i].Ops = oneByOne(l.Tasks[i].Ops)
		}
	}
	if l.NeedsFairClass(c) {
		l.UseFairClass()
	}
	var err error
	switch c.Kind {
	case scenario.ChangeTask:
		err = l.changeTasks(c)
	case scenario.ChangeIRQ:
		err = l.changeLines(c)
	case scenario.ChangeSet:
		l.Values = append(l.Values, c.Values...)
		if slices.ContainsFunc(c.Values, func(v scenario.Value) bool { return v.Name == "sched_rt_runtime_us" }) {
			l.RTShort = 0
		}
	case scenario.ChangeKernel:
		err = l.changeKernel(c.Kernel)
	case scenario.ChangeCPUs:
		l.changeCPUs(c.CPUs)
	case scenario.ChangeTeardown:
		err = l.scaleTeardown(c.Scale())
	case scenario.ChangeRemove:
		err = l.remove(c)
	case scenario.ChangeMutex:
		err = l.changeMutexes(c)
	case scenario.ChangeArrivals:
		err = fmt.Errorf("when tasks of a recording arrive is %w; scenarios can have it changed", scenario.ErrNotModelled)
	case scenario.ChangeCGroup:
		err = l.changeGroups(c)
	}
	if err != nil {
		return err
	}
	p, err := l.plan()
	if err != nil {
		return err
	}
	setup, err := p.Setup() // what the settings are together may be what a kernel refuses
	if err != nil {
		return err
	}
	return l.confine(c, setup.Load.CPUs)
}

// assume notes a guess, counted.
func (l *Load) assume(kind string, count int64, text string) {
	for i := range l.Assumed {
		if a := &l.Assumed[i]; a.Kind == kind && a.Text == text {
			a.Count += count
			return
		}
	}
	l.Assumed = append(l.Assumed, Assumption{kind, count, text})
}

// matching returns the tasks that the change means.
func (l *Load) matching(c *scenario.Change) ([]int, error) {
	var found []int
	var known []string
	for i := range l.Tasks {
		t := &l.Tasks[i]
		name, pid := l.Names.String(t.Comm), strconv.Itoa(int(t.PID))
		if c.Matches(name, pid, name+"/"+pid) && !t.Removed {
			found = append(found, i)
		}
		if !slices.Contains(known, name) && len(known) < mostKnown {
			known = append(known, name)
		}
	}
	if len(found) == 0 {
		return nil, nearest.Unknown("task of the trace", c.Pattern, known)
	}
	return found, nil
}

// mostKnown bounds the names that an error chooses from.
const mostKnown = 1000

func (l *Load) changeTasks(c *scenario.Change) error {
	found, err := l.matching(c)
	if err != nil {
		return err
	}
	for _, i := range found {
		if err := l.alter(&l.Tasks[i], c); err != nil {
			return err
		}
	}
	return nil
}

// alter changes a task. What it was seen to become later it becomes with the change, too: else
// that would last until then.
func (l *Load) alter(t *Task, c *scenario.Change) error {
	name := fmt.Sprintf("%s/%d", l.Names.String(t.Comm), t.PID)
	if t.Stopper {
		return fmt.Errorf("%s is of the stop class, which cannot be changed", name)
	}
	if _, moves := c.CGroup(); moves {
		return fmt.Errorf("the control group of a recorded task cannot be changed: that is %w; scenarios can have it changed", scenario.ErrNotModelled)
	}
	cpus := c.AllowedCPUs()
	for _, cpu := range cpus {
		if int(cpu) >= l.CPUs {
			return fmt.Errorf("CPU %d is not one of the %d of this machine", cpu, l.CPUs)
		}
	}
	if c.AltersAttr() {
		was, first := t.Attr.Policy, t.Attr
		t.Attr = c.Alter(t.Attr)
		t.madeFair = t.madeFair || !isFair(&first) && isFair(&t.Attr)
		if t.Attr.Policy != was && t.CPUsBy == Assumed && cpus == nil && t.CPUs != nil {
			t.CPUs = nil
			l.assume("change_cpus_free", 1, "a task that changes its class may use every CPU, where nothing shows its affinity")
		}
		for i := range t.Ops {
			if op := &t.Ops[i]; op.Kind == OpAttr {
				before := op.Attr
				op.Attr = c.Alter(op.Attr)
				t.madeFair = t.madeFair || !isFair(&before) && isFair(&op.Attr)
			}
		}
	}
	if cpus != nil {
		t.CPUs, t.CPUsBy = cpus, FromEvents
		if !slices.Contains(cpus, t.CPU) {
			t.CPU = cpus[0]
		}
		t.Ops = slices.DeleteFunc(t.Ops, func(op Op) bool { return op.Kind == OpCPUs })
	}
	if how, ok := c.ExitNormalize(); ok {
		t.Normalize = &how
	}
	if by, ok := c.Work(); ok {
		for i := range t.Ops {
			if op := &t.Ops[i]; op.Kind == OpRun && !op.Dying {
				op.NS = by.Of(op.NS)
			}
		}
	}
	return nil
}

// changeLines changes the threads of interrupts, and where these are sent to.
func (l *Load) changeLines(c *scenario.Change) error {
	bare := *c
	bare.Pattern = strings.TrimPrefix(c.Pattern, "irq/")
	var known []string
	threads := make([]bool, len(l.Tasks))
	found := false
	for i := range l.Lines {
		line := &l.Lines[i]
		name, number := l.Names.String(line.Name), strconv.FormatInt(line.Number, 10)
		if line.Softirq {
			continue
		}
		known = append(known, name)
		if !bare.Matches(name, number, number+"-"+name) {
			continue
		}
		found = true
		if line.Thread >= 0 && line.Thread < len(threads) {
			threads[line.Thread] = true
		} else if c.AltersAttr() {
			return fmt.Errorf("the handler of interrupt %s runs in interrupt context: it has no thread that could be changed", name)
		}
		for j := range line.Arrivals {
			a := &line.Arrivals[j]
			if cpus := c.AllowedCPUs(); len(cpus) > 0 && !slices.Contains(cpus, a.CPU) {
				a.CPU = cpus[0]
			}
		}
	}
	for i := range l.Tasks {
		name, is := strings.CutPrefix(l.Names.String(l.Tasks[i].Comm), "irq/")
		if !is {
			continue
		}
		_, short, _ := strings.Cut(name, "-")
		known = append(known, short)
		threads[i] = threads[i] || bare.Matches(name, short)
	}
	for i, is := range threads {
		if is {
			found = true
			if err := l.alter(&l.Tasks[i], c); err != nil {
				return err
			}
		}
	}
	if !found {
		return nearest.Unknown("interrupt of the trace", bare.Pattern, known)
	}
	return nil
}

func (l *Load) changeKernel(name string) error {
	k, err := scenario.KernelNamed(name)
	if err != nil {
		return err
	}
	l.Kernel, l.Preempt, l.kernelChanged = name, k.Profile.Traits().Preempt, true
	l.refit()
	l.assume("change_kernel_work", 1, "the recorded work takes as long on the other kernel; interrupts and softirqs are served by whom they were served by on the recorded one")
	return nil
}

// refit leaves out those recorded settings that the load's kernel does not have or does not take.
func (l *Load) refit() {
	told, asked := slices.Clone(l.Values[:l.told]), l.Values[l.told:]
	l.Values = nil
	// What fits only together with another one is taken after that.
	for left := len(told) + 1; len(told) < left; {
		left = len(told)
		told = slices.DeleteFunc(told, func(v scenario.Value) bool {
			before := l.Values
			l.Values = append(slices.Clone(before), v)
			_, err := l.Setup()
			if err != nil {
				l.Values = before
			}
			return err == nil
		})
	}
	l.told = len(l.Values)
	l.Values = append(l.Values, asked...)
	if len(told) > 0 {
		l.assume("change_kernel_settings", int64(len(told)), "settings of the recorded kernel that the other one does not have: it has its own")
	}
}

// changeCPUs makes the machine one of n CPUs. What was on one that is no more goes to another.
func (l *Load) changeCPUs(n int) {
	moved := int64(0)
	put := func(c *event.CPU) {
		if int(*c) >= n {
			*c %= event.CPU(n)
			moved++
		}
	}
	allowed := func(list []event.CPU) []event.CPU {
		return slices.DeleteFunc(slices.Clone(list), func(c event.CPU) bool { return int(c) >= n })
	}
	for i := range l.Tasks {
		t := &l.Tasks[i]
		put(&t.CPU)
		if t.CPUs != nil {
			if t.CPUs = allowed(t.CPUs); len(t.CPUs) == 0 {
				t.CPUs = []event.CPU{t.CPU}
			}
		}
		for j := range t.Ops {
			if op := &t.Ops[j]; op.Kind == OpCPUs && op.CPUs != nil { // nil: all that there are
				if op.CPUs = allowed(op.CPUs); len(op.CPUs) == 0 {
					op.CPUs = []event.CPU{t.CPU}
				}
			}
		}
	}
	for i := range l.Lines {
		put(&l.Lines[i].CPU)
		for j := range l.Lines[i].Arrivals {
			put(&l.Lines[i].Arrivals[j].CPU)
		}
	}
	gone := func(s Stolen) bool { return int(s.CPU) >= n }
	l.Stolen, l.Late = slices.DeleteFunc(l.Stolen, gone), slices.DeleteFunc(l.Late, gone)
	if l.CPUs = n; moved > 0 {
		l.assume("change_cpus_moved", moved, "tasks and interrupts of CPUs that are gone are put on those that are left, in turn")
	}
}

func (l *Load) scaleTeardown(by workload.Scale) error {
	found := false
	for i := range l.Tasks {
		for j := range l.Tasks[i].Ops {
			if op := &l.Tasks[i].Ops[j]; op.Kind == OpRun && op.Dying {
				found = true
				op.NS = by.Of(op.NS)
			}
		}
	}
	if !found {
		return errors.New("no task of the trace is seen to give its memory back")
	}
	return nil
}
