package replay

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// begin lets the machine be as Task.Begin says, unseen, and runs it up to the moment before
// Load.From.
func (r *runner) begin() error {
	r.muted = true
	defer func() { r.muted = false }()
	l := r.load
	from := r.model(l.From)
	for i := range l.Tasks {
		r.threads[i] = thread{run: r, task: &l.Tasks[i], index: i}
		if l.changed {
			r.threads[i].habit = habitOf(l.Tasks[i].Ops)
		}
	}
	r.places()
	if err := r.m.RunUntil(from - 1 - 2*max(r.setup.Machine.HandOver, r.setup.Machine.IdleHandOver)); err != nil {
		return err
	}
	forked := make([]bool, len(l.Tasks))
	for i := range l.Tasks {
		for j := range l.Tasks[i].Ops {
			if op := &l.Tasks[i].Ops[j]; op.Kind == OpFork {
				forked[op.Ref] = true
			}
		}
	}
	if err := r.makeGroups(); err != nil {
		return err
	}
	r.stoppers()
	// Who has a CPU comes before who wants one.
	for _, b := range []Begin{BeginRunning, BeginReady, BeginBlocked, BeginNew} {
		for i := range l.Tasks {
			p := &r.threads[i]
			if p.task.Stopper || p.task.Removed || p.task.Begin != b {
				continue
			}
			if b == BeginNew {
				if !forked[i] {
					r.appear(p)
				}
				continue
			}
			if err := r.settle(p); err != nil {
				return fmt.Errorf("%s/%d: %w", l.Names.String(p.task.Comm), p.task.PID, err)
			}
		}
	}
	r.stand()
	r.locks()
	r.postLater(0)
	r.startLines()
	r.startStopped()
	return r.m.RunUntil(from - 1)
}

// settle puts a task where it is at Load.From.
func (r *runner) settle(p *thread) error {
	t := p.task
	attr := t.Attr
	late := attr.Policy == sched.Deadline // it must be allowed to use every CPU
	if late {
		attr = sched.Attr{Policy: sched.Normal}
	}
	th, err := r.m.Spawn(t.PID, r.load.Names.String(t.Comm), attr, []event.CPU{t.CPU}, p)
	if err != nil {
		return err
	}
	p.th, th.Task.Kthread = th, t.Kernel
	r.m.Sched.SetGroup(th.Task, r.groupOf(t))
	if p.place(r.m); t.Begin == BeginRunning {
		r.m.Sched.SetFairPlace(th.Task, noPlace) // it goes first until then
	}
	r.living[t.PID] = p.index
	if t.Begin == BeginBlocked {
		r.m.Asleep(th, p.beginAsleep(), r.wakes(p))
	} else {
		if len(t.Ops) > 0 && t.Ops[0].Kind == OpRun {
			p.mode = t.Ops[0].Mode
		}
		p.early = true
		r.m.Start(t.CPU, th)
	}
	if r.load.CPUs > 1 {
		if _, _, err := r.m.Sched.SetAffinity(t.CPU, th.Task, t.CPUs); err != nil {
			return err
		}
	}
	if late {
		if _, err := r.m.Sched.SetAttr(t.CPU, th.Task, t.Attr); err != nil {
			return err
		}
	}
	return nil
}

// beginAsleep lets p be in its first operation, and returns the state of that sleep.
func (p *thread) beginAsleep() event.State {
	if len(p.task.Ops) == 0 || !p.task.Ops[0].Kind.Sleeps() {
		return event.StateSleeping
	}
	p.entered = true
	return sleepState(p.task.Ops[0].State)
}

// wakes is when the timer of a task that begins asleep expires, on the machine's clock;
// NoTime: it has none.
func (r *runner) wakes(p *thread) event.Time {
	if len(p.task.Ops) == 0 {
		return event.NoTime
	}
	// Of a sleep that has no set end the beginning is not known, so its end is the recorded.
	if op := &p.task.Ops[0]; op.Kind == OpSleep || op.Kind == OpNap {
		p.until = max(r.model(op.At), r.model(r.load.From))
		return p.until
	}
	return event.NoTime
}

