package latency

import (
	"sort"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/timeline"
)

// Tracker finds the waits in a stream of events. It needs the kinds of Needs.
type Tracker struct {
	state  *timeline.Tracker
	emit   func(*Wait)
	tasks  []waiting  // by timeline.TaskID
	gaps   [][]gap    // by CPU
	gapTo  event.Time // end of the newest gap of any CPU, NoTime before the first
	lastAt event.Time

	// Unwoken counts tasks that came to a CPU although nothing had made them runnable:
	// their wake was lost or is not recorded. They give no wait.
	Unwoken int64
	// Unseen counts waits whose end is not in the trace: the task was queued, and woken
	// once more, so it ran and slept in between. They are not handed out.
	Unseen int64
	// Wakings and Wakeups count the events, so that a reader can say which are missing.
	Wakings, Wakeups int64
}

// Needs has the kinds without which waits are not found or not right.
var Needs = timeline.Needs

// waiting is what is known of one task's wait.
type waiting struct {
	wait   Wait
	active bool
	// left is the newest switch-out of the task; 0 before there was one.
	left event.Time
	// early is set from a sched_waking that found the task still running until a
	// sched_wakeup uses it up; wait then holds the waker.
	early bool
	// tentative marks a wait that began at the switch-out because of an early waking;
	// a second waking proves that the task slept after all.
	tentative bool
	// woken is set once a sched_waking was seen for the task.
	woken bool
	// doubt is the first moment from which something else than a gap on its CPU says that
	// the wait is not what it seems; NoTime: nothing does.
	doubt event.Time
}

type gap struct{ from, to event.Time }

// NewTracker returns a tracker on top of state that hands each finished wait to emit;
// the Wait is valid until emit returns.
func NewTracker(state *timeline.Tracker, emit func(*Wait)) *Tracker {
	return &Tracker{state: state, emit: emit, gapTo: event.NoTime}
}

func (tr *Tracker) of(t *timeline.Task) *waiting {
	for int(t.ID) >= len(tr.tasks) {
		tr.tasks = append(tr.tasks, waiting{})
	}
	return &tr.tasks[t.ID]
}

// Push takes in the next event together with what it meant to the timeline.
func (tr *Tracker) Push(ev *event.Event, step timeline.Step) {
	tr.lastAt = max(tr.lastAt, ev.Time)
	if step.BrokenFrom != event.NoTime {
		tr.addGap(ev.CPU, step.BrokenFrom, ev.Time)
	}
	switch ev.Kind {
	case event.SchedSwitch:
		tr.schedSwitch(ev, step)
	case event.SchedWaking:
		tr.Wakings++
		if step.Task != nil {
			tr.waking(ev, step.Task)
		}
	case event.SchedWakeup, event.SchedWakeupNew:
		tr.Wakeups++
		if step.Task != nil && ev.Arg != 0 {
			tr.wakeup(ev, step.Task)
		}
	case event.SchedMigrateTask:
		if step.Task != nil {
			tr.migrate(ev, step.Task)
		}
	case event.SchedProcessFree:
		if step.Task != nil {
			tr.of(step.Task).active = false // what ended its wait was lost
		}
	}
}

func (tr *Tracker) addGap(c event.CPU, from, to event.Time) {
	if c < 0 {
		return
	}
	for int(c) >= len(tr.gaps) {
		tr.gaps = append(tr.gaps, nil)
	}
	tr.gaps[c] = append(tr.gaps[c], gap{from, to})
	tr.gapTo = max(tr.gapTo, to)
}

// waking starts a wait, or remembers the wake of a task that has not yet left its CPU.
func (tr *Tracker) waking(ev *event.Event, t *timeline.Task) {
	w := tr.of(t)
	w.woken = true
	switch {
	case t.Status == timeline.StatusRunning:
		w.early = true
		w.wait.Waker = wakerOf(ev, tr.state)
		return
	case w.active && w.wait.Kind == Wakeup && w.wait.Queued != event.NoTime:
		// The kernel wakes only a task that sleeps, so since it was queued this one ran.
		tr.Unseen++
	case w.active && w.wait.Kind != Wakeup && tr.gapTo >= w.wait.Woken:
		// It was preempted on its way to sleep, or it ran and slept in the gap.
		w.doubtFrom(w.wait.Woken)
		return
	case w.active && !w.tentative:
		return // several wakings before it runs are one wait, from the first
	}
	tr.begin(w, t, Wakeup, ev.Time)
	w.wait.CPU = ev.Target
	w.wait.Waker = wakerOf(ev, tr.state)
}

