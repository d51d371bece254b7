package machine

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// What tests may see of a machine from inside.

// Step lets one thing happen that is due at until or before, with all that follows at the
// same moment; false if there is none.
func (m *Machine) Step(until event.Time) bool {
	m.settle()
	return m.err == nil && m.step(until)
}

// NextAt is when the next thing happens.
func (m *Machine) NextAt() (event.Time, bool) { return m.queue.Next() }

// Err is what ended the run.
func (m *Machine) Err() error { return m.err }

// Threads returns the threads that are alive.
func (m *Machine) Threads() []*Thread {
	var list []*Thread
	for _, th := range m.threads {
		if th != nil && th.Program != nil {
			list = append(list, th)
		}
	}
	return list
}

// Preemptible reports whether the current task of c would have to leave at once if it were
// asked to, and nothing is on its way to c.
func (m *Machine) Preemptible(c event.CPU) bool {
	cp := &m.cpus[c]
	if cp.busy > m.now || len(cp.irqs) > 0 {
		return false
	}
	if cp.hard != nil || cp.soft != nil && cp.soft.inIRQ.active {
		return false
	}
	th, _ := m.Sched.Curr(c).Data.(*Thread)
	if th == nil || th.mode == User {
		return true
	}
	if th.bhOff {
		return m.rt()
	}
	model := m.cfg.Sched.Preempt
	return th.mode == Kernel && model != sched.PreemptNone && model != sched.PreemptVoluntary
}

// Probes lets entry, exit, need and state be told what leaves no event.
func (m *Machine) Probes(entry, exit, need, state func(event.CPU)) {
	m.probe = func(p probe, c event.CPU) {
		switch p {
		case probeScheduleEntry:
			entry(c)
		case probeScheduleExit:
			exit(c)
		case probeNeedResched:
			need(c)
		case probeSetState:
			state(c)
		}
	}
}

// QueueLen is how many things are to happen.
func (m *Machine) QueueLen() int { return m.queue.Len() }

// RTGroups reports whether groups have runtimes of real-time tasks.
func (m *Machine) RTGroups() bool { return m.cfg.Sched.RTGroupSched }
