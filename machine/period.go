package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// The timers of the scheduler that belong to a group: sched_rt_period_timer,
// sched_cfs_period_timer and sched_cfs_slack_timer. They are moved and never stopped: one
// that has nothing to do when it expires is not started again.

// groupAddress is where the timer of the root bandwidth would lie: in the kernel's own data.
// Those of groups lie elsewhere.
const groupAddress int64 = -(1 << 31) + 0x2a5_d2e0

// groupItem is what the timers of a kind are in the queue.
func groupItem(k sched.TimerKind) uint32 { return itemRTPeriod + uint32(k-sched.TimerRTPeriod) }

// groupTimer is the timer of an item.
func groupTimer(c event.CPU, it *engine.Item) sched.Timer {
	return sched.Timer{Kind: sched.TimerRTPeriod + sched.TimerKind(it.What-itemRTPeriod), CPU: c, Group: int(it.Arg >> 32)}
}

// armGroup starts a timer of a group on its CPU, where it stays, or moves it.
func (m *Machine) armGroup(t sched.Timer, at event.Time) {
	for len(m.groups) <= t.Group {
		m.groups = append(m.groups, [3]engine.Handle{})
	}
	h := &m.groups[t.Group][t.Kind-sched.TimerRTPeriod]
	m.queue.Cancel(*h)
	*h = m.queue.Push(engine.Item{At: m.expiry(at), Rank: rankTimer, What: groupItem(t.Kind), Arg: int64(t.CPU) | int64(t.Group)<<32})
	if m.expires && t == m.expiring {
		m.restart = at // the interrupt does it when the function has returned
		return
	}
	m.emitGroup(t, event.HrtimerStart, at)
}

// groupExpired is the expiry of a timer of a group.
func (m *Machine) groupExpired(c event.CPU, it *engine.Item) sched.Work {
	t := groupTimer(c, it)
	m.emitGroup(t, event.HrtimerExpireEntry, m.now)
	m.expires, m.expiring, m.restart = true, t, event.NoTime
	w := m.Sched.TimerExpired(c, t)
	m.expires = false
	m.emitGroup(t, event.HrtimerExpireExit, m.now)
	if m.restart != event.NoTime {
		m.emitGroup(t, event.HrtimerStart, m.restart)
	}
	return w
}

func (m *Machine) emitGroup(t sched.Timer, kind event.Kind, at event.Time) {
	if m.sink == nil || !m.cfg.DLTimerEvents {
		return
	}
	k := t.Kind - sched.TimerRTPeriod
	ev := &m.ev
	ev.Reset()
	ev.Kind, ev.Arg = kind, groupAddress+int64(t.Group)*0x400+int64(k)*0x40
	switch kind {
	case event.HrtimerStart:
		ev.Func, ev.Arg2, ev.Arg3 = m.words.groups[k], int64(at), int64(at)
	case event.HrtimerExpireEntry:
		ev.Func, ev.Arg2 = m.words.groups[k], int64(at)
	}
	m.Emit(t.CPU, ev)
}

// throttleWork lets the current task of c wait for its quota where it is on its way to user mode,
// and reports that.
func (m *Machine) throttleWork(c event.CPU) bool {
	if !m.cfg.Sched.Fair.TaskThrottle {
		return false
	}
	waits, w := m.Sched.ThrottleWork(c)
	m.charge(c, &w)
	return waits
}

// NoAutogroup reports whether sessions have no groups of their own.
func (m *Machine) NoAutogroup() bool { return m.cfg.Sched.Fair.NoAutogroup }