// wakeup tells where the task is queued; it uses up a wake of a task that still runs.
func (tr *Tracker) wakeup(ev *event.Event, t *timeline.Task) {
	w := tr.of(t)
	if t.Status == timeline.StatusRunning {
		w.early = false
		return
	}
	if !w.active {
		tr.begin(w, t, Wakeup, ev.Time)
		w.wait.Waker = wakerOf(ev, tr.state)
		w.wait.New = ev.Kind == event.SchedWakeupNew
		if !w.wait.New && (w.woken || tr.Wakings > 0 && tr.gapTo != event.NoTime) {
			w.doubtFrom(ev.Time) // sched_waking is recorded, but this one was lost
		}
	}
	w.tentative = false
	if w.wait.Queued != event.NoTime || w.wait.Kind != Wakeup {
		return
	}
	w.wait.Queued = ev.Time
	if ev.Target != event.NoCPU {
		// Until here the task was on its way: the CPU that counts is the target.
		w.wait.CPU, w.wait.Moves = ev.Target, w.wait.Moves[:0]
	}
}

func (tr *Tracker) migrate(ev *event.Event, t *timeline.Task) {
	w := tr.of(t)
	if !w.active || ev.Target == event.NoCPU {
		return
	}
	if placed := w.wait.Kind != Wakeup || w.wait.Queued != event.NoTime; placed && ev.Orig != event.NoCPU {
		from := w.wait.CPU
		if n := len(w.wait.Moves); n > 0 {
			from = w.wait.Moves[n-1].To
		}
		if from != ev.Orig {
			w.doubtFrom(w.wait.Woken) // it went elsewhere unseen, and may have run there
		}
	}
	w.wait.Moves = append(w.wait.Moves, Move{ev.Time, ev.Target})
}

func (w *waiting) doubtFrom(t event.Time) {
	if w.doubt == event.NoTime || t < w.doubt {
		w.doubt = t
	}
}

func (tr *Tracker) begin(w *waiting, t *timeline.Task, k Kind, at event.Time) {
	moves := w.wait.Moves[:0]
	w.wait = Wait{Task: t, Kind: k, Woken: at, OnCPU: event.NoTime, Queued: event.NoTime,
		CPU: t.CPU, Moves: moves, GapFrom: event.NoTime, Left: event.NoTime}
	if w.left != 0 {
		w.wait.Left = w.left
	}
	w.active, w.early, w.tentative, w.doubt = true, false, false, event.NoTime
}

func (tr *Tracker) schedSwitch(ev *event.Event, step timeline.Step) {
	if next := step.Next; !next.Idle() {
		w := tr.of(next)
		if w.active {
			tr.finish(w, next, ev)
		} else if step.NextWas != timeline.StatusUnknown {
			tr.Unwoken++
		}
		w.early = false
	}
	if prev := step.Task; !prev.Idle() {
		tr.leave(ev, prev)
	}
}

// leave begins the wait of a task that was switched out although it could run, or that
// was woken before it had left.
func (tr *Tracker) leave(ev *event.Event, t *timeline.Task) {
	w := tr.of(t)
	w.active = false // whatever began before, it ran meanwhile
	w.left = ev.Time
	early, waker := w.early, w.wait.Waker
	switch {
	case t.Status == timeline.StatusReady && t.Yielding:
		tr.begin(w, t, Yielded, ev.Time)
	case t.Status == timeline.StatusReady:
		tr.begin(w, t, Preempted, ev.Time)
	case t.Status == timeline.StatusBlocked && early:
		tr.begin(w, t, Wakeup, ev.Time)
		w.tentative, w.wait.Waker = true, waker
	}
	w.early = false
}

