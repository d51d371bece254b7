package experiment

import (
	"slices"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/result"
)

// blocked follows the sleeps of a job for others: who ran on the CPU of the one that ended
// the sleep, while it lasted.
type blocked struct {
	names func(event.Name) string
	pid   event.PID
	from  event.Time // the job's release
	to    event.Time // its end
	turns [][]turn   // by CPU
	slept event.Time // since when; NoTime: it does not
	list  []result.Blocked
}

// turn says that from at on a task has the CPU.
type turn struct {
	at   event.Time
	pid  event.PID
	comm event.Name
	prio event.Prio
}

func (b *blocked) event(ev *event.Event) {
	if ev.Time > b.to {
		return
	}
	switch ev.Kind {
	case event.SchedSwitch:
		for int(ev.CPU) >= len(b.turns) {
			b.turns = append(b.turns, nil)
		}
		list := b.turns[ev.CPU]
		if n := len(list); n > 0 && ev.Time < b.from {
			list = list[:0] // only the last one before the job matters
		}
		b.turns[ev.CPU] = append(list, turn{ev.Time, ev.Next, ev.NextComm, ev.NextPrio})
		if ev.PID == b.pid && ev.Time >= b.from && !ev.State.Runnable() {
			b.slept = ev.Time
		}
	case event.SchedWaking:
		if ev.Task == b.pid && b.slept != event.NoTime {
			b.wake(ev)
		}
	}
}

// wake ends a sleep: its time goes to those who had the CPU from which the wake came.
func (b *blocked) wake(ev *event.Event) {
	from := b.slept
	b.slept = event.NoTime
	if int(ev.CPU) >= len(b.turns) {
		return
	}
	end := ev.Time
	for _, t := range slices.Backward(b.turns[ev.CPU]) {
		if at := max(t.at, from); at < end {
			b.add(t, end-at, t.pid == ev.PID && !ev.Flags.Has(event.HardIRQ))
			end = at
		}
		if end <= from {
			return
		}
	}
}

func (b *blocked) add(t turn, ns event.Time, woke bool) {
	for i := range b.list {
		if x := &b.list[i]; x.PID == int32(t.pid) && x.Prio == result.Prio(t.prio) {
			x.NS += int64(ns)
			x.Woke = x.Woke || woke
			return
		}
	}
	b.list = append(b.list, result.Blocked{Comm: b.names(t.comm), PID: int32(t.pid), Prio: result.Prio(t.prio), NS: int64(ns), Woke: woke})
}
