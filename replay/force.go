package replay

import (
	"errors"
	"fmt"
	"io"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/timeline"
)

// Force follows the recorded kernel of src decision by decision and asks the model at each
// what it would have decided: history-forced. The model's queues are those of the kernel, as
// far as events tell them, whatever the model would have made of them; so one disagreement
// does not lead to the next.
//
// src is read twice, and again where the budget of real-time tasks has to be found. Errors are those of reading it, and a machine that the model cannot be.
func Force(src Input, o Options) (*Decisions, error) {
	first, err := lookAhead(src, o)
	if err != nil {
		return nil, err
	}
	first.takeSnapshot(src, o)
	first.inferDeadlines(src, o)
	cfg, err := first.config(src.Info(), o)
	if err != nil {
		return nil, err
	}
	f, err := fit(src, o, first, cfg)
	if err != nil {
		return nil, err
	}
	return f.result(), nil
}

// follow follows src with a scheduler that is configured already.
func follow(src Input, o Options, first *firstSight, cfg sched.Config) (*forcer, error) {
	f := newForcer(src, first, cfg)
	f.begin()
	if err := eachEvent(src, forceNeeds, o.Progress, f.push); err != nil {
		return nil, err
	}
	f.end()
	return f, nil
}

// forceNeeds has the kinds that are followed; those beside the timeline's own show flags or
// expire timers.
var forceNeeds = timeline.Needs | event.Kinds(event.HrtimerExpireExit, event.HrtimerCancel, event.IRQHandlerEntry,
	event.IRQHandlerExit, event.SoftirqRaise, event.SoftirqEntry, event.SoftirqExit)

// eachEvent reads src once. A damaged end counts as the end, as everywhere.
func eachEvent(src Input, want event.KindSet, progress func(done, total int64), f func(*event.Event)) error {
	return eachEventOf(src, event.Options{Want: want, Progress: progress}, f)
}

func eachEventOf(src Input, o event.Options, f func(*event.Event)) error {
	st, err := src.Events(o)
	if err != nil {
		return fmt.Errorf("reading the events: %w", err)
	}
	defer st.Close()
	for {
		ev, err := st.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading the events: %w", err)
		}
		f(ev)
	}
}

// forcer is the host of a scheduler that follows a trace.
type forcer struct {
	sched *sched.Sched
	names *event.Names
	state *timeline.Tracker
	first *firstSight
	known knownTasks

	serverAttr sched.Attr // of the fair servers

	tickLength event.Time
	now        event.Time
	events     int64
	rqNow      event.Time // the kernel's clock at the event at hand, where a charge tells it; NoTime: it does not
	groups     map[string]*sched.Group
	quotas     quotaTimers
	tasks      []*forced // by timeline.TaskID
	cpus       []forcedCPU
	timers     []forcedTimer
	funcs      map[event.Name]timerFunc
	donors     map[event.Prio]*sched.Task
	owners     map[int64]*forced // of dl_task_timers, by address

	// What the next Schedule is to pick, and what is known of that choice: quiet, nothing is
	// counted; doubt, the reason why it cannot be.
	want  *sched.Task
	quiet bool
	doubt string
	place event.CPU // what Place answers
	// moves are recorded migrations that the model may make, proposed the last one that it
	// wanted to.
	moves    []forcedMove
	proposed proposal
	turned   turned

	nextChange int   // of first.changes
	wakings    int   // of first.wakeSights
	offset     int64 // of the clock of timers to that of the trace, ns; 0: not known

	scores  scores
	budget  budget
	guess   assumptions
	assumed []Assumption // what the guesses have no words for
}

// forced is what is known of one task.
type forced struct {
	id   timeline.TaskID
	task *sched.Task
	tl   *timeline.Task

	// Where it waits; a list of each CPU and class, longest-waiting first.
	prev, next *forced
	list       *waitList
	since      event.Time

	// unsure: it may have left its queue unseen. unordered: its place in it was not seen.
	unsure, unordered bool
	wasRT             bool
	exiting           bool // sched_process_exit has come
	leftSession       bool // and it has left the group of its session
	refused           refusal
	policySure        bool // FIFO or RR is known
	sliceSure         bool // what is left of its turn is known, if it has one
	paramsSure        bool // deadline parameters are known
	fairBy            Origin
	forkSeen          bool

	waking bool // sched_waking came and sched_wakeup did not yet
	asked  bool // the model was asked where to wake it
	// raced: while the kernel chose, others did something by which the model would choose otherwise.
	raced     bool
	forkAsked bool // where it begins was asked for
	sight     wakeSight
	sent      bool // it is on a wake list
	syncCall  bool // it is in a call that wakes whoever waits for it and then mostly sleeps
	// wakingEvent is the event of the trace that waking is; 0: there was none.
	wakingEvent int64
	placed      event.CPU
	turn        bool
	wokenAt     event.Time
	wokenBy     event.CPU // CPU that executed the last wake
}

