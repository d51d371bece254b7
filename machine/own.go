package machine

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// The kinds of the machine's own threads, each with pids of its own below lastPID.
const (
	ownStopper = iota // migration/N
	ownIRQ            // irq/NUMBER-NAME
	ownSoftirq        // ksoftirqd/N
	ownTimers         // ktimers/N
)

// ownThread makes a thread of the kernel that belongs to c and sleeps, as it does since the
// machine was booted. n numbers those of a kind. Their pids are not those of a load: kinds
// take turns from lastPID downwards.
func (m *Machine) ownThread(kind, n int, comm string, attr sched.Attr, c event.CPU, p Program) (*Thread, error) {
	pid := lastPID - event.PID(kind)*mostOwn - event.PID(n)
	task, err := m.Sched.NewTask(pid, m.Names.Intern(comm), attr, []event.CPU{c})
	if err != nil {
		return nil, err
	}
	task.State, task.Kthread = event.StateSleeping, true
	return m.adopt(task, p), nil
}

// mostOwn is how many threads of a kind there may be.
const mostOwn = 1 << 13

// OwnThreads are the threads of the kernel that belong to the machine, for who asks what there
// is on it. A kernel makes them at boot; the machine makes now what it has not needed so far.
func (m *Machine) OwnThreads() []*Thread {
	var list []*Thread
	for c := range event.CPU(len(m.cpus)) {
		m.Stopper(c)
		list = append(list, m.cpus[c].stopper, m.daemon(c))
		if m.forcesThreads() && m.cfg.Interrupts.KTimers {
			list = append(list, m.timerDaemon(c))
		}
	}
	for _, l := range m.lines {
		if l.thread != nil {
			list = append(list, l.thread)
		}
	}
	return list
}
