package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/timeline"
)

// knownTask is what somebody has told of a task, or what its runs show of it.
type knownTask struct {
	attr     sched.Attr
	cpus     []event.CPU // nil: all, or not told
	inferred bool        // attr alone, and from the runs
}

// inferDeadlines finds the parameters of the deadline tasks that nobody told of, as a load is
// made of a trace: by their timers, wakes, and what they used before they were throttled.
func (s *firstSight) inferDeadlines(src Input, o Options) {
	if s.dlTasks == 0 {
		return
	}
	l, err := Read(src, Options{Kernel: o.Kernel, Snapshot: o.Snapshot})
	if err != nil {
		return // too long for that: they stay unknown
	}
	if s.known == nil {
		s.known = knownTasks{}
	}
	for i := range l.Tasks {
		t := &l.Tasks[i]
		if k, told := s.known[t.PID]; told && k.attr.Policy == sched.Deadline {
			continue
		}
		a := t.Attr
		for j := 0; j < len(t.Ops) && a.Policy != sched.Deadline; j++ {
			a = t.Ops[j].Attr
		}
		if a.Policy == sched.Deadline {
			s.known[t.PID] = knownTask{attr: a, inferred: true}
		}
	}
}

// knownTasks are told by pid: those that lived when the machine was looked at.
type knownTasks map[event.PID]knownTask

// attrOf returns what a task with priority prio is, as well as it is known. A priority tells
// FIFO from RR as little as it tells the parameters of deadline tasks.
func (f *forcer) attrOf(t *forced, prio event.Prio) sched.Attr {
	k, told := f.known[t.tl.PID]
	t.policySure, t.paramsSure = false, false
	switch {
	case prio == event.NoPrio:
		return sched.Attr{}
	case prio < 0:
		if told && k.attr.Policy == sched.Deadline {
			t.paramsSure = true
			return k.attr
		}
		return f.first.deadline(t.id)
	case prio < event.MaxRTPrio:
		a := sched.Attr{Policy: sched.FIFO, Priority: max(1, int(event.MaxRTPrio-1-prio))}
		t.wasRT = true
		if told && (k.attr.Policy == sched.FIFO || k.attr.Policy == sched.RR) && k.attr.Priority == a.Priority {
			a.Policy, t.policySure = k.attr.Policy, true
		}
		return a
	}
	a := sched.Attr{Nice: int(min(max(prio-event.DefaultPrio, -20), 19))}
	if told && (k.attr.Policy == sched.Batch || k.attr.Policy == sched.Idle) {
		a.Policy = k.attr.Policy
	}
	a.Slice = k.attr.Slice
	return a
}

// known reports whether p is a priority that a kernel has.
func known(p event.Prio) bool { return p >= event.PrioDeadline && p < event.MaxPrio }

// sync gives t the priority that an event shows, where it changed without an event. It
// reports whether it did.
func (f *forcer) sync(from event.CPU, t *forced, prio event.Prio) bool {
	if !known(prio) || t.tl.Idle() || t.task.Prio() == prio || t.task.Rank() == sched.RankStop {
		return false
	}
	if t.tl.Boosted {
		f.boost(from, t, f.donor(from, prio))
	} else {
		f.become(from, t, prio)
	}
	return true
}

// become is a sched_setattr() that was not seen.
func (f *forcer) become(from event.CPU, t *forced, prio event.Prio) {
	if t.task.Boosted() {
		f.boost(from, t, nil)
	}
	if t.task.Prio() == prio {
		return
	}
	// Attributes that no kernel has give an error and change nothing.
	_, _ = f.sched.SetAttr(from, t.task, f.attrOf(t, prio))
	f.disturb(t)
	f.relist(t)
}

func (f *forcer) boost(from event.CPU, t *forced, donor *sched.Task) {
	if donor == t.task {
		return
	}
	f.sched.Boost(from, t.task, donor)
	f.disturb(t)
	f.relist(t)
}

// setprio is sched_pi_setprio: what a lock lends or takes back.
func (f *forcer) setprio(ev *event.Event, tl *timeline.Task) {
	if tl == nil {
		return
	}
	t := f.of(tl, ev.CPU)
	if t.task.Rank() == sched.RankStop {
		return
	}
	if !t.task.Boosted() && known(ev.TaskPrio) && t.task.Prio() != ev.TaskPrio {
		f.become(ev.CPU, t, ev.TaskPrio)
	}
	if !known(ev.NextPrio) || t.task.Prio() == ev.NextPrio {
		return
	}
	if tl.Boosted {
		f.boost(ev.CPU, t, f.donor(ev.CPU, ev.NextPrio))
		return
	}
	f.become(ev.CPU, t, ev.NextPrio)
}

// donor is who lends a priority. For deadline tasks it is the one that the event shows at
// work; for the others only the number counts.
func (f *forcer) donor(c event.CPU, prio event.Prio) *sched.Task {
	if cur := f.sched.Curr(c); prio < 0 && cur.Attr.Policy == sched.Deadline {
		return cur
	}
	if d := f.donors[prio]; d != nil {
		return d
	}
	a := sched.Attr{Nice: int(min(max(prio-event.DefaultPrio, -20), 19))}
	switch {
	case prio < 0:
		a = someDeadline
	case prio < event.MaxRTPrio:
		a = sched.Attr{Policy: sched.FIFO, Priority: max(1, int(event.MaxRTPrio-1-prio))}
	}
	d, err := f.sched.NewTask(0, 0, a, nil)
	if err != nil {
		panic("replay: the donor of a priority was refused: " + err.Error())
	}
	f.donors[prio] = d
	return d
}

// someDeadline is what a deadline task is taken for of which nothing is known.
var someDeadline = sched.Attr{Policy: sched.Deadline, Runtime: 100_000_000, Deadline: 100_000_000, Period: 100_000_000}
