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
	tasks  []waiting         // by timeline.TaskID
	gaps   [][]timeline.Span // by CPU
	known  bool              // gaps are all of the trace, not only those so far
	lastAt event.Time

	// Unwoken counts tasks that came to a CPU although nothing had made them runnable:
	// their wake was lost or is not recorded. They give no wait.
	Unwoken int64
	// Unseen counts waits whose end is not in the trace: the task was queued, and woken
	// once more, so it ran and slept in between. They are not handed out.
	Unseen int64
	// Lone counts sched_wakeup events without their sched_waking in a trace that has such
	// events: the start of these waits is not known.
	Lone int64
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
	// doubt is the first moment from which something else than a gap on its CPU says that
	// the wait is not what it seems; NoTime: nothing does.
	doubt event.Time
}

// NewTracker returns a tracker on top of state that hands each finished wait to emit;
// the Wait is valid until emit returns.
func NewTracker(state *timeline.Tracker, emit func(*Wait)) *Tracker {
	return &Tracker{state: state, emit: emit}
}

// KnowGaps tells beforehand where events are missing on each CPU, as Gaps of an earlier
// tracker or the index has it. The end of a gap shows only when its CPU speaks again; by
// then a task that was queued there may have run elsewhere, and its wait be handed out.
func (tr *Tracker) KnowGaps(byCPU [][]timeline.Span) { tr.gaps, tr.known = byCPU, true }

// Gaps returns where events are missing on each CPU, as far as it was seen.
func (tr *Tracker) Gaps() [][]timeline.Span { return tr.gaps }

// longFlight is how long a wake may take from sched_waking to sched_wakeup before lost
// events are the better explanation: that the task ran and was woken again unseen.
const longFlight event.Time = 100_000

func (tr *Tracker) of(t *timeline.Task) *waiting {
	for int(t.ID) >= len(tr.tasks) {
		tr.tasks = append(tr.tasks, waiting{})
	}
	return &tr.tasks[t.ID]
}

