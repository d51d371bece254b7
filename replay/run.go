package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/timeline"
	"github.com/whylate/whylate/workload"
)

// RunOptions say how a load is run.
type RunOptions struct {
	// Sink, where set, gets every event of the run, stamped on the clock of the trace; it is
	// valid during the call.
	Sink func(*event.Event)
	// Progress, where set, is told from time to time how many of the total ns are done.
	Progress func(done, total int64)
}

// Run is what came of a load in the model.
type Run struct {
	Waits []Wait // by key
	// Left are the tasks that the run left in the middle of what the recording saw them do,
	// by index: they waited, or never had the CPU for it.
	Left []Left
	// Later are the tasks that began so late that the grids of their timers begin later, too, in
	// the order in which they did.
	Later       []Later
	Diagnostics []event.Diagnostic
}

// Later is a task whose sleeps by a grid, from operation Op on, are due By ns later than recorded.
type Later struct {
	Task, Op int
	By       event.Time
}

// Left is a task that had not done all of its script when the run ended.
type Left struct {
	Task int
	Op   int // where it was
	Ops  int // of how many
	// Stuck: it waits for somebody to post it.
	Stuck bool
}

// Run lets the model run the load from From to To, free from what the kernel decided. The
// load stays as it is; two runs of one load are the same. An error is a load that makes no
// sense, or that the kernel of the model refuses.
func (l *Load) Run(o RunOptions) (*Run, error) {
	c := newCollector(l, o.Sink)
	r, err := newRunner(l, c.take)
	if err != nil {
		return nil, err
	}
	c.run = r
	for !r.over() {
		if err := r.goOn(progressEvery); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(int64(r.now()-l.From), int64(l.To-l.From))
		}
	}
	c.end()
	run := &Run{Waits: c.waits, Left: r.left(), Later: r.later, Diagnostics: r.diags}
	return run, nil
}

// progressEvery is how far a run goes between two looks, in ns.
const progressEvery event.Time = 100_000_000

// collector finds the waits of a run by its events, as everybody does who reads a trace. Only
// to give them the keys by which they are found again it asks the run how far a task is.
type collector struct {
	load  *Load
	run   *runner
	sink  func(*event.Event)
	state *timeline.Tracker
	track *latency.Tracker
	names *event.Names
	tasks []keyed // by timeline.TaskID
	waits []Wait
}

// keyed is a task of the trace as one of the load.
type keyed struct {
	known bool
	task  int
	count keyCount
}

// keyCount gives the waits of a task their numbers within a cycle.
type keyCount struct {
	cycle int
	n     [latency.Yielded + 1]int
}

// next is the number of a wait of kind k in the given cycle.
func (c *keyCount) next(cycle int, k latency.Kind) int {
	if c.cycle != cycle {
		*c = keyCount{cycle: cycle}
	}
	c.n[k]++
	return c.n[k] - 1
}

func newCollector(l *Load, sink func(*event.Event)) *collector {
	c := &collector{load: l, sink: sink, names: l.Names, state: timeline.NewTracker(l.Info.Machine, l.Names)}
	c.track = latency.NewTracker(c.state, c.add)
	return c
}

// take takes in an event of the run.
func (c *collector) take(ev *event.Event) {
	if latency.Needs.Has(ev.Kind) {
		c.track.Push(ev, c.state.Push(ev))
	}
	if c.sink != nil {
		c.sink(ev)
	}
}

// add takes in a wait that has ended, or at the end of the run has not. A task that waits does
// nothing, so where its program is now it was when the wait began.
func (c *collector) add(w *latency.Wait) {
	for int(w.Task.ID) >= len(c.tasks) {
		c.tasks = append(c.tasks, keyed{})
	}
	k := &c.tasks[w.Task.ID]
	if !k.known {
		k.known, k.task = true, c.run.taskOf(w.Task.PID)
	}
	if k.task < 0 {
		return // a thread of the machine's own
	}
	p := &c.run.threads[k.task]
	wait := Wait{Key: WaitKey{Task: k.task, Cycle: p.cycle, Kind: w.Kind}, Due: event.NoTime, Woken: w.Woken, OnCPU: w.OnCPU, End: w.End,
		CPU: w.CPU, Prio: w.Base, Class: cause.ClassOf(w.Base, c.names.String(w.Comm), false).String(), Untrusted: w.GapFrom != event.NoTime}
	if p.more.stage == extraNone && !(p.pc < len(p.task.Ops) && p.task.Ops[p.pc].Second) {
		wait.Key.N = k.count.next(p.cycle, w.Kind)
	} else {
		wait.Key.N = extraWait + p.more.n
		p.more.n++
	}
	if w.Kind == latency.Wakeup {
		wait.Due = p.due()
		if wait.Due != event.NoTime {
			wait.Due = min(wait.Due, w.Woken)
		}
	}
	c.waits = append(c.waits, wait)
}

// end takes in what is still open.
func (c *collector) end() {
	c.track.Finish()
	for i := range c.waits {
		if c.waits[i].OnCPU == event.NoTime {
			c.waits[i].End = max(c.waits[i].End, c.load.To) // nothing happened since
		}
	}
	SortWaits(c.waits)
}

// SortWaits puts waits in the order of their keys.
func SortWaits(list []Wait) {
	slices.SortStableFunc(list, func(a, b Wait) int { return a.Key.Compare(b.Key) })
}

// Compare orders keys by task, cycle, kind and number.
func (k WaitKey) Compare(o WaitKey) int {
	return cmp.Or(cmp.Compare(k.Task, o.Task), cmp.Compare(k.Cycle, o.Cycle), cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.N, o.N))
}

// check finds what would let a run meet an index that is not there.
func (l *Load) check() error {
	switch {
	case l.Names == nil:
		return fmt.Errorf("a load without names")
	case l.CPUs < 1:
		return fmt.Errorf("a load with %d CPUs", l.CPUs)
	case l.To < l.From:
		return fmt.Errorf("a load that ends before it begins")
	}
	if err := workload.CheckGroups(len(l.Groups), l.CPUs); err != nil {
		return err
	}
	for i := range l.Tasks {
		t := &l.Tasks[i]
		if t.CPU < 0 || int(t.CPU) >= l.CPUs {
			return fmt.Errorf("task %d is on CPU %d of %d", t.PID, t.CPU, l.CPUs)
		}
		for j := range t.Ops {
			op, n := &t.Ops[j], 0
			switch op.Kind {
			case OpWake, OpFork:
				n = len(l.Tasks)
			case OpLock, OpUnlock:
				n = len(l.Mutexes)
			default:
				continue
			}
			if op.Ref < 0 || op.Ref >= n {
				return fmt.Errorf("task %d, operation %d: there is no %d of %d", t.PID, j, op.Ref, n)
			}
		}
	}
	for i := range l.Mutexes {
		if h := l.Mutexes[i].Held; h < -1 || h >= len(l.Tasks) {
			return fmt.Errorf("mutex %d is held by task %d of %d", i, h, len(l.Tasks))
		}
	}
	return nil
}
