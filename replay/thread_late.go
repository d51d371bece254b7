package replay

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// passesOver is the usual work of the task's jobs, if the recording shows it, each time that it was
// too late for the next times of its timer, to leave out what it does at those, rather than to
// make up for it: then it worked less before it slept again than a job for each of these times
// takes. Else, and where it was never so late, 0.
func passesOver(ops []Op) event.Time {
	type job struct {
		work   event.Time
		missed int64
	}
	var jobs []job
	var usual []event.Time
	grid := -1 // the last sleep until a time of a grid
	var work event.Time
	for i := range ops {
		op := &ops[i]
		switch {
		case op.Kind == OpRun:
			work += op.NS
		case op.Kind == OpSleep && op.Every > 0:
			if grid >= 0 && ops[grid].Every == op.Every {
				j := job{work, int64((op.Slept - ops[grid].At) / op.Every)}
				if j.missed > 0 {
					jobs = append(jobs, j)
				} else {
					usual = append(usual, work)
				}
			}
			grid, work = i, 0
		case op.Kind.Sleeps():
			grid, work = -1, 0
		}
	}
	if len(jobs) == 0 || len(usual) == 0 {
		return 0
	}
	slices.Sort(usual)
	each := usual[len(usual)/2]
	if slices.ContainsFunc(jobs, func(j job) bool { return j.work > each*event.Time(j.missed) }) {
		return 0
	}
	return each
}

// leaveOut skips the job that op begins, a sleep of which the time has gone by, as the task did in the
// recording when it was late. It does where another sleep of the same grid comes after nothing but work.
func (p *thread) leaveOut(m *machine.Machine, op *Op) {
	if p.usual == 0 || op.Every <= 0 || p.run.model(op.At) >= m.Now() {
		return
	}
	i := p.pc + 1
	for i < len(p.task.Ops) && p.task.Ops[i].Kind == OpRun && !p.task.Ops[i].Dying {
		i++
	}
	if i < len(p.task.Ops) && p.task.Ops[i].Kind == OpSleep && p.task.Ops[i].Every == op.Every {
		p.pc = i - 1
	}
}