// forcedCPU is what is known of one CPU.
type forcedCPU struct {
	waiting [sched.RankIdle + 1]waitList
	flags   event.Flags // of the last event since its last switch
	open    openPreempt
	// dirty: something came to it since its last event showed flags.
	dirty   bool
	stopper bool // its stopper was seen
	asked   bool // the model asked it to schedule since this was last cleared
	// askedEvent is the event of the trace at which it did.
	askedEvent int64
	// skipped: its last switch passed over a task of a higher class.
	skipped  bool
	tickAt   event.Time
	charge   event.Time // recorded and not yet taken
	wakes    *forced    // who is being woken here
	placing  placing
	pass     forcedPass
	refill   refill // of a quota, which waits for its charge
	yield    yieldPhase
	change   unseenChange
	switches int64
	// runEvents counts the events of the run.
	runEvents int64
	// serverKnown: the state of the fair server does not depend on what was before the trace.
	serverKnown bool
	spent       event.Time // when the model throttled its current task; NoTime: it did not
	used        event.Time // what its real-time tasks had used at the last charge
	clockAt     event.Time // the kernel's clock in the operation that is recorded now; NoTime: not known
	wake        wakeClock
	ticking     bool // a tick waits for its charge
	fairKnown   bool // from where its fair queue measures virtual time is known
}

func newForcer(src Input, first *firstSight, cfg sched.Config) *forcer {
	f := &forcer{names: src.Names(), first: first, known: first.known, funcs: map[event.Name]timerFunc{}, donors: map[event.Prio]*sched.Task{},
		owners: map[int64]*forced{}, groups: map[string]*sched.Group{}, rqNow: event.NoTime}
	f.state = timeline.NewTracker(src.Info().Machine, f.names)
	f.tickLength = cfg.Tick
	f.serverAttr = sched.Attr{Runtime: cfg.FairServerRuntime, Period: cfg.FairServerPeriod}
	cfg.DLBandwidth = -1 // nothing that runs was refused
	cfg.TTWUQueue = false
	cfg.Quiet = true
	f.sched = sched.New(cfg, f, f.names)
	f.sched.Follow(f)
	if first.shows(event.SoftirqRaise) && first.balances {
		f.sched.FollowBalance()
	}
	f.cpus = make([]forcedCPU, cfg.CPUs)
	for c := range f.cpus {
		f.cpus[c].change, f.cpus[c].spent, f.cpus[c].clockAt = noChange, event.NoTime, event.NoTime
		f.cpus[c].wake.waking, f.cpus[c].wake.at = event.NoTime, event.NoTime
		f.cpus[c].pass.pushTo = event.NoCPU
	}
	return f
}

// plausible reports whether t is a stamp that can be reckoned with: centuries around 0.
func plausible(t event.Time) bool { return -1<<61 < t && t < 1<<61 }

// push takes in the next event.
func (f *forcer) push(ev *event.Event) {
	if ev.CPU < 0 || int(ev.CPU) >= len(f.cpus) || !plausible(ev.Time) {
		return
	}
	f.now = max(f.now, ev.Time)
	f.events++
	f.cpus[ev.CPU].runEvents++
	f.rqNow = event.NoTime
	f.closePlace(ev.CPU)
	f.expireByTime()
	f.untick(ev)
	if ev.Kind != event.SchedStatRuntime {
		f.refillDue(ev.CPU)
	}
	f.clock(ev)
	yielding := false
	if cp := f.state.CPU(ev.CPU); cp != nil && cp.Current != nil {
		yielding = cp.Current.Yielding
	}
	f.yieldStayed(ev)
	step := f.state.Push(ev)
	if step.BrokenFrom != event.NoTime {
		f.lost(ev.CPU)
	}
	f.followPass(ev)
	f.settleOpen(ev)
	if len(f.moves) > 0 {
		f.flushMoves(ev, step)
	}
	if ev.Kind != event.SchedSwitch {
		f.stillRuns(ev)
	}
	switch ev.Kind {
	case event.SchedSwitch:
		f.schedSwitch(ev, step, yielding)
		cp := &f.cpus[ev.CPU]
		cp.switches++
		cp.flags, cp.dirty, cp.spent, cp.clockAt = 0, false, event.NoTime, event.NoTime
		f.changeUnseen(ev.CPU)
		return
	case event.SchedWaking:
		f.waking(ev, step.Task)
	case event.SchedWakeup, event.SchedWakeupNew:
		f.wakeup(ev, step.Task)
	case event.SchedMigrateTask:
		f.migrate(ev, step.Task)
	case event.SchedPISetprio:
		f.setprio(ev, step.Task)
	case event.SchedProcessFork, event.TaskNewtask:
		if step.Next != nil {
			f.forked(ev, f.of(step.Next, ev.CPU))
		}
	case event.SchedProcessExit:
		if step.Task != nil {
			t := f.of(step.Task, ev.CPU)
			if t.exiting = true; !f.first.shows(event.SchedStatRuntime) {
				f.leaveSession(t)
			}
		}
	case event.SchedStatRuntime:
		f.charged(ev, step.Task)
		f.yields(ev)
	case event.SysEnter:
		f.cpus[ev.CPU].yield = yieldOf(step.Task)
		f.enterCall(ev, step.Task)
	case event.HrtimerExpireEntry:
		f.expired(ev)
	case event.HrtimerStart:
		f.started(ev)
	}
	f.changeUnseen(ev.CPU)
	f.noteFlags(ev)
}

