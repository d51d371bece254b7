package replay

import (
	"cmp"
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// stretch is a piece of work of a fair task as it was recorded.
type stretch struct {
	cpu      event.CPU
	from, to event.Time
	task, op int
}

// noPlace is the place of work that no fair task was recorded to do.
const noPlace event.Time = -1

// places gives each piece of work of a fair task its place among the others: the time at which
// it was recorded. Where a change makes further tasks fair ones that would not do: who was
// kept from the CPU by them would seem to be ahead of them. Then it is how long fair tasks had
// had the CPU before it in the recording.
func (r *runner) places() {
	l := r.load
	more := slices.ContainsFunc(l.Tasks, func(t Task) bool { return t.madeFair })
	var list []stretch
	for i := range l.Tasks {
		t := &l.Tasks[i]
		if t.Removed || t.Stopper {
			continue
		}
		cpu, fair := t.CPU, isFair(&t.Attr)
		for j := range t.Ops {
			op := &t.Ops[j]
			switch {
			case op.Kind == OpAttr:
				fair = isFair(&op.Attr)
			case op.Kind == OpCPUs && op.By == Assumed && len(op.CPUs) > 0:
				cpu = op.CPUs[0]
			case op.Kind == OpRun && fair && !t.madeFair && op.At > 0 && op.Slept >= op.At:
				list = append(list, stretch{cpu, op.At, op.Slept, i, j})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(a.cpu, b.cpu), cmp.Compare(a.from, b.from))
	})
	worked := event.Time(0)
	for n := range list {
		s := &list[n]
		if n > 0 && s.cpu != list[n-1].cpu {
			worked = 0
		}
		p := &r.threads[s.task]
		if p.placeOf == nil {
			p.placeOf = make([]event.Time, len(p.task.Ops))
			for j := range p.placeOf {
				p.placeOf[j] = noPlace
			}
		}
		p.placeOf[s.op] = s.from
		if more {
			p.placeOf[s.op] = worked
		}
		worked += s.to - s.from
	}
}

func isFair(a *sched.Attr) bool {
	return a.Policy != sched.FIFO && a.Policy != sched.RR && a.Policy != sched.Deadline
}

// place gives the task its place among fair tasks: that of the work that it is to do now, or
// next.
func (p *thread) place(m *machine.Machine) {
	if at := p.nextPlace(); at != noPlace {
		m.Sched.SetFairPlace(p.th.Task, at)
	}
}

// nextPlace is the place of the work that the task is to do now, or next.
func (p *thread) nextPlace() event.Time {
	for i := p.pc; i < len(p.placeOf); i++ {
		if p.task.Ops[i].Kind == OpRun {
			return p.placeOf[i]
		}
	}
	return noPlace
}
