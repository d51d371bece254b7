package workload

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
)

// forksLimit is how many threads rt-app lets one fork event create.
const forksLimit = 1024

func errForkDeadline(name string) error {
	return fmt.Errorf("%s: fork: EAGAIN: a SCHED_DEADLINE task may not fork", name)
}

func errForkLimit(name, task string) error {
	return fmt.Errorf("%s: more than %d forks of task %s: rt-app exits", name, forksLimit, task)
}

// process is the main thread: it creates the others, sleeps, cancels them and waits for
// their end; rt-app's main() and __shutdown(). It is an ordinary task of nice 0, so on a busy
// CPU it may come to its work late: then the run is longer than it should be, as with
// rt-app.
type process struct {
	run  *Run
	th   *machine.Thread
	task int // of which instances are created
	made int // instances of it that there are
	next int // thread that is cancelled or joined next

	slept   bool    // Spec.Duration is over
	joined  int     // threads that are known to have ended, in their order
	joining *thread // for which it waits
}

// Next creates one thread, cancels one or joins one.
func (p *process) Next(m *machine.Machine, _ *machine.Thread) machine.Step {
	r := p.run
	// Tasks without instances are templates of forks.
	for p.task < len(r.spec.Tasks) && p.made >= r.spec.Tasks[p.task].Instances {
		p.task, p.made = p.task+1, 0
	}
	if p.task < len(r.spec.Tasks) {
		p.made++
		if _, err := r.newThread(p.th, p.task, -1); err != nil {
			r.refuse(err)
			return gone
		}
		return machine.Step{Kind: machine.StepRun, NS: r.spec.OpCost}
	}
	if r.spec.Duration >= 0 && !p.slept {
		p.slept = true
		return machine.Step{Kind: machine.StepSleep, NS: m.Now() + r.spec.Duration, Slack: r.slack(p.th.Task)}
	}
	if p.slept && !r.stopping {
		r.stopping = true
		p.next = 0
	}
	if r.stopping && p.cancels() {
		return proceed
	}
	return p.join()
}

// cancels ends the next thread, and when all threads are told the next process: the
// memory that processes give back would else be in the way of threads that are still at
// work. It reports false when all are told.
func (p *process) cancels() bool {
	r := p.run
	for ; p.next < 2*len(r.threads); p.next++ {
		t, processes := r.threads[p.next%len(r.threads)], p.next >= len(r.threads)
		if t.group.own() != processes || t.over {
			continue
		}
		p.next++
		if processes {
			r.kill(p.th.Task.CPU(), t, sigTerm)
		} else {
			r.cancel(p.th, t)
		}
		return true
	}
	return false
}

// join waits for the threads one after the other, forked ones too, and for processes.
func (p *process) join() machine.Step {
	r := p.run
	p.joining = nil
	for ; p.joined < len(r.threads); p.joined++ {
		if t := r.threads[p.joined]; !t.over && (!t.group.own() || t == t.group.leader()) {
			p.joining = t
			return blocked
		}
	}
	r.emitSyscall(p.th, event.SysEnter, sysExitGroup)
	return machine.Step{Kind: machine.StepExit}
}

// childEnds wakes the main thread if it waits for p, a thread of its own or a process.
func (p *process) childEnds(t *thread) {
	t.over = true
	if p.joining == t {
		p.run.m.Wake(t.th.Task.CPU(), p.th)
	}
}

// cancel is pthread_cancel(): a signal, which ends a thread that sleeps at a cancellation
// point. One that runs ends before its next operation, one that waits for a mutex once it
// has it.
func (r *Run) cancel(from *machine.Thread, p *thread) {
	if p.over || p.dying != alive {
		return
	}
	p.cancelled = true
	cpu := from.Task.CPU()
	// Somebody who was woken already goes on by himself. The wake comes before the event of
	// the signal, as in complete_signal() and after.
	if p.asleep && !p.woken {
		r.leave(p)
		r.m.Wake(cpu, p.th)
	}
	r.emitSignal(cpu, p.th, sigCancel)
}

// emitFork is what clone leaves: task_newtask, then sched_process_fork. The wake-up of the
// child comes with its start.
func (r *Run) emitFork(parent, child *machine.Thread, flags int64) {
	cpu := parent.Task.CPU()
	var ev event.Event
	ev.Reset()
	ev.Kind = event.TaskNewtask
	ev.Task, ev.TaskComm, ev.Arg = child.Task.PID, child.Task.Comm, flags
	r.m.Emit(cpu, &ev)
	ev.Reset()
	ev.Kind = event.SchedProcessFork
	ev.Task, ev.TaskComm = parent.Task.PID, parent.Task.Comm
	ev.Next, ev.NextComm = child.Task.PID, child.Task.Comm
	r.m.Emit(cpu, &ev)
}

// cloneThread are the flags with which pthread_create() calls clone: CLONE_VM, FS, FILES,
// SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID.
const cloneThread = 0x3d0f00

// cloneProcess are those of fork(): CLONE_CHILD_SETTID, CHILD_CLEARTID.
const cloneProcess = 0x1200000

// emitRename is task_rename, which comes before the new name is there.
func (r *Run) emitRename(th *machine.Thread, name event.Name) {
	var ev event.Event
	ev.Reset()
	ev.Kind = event.TaskRename
	ev.Task, ev.TaskComm, ev.NextComm = th.Task.PID, th.Task.Comm, name
	r.m.Emit(th.Task.CPU(), &ev)
}
