package machine

import (
	"slices"
	"sort"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
)

// The armed timers of a CPU stand in a list in the order in which they are due, as in the
// kernel's tree of a clock base: an interrupt serves them from the front, as long as the
// next one may expire already, and looks no further. So a timer with slack expires with
// another one's interrupt in its window, unless one in front of it may not expire yet.

// base is the list that t belongs to.
func (m *Machine) base(t *timer) *[]*timer {
	if t.softirq {
		return &m.cpus[t.cpu].laters
	}
	return &m.cpus[t.cpu].timers
}

// enlist puts t into its list, behind those that are due at the same time.
func (m *Machine) enlist(t *timer) {
	list := m.base(t)
	i := len(*list)
	if i > 0 && (*list)[i-1].due > t.due {
		i = sort.Search(i, func(i int) bool { return (*list)[i].due > t.due })
	}
	*list = slices.Insert(*list, i, t)
}

// delist takes t out of its list.
func (m *Machine) delist(t *timer) {
	list := m.base(t)
	i := 0
	if (*list)[0] != t {
		i = sort.Search(len(*list), func(i int) bool { return (*list)[i].due >= t.due })
		for (*list)[i] != t {
			i++
		}
	}
	*list = slices.Delete(*list, i, i+1)
}

// inSoftirq reports whether the timer of an item expires in a softirq.
func (m *Machine) inSoftirq(it *engine.Item) bool {
	th, k := m.timerOf(it)
	return th != nil && th.timers[k].softirq
}

// expireEarly serves the timers with slack whose window has begun, in the interrupt of
// another one; __hrtimer_run_queues(). Those that are due have an interrupt of their own in
// this moment. The tick is a timer, too, and can stand in front of others.
func (m *Machine) expireEarly(c event.CPU) {
	cp := &m.cpus[c]
	for i := 0; i < len(cp.timers); {
		t := cp.timers[i]
		switch {
		case t.early > m.now, t.due > m.now && !m.cfg.LowRes && cp.ticks && cp.tickAt < t.due:
			return
		case t.early == t.due || t.due <= m.now:
			i++
		default:
			m.wakeSleeper(c, t.thread)
			m.spend(c, m.cfg.Costs.Wake)
		}
	}
}

// sleepersDue counts the timers that the softirq HRTIMER of c serves now.
func (m *Machine) sleepersDue(c event.CPU) int {
	n := 0
	for _, t := range m.cpus[c].laters {
		if t.early > m.now {
			break
		}
		n++
	}
	return n
}

// wakeSleepers serves the timers that expire in softirqs; hrtimer_run_softirq().
func (m *Machine) wakeSleepers(c event.CPU) {
	cp := &m.cpus[c]
	cp.soft.sleepers = false
	for len(cp.laters) > 0 && cp.laters[0].early <= m.now {
		m.wakeSleeper(c, cp.laters[0].thread)
	}
}
