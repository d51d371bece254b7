package machine

import (
	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
)

// timerKind tells the timers of a thread apart.
type timerKind uint8

const (
	sleepTimer timerKind = iota
	dlTimer
	inactiveTimer
	numTimers
)

// timer is an hrtimer that belongs to a thread. It may expire from early on, in an
// interrupt that another timer causes, and causes one itself when it is due.
type timer struct {
	handle     engine.Handle
	turn       uint32    // of all starts of timers; an expiry of another turn is none
	cpu        event.CPU // that armed it, and will serve it
	kind       timerKind
	armed      bool
	softirq    bool // it expires in the softirq HRTIMER
	early, due event.Time
	thread     *Thread
}

// arm starts a timer of th on c, or moves it. It may expire by slack later than at.
func (m *Machine) arm(c event.CPU, th *Thread, k timerKind, at, slack event.Time) {
	m.stopTimer(th, k)
	t := &th.timers[k]
	// No two starts have one turn: the number of a thread that is gone is used again, and an
	// expiry of its timer may still wait for its interrupt.
	m.turn = (m.turn + 1) & (1<<31 - 1)
	t.turn = m.turn
	t.cpu, t.armed, t.early, t.due, t.thread, t.kind = c, true, at, at+slack, th, k
	t.softirq = k == sleepTimer && m.cfg.Interrupts.SleepersInSoftirq && m.rt() && !realTime(th.Task.Attr.Policy)
	m.enlist(t)
	what, rank := itemSleep+uint32(k), rankTimer
	if t.softirq {
		rank = rankSoftirqTimer
	}
	t.handle = m.queue.Push(engine.Item{At: m.expiry(t.due), Rank: rank, What: what, Arg: int64(th.id) | int64(t.turn)<<32})
	m.emitTimer(c, event.HrtimerStart, th, k, at)
}

// realTime is task_is_realtime(): by the task's own policy, whatever it has inherited.
func realTime(p sched.Policy) bool { return p == sched.FIFO || p == sched.RR || p == sched.Deadline }

// expiry is when a timer really expires: without high resolution at a tick.
func (m *Machine) expiry(at event.Time) event.Time {
	at = max(at, m.now)
	if m.cfg.LowRes {
		return m.nextTick(at)
	}
	return at
}

// stopTimer stops a timer, also one whose interrupt already waits.
func (m *Machine) stopTimer(th *Thread, k timerKind) {
	t := &th.timers[k]
	if t.armed {
		m.queue.Cancel(t.handle)
		m.delist(t)
		t.armed = false
	}
}

// timerOf returns whose timer an item is, nil if that is gone or the timer was stopped.
func (m *Machine) timerOf(it *engine.Item) (*Thread, timerKind) {
	k := timerKind(it.What - itemSleep)
	th := m.threads[it.Arg&(1<<32-1)]
	if th == nil || !th.timers[k].armed || th.timers[k].turn != uint32(it.Arg>>32) {
		return nil, k
	}
	return th, k
}

// sleepOver is the expiry of a sleep timer.
func (m *Machine) sleepOver(c event.CPU, it *engine.Item) {
	th, _ := m.timerOf(it)
	switch {
	case th == nil:
	case th.timers[sleepTimer].softirq:
		if s := m.softirqs(c); !s.sleepers {
			s.sleepers = true
			m.raiseSoftirq(c, event.SoftirqHrtimer)
		}
	default:
		m.wakeSleeper(c, th)
	}
}

// wakeSleeper is hrtimer_wakeup().
func (m *Machine) wakeSleeper(c event.CPU, th *Thread) {
	m.stopTimer(th, sleepTimer)
	m.emitTimer(c, event.HrtimerExpireEntry, th, sleepTimer, m.now)
	m.Wake(c, th)
	m.emitTimer(c, event.HrtimerExpireExit, th, sleepTimer, m.now)
}

// timerExpired is the expiry of a timer of the deadline class.
func (m *Machine) timerExpired(c event.CPU, it *engine.Item) sched.Work {
	th, k := m.timerOf(it)
	if th == nil {
		return sched.Work{}
	}
	m.stopTimer(th, k)
	m.emitTimer(c, event.HrtimerExpireEntry, th, k, m.now)
	kind := sched.TimerDL
	if k == inactiveTimer {
		kind = sched.TimerInactive
	}
	w := m.Sched.TimerExpired(c, sched.Timer{Kind: kind, CPU: c, Task: th.Task})
	m.emitTimer(c, event.HrtimerExpireExit, th, k, m.now)
	if th.dead {
		m.release(th)
	}
	return w
}

// disarm cancels the sleep timer of a thread that was woken by something else, once it
// runs again.
func (m *Machine) disarm(c event.CPU, th *Thread) {
	if th.timers[sleepTimer].armed {
		m.stopTimer(th, sleepTimer)
		m.emitTimer(c, event.HrtimerCancel, th, sleepTimer, m.now)
	}
}

// words are names that events carry again and again.
type words struct {
	timers [numTimers]event.Name
	groups [3]event.Name // of the timers of groups
	tick   event.Name
	hrtick event.Name
}

func newWords(names *event.Names, cfg *Config) words {
	tick := cfg.Interrupts.TickTimer
	if tick == "" {
		tick = "tick_sched_timer"
	}
	return words{
		tick:   names.Intern(tick),
		hrtick: names.Intern("hrtick"),
		timers: [numTimers]event.Name{names.Intern("hrtimer_wakeup"), names.Intern("dl_task_timer"), names.Intern("inactive_task_timer")},
		groups: [3]event.Name{names.Intern("sched_rt_period_timer"), names.Intern("sched_cfs_period_timer"), names.Intern("sched_cfs_slack_timer")},
	}
}

func (m *Machine) emitTimer(c event.CPU, kind event.Kind, th *Thread, k timerKind, at event.Time) {
	if !m.listens(kind) || k != sleepTimer && !m.cfg.DLTimerEvents {
		return
	}
	ev := &m.ev
	ev.Reset()
	ev.Kind, ev.Arg = kind, timerAddress(th, k)
	switch kind {
	case event.HrtimerStart:
		ev.Func, ev.Arg2, ev.Arg3 = m.words.timers[k], int64(at), int64(th.timers[k].due)
	case event.HrtimerExpireEntry:
		ev.Func, ev.Arg2 = m.words.timers[k], int64(at)
	}
	m.Emit(c, ev)
}

// timerAddress is where a timer of a thread would lie: that of a sleep on its stack, those
// of the deadline class in its task_struct.
func timerAddress(th *Thread, k timerKind) int64 {
	if k == sleepTimer {
		return -(1 << 46) + int64(th.id)<<14 + 0xcb8
	}
	return -(1 << 47) + int64(th.id)<<14 + 0xac8 + int64(k)*0x40
}
