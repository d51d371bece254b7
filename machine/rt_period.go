package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// rtPeriodAddress is where the timer of the root bandwidth would lie: in the kernel's own
// data. Those of groups lie elsewhere.
const rtPeriodAddress int64 = -(1 << 31) + 0x2a5_d2e0

// armRTPeriod starts sched_rt_period_timer on c, where it stays. It is never cancelled: when
// it expires and nothing is left to do it is not started again.
func (m *Machine) armRTPeriod(c event.CPU, group int, at event.Time) {
	m.queue.Push(engine.Item{At: m.expiry(at), Rank: rankTimer, What: itemRTPeriod, Arg: int64(c) | int64(group)<<32})
	if m.expiring {
		m.restart = at // the interrupt does it when the function has returned
		return
	}
	m.emitRTPeriod(c, group, event.HrtimerStart, at)
}

// rtPeriodExpired is the expiry of sched_rt_period_timer.
func (m *Machine) rtPeriodExpired(c event.CPU, it *engine.Item) sched.Work {
	group := int(it.Arg >> 32)
	m.emitRTPeriod(c, group, event.HrtimerExpireEntry, m.now)
	m.expiring, m.restart = true, event.NoTime
	w := m.Sched.TimerExpired(c, sched.Timer{Kind: sched.TimerRTPeriod, CPU: c, Group: group})
	m.expiring = false
	m.emitRTPeriod(c, group, event.HrtimerExpireExit, m.now)
	if m.restart != event.NoTime {
		m.emitRTPeriod(c, group, event.HrtimerStart, m.restart)
	}
	return w
}

func (m *Machine) emitRTPeriod(c event.CPU, group int, kind event.Kind, at event.Time) {
	if m.sink == nil || !m.cfg.DLTimerEvents {
		return
	}
	ev := &m.ev
	ev.Reset()
	ev.Kind, ev.Arg = kind, rtPeriodAddress+int64(group)*0x400
	switch kind {
	case event.HrtimerStart:
		ev.Func, ev.Arg2, ev.Arg3 = m.words.rtPeriod, int64(at), int64(at)
	case event.HrtimerExpireEntry:
		ev.Func, ev.Arg2 = m.words.rtPeriod, int64(at)
	}
	m.Emit(c, ev)
}
