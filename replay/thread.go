package replay

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/workload"
)

// thread follows the script of a task; it is the machine's Program of it.
type thread struct {
	run   *runner
	task  *Task
	index int
	th    *machine.Thread // nil: it is not there yet, or never

	pc      int
	entered bool         // in the operation at pc, which it left the CPU for
	cycle   int          // operations that sleep and are over
	posts   int          // that nobody has waited for yet
	until   event.Time   // of the sleep that it is in, on the machine's clock
	mode    machine.Mode // where it was at last
	movesTo []event.CPU  // where it is to be moved when it has left its CPU, nil: nowhere
	placeOf []event.Time // of each of its operations among fair tasks; nil: it has no places
	early   bool         // it began before Load.From and works until then
	dying   bool
	habit   habit      // when it is late, in a changed run
	job     *Op        // its last sleep by a grid that may begin anew
	grid    event.Time // until when that was, on the machine's clock
	more    extra

	// Of its locks.
	held     []*mutex
	waits    *mutex // in whose queue it is
	granted  *mutex // handed over to it while it waited
	key      event.Prio
	deadline event.Time
	order    uint64
}

// mostQuiet bounds how many operations that take no time a task does in one go: then the
// machine, which notices tasks that take no time at all, is asked again.
const mostQuiet = 64

// Next goes on in the script.
func (p *thread) Next(m *machine.Machine, _ *machine.Thread) machine.Step {
	if p.early {
		p.early = false
		if from := p.run.model(p.run.load.From); m.Now() < from {
			return machine.Step{Kind: machine.StepRun, NS: from - m.Now(), Mode: p.mode}
		}
	}
	for range mostQuiet {
		if p.pc >= len(p.task.Ops) {
			// The recording ends here, or saw nothing more of it.
			return machine.Step{Kind: machine.StepBlock, State: event.StateSleeping}
		}
		op := &p.task.Ops[p.pc]
		if step, ok := p.extraStep(m, op); ok {
			return step
		}
		if !p.entered && (op.Kind == OpRun || op.Kind.Sleeps()) {
			p.place(m)
		}
		if !p.entered && (op.Kind.Sleeps() || op.Kind == OpServed) {
			p.run.reaches(p, op)
		}
		step, over := p.do(m, op)
		if over {
			p.more.ends(op)
			if op.Kind.Sleeps() && !op.Second {
				p.cycle++
			}
			p.pc++
			p.entered = false
		} else {
			p.entered = true
		}
		if p.movesTo != nil && step.Kind != machine.StepRun {
			m.At(m.Now(), p.move)
		}
		if step.Kind != machine.StepRun || step.NS > 0 || step.Point {
			return step
		}
		if op.Kind == OpWake || op.Kind == OpUnlock || op.Kind == OpAttr || op.Kind == OpCPUs || op.Kind == OpFork {
			return step // somebody else may go first now
		}
	}
	return p.proceed()
}

// proceed takes no time; others may preempt before the task goes on.
func (p *thread) proceed() machine.Step { return machine.Step{Kind: machine.StepRun, Mode: p.mode} }

// do begins the operation or, where it was entered, goes on with it; over when the step that
// it returns is its last.
func (p *thread) do(m *machine.Machine, op *Op) (step machine.Step, over bool) {
	r := p.run
	switch op.Kind {
	case OpRun:
		return p.work(m, op), true
	case OpSleep, OpNap:
		return p.sleep(m, op)
	case OpWait:
		if p.posts > 0 {
			p.posts--
			return p.proceed(), true
		}
		return machine.Step{Kind: machine.StepBlock, State: sleepState(op.State)}, false
	case OpWake:
		r.post(p.th.Task.CPU(), op.Ref)
	case OpYield:
		return machine.Step{Kind: machine.StepYield}, true
	case OpFork:
		r.fork(p, op.Ref)
	case OpAttr:
		p.setAttr(op.Attr)
	case OpCPUs:
		if op.By == Assumed {
			p.movesTo = op.CPUs
			m.At(m.Now(), p.move)
		} else {
			p.allow(op.CPUs)
		}
	case OpLock:
		return p.lock(&r.mutexes[op.Ref], op)
	case OpUnlock:
		p.unlock(&r.mutexes[op.Ref])
	case OpExit:
		return p.exit(op), true
	}
	return p.proceed(), true
}

