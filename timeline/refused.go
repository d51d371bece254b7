package timeline

import (
	"math"
	"math/bits"

	"github.com/whylate/whylate/event"
)

// refused knows which CPUs idle, to see where tasks are not put.
type refused struct {
	idle []uint64 // bit c: c idles
}

func (r *refused) set(c event.CPU, idle bool) {
	for int(c)/64 >= len(r.idle) {
		r.idle = append(r.idle, 0)
	}
	if idle {
		r.idle[c/64] |= 1 << (c % 64)
	} else {
		r.idle[c/64] &^= 1 << (c % 64)
	}
}

// refuse notes for a task that is woken into the queue of a CPU on which it cannot run at once
// which CPUs idle then. A fair task is put on an idle CPU wherever there is one that it may use and
// that shares a cache with where it was; a real-time one where it cannot have the CPU by its priority.
func (b *Builder) refuse(ev *event.Event, step Step) {
	t := step.Task
	if t == nil || t.Status == StatusRunning || ev.Target < 0 || int(ev.Target) >= len(b.x.CPUs) || ev.TaskPrio < 0 {
		return
	}
	c := b.x.Tracker.CPU(ev.Target)
	if c == nil || c.Current == nil || c.Current.Idle() || c.Current == t {
		return
	}
	if ev.TaskPrio.RealTime() && (c.Current.Prio == event.NoPrio || c.Current.Prio > ev.TaskPrio) {
		return
	}
	ti := b.task(t.ID)
	for w, word := range b.refused.idle {
		for ; word != 0; word &= word - 1 {
			at := w*64 + bits.TrailingZeros64(word)
			for at >= len(ti.Refused) {
				ti.Refused = append(ti.Refused, 0)
			}
			if ti.Refused[at] < math.MaxUint8 {
				ti.Refused[at]++
			}
		}
	}
}

// accepted notes that task id comes to c.
func (b *Builder) accepted(id TaskID, c event.CPU) {
	if ti := b.task(id); int(c) < len(ti.Refused) {
		ti.Refused[c] = 0
	}
}
