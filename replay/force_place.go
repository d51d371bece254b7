package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/timeline"
)

// This file asks the model on which CPU it would wake or start a task.
//
// The kernel chooses between sched_waking (of a new task sched_process_fork) and the next event of the CPU
// that wakes, with interrupts off. In between, other CPUs may have become idle or busy: then it is not known
// what the kernel saw. So the model is asked at both ends; where its answers differ the decision is not counted.

// placing is a choice that a CPU is making.
type placing struct {
	task *forced // nil: it makes none
	how  sched.WakeFlags
	at   int64 // the event at which the model was asked
}

// wakeSight is what a first look at the trace tells of one sched_waking.
type wakeSight struct {
	from, to event.CPU // to: where sched_wakeup put it; NoCPU: not seen
	// sent: the CPU where it was to run put it into its queue itself; until then it was on its wake list.
	sent bool
}

// sightWake notes how a wake goes on.
func (s *firstSight) sightWake(ev *event.Event, t *timeline.Task) {
	if ev.Kind == event.SchedWaking {
		if len(s.wakeSights) < mostWakeSights {
			s.wakeSights = append(s.wakeSights, wakeSight{from: ev.CPU, to: event.NoCPU})
			if t != nil {
				s.of(t.ID).waking = len(s.wakeSights)
			}
		}
		return
	}
	if t == nil {
		return
	}
	if b := s.of(t.ID); b.waking > 0 {
		w := &s.wakeSights[b.waking-1]
		w.to, w.sent = ev.Target, ev.CPU == ev.Target && ev.CPU != w.from
		b.waking = 0
	}
}

// mostWakeSights bounds the wakes that are looked ahead for, 12 bytes each.
const mostWakeSights = 1 << 24

// sight is what the first look told of the sched_waking at hand.
func (f *forcer) sight() wakeSight {
	f.wakings++
	if f.wakings > len(f.first.wakeSights) {
		return wakeSight{from: event.NoCPU, to: event.NoCPU}
	}
	return f.first.wakeSights[f.wakings-1]
}

// beginPlace asks the model where c, which is about to choose, would wake or start t.
func (f *forcer) beginPlace(ev *event.Event, t *forced, how sched.WakeFlags) {
	cp := &f.cpus[ev.CPU]
	f.closePlace(ev.CPU)
	if ev.Flags.InInterrupt() || ev.Flags.Has(event.SoftIRQ) {
		how |= sched.WakeIRQ
	} else if f.wakesSync(ev.CPU, t) {
		how |= sched.WakeSync
	}
	cp.placing = placing{task: t, how: how, at: f.events}
	t.placed, t.turn = f.sched.AskPlace(ev.CPU, t.task, how)
	t.asked, t.raced = f.allowed(t) > 1, false
}

// closePlace is the end of the stretch in which c chose.
func (f *forcer) closePlace(c event.CPU) {
	cp := &f.cpus[c]
	p := cp.placing
	if cp.placing.task = nil; p.task == nil {
		return
	}
	t := p.task
	if t.sent {
		f.sched.ForceInFlight(t.sight.to, -1)
	}
	late, turn := f.sched.NoteWake(c, t.task, p.how)
	if t.sent {
		f.sched.ForceInFlight(t.sight.to, 1)
	}
	if f.events != p.at+1 { // of another CPU
		t.raced = t.raced || late != t.placed
		t.turn = t.turn || turn
	}
}

// closePlacingOf closes the choice of where t goes, whoever makes it.
func (f *forcer) closePlacingOf(t *forced) {
	for c := range f.cpus {
		if f.cpus[c].placing.task == t {
			f.closePlace(event.CPU(c))
		}
	}
}

// wakesSync reports whether the current task of c says, as it wakes t, that it is about to sleep: it reads
// or writes a pipe or a socket. Where no such call is recorded, nobody does.
func (f *forcer) wakesSync(c event.CPU, t *forced) bool {
	w, ok := f.sched.Curr(c).Data.(*forced)
	return ok && w.syncCall && !w.exiting && !t.task.Kthread
}

// enterCall notes the system call that t is in.
func (f *forcer) enterCall(ev *event.Event, tl *timeline.Task) {
	if tl != nil && ev.CPU >= 0 {
		f.of(tl, ev.CPU).syncCall = kernel.IsSyncSyscall(f.first.machine, ev.Arg, f.names.String(ev.Name))
	}
}

// scorePlace compares where the model would have woken t with where it was.
func (f *forcer) scorePlace(ev *event.Event, t *forced, before event.CPU) {
	if !t.asked {
		return
	}
	t.asked = false
	rank := t.task.Rank()
	if rank < sched.RankDL || rank > sched.RankFair {
		return
	}
	row := f.scores.row(rank, Placement)
	switch {
	case t.turn:
		row.undecide("counter_unseen")
		return
	case t.raced:
		row.undecide("changed_meanwhile")
		return
	}
	row.count(t.placed == ev.Target, before == ev.Target)
	if t.placed != ev.Target {
		r, m := f.chose(t.task), f.chose(t.task)
		r.CPU, m.CPU = ev.Target, t.placed
		f.miss(rank, Placement, ev.CPU, r, m, t.task)
	}
}
