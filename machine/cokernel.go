package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/sched"

	"github.com/whylate/whylate/event"
)

// A machine with a co-kernel (Config.CoKernel) runs Linux on a CPU only while no real-time task
// wants that:
//
//  1. The timer of a real-time task is an interrupt of the co-kernel's. Nothing of Linux keeps
//     it off: no section with interrupts off, no handler, no scheduler at work. What the CPU
//     did for Linux is laid aside as it is.
//  2. Linux hears nothing of that: its current task stays current, its interrupts wait.
//  3. When no real-time task wants the CPU any more, Linux goes on where it was.
//
// Each change of sides costs Costs.CoSwitch, in which nothing can interrupt, and so does the
// entry of an interrupt. Those are the sections that a co-kernel has itself.
//
// What a real-time task waits for must not be Linux's: locks that it shares with ordinary
// tasks are out of the model's reach.

// coKernel is what a CPU knows of it.
type coKernel struct {
	active  bool       // the co-kernel has the CPU
	until   event.Time // until when it cannot be interrupted
	aside   aside      // what Linux was doing
	resched bool       // TIF_NEED_RESCHED of Linux's current task
}

// aside is the own work of a CPU that goes on later.
type aside struct {
	left                     event.Time // of busy
	hard                     *Line
	own                      LayerKind
	held                     bool
	entered, awake, inTimers bool
}

// forCoKernel reports whether an interrupt of c is the co-kernel's: the timer of a real-time
// task, or another CPU that has woken one.
func (m *Machine) forCoKernel(c event.CPU, it *engine.Item) bool {
	switch it.What {
	case itemSleep:
		th, _ := m.timerOf(it)
		return th != nil && (th.Task.Attr.Policy == sched.FIFO || th.Task.Attr.Policy == sched.RR)
	case itemIPI:
		return m.Sched.WantsRT(c)
	}
	return false
}

// coInterrupt takes in an interrupt that is the co-kernel's.
func (m *Machine) coInterrupt(c event.CPU, it engine.Item) {
	cp := &m.cpus[c]
	if wait := max(cp.co.until, cp.stolen); wait > m.now {
		it.At = wait
		m.queue.Push(it)
		return
	}
	k := &m.cfg.Costs
	cost := k.IRQ
	if !cp.co.active && m.Sched.IsIdle(c) && len(m.cfg.IdleStates) == 0 {
		cost += k.IdleExit
	}
	if it.What == itemSleep {
		cost += k.Wake
	}
	m.enterCo(c)
	m.spendCo(c, cost)
	if it.What == itemSleep {
		it.What, it.At, it.Rank = itemCo, cp.co.until, rankWork
		m.queue.Push(it)
	}
	m.ask(c)
}

// coTimer is the function of the timer, when the interrupt has been entered.
func (m *Machine) coTimer(it engine.Item) {
	it.What = itemSleep
	th, _ := m.timerOf(&it)
	if th == nil {
		return
	}
	c := th.timers[sleepTimer].cpu
	before := m.irq
	m.irq = c
	m.wakeSleeper(c, th)
	m.irq = before
	m.ask(c)
}

// advanceCo lets c change sides where it should, and reports whether it did.
func (m *Machine) advanceCo(c event.CPU) bool {
	switch {
	case m.Sched.NeedResched(c) && m.Sched.WantsRT(c):
		m.enterCo(c)
		if th, _ := m.Sched.Curr(c).Data.(*Thread); th != nil && th.begun {
			th.begun = false // it has said what it does
			m.execute(c, th)
		} else {
			m.schedule(c, true)
		}
		return true
	case m.cpus[c].co.active && m.Sched.Curr(c).Rank() != sched.RankRT:
		m.leaveCo(c) // who was woken runs elsewhere
		return true
	}
	return false
}

// enterCo lays aside what c does for Linux.
func (m *Machine) enterCo(c event.CPU) {
	m.pause(c)
	cp := &m.cpus[c]
	if cp.co.active {
		return
	}
	cp.co.active, cp.co.resched = true, m.Sched.NeedResched(c) && !m.Sched.WantsRT(c)
	cp.co.aside = aside{max(cp.busy-m.now, 0), cp.hard, cp.own, cp.held, cp.entered, cp.awake, cp.inTimers}
	m.queue.Cancel(cp.ready)
	cp.busy, cp.hard, cp.held = m.now, nil, false
	cp.entered, cp.awake, cp.inTimers = false, false, false
}

// spendCo is spend of what cannot be interrupted at all.
func (m *Machine) spendCo(c event.CPU, ns event.Time) {
	m.spendFor(c, LayerOwn, ns)
	cp := &m.cpus[c]
	cp.co.until = max(cp.busy, m.now)
}

// coSwitched is the price of a switch from the task left to the current one of c, where either
// is the co-kernel's.
func (m *Machine) coSwitched(c event.CPU, left *sched.Task) {
	if m.Sched.Curr(c) != left {
		m.spendCo(c, m.cfg.Costs.CoSwitch)
		if m.now >= m.countFrom {
			m.cpus[c].scheduler += m.cfg.Costs.CoSwitch
		}
	}
	if m.Sched.Curr(c).Rank() != sched.RankRT {
		m.leaveCo(c)
	}
}

// leaveCo lets Linux go on where it was.
func (m *Machine) leaveCo(c event.CPU) {
	cp := &m.cpus[c]
	a := &cp.co.aside
	cp.co.active = false
	cp.hard, cp.own, cp.held = a.hard, a.own, a.held
	cp.entered, cp.awake, cp.inTimers = a.entered, a.awake, a.inTimers
	cp.busy = max(cp.busy, m.now) + a.left
	if cp.co.resched {
		m.Sched.ForceNeedResched(c, true)
		m.tell(probeNeedResched, c)
	}
	m.ask(c)
}