// move brings a fair task where the recording had it from here on. It was moved while it slept
// or waited, so while it has its CPU that is left for when it next sleeps: the stopper would
// have to take it away.
func (p *thread) move() {
	if p.movesTo != nil && !p.th.Task.Running() {
		p.allow(p.movesTo)
		p.movesTo = nil
	}
}

// allow lets the task use these CPUs from now on.
func (p *thread) allow(cpus []event.CPU) {
	if p.th.Dead() {
		return
	}
	if _, _, err := p.run.m.Sched.SetAffinity(p.th.Task.CPU(), p.th.Task, cpus); err != nil {
		p.run.refused(p, err)
	}
}

// sleepState is a state in which a task sleeps.
func sleepState(s event.State) event.State {
	if s.Runnable() || s.Dead() || s&event.StateUnknown != 0 {
		return event.StateSleeping
	}
	return s
}

// work is a stretch of work. The first of an exit is where exit_normalize acts.
func (p *thread) work(m *machine.Machine, op *Op) machine.Step {
	if op.Dying && !p.dying {
		p.dying = true
		p.normalize(m)
	}
	p.mode = op.Mode
	step := machine.Step{Kind: machine.StepRun, NS: max(op.NS, 0), Mode: op.Mode}
	if op.Mode == machine.Kernel {
		step.CondResched = condResched
	}
	return step
}

// condResched is how far the calls of cond_resched() in kernel mode are apart, where nothing
// shows it: those of an exit come after each page or few, and only a kernel that does not
// preempt itself needs them.
const condResched event.Time = 100_000

// normalize is what the feature exit_normalize makes of a dying task.
func (p *thread) normalize(m *machine.Machine) {
	t := p.th.Task
	how := p.run.setup.Load.Normalize
	if p.task.Normalize != nil {
		how = *p.task.Normalize
	}
	switch how {
	case workload.NormalizeRT:
		if t.Attr.Policy == sched.FIFO || t.Attr.Policy == sched.RR {
			p.setAttr(sched.Attr{Policy: sched.Normal})
		}
	case workload.NormalizeAll:
		m.Sched.Normalize(t.CPU(), t)
	}
}

// setAttr lets the task become a.
func (p *thread) setAttr(a sched.Attr) {
	t := p.th.Task
	if isFair(&a) && p.nextPlace() == noPlace {
		p.run.m.Sched.ForgetFairPlace(t)
	}
	if _, err := p.run.m.Sched.SetAttr(t.CPU(), t, a); err != nil {
		p.run.refused(p, fmt.Errorf("sched_setattr to %s: %w", a.Policy, err))
		return
	}
	p.reboost()
}

// sleep is a sleep until an own timer. One that is over before it began does not block.
func (p *thread) sleep(m *machine.Machine, op *Op) (machine.Step, bool) {
	if !p.entered {
		op = p.gridOfItsStart(m, op)
		p.until = p.run.model(op.At)
		if op.Kind == OpNap {
			p.until = m.Now() + max(op.NS, 0)
		}
		if until, ok := p.begunAnew(m, op); ok {
			p.until = until
		}
	}
	if p.until <= m.Now() {
		if !p.entered && op.Kind == OpSleep {
			p.leaveOut(m, op)
		}
		return p.proceed(), true
	}
	return machine.Step{Kind: machine.StepSleep, NS: p.until, State: sleepState(op.State)}, false
}

// due is when the sleep that the task is in was to end, on the trace's clock; NoTime: nobody
// knew beforehand.
func (p *thread) due() event.Time {
	if p.more.stage == extraSleep {
		return p.run.trace(p.more.until)
	}
	if p.pc < len(p.task.Ops) && p.entered {
		if k := p.task.Ops[p.pc].Kind; k == OpSleep || k == OpNap {
			return p.until + p.run.zero
		}
	}
	return event.NoTime
}

// waiting reports whether the task is in an operation that a post ends.
func (p *thread) waiting() bool {
	return p.entered && p.pc < len(p.task.Ops) && p.task.Ops[p.pc].Kind == OpWait
}

// exit ends the task; what it holds goes to who waits for it.
func (p *thread) exit(op *Op) machine.Step {
	for len(p.held) > 0 {
		p.unlock(p.held[len(p.held)-1])
	}
	step := machine.Step{Kind: machine.StepExit, State: op.State}
	if !step.State.Dead() && p.task.PID == p.task.TGID {
		step.State = event.StateZombie
	}
	return step
}
