package replay

import (
	"cmp"
	"slices"
	"sort"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/timeline"
)

// atOnce is how long a task that should leave its CPU may take to do so before that asks for
// a reason of its own, as in the causes of a wait.
const atOnce event.Time = 50_000

// span is a stretch of one CPU's time in which work had a mode of its own.
type span struct {
	from, to event.Time
	mode     machine.Mode
}

// look is what the waits of a recording tell before its operations are read: how long a
// switch takes where nothing stands in the way, and where something did.
type look struct {
	x *timeline.Index
	a *cause.Analysis

	overs, idleOvers []event.Time
	// fairOvers are those of fair tasks, which count where fair is set: a replay runs them by their class.
	fairOvers      []event.Time
	fair           bool
	over, idleOver event.Time
	off            [][]span // by CPU: preemption or interrupts off, in order
	stolen         []Stolen
	late           []Stolen // in which a timer of a CPU was due and did not interrupt it
	idleLate       []bool   // nobody had that CPU
	heldBack       bool     // one of them came with interrupts on
	anyLate        []Stolen // likewise, however short
	low            lowRes
}

func newLook(x *timeline.Index, a *cause.Analysis) *look {
	return &look{x: x, a: a, off: make([][]span, len(x.CPUs)), low: lowResOf(x)}
}

// wait takes in one wait.
func (k *look) wait(w *latency.Wait) {
	if w.GapFrom != event.NoTime || w.Kind != latency.Wakeup {
		return
	}
	due := k.a.Due(w)
	if due != event.NoTime && due < w.Woken && w.Waker.Context == latency.ContextIRQ && w.Waker.CPU >= 0 {
		k.anyLate = append(k.anyLate, Stolen{w.Waker.CPU, due, w.Woken})
	}
	class := cause.ClassOf(w.Base, k.x.Names.String(w.Comm), false)
	first := class == cause.ClassRT || class == cause.ClassDeadline
	if long := w.End - w.Woken; long <= atOnce {
		switch forced, idle := k.forced(w); {
		case !forced:
		case idle:
			k.idleOvers = append(k.idleOvers, long)
		case first && w.Waker.CPU == w.CPU:
			k.overs = append(k.overs, long)
		case class == cause.ClassFair && w.Waker.CPU == w.CPU:
			k.fairOvers = append(k.fairOvers, long)
		}
		if due == event.NoTime || w.Woken-due <= atOnce {
			return
		}
	}
	if !first {
		return
	}
	k.a.Stretches(w, func(i cause.Interval) {
		if i.End-i.Start > atOnce {
			k.stretch(w, &i)
		}
	})
}

// forced reports whether the wake itself made the CPU switch to the task of w: whoever was
// current could have gone on, or the CPU was idle.
func (k *look) forced(w *latency.Wait) (forced, idle bool) {
	if w.Open() || len(w.Moves) > 0 {
		return false, false
	}
	at := w.Woken
	if w.OnCPU == at {
		at-- // in no time: before it somebody else had the CPU
	}
	n := k.x.RunAt(w.CPU, at)
	if n < 0 {
		return false, false
	}
	r := &k.x.CPUs[w.CPU].Runs[n]
	return r.End == w.OnCPU && r.State.Runnable() && r.Task != w.Task.ID, k.x.Tracker.Task(r.Task).Idle()
}

// stretch takes in one piece of a wait that was too long for a switch.
func (k *look) stretch(w *latency.Wait, i *cause.Interval) {
	idle := i.Culprit == timeline.NoTask || k.x.Tracker.Task(i.Culprit).Idle()
	switch i.Kind.Name {
	case "preempt_off":
		k.off[i.CPU] = append(k.off[i.CPU], span{k.before(i.CPU, i.Start), i.End, machine.PreemptOff})
	case "late_wakeup":
		if k.low.tick > 0 && i.End-i.Start <= k.low.tick+atOnce {
			return // it waited for its tick
		}
		// The timer's interrupt came late: a task in front of it had interrupts off, or if there
		// was none the CPU itself was away, or slow to leave an idle state. Where one task
		// followed another meanwhile interrupts were on.
		if w.Waker.CPU < 0 || !idle || w.Waker.Context == latency.ContextTask {
			return
		}
		c := w.Waker.CPU
		n := k.x.RunAt(c, i.Start)
		k.late = append(k.late, Stolen{c, i.Start, i.End})
		k.idleLate = append(k.idleLate, n < 0 || k.x.Tracker.Task(k.x.CPUs[c].Runs[n].Task).Idle())
		k.heldBack = k.heldBack || n >= 0 && k.x.CPUs[c].Runs[n].End < i.End
	case "idle_exit", "unknown":
		if n := k.x.RunAt(i.CPU, i.Start); n >= 0 && k.x.Tracker.Task(k.x.CPUs[i.CPU].Runs[n].Task).Idle() {
			k.stolen = append(k.stolen, Stolen{i.CPU, i.Start, i.End})
		}
	}
}

// before is from when a task that kept something out at t had it off: before that, for nothing came
// in between that shows it on, and in a run it may be a little less far then.
func (k *look) before(c event.CPU, t event.Time) event.Time {
	if n := k.x.RunAt(c, t); n >= 0 {
		return max(k.x.CPUs[c].Runs[n].Start, t-atOnce)
	}
	return t
}

// finish brings what was found in order.
func (k *look) finish() {
	if k.fair && len(k.fairOvers) > len(k.overs) {
		k.overs = k.fairOvers
	}
	k.over, k.idleOver = median(k.overs), median(k.idleOvers)
	if len(k.overs) == 0 {
		k.over = k.idleOver
	} else if len(k.idleOvers) == 0 {
		k.idleOver = k.over
	}
	k.lateTimers()
	for c := range k.off {
		k.off[c] = apart(k.off[c])
	}
}

// lateTimers tells who kept timers from interrupting. A machine that once was late with one
// although interrupts were on is taken to be late with all of them; else tasks had interrupts
// off, and where there was none the CPU was away.
func (k *look) lateTimers() {
	if k.heldBack {
		k.late, k.anyLate = merged(append(k.late, k.anyLate...)), nil
		return
	}
	for i, s := range k.late {
		if k.idleLate[i] {
			k.stolen = append(k.stolen, s)
		} else {
			k.off[s.CPU] = append(k.off[s.CPU], span{k.before(s.CPU, s.From), s.To, machine.IRQsOff})
		}
	}
	k.late = nil
}

// merged orders stretches by CPU and time and makes one of those that touch.
func merged(list []Stolen) []Stolen {
	slices.SortStableFunc(list, func(a, b Stolen) int {
		return cmp.Or(cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.From, b.From))
	})
	out := list[:0]
	for _, s := range list {
		if n := len(out) - 1; n >= 0 && out[n].CPU == s.CPU && s.From <= out[n].To {
			out[n].To = max(out[n].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// median is the middle of list, 0 for none; it orders list.
func median(list []event.Time) event.Time {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// apart orders spans by their start and cuts off what overlaps the one before.
func apart(list []span) []span {
	sort.SliceStable(list, func(i, j int) bool { return list[i].from < list[j].from })
	out := list[:0]
	for _, s := range list {
		if n := len(out); n > 0 {
			s.from = max(s.from, out[n-1].to)
		}
		if s.to > s.from {
			out = append(out, s)
		}
	}
	return out
}
