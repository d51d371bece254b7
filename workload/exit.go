package workload

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// Normalize says whether a dying task becomes an ordinary one before it gives its memory
// back: the two changes that were proposed in 2016. Neither is in any kernel.
type Normalize uint8

// The changes.
const (
	NormalizeOff Normalize = iota
	NormalizeRT            // FIFO and RR become SCHED_NORMAL; what a lock lends stays
	NormalizeAll           // deadline tasks too, a negative nice value becomes 0, nothing stays
)

// dying is where a thread is in its exit.
type dying uint8

const (
	alive        dying = iota
	delivered          // handles the signal that ends it
	dumped             // has written its core dump
	entered            // is in do_exit()
	normalized         // is what exit_normalize makes of it
	released           // has given up its locks: exit_mm_release()
	freed              // its memory is gone
	closed             // its files too
	notified           // its parent knows
	parkedInExit       // waits until another thread has written the core dump
)

// exitNow begins the exit of a thread whose program says so: exit() of one thread, or
// exit_group().
func (p *thread) exitNow(wholeGroup bool) machine.Step {
	number := int64(sysExit)
	if wholeGroup || p.group.own() && len(p.group.threads) == 1 {
		number = sysExitGroup
	}
	p.run.emitSyscall(p.th, event.SysEnter, number)
	if wholeGroup {
		p.run.zap(p.th.Task.CPU(), p)
	}
	p.dying = dumped
	return p.exiting()
}

// exiting is a signal's delivery and do_exit(), in the kernel's order as of 6.1. All of it
// is work in kernel mode, at the priority that the task has there.
func (p *thread) exiting() machine.Step {
	r := p.run
	switch p.dying {
	case alive:
		return p.deliver()
	case delivered:
		return p.dump()
	case dumped:
		return p.enter()
	case entered:
		p.dying = normalized
		return p.normalize()
	case normalized:
		p.dying = released
		p.releaseAll()
		if !p.group.own() {
			r.main.childEnds(p) // the kernel clears the thread's id and wakes a futex there
		}
		return inKernel(0)
	case released:
		return p.exitMM()
	case freed:
		if p.dying = closed; !r.spec.ToldFirst {
			r.m.ProcessExit(p.th)
		}
		return inKernel(r.spec.Costs.Exit)
	case closed:
		p.dying = notified
		p.notify()
		return inKernel(0)
	case parkedInExit:
		if p.group.dumping {
			return machine.Step{Kind: machine.StepBlock, State: event.StateDisk}
		}
		p.dying = dumped
		return p.enter()
	}
	p.stage = stageDead
	step := machine.Step{Kind: machine.StepExit}
	if p.group.own() && p == p.group.leader() {
		step.State = event.StateZombie // until its parent has asked
	}
	return step
}

// inKernel is a stretch of work in kernel mode.
func inKernel(ns event.Time) machine.Step {
	return machine.Step{Kind: machine.StepRun, Mode: machine.Kernel, NS: ns}
}

// deliver is get_signal(): on the way to user mode the thread takes the signal.
func (p *thread) deliver() machine.Step {
	p.run.leave(p)
	p.run.emitDeliver(p.th, p.fatal)
	p.dying = delivered
	return inKernel(0)
}

// dump writes the core, before do_exit(): at whatever priority the task has, and whatever
// exit_normalize says. The other threads have to wait in their exit until it is written.
func (p *thread) dump() machine.Step {
	p.dying = dumped
	e, g := p.task.Exit, p.group
	if !dumpsCore(p.fatal) {
		if g.dumping {
			p.dying = parkedInExit
			return machine.Step{Kind: machine.StepBlock, State: event.StateDisk}
		}
		return inKernel(0)
	}
	if e == nil || e.Core <= 0 {
		p.run.zap(p.th.Task.CPU(), p)
		return inKernel(0)
	}
	g.dumping = true
	p.run.zap(p.th.Task.CPU(), p)
	step := inKernel(perMB(e.Core, p.run.spec.Costs.CoreMB))
	step.CondResched = p.run.spec.Costs.CoreMB / (1 << 20 / pageSize) // after each page
	return step
}

const pageSize = 4096

// perMB is what an amount of memory takes at a cost of each MiB.
func perMB(bytes int64, each event.Time) event.Time {
	const mb = 1 << 20
	return event.Time(bytes/mb)*each + event.Time(bytes%mb)*each/mb
}

// enter is the beginning of do_exit().
func (p *thread) enter() machine.Step {
	r, g := p.run, p.group
	if g.dumping && dumpsCore(p.fatal) {
		g.dumping = false
		for _, t := range g.threads {
			if t.dying == parkedInExit {
				r.m.Wake(p.th.Task.CPU(), t.th)
			}
		}
	}
	p.dying = entered
	r.leave(p)
	p.granted = nil // it has that lock, and gives it up with the others
	if r.OnExit != nil {
		r.OnExit(p.th.Task)
	}
	if r.spec.ToldFirst {
		r.m.ProcessExit(p.th)
	}
	return inKernel(0)
}

// normalize is what the two proposed changes do, both directly in front of exit_mm(), so
// before the locks are handed over.
func (p *thread) normalize() machine.Step {
	t, r := p.th.Task, p.run
	how := r.spec.Normalize
	if p.task.Normalize != nil {
		how = *p.task.Normalize
	}
	switch how {
	case NormalizeRT:
		if t.Attr.Policy != sched.FIFO && t.Attr.Policy != sched.RR {
			return inKernel(0)
		}
		if _, err := r.m.Sched.SetAttr(t.CPU(), t, sched.Attr{Policy: sched.Normal}); err != nil {
			r.m.Fail(err)
		}
	case NormalizeAll:
		r.m.Sched.Normalize(t.CPU(), t)
	}
	return inKernel(0)
}

// notify is exit_notify(): with the last thread of a process its parent learns of its
// death, and whoever waits for that.
func (p *thread) notify() {
	r, g := p.run, p.group
	cpu := p.th.Task.CPU()
	if g.left--; !g.own() || g.left > 0 {
		return
	}
	if !g.parent.Dead() {
		r.emitSignal(cpu, g.parent, sigChild)
	}
	r.main.childEnds(g.leader())
	if e := p.task.Exit; e != nil && e.Post >= 0 {
		s := &r.sems[e.Post]
		s.value++
		s.waiters = p.wakeFirst(s.waiters)
	}
}
