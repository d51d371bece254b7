package replay

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// habit is what a periodic task does when it is too late for the next times of its timer, as the
// recording shows it each time that it was. The zero habit makes up for what it missed, or was
// never seen to be so late.
type habit struct {
	// usual is the work of its usual jobs, if it leaves out what it does at the times that went by:
	// then it worked less before it slept again than a job for each of these takes; else 0.
	usual event.Time
	// anew: it begins a new grid then, instead of going on with the old one.
	anew bool
}

// offGrid is how far a time is at least from a grid that it does not belong to.
const offGrid event.Time = 20_000

func habitOf(ops []Op) (h habit) {
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
				j := job{work, missed(&ops[grid], op)}
				if j.missed > 0 {
					jobs = append(jobs, j)
					off := (op.At - ops[grid].At) % op.Every
					h.anew = h.anew || min(off, op.Every-off) > offGrid // by chance it is the old one
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
		return habit{}
	}
	slices.Sort(usual)
	h.usual = usual[len(usual)/2]
	if slices.ContainsFunc(jobs, func(j job) bool { return j.work > h.usual*event.Time(j.missed) }) {
		return habit{}
	}
	return h
}

// oneByOne gives ops in which each job is one, of a task that begins a new grid when it is late: then it does the
// next job at once, and in the recording the two were one. Others are as they were.
func oneByOne(ops []Op) []Op {
	h := habitOf(ops)
	if !h.anew {
		return ops
	}
	out := make([]Op, 0, len(ops)+1)
	for i, op := range ops {
		out = append(out, op)
		if op.Kind != OpRun || op.Dying || op.NS < h.usual*3/2 || i == 0 || i+1 == len(ops) {
			continue
		}
		job, next := &ops[i-1], &ops[i+1]
		if job.Kind != OpSleep || next.Kind != OpSleep || job.Every <= 0 || job.Every != next.Every || missed(job, next) == 0 {
			continue
		}
		out[len(out)-1].NS = h.usual
		second := Op{Kind: OpSleep, State: job.State, Slept: job.At + 1, At: job.At + job.Every, Every: job.Every, By: job.By, Second: true}
		op.NS -= h.usual
		out = append(out, second, op)
	}
	return out
}

// missed is how many times of the grid of op, a sleep, had gone by when it began; job is the one before.
func missed(job, op *Op) int64 { return max(int64((op.Slept-job.At)/op.Every), 0) }

// begunAnew is until when op sleeps if its task begins a new grid whenever it is late, as it did in
// the recording: what counts is by how many jobs it is away from the one before, not when that was.
// Its first sleep is until the recorded time; ok is false where that tells nothing.
func (p *thread) begunAnew(m *machine.Machine, op *Op) (until event.Time, ok bool) {
	if !p.habit.anew || op.Kind != OpSleep || op.Every <= 0 {
		return 0, false
	}
	until = p.run.model(op.At)
	if job := p.job; job != nil && job.Every == op.Every {
		n := event.Time(1)
		if missed(job, op) == 0 {
			n = max((op.At-job.At+op.Every/2)/op.Every, 1)
		}
		until = p.grid + n*op.Every
	}
	until = max(until, m.Now())
	p.job, p.grid = op, until
	return until, true
}

// leaveOut skips the job that op begins, a sleep of which the time has gone by, as the task did in the
// recording when it was late. It does where another sleep of the same grid comes after nothing but work.
func (p *thread) leaveOut(m *machine.Machine, op *Op) {
	if p.habit.usual == 0 || p.habit.anew || op.Every <= 0 || p.run.model(op.At) >= m.Now() {
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

// StartMoved is the kind of the diagnostic of a run in which a task is one of Run.Later.
const StartMoved = "start_moved"

// gridOfItsStart returns op, a sleep, as it is after the task itself: a program that begins within the trace
// reads the clock before it first sleeps by a grid. Where a change lets it come there only after that time,
// although in the recording it was early enough, its grid begins as much later as it does. One that is in time
// keeps the recorded times, which may be those of a clock that others go by.
func (p *thread) gridOfItsStart(m *machine.Machine, op *Op) *Op {
	if !p.run.load.changed || p.task.Begin != BeginNew || op.Kind != OpSleep || op.Every <= 0 ||
		op.Slept >= op.At || m.Now() <= p.run.model(op.At) {
		return op
	}
	if slices.ContainsFunc(p.task.Ops[:p.pc], Op.onGrid) {
		return op
	}
	later := Later{Task: p.index, Op: p.pc, By: m.Now() - p.run.model(op.Slept)}
	p.task = later.Begin(p.task)
	p.run.later = append(p.run.later, later)
	p.run.diags = event.Diagnose(p.run.diags, StartMoved, 1,
		"periodic tasks that begin later with the change than the first time of their timers: these begin as much later")
	return &p.task.Ops[p.pc]
}

// onGrid reports whether o is a sleep until a time of a grid.
func (o Op) onGrid() bool { return o.Kind == OpSleep && o.Every > 0 }

// Begin returns t as it is with its grids later.
func (l Later) Begin(t *Task) *Task {
	moved := *t
	moved.Ops = slices.Clone(t.Ops)
	for i := l.Op; i < len(moved.Ops); i++ {
		if o := &moved.Ops[i]; o.onGrid() {
			o.Slept += l.By
			o.At += l.By
		}
	}
	return &moved
}