// appear lets a task begin of which nothing shows who made it, at its first operation.
func (r *runner) appear(p *thread) {
	at := r.load.From
	if len(p.task.Ops) > 0 {
		at = max(at, p.task.Ops[0].At)
	}
	r.m.At(r.model(at), func() { r.create(p, p.task.CPU) })
}

// fork is the fork of a task by parent.
func (r *runner) fork(parent *thread, child int) {
	p := &r.threads[child]
	cpu := parent.th.Task.CPU()
	th := r.spawn(p, cpu)
	if th == nil {
		return
	}
	if p.task.Group == 0 {
		r.m.Sched.SetGroup(th.Task, parent.th.Task.Group())
	}
	r.emitFork(parent.th, th)
	r.m.Start(cpu, th)
}

// create is a fork by nobody who is known.
func (r *runner) create(p *thread, cpu event.CPU) {
	if th := r.spawn(p, cpu); th != nil {
		r.m.Start(cpu, th)
	}
}

// postLater posts at the recorded times whom a removed task had posted.
func (r *runner) postLater(n int) {
	if n >= len(r.load.posts) {
		return
	}
	p := &r.load.posts[n]
	cpu := r.load.Tasks[p.task].CPU
	if t := r.threads[p.task].th; t != nil {
		cpu = t.Task.CPU()
	}
	r.m.Interrupt(r.model(max(p.at, r.load.From)), cpu, func() {
		r.post(cpu, p.task)
		r.postLater(n + 1)
	})
}

// spawn makes the thread of p, which is not runnable yet; nil if that is there already, or
// refused.
func (r *runner) spawn(p *thread, cpu event.CPU) *machine.Thread {
	if p.th != nil || p.task.Removed {
		return nil
	}
	t := p.task
	th, err := r.m.Spawn(t.PID, r.load.Names.String(t.Comm), t.Attr, t.CPUs, p)
	if err != nil {
		r.refused(p, err)
		return nil
	}
	p.th, th.Task.Kthread = th, t.Kernel
	r.m.Sched.SetGroup(th.Task, r.groupOf(t))
	p.place(r.m)
	r.living[t.PID] = p.index
	return th
}

// locks lets locks be held and waited for as they are at Load.From.
func (r *runner) locks() {
	for i := range r.mutexes {
		lock := &r.load.Mutexes[i]
		mu := &r.mutexes[i]
		mu.pi = lock.PI
		if lock.Held >= 0 && r.threads[lock.Held].th != nil {
			r.threads[lock.Held].take(mu)
		}
	}
	for i := range r.threads {
		p := &r.threads[i]
		if !p.entered || p.task.Ops[0].Kind != OpLock {
			continue
		}
		switch mu := &r.mutexes[p.task.Ops[0].Ref]; mu.owner {
		case p:
		case nil: // a change has removed who held it
			cpu := p.th.Task.CPU()
			r.m.Interrupt(r.model(r.load.From), cpu, func() { r.m.Wake(cpu, p.th) })
		default:
			p.await(mu)
		}
	}
}

// emitFork is what clone leaves; task_newtask, then sched_process_fork.
func (r *runner) emitFork(parent, child *machine.Thread) {
	cpu := parent.Task.CPU()
	var ev event.Event
	ev.Reset()
	ev.Kind = event.TaskNewtask
	ev.Task, ev.TaskComm, ev.Arg = child.Task.PID, child.Task.Comm, 0
	r.m.Emit(cpu, &ev)
	ev.Reset()
	ev.Kind = event.SchedProcessFork
	ev.Task, ev.TaskComm = parent.Task.PID, parent.Task.Comm
	ev.Next, ev.NextComm = child.Task.PID, child.Task.Comm
	r.m.Emit(cpu, &ev)
}
