package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// extra is what a periodic task does in a changed run and did not do in the recording: there
// it was late, and passed over the times of its timer that had gone by meanwhile. Where it is
// in time with the change, it comes at those times too and does what it had done before.
// Without a change there is none of this: it does what it did.
type extra struct {
	stage extraStage
	until event.Time // on the machine's clock
	grid  event.Time // when the job before was due, on the trace's clock; 0: by no grid
	work  event.Time // of the job before
	n     int        // waits so far
}

type extraStage uint8

const (
	extraNone  extraStage = iota
	extraSleep            // until one of the times that were passed over, or it waits for the CPU since
	extraWork
)

// extraWait is from where on WaitKey.N counts the waits of a changed run that belong to no
// sleep of the recording.
const extraWait = 1 << 20

// Extra reports whether the wait belongs to a job that the recording does not have.
func (k *WaitKey) Extra() bool { return k.N >= extraWait }

// extraStep is the step of a job that the recording does not have, before op; ok is false if
// there is none.
func (p *thread) extraStep(m *machine.Machine, op *Op) (step machine.Step, ok bool) {
	x := &p.more
	if p.entered || op.Kind != OpSleep || !p.run.load.changed || p.habit.anew {
		return step, false
	}
	if x.stage == extraSleep && m.Now() >= x.until {
		x.stage, x.grid = extraWork, p.run.trace(x.until)
		work := x.work
		if p.habit.usual > 0 {
			work = min(work, p.habit.usual) // the job before was late and may have been two in one
		}
		return machine.Step{Kind: machine.StepRun, NS: work, Mode: p.mode}, true
	}
	if x.stage != extraSleep {
		x.stage = extraNone
		next := x.grid + op.Every
		if x.grid == 0 || op.Every <= 0 {
			return step, false
		}
		for m.Now() >= p.run.model(next) && next < op.At {
			next += op.Every // it is late for this one now, too
		}
		if op.Slept <= next || next >= op.At-op.Every/2 {
			return step, false
		}
		x.stage, x.until = extraSleep, p.run.model(next)
	}
	return machine.Step{Kind: machine.StepSleep, NS: x.until, State: sleepState(op.State)}, true
}

// ends takes in that an operation of the script is over, or as good as that.
func (x *extra) ends(op *Op) {
	switch {
	case op.Kind == OpSleep && op.Every > 0:
		x.grid, x.work = op.At, 0
	case op.Kind == OpSleep || op.Kind == OpNap || op.Kind == OpWait:
		x.grid = 0
	case op.Kind == OpRun:
		x.work += op.NS
	}
}