func (tr *Tracker) finish(w *waiting, t *timeline.Task, ev *event.Event) {
	w.active = false
	w.wait.OnCPU, w.wait.End = ev.Time, ev.Time
	if unseen := w.wait.Queued == event.NoTime && w.wait.Kind == Wakeup && len(w.wait.Moves) == 0; unseen || w.wait.CPU == event.NoCPU {
		// No sched_wakeup tells where it was queued, and sched_waking names the CPU before
		// placement: it was placed where it ran.
		w.wait.CPU = ev.CPU
	}
	if w.wait.CPUAt(ev.Time) != ev.CPU {
		// It was moved without an event (sched_migrate_task is not recorded, or comes
		// late): where it was queued till then is what the wakeup said.
		w.wait.Moves = append(w.wait.Moves, Move{ev.Time, ev.CPU})
		if gap := tr.gapOn(ev.CPU, w.wait.Woken, ev.Time); gap != event.NoTime {
			w.doubtFrom(gap) // since when it was there is not known
		}
	}
	if w.tentative && tr.Wakeups > 0 {
		w.doubtFrom(w.wait.Woken) // no sched_wakeup says that this wake was not used up before
	}
	tr.complete(w, t)
	tr.emit(&w.wait)
}

// complete fills what is only known at the end.
func (tr *Tracker) complete(w *waiting, t *timeline.Task) {
	w.wait.Comm = t.Comm
	w.wait.Prio, w.wait.Base = t.Prio, t.Base
	w.wait.GapFrom = tr.gapWithin(&w.wait)
	if w.doubt != event.NoTime && (w.wait.GapFrom == event.NoTime || w.doubt < w.wait.GapFrom) {
		w.wait.GapFrom = w.doubt
	}
}

// gapWithin returns the start of the first gap that overlaps w on a CPU where it was
// queued, not before w began; NoTime if there is none.
func (tr *Tracker) gapWithin(w *Wait) event.Time {
	first := event.NoTime
	from, cpu := w.Woken, w.CPU
	for i := 0; ; i++ {
		to := w.End
		if i < len(w.Moves) {
			to = min(w.Moves[i].At, w.End)
		}
		if at := tr.gapOn(cpu, from, to); at != event.NoTime {
			first = at
			break
		}
		if i == len(w.Moves) {
			break
		}
		from, cpu = to, w.Moves[i].To
	}
	return first
}

func (tr *Tracker) gapOn(c event.CPU, from, to event.Time) event.Time {
	if c < 0 || int(c) >= len(tr.gaps) {
		return event.NoTime
	}
	gaps := tr.gaps[c]
	i := sort.Search(len(gaps), func(i int) bool { return gaps[i].to > from })
	if i < len(gaps) && gaps[i].from < to {
		return max(gaps[i].from, from)
	}
	return event.NoTime
}

// Finish hands out the waits that are open at the end of the trace, by task.
func (tr *Tracker) Finish() {
	for i := range tr.tasks {
		w := &tr.tasks[i]
		if !w.active {
			continue
		}
		w.active = false
		w.wait.End = tr.lastAt
		tr.complete(w, w.wait.Task)
		tr.emit(&w.wait)
	}
}

func wakerOf(ev *event.Event, state *timeline.Tracker) Waker {
	w := Waker{PID: ev.PID, Comm: ev.Comm, CPU: ev.CPU}
	if c := state.CPU(ev.CPU); c != nil && c.Current != nil {
		w.Task = c.Current
		if c.Current.PID == ev.PID {
			w.Comm = c.Current.Comm
		}
	}
	switch {
	case ev.Flags&event.FlagsKnown == 0:
		w.Context = ContextUnknown
	case ev.Flags.InInterrupt():
		w.Context = ContextIRQ
	case ev.Flags.Has(event.SoftIRQ):
		w.Context = ContextSoftIRQ
	default:
		w.Context = ContextTask
	}
	return w
}
