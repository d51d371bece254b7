package workload

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// Signals by their numbers; signal(7).
const (
	sigKill   = 9
	sigTerm   = 15
	sigChild  = 17
	sigCancel = 32 // that of pthread_cancel(), the first real-time one
)

// startTimer sets the alarm of a task that ends at a given time. One that ends by itself
// looks at the clock whenever it is in user mode; a signal comes as an interrupt of the CPU
// that the task is on.
func (p *thread) startTimer() {
	e := p.task.Exit
	if p.exitAt = event.NoTime; e == nil || e.After < 0 || p != p.group.leader() {
		return
	}
	m, at := p.run.m, p.run.zero+e.After
	if p.fork {
		at = m.Now() + e.After
	}
	p.exitAt = at
	m.At(at, func() {
		cpu := p.th.Task.CPU()
		if e.Signal > 0 {
			m.Interrupt(at, cpu, func() { p.run.kill(cpu, p, e.Signal) })
		} else if p.dying == alive {
			m.Notify(cpu, p.th)
		}
	})
}

// ends reports whether the time of p is over that its task gives it.
func (p *thread) ends() bool {
	return p.exitAt != event.NoTime && p.task.Exit.Signal == 0 && p.run.m.Now() >= p.exitAt
}

// kill sends p a signal that ends it; complete_signal(). It acts when p handles it: on its way to user
// mode, whenever p gets there.
func (r *Run) kill(cpu event.CPU, p *thread, signal int64) {
	if p.dying != alive || p.over {
		return
	}
	p.fatal = signal
	if dumpsCore(signal) {
		r.wakeUp(cpu, p)
	} else {
		// The kernel turns it into a SIGKILL for every thread at once.
		p.fatal = sigKill
		r.wakeUp(cpu, p)
		r.zap(cpu, p)
	}
	r.emitSignal(cpu, p.th, signal)
}

// zap makes all other threads of the process of p die; zap_other_threads(). It leaves no
// signal_generate.
func (r *Run) zap(cpu event.CPU, p *thread) {
	p.group.dying = true
	for _, t := range p.group.threads {
		if t == p || t.dying != alive || t.over {
			continue
		}
		t.fatal = sigKill
		r.wakeUp(cpu, t)
	}
}

// wakeUp lets p notice a signal: signal_wake_up(). All sleeps of this package are
// interruptible but those for a spinlock, after which it looks by itself.
func (r *Run) wakeUp(cpu event.CPU, p *thread) {
	if p.inLock() {
		return
	}
	if !r.m.Wake(cpu, p.th) {
		r.m.Notify(cpu, p.th)
	}
}

// dumpsCore reports whether the default action of a signal writes a core dump; signal(7).
func dumpsCore(signal int64) bool {
	switch signal {
	case 3, 4, 5, 6, 7, 8, 11, 24, 25, 31: // QUIT ILL TRAP ABRT BUS FPE SEGV XCPU XFSZ SYS
		return true
	}
	return false
}

// emitSignal is signal_generate, said by whoever runs on cpu.
func (r *Run) emitSignal(cpu event.CPU, th *machine.Thread, signal int64) {
	var ev event.Event
	ev.Reset()
	ev.Kind = event.SignalGenerate
	ev.Task, ev.TaskComm, ev.Arg = th.Task.PID, th.Task.Comm, signal
	r.m.Emit(cpu, &ev)
}

// emitDeliver is signal_deliver of a current thread.
func (r *Run) emitDeliver(th *machine.Thread, signal int64) {
	var ev event.Event
	ev.Reset()
	ev.Kind, ev.Arg = event.SignalDeliver, signal
	r.m.Emit(th.Task.CPU(), &ev)
}

// emitSyscall is raw_syscalls:sys_enter or sys_exit of a current thread.
func (r *Run) emitSyscall(th *machine.Thread, kind event.Kind, number int64) {
	if r.spec.NoSyscalls {
		return
	}
	var ev event.Event
	ev.Reset()
	ev.Kind, ev.Arg = kind, number
	r.m.Emit(th.Task.CPU(), &ev)
}

// emitExec is sched_process_exec.
func (r *Run) emitExec(th *machine.Thread) {
	var ev event.Event
	ev.Reset()
	ev.Kind = event.SchedProcessExec
	ev.Task, ev.Arg, ev.Text = th.Task.PID, int64(th.Task.PID), th.Task.Comm
	r.m.Emit(th.Task.CPU(), &ev)
}

// System calls of x86_64.
const (
	sysSchedYield = 24

	sysSchedSetparam = 142
	sysSchedSetattr  = 314
	sysExit          = 60
	sysExitGroup     = 231
)