// Push takes in the next event together with what it meant to the timeline.
func (tr *Tracker) Push(ev *event.Event, step timeline.Step) {
	tr.lastAt = max(tr.lastAt, ev.Time)
	if step.BrokenFrom != event.NoTime && !tr.known {
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
	tr.gaps[c] = append(tr.gaps[c], timeline.Span{From: from, To: to})
}

// waking starts a wait, or remembers the wake of a task that has not yet left its CPU.
func (tr *Tracker) waking(ev *event.Event, t *timeline.Task) {
	w := tr.of(t)
	unsure := event.NoTime
	switch {
	case t.Status == timeline.StatusRunning:
		w.early = true
		w.wait.Waker = wakerOf(ev, tr.state)
		return
	case w.active && w.wait.Kind == Wakeup && (w.wait.Queued != event.NoTime || tr.gapAnywhere(w.wait.Woken, ev.Time) != event.NoTime):
		// The kernel wakes only a task that sleeps, so since it was queued this one ran;
		// where events are still missing it may even run now, and wait only when it left.
		tr.Unseen++
		unsure = tr.gapAnywhere(ev.Time, ev.Time+1)
	case w.active && w.wait.Kind != Wakeup:
		tr.wokenWhilePreempted(w, ev.Time)
		return
	case w.active && !w.tentative:
		return // several wakings before it runs are one wait, from the first
	}
	tr.begin(w, t, Wakeup, ev.Time)
	w.doubtFrom(unsure)
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
	again := w.active && w.wait.Kind == Wakeup && w.wait.Queued != event.NoTime
	if again {
		tr.Unseen++ // queued twice: it ran and slept in between, as with two wakings
	}
	if !w.active || again {
		tr.begin(w, t, Wakeup, ev.Time)
		w.wait.Waker = wakerOf(ev, tr.state)
		w.wait.New = ev.Kind == event.SchedWakeupNew
		if !w.wait.New && tr.Wakings > 0 {
			tr.Lone++
			w.doubtFrom(ev.Time) // sched_waking is recorded, but this one was lost
		}
	}
	w.tentative = false
	if w.wait.Kind != Wakeup {
		tr.wokenWhilePreempted(w, ev.Time)
		return
	}
	w.wait.Queued, w.wait.QueuedBy = ev.Time, ev.CPU
	if ev.Target != event.NoCPU {
		// Until here the task was on its way: the CPU that counts is the target. But it may
		// have got there by way of a place where events are missing.
		w.doubtFrom(tr.gapWithin(&w.wait, ev.Time))
		if ev.Time-w.wait.Woken > longFlight {
			w.doubtFrom(tr.gapAnywhere(w.wait.Woken, ev.Time))
		}
		w.wait.CPU, w.wait.Moves = ev.Target, w.wait.Moves[:0]
	}
}

// wokenWhilePreempted takes in a wake of a task that seems to be runnable: it was preempted
// on its way to sleep, or it ran and slept where events were lost.
func (tr *Tracker) wokenWhilePreempted(w *waiting, now event.Time) {
	w.doubtFrom(tr.gapAnywhere(w.wait.Woken, now))
}

func (tr *Tracker) migrate(ev *event.Event, t *timeline.Task) {
	w := tr.of(t)
	if !w.active || ev.Target == event.NoCPU {
		return
	}
	from := w.wait.CPU
	if n := len(w.wait.Moves); n > 0 {
		from = w.wait.Moves[n-1].To
	}
	if moved := len(w.wait.Moves) > 0; moved && w.wait.Kind == Wakeup && w.wait.Queued == event.NoTime {
		w.doubtFrom(tr.gapAnywhere(w.wait.Woken, ev.Time)) // a task is placed once; its sched_wakeup was lost
	}
	if from != event.NoCPU && ev.Orig != event.NoCPU && from != ev.Orig {
		w.doubtFrom(w.wait.Woken) // it went elsewhere unseen, and may have run there
	}
	w.wait.Moves = append(w.wait.Moves, Move{ev.Time, ev.Target})
}

// doubtFrom makes the wait one that cannot be trusted from t on; NoTime changes nothing.
func (w *waiting) doubtFrom(t event.Time) {
	if t != event.NoTime && (w.doubt == event.NoTime || t < w.doubt) {
		w.doubt = t
	}
}

func (tr *Tracker) begin(w *waiting, t *timeline.Task, k Kind, at event.Time) {
	moves := w.wait.Moves[:0]
	w.wait = Wait{Task: t, Kind: k, Woken: at, OnCPU: event.NoTime, Queued: event.NoTime, QueuedBy: event.NoCPU,
		CPU: t.CPU, Moves: moves, GapFrom: event.NoTime, Left: event.NoTime}
	if w.left != 0 {
		w.wait.Left = w.left
	}
	w.active, w.early, w.tentative, w.doubt = true, false, false, event.NoTime
}

func (tr *Tracker) schedSwitch(ev *event.Event, step timeline.Step) {
	if step.Next == nil {
		return // on a CPU that no kernel has
	}
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
		w.doubtFrom(tr.gapOn(ev.CPU, w.wait.Woken, ev.Time)) // since when it was there is not known
	}
	if w.wait.Kind == Wakeup && w.wait.Queued == event.NoTime && tr.Wakeups > 0 {
		w.doubtFrom(tr.gapAnywhere(w.wait.Woken, ev.Time)) // its sched_wakeup was lost, and maybe more
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
	w.wait.GapFrom = tr.gapWithin(&w.wait, w.wait.End)
	if w.doubt != event.NoTime && (w.wait.GapFrom == event.NoTime || w.doubt < w.wait.GapFrom) {
		w.wait.GapFrom = w.doubt
	}
}

// gapWithin returns the start of the first gap that overlaps w, up to end, on a CPU where
// it was queued, not before w began; NoTime if there is none.
func (tr *Tracker) gapWithin(w *Wait, end event.Time) event.Time {
	from, cpu := w.Woken, w.CPU
	for _, m := range w.Moves {
		to := min(m.At, end)
		if at := tr.gapOn(cpu, from, to); at != event.NoTime {
			return at
		}
		from, cpu = to, m.To
	}
	return tr.gapOn(cpu, from, end)
}

func (tr *Tracker) gapOn(c event.CPU, from, to event.Time) event.Time {
	if c < 0 || int(c) >= len(tr.gaps) {
		return event.NoTime
	}
	gaps := tr.gaps[c]
	i := sort.Search(len(gaps), func(i int) bool { return gaps[i].To > from })
	if i < len(gaps) && gaps[i].From < to {
		return max(gaps[i].From, from)
	}
	return event.NoTime
}

// gapAnywhere returns the start of the first gap of any CPU that overlaps [from, to), not
// before from; NoTime if there is none.
func (tr *Tracker) gapAnywhere(from, to event.Time) event.Time {
	first := event.NoTime
	for c := range tr.gaps {
		if at := tr.gapOn(event.CPU(c), from, to); at != event.NoTime && (first == event.NoTime || at < first) {
			first = at
		}
	}
	return first
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
		w.doubtFrom(tr.gapAnywhere(w.wait.Woken, w.wait.End)) // it may have run there
		if w.tentative {
			w.doubtFrom(w.wait.Woken) // it may sleep
		}
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
