package machine

import (
	"strconv"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// softirqDaemon is the program of ksoftirqd/N or ktimers/N.
type softirqDaemon struct {
	cpu    event.CPU
	timers bool
}

// Next handles what is pending and sleeps when there is nothing; run_ksoftirqd().
func (d *softirqDaemon) Next(m *Machine, th *Thread) Step {
	s := m.softirqs(d.cpu)
	pending := s.pending
	if d.timers {
		pending = s.timers
	}
	if pending == 0 {
		return Step{Kind: StepBlock}
	}
	return m.handleSoftirqs(d.cpu, th, d.timers)
}

// isDaemon reports whether softirqs are what th is there for.
func isDaemon(th *Thread) bool {
	_, is := th.Program.(*softirqDaemon)
	return is
}

// daemon is ksoftirqd/N, made when it is needed for the first time.
func (m *Machine) daemon(c event.CPU) *Thread {
	s := m.softirqs(c)
	if s.daemon == nil {
		attr := sched.Attr{Policy: sched.Normal}
		if p := m.cfg.Interrupts.DaemonPriority; p > 0 {
			attr = sched.Attr{Policy: sched.FIFO, Priority: p}
		}
		s.daemon = m.makeDaemon(ownSoftirq, "ksoftirqd/", c, attr, false)
	}
	return s.daemon
}

// timerDaemon is ktimers/N, which Debian's RT patch has at SCHED_FIFO 1.
func (m *Machine) timerDaemon(c event.CPU) *Thread {
	s := m.softirqs(c)
	if s.timerDaemon == nil {
		s.timerDaemon = m.makeDaemon(ownTimers, "ktimers/", c, sched.Attr{Policy: sched.FIFO, Priority: 1}, true)
	}
	return s.timerDaemon
}

func (m *Machine) makeDaemon(kind int, name string, c event.CPU, attr sched.Attr, timers bool) *Thread {
	th, err := m.ownThread(kind, int(c), name+strconv.Itoa(int(c)), attr, c, &softirqDaemon{c, timers})
	if err != nil {
		m.Fail(err) // the kernel refuses no thread of its own
		return th
	}
	th.Task.SetPerCPU()
	return th
}
