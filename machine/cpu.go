package machine

import (
	"fmt"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// cpu is what executes one thing at a time: a thread's work, or its own.
type cpu struct {
	running  *Thread       // whose work goes on, nil: nobody's
	work     engine.Handle // the end of that
	busy     event.Time    // until when it is at its own work, with interrupts off
	hard     *Line         // whose handler that work is, nil: none
	script   *scripts      // interrupts whose times are given, nil: there never were any
	noTimers event.Time    // until when the interrupts of its timers are held back
	late     []engine.Item // those
	handAt   event.Time    // until when a wake is on its way to the switch; Config.HandOver
	stolen   event.Time    // until when the hypervisor has it
	co       coKernel
	own      LayerKind  // what the own work is for
	soft     *softirqs  // nil: there never were any
	timers   []*timer   // armed hrtimers that expire in interrupts, by expiry
	laters   []*timer   // those that expire in softirqs
	tickAt   event.Time // when it ticks next, if it does
	ticks    bool
	// noHZFull: it is one of nohz_full=.
	noHZFull bool
	idle     int           // one more than the number of the idle state that it is in
	leaving  bool          // on its way out of that
	held     bool          // stolen in a section with interrupts off, which goes on first
	ready    engine.Handle // the end of that
	irqs     []engine.Item // interrupts that wait
	// entered: the first of them has been paid for. awake: one was served before it, so the
	// CPU is not idle any more; inTimers: that was a timer.
	entered, awake, inTimers bool
	asked                    bool

	putPrevs  PutPrevs
	scheduler event.Time // spent on its work

	tick       engine.Handle
	hrtick     engine.Handle
	hrtickTurn uint32
	stopper    *Thread
}

// advance lets c do what it can at this moment: serve interrupts, schedule, and go on with
// its current thread, asking its program for steps until one takes time.
func (m *Machine) advance(c event.CPU) {
	cp := &m.cpus[c]
	for steps := 0; m.err == nil; steps++ {
		switch {
		case cp.busy > m.now:
			m.awaitReady(c)
			return
		case m.cfg.CoKernel && m.advanceCo(c):
			continue
		case cp.inHandler():
			m.workedOn(c)
			continue
		case cp.held:
			cp.held = false
			m.goOn(c, m.Sched.Curr(c).Data.(*Thread))
			return
		case len(cp.irqs) > 0 && m.irqsOn(cp):
			m.serveFirst(c)
			continue
		}
		if s := cp.script; s != nil && s.inSoftirq() && !cp.co.active {
			if m.scriptedSoftirqs(c, s) {
				return
			}
			continue
		}
		if s := cp.soft; s != nil && !cp.co.active {
			if more, busy := m.exitIRQ(c, s); busy {
				return
			} else if more {
				continue
			}
		}
		cp.awake, cp.inTimers = false, false
		th, _ := m.Sched.Curr(c).Data.(*Thread)
		switch {
		case th == nil:
		case th.begun:
			th.begun = false
			m.execute(c, th)
			continue
		case th.done:
			m.askProgram(c, th, steps)
			continue
		}
		if preempt, should := m.shouldSchedule(c, th); should {
			if cp.handAt > m.now {
				m.handOver(c)
				return
			}
			if th == nil {
				m.startTick(c)
				if !m.leaveIdle(c) {
					continue
				}
			}
			m.schedule(c, preempt)
			continue
		}
		if th != nil && th.mode == User && m.throttleWork(c) {
			continue
		}
		notified := th != nil && th.notified && th.mode == User
		switch {
		case th == nil || cp.running == th && !notified:
			m.startTick(c)
			if th == nil && !m.idles(c) {
				continue
			}
			return
		case th.owed || notified:
			m.pause(c)
			m.askProgram(c, th, steps)
		default:
			m.goOn(c, th)
			m.startTick(c)
			return
		}
	}
}

// awaitReady lets c look again when its own work is done.
func (m *Machine) awaitReady(c event.CPU) {
	cp := &m.cpus[c]
	m.queue.Cancel(cp.ready)
	at := cp.busy
	if cp.stolen > m.now {
		at = min(at, cp.stolen) // something else covers it then
	}
	cp.ready = m.queue.Push(engine.Item{At: at, Rank: rankWork, What: itemReady, Arg: int64(c)})
}

// shouldSchedule reports whether c should schedule now, and whether that is a preemption
// inside the kernel. On the way to user mode, and from there, every request is honoured.
// Inside the kernel it depends on the preemption model, and lazy requests are not.
func (m *Machine) shouldSchedule(c event.CPU, th *Thread) (preempt, should bool) {
	full := m.Sched.NeedResched(c)
	if !full && !m.Sched.NeedReschedLazy(c) {
		return false, false
	}
	switch {
	case th == nil:
		return false, true // the idle loop looks at both
	case th.mode == User:
		return false, true
	case !full:
		return false, false
	}
	model, anywhere := m.cfg.Sched.Preempt, m.anywhere()
	switch {
	case th.hold && th.owed && (th.mode != BHOff || model != sched.PreemptRT):
		return true, false
	case th.bhOff && th.owed && model != sched.PreemptRT && m.softirqs(c).pending != 0:
		return true, false // local_bh_enable() does them first
	case th.atPoint && !anywhere:
		return true, true
	case th.owed:
		return true, model != sched.PreemptNone // between two steps
	}
	return true, anywhere && th.mode == Kernel || th.mode == BHOff && model == sched.PreemptRT
}

// anywhere reports whether the kernel can be preempted wherever preemption is on.
func (m *Machine) anywhere() bool {
	model := m.cfg.Sched.Preempt
	return model != sched.PreemptNone && model != sched.PreemptVoluntary
}

// schedule lets the scheduler choose and stops the work of a thread that has to go.
func (m *Machine) schedule(c event.CPU, preempt bool) {
	m.tell(probeScheduleEntry, c)
	before := m.Sched.Curr(c)
	w := m.Sched.Schedule(c, preempt)
	if m.Sched.Curr(c) != before {
		m.pause(c)
	}
	if m.cpus[c].co.active {
		m.coSwitched(c, before)
	} else {
		m.charge(c, &w)
	}
	m.tell(probeScheduleExit, c)
}

// pause stops the work that goes on on c and keeps what is left of it.
func (m *Machine) pause(c event.CPU) {
	cp := &m.cpus[c]
	if cp.soft != nil {
		cp.soft.stop(m)
	}
	if cp.script != nil {
		cp.script.stop(m)
	}
	th := cp.running
	if th == nil {
		return
	}
	m.queue.Cancel(cp.work)
	th.remaining -= m.now - th.since
	th.toPoint -= m.now - th.since
	cp.running = nil
}

// goOn lets the current thread of c work, up to its next cond_resched() if it has some.
func (m *Machine) goOn(c event.CPU, th *Thread) {
	cp := &m.cpus[c]
	if th.by > 0 {
		th.remaining = min(th.remaining, max(th.by-m.now, 0))
	}
	length := th.remaining
	if th.points > 0 {
		if th.toPoint <= 0 {
			th.toPoint = th.points
		}
		length = min(length, th.toPoint)
	}
	th.since, th.atPoint = m.now, false
	cp.running = th
	cp.work = m.queue.Push(engine.Item{At: m.now + length, Rank: rankWork, What: itemWork, Arg: int64(c)})
}

// workDone ends the stretch of work of c, or a part of it.
func (m *Machine) workDone(c event.CPU) {
	cp := &m.cpus[c]
	th := cp.running
	if th == nil {
		return
	}
	th.remaining -= m.now - th.since
	th.toPoint = 0
	cp.running = nil
	if th.remaining > 0 {
		th.atPoint = true
	} else {
		// What user mode has done is done, also for who has to leave at the same moment;
		// the end of a section in the kernel is where it leaves.
		th.owed, th.done = true, th.mode == User
		th.atPoint = th.endPoint
	}
	m.ask(c)
}

// askProgram asks the program of the current thread for its next step. One that will sleep
// says so at once: a wake that comes before it has done what its program did is not lost.
func (m *Machine) askProgram(c event.CPU, th *Thread, steps int) {
	if steps > mostRounds {
		m.Fail(fmt.Errorf("%s/%d at %d ns: %w", m.Names.String(th.Task.Comm), th.Task.PID, m.now, ErrStuck))
		return
	}
	th.done, th.notified = false, false
	m.disarm(c, th)
	// A thread that never had softirqs off, as nearly all, is asked at once.
	if th.pass == nil && !th.bhOff || !m.betweenSteps(c, th) {
		th.next = th.Program.Next(m, th)
	}
	th.begun = true
	if s := &th.next; s.Kind == StepBlock || s.Kind == StepSleep && s.NS+s.Slack > m.now {
		if s.State == event.StateRunnable {
			s.State = event.StateSleeping
		}
		m.tell(probeSetState, c)
		m.Sched.Block(c, s.State)
	}
}
