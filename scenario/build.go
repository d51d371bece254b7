package scenario

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/scenario/rtapp"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// Build makes a plan of a scenario file. Errors name what is in the file and not in the
// model, with the place; what only a kernel can refuse is not looked at here.
func Build(f *rtapp.File) (*Plan, error) {
	b := &builder{file: f, plan: &Plan{Name: f.Name, Costs: DefaultCosts()}}
	p := b.plan
	p.Load.Comm, p.Load.Duration = "rt-app", f.Global.Duration
	if f.Global.Duration == event.NoTime {
		p.Load.Duration = -1
	}
	p.Load.CumulativeSlack = f.Global.CumulativeSlack
	users := f.BarrierUsers()
	b.barrier = func(name string) int { return users[name] }
	for i := range f.Tasks {
		t, err := b.task(&f.Tasks[i])
		if err != nil {
			return nil, fmt.Errorf("%s:%s: task %s: %w", f.Name, f.Tasks[i].Pos, f.Tasks[i].Name, err)
		}
		p.Load.Tasks = append(p.Load.Tasks, *t)
	}
	if err := b.extend(f.Whylate); err != nil {
		return nil, fmt.Errorf("%s: whylate: %w", f.Name, err)
	}
	p.mutexes = b.mutexes
	p.Load.Mutexes = make([]workload.Mutex, len(b.mutexes))
	for i := range p.Load.Mutexes {
		p.Load.Mutexes[i].PI = f.Global.PIEnabled
	}
	if w := f.Whylate; w != nil {
		for i := range w.Locks {
			b.lock(&w.Locks[i])
		}
	}
	p.Load.Conds, p.Load.Sems, p.Load.Timers = len(b.conds), len(b.sems), len(b.timers)
	for _, name := range b.barriers {
		p.Load.Barriers = append(p.Load.Barriers, workload.Barrier{Parties: b.barrier(name), PI: f.Global.PIEnabled})
	}
	if w := f.Whylate; w != nil {
		p.Always = w.Changes
		for _, text := range w.Changes {
			if err := p.Change(text); err != nil {
				return nil, fmt.Errorf("%s: whylate: %w", f.Name, err)
			}
		}
	}
	if len(f.Global.Ftrace) > 0 {
		b.note("the marks that rt-app writes into the trace (ftrace) are not among the events")
	}
	return p, nil
}

// builder numbers what a file names: mutexes, conditions, barriers, semaphores and timers
// have separate names each, as the tables of rt-app have.
type builder struct {
	file *rtapp.File
	plan *Plan

	mutexes, conds, sems, timers, barriers, unique names
	barrier                                        func(string) int
	known                                          map[string]int // groups: path, or "session NAME", to 1 + index
}

// names are numbered in the order in which they are met. Files have few, so a list will do.
type names []string

func (n *names) of(name string) int {
	for i, have := range *n {
		if have == name {
			return i
		}
	}
	*n = append(*n, name)
	return len(*n) - 1
}

func (b *builder) note(text string) {
	b.plan.Notes = event.Diagnose(b.plan.Notes, "not_modelled", 1, text)
}

func (b *builder) task(t *rtapp.Task) (*workload.Task, error) {
	if err := refuseProps(&t.Props); err != nil {
		return nil, err
	}
	a := attrOf(&t.Props)
	w := &workload.Task{Name: t.Name, Instances: t.Instances, Delay: t.Delay, Loop: int(t.Loop), Attr: &a, CPUs: cpusOf(t.Props.CPUs)}
	if t.Props.Taskgroup != "" {
		w.Group = b.group(t.Props.Taskgroup)
	}
	b.unique = nil
	for i := range t.Phases {
		ph, err := b.phase(t, &t.Phases[i])
		if err != nil {
			return nil, fmt.Errorf("phase %s: %w", t.Phases[i].Name, err)
		}
		w.Phases = append(w.Phases, *ph)
	}
	w.Timers = len(b.unique) // the same name in another task is another timer
	return w, nil
}

func (b *builder) phase(t *rtapp.Task, p *rtapp.Phase) (*workload.Phase, error) {
	if err := refuseProps(&p.Props); err != nil {
		return nil, err
	}
	w := &workload.Phase{Loop: int(p.Loop), CPUs: cpusOf(p.Props.CPUs)}
	if p.Props.Taskgroup != "" {
		w.Group = b.group(p.Props.Taskgroup)
	}
	if p.Props.SetsScheduling() {
		a := attrOf(&p.Props)
		w.Attr, w.Keep = &a, p.Props.Policy == rtapp.Keep
	}
	for i := range p.Events {
		op, err := b.op(&p.Events[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Events[i].Key, err)
		}
		w.Ops = append(w.Ops, op)
	}
	return w, nil
}

// refuseProps refuses what a property asks of the kernel and the model does not have, by
// name: a run without it would be taken for an answer.
func refuseProps(p *rtapp.Props) error {
	switch {
	case p.UtilMin >= 0 || p.UtilMax >= 0:
		return fmt.Errorf("util_min, util_max: utilisation clamps are %w", ErrNotModelled)
	case p.NodesMembind != nil:
		return fmt.Errorf("nodes_membind: memory of NUMA nodes is %w", ErrNotModelled)
	}
	return nil
}

// attrOf is what sched_setattr(2) gets. With rtapp.Keep both priorities are set: the one
// that belongs to the policy counts.
func attrOf(p *rtapp.Props) sched.Attr {
	switch p.Policy {
	case rtapp.Other:
		return sched.Attr{Policy: sched.Normal, Nice: p.Priority, Slice: p.DL.Runtime}
	case rtapp.Batch:
		return sched.Attr{Policy: sched.Batch, Nice: p.Priority, Slice: p.DL.Runtime}
	case rtapp.Idle:
		return sched.Attr{Policy: sched.Idle}
	case rtapp.RR:
		return sched.Attr{Policy: sched.RR, Priority: p.Priority}
	case rtapp.FIFO:
		return sched.Attr{Policy: sched.FIFO, Priority: p.Priority}
	}
	a := sched.Attr{Runtime: p.DL.Runtime, Deadline: p.DL.Deadline, Period: p.DL.Period}
	if p.Policy == rtapp.Deadline {
		a.Policy = sched.Deadline
		return a
	}
	a.Priority, a.Nice = p.Priority, p.Priority
	return a
}

func cpusOf(list []int) []event.CPU {
	if list == nil {
		return nil
	}
	cpus := make([]event.CPU, 0, len(list))
	for _, c := range list {
		cpus = append(cpus, event.CPU(c))
	}
	return cpus
}
