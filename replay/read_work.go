package replay

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/timeline"
)

// cpuReader is how far the time of one CPU is told.
type cpuReader struct {
	cur  timeline.TaskID // NoTask: not known
	from event.Time      // everything before is told; NoTime: the CPU was not seen yet
	hard event.Time      // of the newest event in an interrupt; NoTime: none yet
	// debt is time of the hand-over to a task that was woken, in front of the switch to that:
	// it is nobody's work.
	debt  event.Time
	taken []timeline.Span // interrupts and softirqs in front of tasks, apart from each other
	at    int             // in taken: those before lie before from
	off   int             // in look.off, likewise
}

// takenOf merges what lies in front of the tasks of a CPU: interrupts with events, and
// softirqs in interrupt context, which never are on PREEMPT_RT.
func takenOf(x *timeline.Index, c int, rt bool) []timeline.Span {
	ci := &x.CPUs[c]
	list := append([]timeline.Span(nil), ci.IRQs...)
	if !rt {
		for _, s := range ci.Softirqs {
			if s.Task == timeline.NoTask || !kernel.IsSoftirqThread(x.Names.String(x.Tracker.Task(s.Task).Comm)) {
				list = append(list, s)
			}
		}
		sort.SliceStable(list, func(i, j int) bool { return list[i].From < list[j].From })
	}
	out := list[:0]
	for _, s := range list {
		switch n := len(out); {
		case s.To <= s.From:
		case n > 0 && s.From <= out[n-1].To:
			out[n-1].To = max(out[n-1].To, s.To)
		default:
			out = append(out, s)
		}
	}
	return out
}

// covered is how much of [from, to) interrupts take; from does not go back.
func (c *cpuReader) covered(from, to event.Time) (ns event.Time) {
	for c.at < len(c.taken) && c.taken[c.at].To <= from {
		c.at++
	}
	for i := c.at; i < len(c.taken) && c.taken[i].From < to; i++ {
		ns += min(c.taken[i].To, to) - max(c.taken[i].From, from)
	}
	return ns
}

// until tells the work of whoever has CPU c up to t.
func (r *reader) until(c event.CPU, t event.Time) {
	cp := &r.cpus[c]
	if cp.from == event.NoTime || t <= cp.from {
		return
	}
	from := cp.from
	cp.from = t
	s := r.script(cp.cur)
	if s == nil {
		return
	}
	exit, _ := r.a.ExitFrom(cp.cur)
	off := r.look.off[c]
	for from < t {
		to, mode := t, machine.User
		if exit != event.NoTime && from < exit {
			to = min(to, exit)
		}
		for cp.off < len(off) && off[cp.off].to <= from {
			cp.off++
		}
		if cp.off < len(off) {
			if o := &off[cp.off]; o.from <= from {
				mode, to = o.mode, min(to, o.to)
			} else {
				to = min(to, o.from)
			}
		}
		ns := to - from - cp.covered(from, to)
		paid := min(cp.debt, ns)
		cp.debt -= paid
		if ns -= paid; ns > 0 {
			s.add(Op{Kind: OpRun, At: from, Slept: to, NS: ns, Mode: mode, Dying: exit != event.NoTime && from >= exit})
		}
		from = to
	}
}

// lose ends what is known of CPU c at from; at t events go on.
func (r *reader) lose(c event.CPU, from, t event.Time) {
	cp := &r.cpus[c]
	if from != event.NoTime {
		r.until(c, from)
	}
	if cp.from != event.NoTime && t > cp.from {
		r.l.Stolen = append(r.l.Stolen, Stolen{c, cp.from, t})
	}
	if s := r.script(cp.cur); s != nil {
		s.doing = unseen
	}
	cp.cur, cp.from, cp.debt = timeline.NoTask, t, 0
}
