package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// interrupt lets an interrupt arrive at its CPU. It waits while that is at its own work or
// in a section with interrupts off.
func (m *Machine) interrupt(it engine.Item) {
	c := m.target(&it)
	if c == event.NoCPU {
		return // a timer of a thread that is gone
	}
	if it.What == itemTick && !m.needsTick(c) {
		return // it was stopped when the CPU went idle
	}
	if m.hold(c, &it) {
		return
	}
	if m.cfg.CoKernel && m.forCoKernel(c, &it) {
		m.coInterrupt(c, it)
		return
	}
	cp := &m.cpus[c]
	if it.What == itemSleep && cp.soft != nil && cp.soft.sleepers && m.inSoftirq(&it) {
		return // the softirq that is on its way sees to it, so the timer was not programmed
	}
	if m.free && cp.idle == 0 && len(cp.irqs) == 0 && m.irqsOn(cp) {
		m.serve(c, &it)
		return
	}
	cp.irqs = append(cp.irqs, it)
	m.ask(c)
}

// target is the CPU that an interrupt is for.
func (m *Machine) target(it *engine.Item) event.CPU {
	switch it.What {
	case itemIRQ:
		return m.calls[it.Arg].cpu
	case itemDevice:
		return m.lines[it.Arg].cpu
	case itemSleep, itemDL, itemInactive:
		if th, k := m.timerOf(it); th != nil {
			return th.timers[k].cpu
		}
		return event.NoCPU
	}
	return event.CPU(it.Arg & (1<<32 - 1))
}

// irqsOn reports whether a CPU would serve an interrupt now.
func (m *Machine) irqsOn(cp *cpu) bool {
	return !cp.co.active && cp.busy <= m.now && !cp.inHandler() && !cp.held && (cp.running == nil || cp.running.mode != IRQsOff)
}

// serveFirst serves the interrupt that waits longest, once its entry is paid for. Timers
// that have expired meanwhile are served in the same interrupt; hrtimer_interrupt().
func (m *Machine) serveFirst(c event.CPU) {
	if !m.leaveIdle(c) {
		return
	}
	cp := &m.cpus[c]
	it := cp.irqs[0]
	if cost := m.entry(c, &it); cost > 0 && !cp.entered {
		cp.entered = true
		m.spendFor(c, LayerLocal, cost)
		return
	}
	cp.entered, cp.awake, cp.inTimers = false, true, isTimer(it.What)
	cp.irqs = cp.irqs[:copy(cp.irqs, cp.irqs[1:])]
	m.serve(c, &it)
}

// isTimer reports whether an interrupt is that of an hrtimer, as the tick is one too.
func isTimer(what uint32) bool {
	switch what {
	case itemSleep, itemDL, itemInactive, itemHRTick, itemRTPeriod, itemCFSPeriod, itemCFSSlack, itemTick:
		return true
	}
	return false
}

// entry is what it costs to get into an interrupt, or to the next timer of the same one.
func (m *Machine) entry(c event.CPU, it *engine.Item) event.Time {
	what := it.What
	k, cp := &m.cfg.Costs, &m.cpus[c]
	cost := event.Time(0)
	if !cp.inTimers || !isTimer(what) {
		cost = k.IRQ
	}
	if !cp.awake && len(m.cfg.IdleStates) == 0 && m.Sched.IsIdle(c) {
		cost += k.IdleExit
	}
	switch what {
	case itemSleep:
		if !m.inSoftirq(it) {
			cost += k.Wake
		}
	case itemTick:
		cost += k.Tick
	}
	return cost
}

// serve is the interrupt itself. On its way out the CPU looks whether to schedule.
func (m *Machine) serve(c event.CPU, it *engine.Item) {
	before := m.irq
	m.irq = c
	asked := m.cfg.HandOver > 0 && m.Sched.NeedResched(c)
	var w sched.Work
	switch it.What {
	case itemIRQ:
		m.call(it.Arg)
	case itemDevice:
		m.lines[it.Arg].begin(c)
	case itemSleep:
		m.sleepOver(c, it)
	case itemDL, itemInactive:
		w = m.timerExpired(c, it)
	case itemHRTick:
		if uint32(it.Arg>>32) == m.cpus[c].hrtickTurn {
			m.emitHRTick(c, event.HrtimerExpireEntry, m.now)
			w = m.Sched.TimerExpired(c, sched.Timer{Kind: sched.TimerHRTick, CPU: c})
			m.emitHRTick(c, event.HrtimerExpireExit, event.NoTime)
		}
	case itemRTPeriod, itemCFSPeriod, itemCFSSlack:
		w = m.groupExpired(c, it)
	case itemKick:
		w = m.Sched.PushCPU(c)
	case itemKickBalance:
		w = m.Sched.KickedBalance(c)
	case itemWakeList:
		w = m.Sched.WakeList(c)
	case itemTick:
		w = m.tick(c)
	}
	if isTimer(it.What) {
		m.expireEarly(c)
	}
	m.irq = before
	m.charge(c, &w)
	if m.cfg.HandOver > 0 && !asked {
		m.handOverFrom(c)
	}
	m.leaveIRQ(c)
}

// leaveIRQ ends an interrupt on c: the CPU looks whether softirqs are to be done, and
// whether to schedule.
func (m *Machine) leaveIRQ(c event.CPU) {
	if s := m.cpus[c].soft; s != nil {
		s.exit = true
	}
	m.ask(c)
}
