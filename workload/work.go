package workload

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// Section is time in the kernel that a task spends while it works: Length every so often.
type Section struct {
	Mode          machine.Mode
	Length, Every Span
}

// Span is a length in ns from Min to Max, each as likely.
type Span struct{ Min, Max event.Time }

// work is rt-app's run, an amount of work, and runtime, a length of time, and a spin that looks at
// the clock all the time. All log how long they took by the clock, with all that came between.
func (p *thread) work(op *Op) (machine.Step, bool) {
	now := p.run.m.Now()
	switch {
	case p.visit == 0:
		p.began = now
		p.loop.CRun += op.NS
		p.left = p.piece(op)
	case p.due != nil, p.left > 0 && (op.Kind != OpSpin || now-p.began < op.NS):
	case op.Kind == OpRun || now-p.began >= op.NS:
		p.loop.Run += now - p.began
		p.quiet = true
		return proceed, true
	default:
		p.left = p.piece(op)
	}
	inKernel := p.due != nil
	step := p.stretch(op.Mode)
	if op.Kind == OpSpin && !inKernel {
		step.By = p.began + op.NS
	}
	return step, false
}

// piece is the work of an operation between two looks at the clock. Its cost and its work
// are paid together: what follows is one stretch.
func (p *thread) piece(op *Op) event.Time {
	switch {
	case op.Kind == OpRun:
		ns := op.NS + p.run.spec.OpCost
		if op.Jitter > 0 {
			ns += p.jitter(op.Jitter)
		}
		return ns
	case op.Kind == OpSpin:
		return p.began + op.NS - p.run.m.Now()
	case op.Piece > 0:
		// The clock is only looked at between pieces, whoever ran meanwhile.
		return op.Piece
	}
	return defaultPiece
}

// stretch is what comes next of the work that is left: a section in the kernel that is due,
// or the work in front of the next one.
func (p *thread) stretch(mode machine.Mode) machine.Step {
	if s := p.due; s != nil {
		p.due = nil
		return p.section(s)
	}
	ns := p.left
	faults := p.group.own() && p.group.touched < p.group.mm.Pages
	if faults {
		if p.toTouch <= 0 {
			p.toTouch = max(p.run.spec.Costs.Touch, 1)
		}
		ns = min(ns, p.toTouch)
	}
	for i := range p.sections {
		ns = min(ns, p.sections[i].toNext)
	}
	p.left -= ns
	if p.toTouch -= ns; faults && p.toTouch <= 0 {
		p.due = &p.fault
	}
	for i := range p.sections {
		s := &p.sections[i]
		// Two that are due at once come one after the other: the second at the next look.
		if s.toNext -= ns; s.toNext <= 0 && p.due == nil {
			p.due = s
		}
	}
	return machine.Step{Kind: machine.StepRun, NS: ns, Mode: mode}
}

// section is a section of a thread, with the work until it comes again.
type section struct {
	Section
	toNext event.Time
}

// section goes into the kernel.
func (p *thread) section(s *section) machine.Step {
	if s == &p.fault {
		p.group.touched++
		return inKernel(p.run.spec.Costs.Fault)
	}
	s.toNext = p.drawn(s.Every)
	return machine.Step{Kind: machine.StepRun, Mode: s.Mode, NS: p.drawn(s.Length)}
}

// drawn is a random length of a span, of the thread's own stream.
func (p *thread) drawn(s Span) event.Time {
	if s.Max <= s.Min {
		return s.Min
	}
	return s.Min + p.jitter(s.Max-s.Min)
}

// prepareSections starts the sections of a new thread.
func (p *thread) prepareSections() {
	for _, s := range p.task.Sections {
		p.sections = append(p.sections, section{s, p.drawn(s.Every)})
	}
}