// noteFlags takes over what an event shows of TIF_NEED_RESCHED: the kernel's own answer.
func (f *forcer) noteFlags(ev *event.Event) {
	if ev.Flags&event.FlagsKnown == 0 || ev.Kind == event.Gap {
		return
	}
	if f.cpus[ev.CPU].flags.Has(event.NeedResched) && !ev.Flags.Has(event.NeedResched) {
		f.stayed(ev.CPU)
	}
	f.cpus[ev.CPU].flags, f.cpus[ev.CPU].dirty = ev.Flags, false
	on := ev.Flags.Has(event.NeedResched)
	if !on && ev.Kind == event.SchedStatRuntime && f.cpus[ev.CPU].askedEvent == f.events {
		return // it is stamped before the charge asks for anything
	}
	if on != f.sched.NeedResched(ev.CPU) {
		f.sched.ForceNeedResched(ev.CPU, on)
	}
}

// lost notes that events of c are missing: who waits there may have run and gone.
func (f *forcer) lost(c event.CPU) {
	cp := &f.cpus[c]
	cp.open = openPreempt{}
	cp.flags, cp.skipped = 0, false
	for i := range cp.waiting {
		for t := cp.waiting[i].head; t != nil; t = t.next {
			t.unsure, t.unordered = true, true
		}
	}
}

// of returns what is known of a task of the timeline, which is seen on c.
func (f *forcer) of(tl *timeline.Task, c event.CPU) *forced {
	for int(tl.ID) >= len(f.tasks) {
		f.tasks = append(f.tasks, nil)
	}
	if t := f.tasks[tl.ID]; t != nil {
		t.tl = tl
		return t
	}
	t := &forced{id: tl.ID, tl: tl, placed: event.NoCPU, sliceSure: true, wokenAt: event.NoTime}
	f.tasks[tl.ID] = t
	if tl.Idle() {
		t.task = f.sched.Idle(c)
		t.task.Data = t
		return t
	}
	b := f.first.of(tl.ID)
	comm := tl.Comm
	// It may be seen first where another CPU wakes it, to balance.
	if own, bound := kernel.BoundTo(f.names.String(comm)); b.prio == 0 && bound && kernel.IsStopper(f.names.String(comm)) && f.exists(event.CPU(own)) && !f.cpus[own].stopper {
		f.cpus[own].stopper = true
		t.task = f.sched.NewStopper(event.CPU(own), tl.PID, comm)
		t.task.Data = t
		return t
	}
	t.task = f.newTask(t, tl.PID, comm, b)
	t.task.Data = t
	if b.status != timeline.StatusNew {
		t.task.State = event.StateSleeping
		t.sliceSure = false
		if f.exists(b.cpu) {
			c = b.cpu
		}
		f.sched.ForceCPU(t.task, c)
		f.sched.ForceLoad(t.task, sched.Load{}) // what it used before is not known, and forgotten soon
	}
	f.enterGroup(t, b)
	return t
}

// newTask makes the task of the model. What the kernel would not have accepted is not what
// the recorded task was: then it is a normal one.
func (f *forcer) newTask(t *forced, pid event.PID, comm event.Name, b *beginning) *sched.Task {
	a := f.attrOf(t, b.prio)
	task, err := f.sched.NewTask(pid, comm, a, b.cpus)
	if err != nil {
		if task, err = f.sched.NewTask(pid, comm, sched.Attr{}, nil); err != nil {
			panic("replay: a normal task was refused: " + err.Error())
		}
	}
	task.Kthread = f.first.kthread(b)
	return task
}

func (f *forcer) exists(c event.CPU) bool { return c >= 0 && int(c) < len(f.cpus) }
