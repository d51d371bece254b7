package replay

import (
	"errors"
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
)

// Vruntimes says how well the model keeps the virtual run times of the fair class, measured by a
// recorded kernel that tells them: sched_stat_runtime carries vruntime up to 6.7.
type Vruntimes struct {
	Updates int64 // charges of fair tasks with a vruntime
	Learned int64 // of them, those that told the model where a task stands, or which policy it has
	Equal   int64 // of the others, those where the model has the same to the ns
	// Untold rest on the charge of a group at a moment that no event tells: a task was placed in a
	// queue whose current entity was, or had been, a group that was charged for somebody's wake. Their
	// clock is that of other wakes. UntoldEqual are the same to the ns even so, the others at most
	// UntoldMost ns off. They are neither in Equal nor in Differ.
	Untold, UntoldEqual, UntoldMost int64
	// Differ are the others, by what came before them. After each the task is put where the kernel
	// has it, so that it is counted once.
	Differ [nVruntimeCauses]int64
	// What the model would have decided with them, and how often the kernel did the same: which of
	// several tasks runs next, whether a fair task that wakes asks the current fair one to leave, and whether a
	// tick does.
	Picks, Wakes, Ticks Agreement
	// First are the first differences.
	First []VruntimeDiff
}

// Agreement counts decisions.
type Agreement struct{ N, Agree int64 }

func (a *Agreement) count(agree bool) {
	a.N++
	if agree {
		a.Agree++
	}
}

// Counted is how many updates were compared for which the trace tells everything.
func (v *Vruntimes) Counted() int64 { return v.Updates - v.Learned - v.Untold }

// VruntimeCause is what happened to a task between its last update and one that differs.
type VruntimeCause uint8

// The causes.
const (
	VruntimeRan      VruntimeCause = iota // nothing: it just ran
	VruntimePlaced                        // it was woken
	VruntimeForked                        // it was made
	VruntimeChanged                       // its attributes changed
	VruntimeMoved                         // it went to another group
	VruntimeSwitched                      // it waited
	nVruntimeCauses
)

// String says it in words.
func (c VruntimeCause) String() string {
	return [...]string{"while it ran", "after a wake", "after its fork", "after a change of its attributes", "after it went to another group",
		"after it waited"}[c]
}

// VruntimeDiff is an update where model and kernel differ.
type VruntimeDiff struct {
	At      event.Time
	PID     event.PID
	Comm    event.Name
	Runtime event.Time
	// Recorded and Model are the vruntimes after the update.
	Recorded, Model int64
	Cause           VruntimeCause
}

// mostVruntimeDiffs bounds First.
const mostVruntimeDiffs = 200

// CompareVruntimes lets the model follow a recording of one CPU, decision by decision and charge
// by charge, and compares the vruntime of each task after each update. The run times come from the
// trace; the virtual ones, where tasks come into queues, and min_vruntime are the model's own. What
// they were before the trace tells the snapshot, else the first update of each task.
// Errors are those of reading, a machine of several CPUs, and a kernel without vruntimes.
func CompareVruntimes(src Input, o Options) (*Vruntimes, error) {
	first, err := lookAhead(src, o)
	if err != nil {
		return nil, err
	}
	first.takeSnapshot(src, o)
	cfg, err := first.config(src.Info(), o)
	switch {
	case err != nil:
		return nil, err
	case cfg.CPUs != 1:
		return nil, fmt.Errorf("vruntimes are compared on one CPU, the recording has %d", cfg.CPUs)
	case cfg.Fair.EEVDF:
		return nil, errors.New("this kernel goes by deadlines (EEVDF)")
	}
	f := newVruntimeFollower(src, first, cfg)
	if err := eachVruntimeEvent(src, func(ev *event.Event) { f.look(ev) }); err != nil {
		return nil, err
	}
	if err := eachVruntimeEvent(src, f.push); err != nil {
		return nil, err
	}
	if f.out.Updates == 0 {
		return nil, errors.New("no sched_stat_runtime with a vruntime was recorded")
	}
	return &f.out, nil
}

// vruntimeNeeds are the kinds that are followed.
var vruntimeNeeds = event.Kinds(event.SchedSwitch, event.SchedWaking, event.SchedWakeup, event.SchedWakeupNew, event.SchedProcessFork,
	event.TaskNewtask, event.SchedProcessExit, event.SchedStatRuntime, event.HrtimerExpireEntry, event.HrtimerStart, event.SysEnter, event.SoftirqEntry, event.SoftirqExit, event.Other)

func eachVruntimeEvent(src Input, f func(*event.Event)) error {
	return eachEventOf(src, event.Options{Want: vruntimeNeeds, OtherText: true}, f)
}

// vruntimeFollower is the host of a scheduler that is charged what the trace says. It stands at
// the clock of the runqueue, which is the sum of what tasks were charged; only where nobody fair
// ran it goes by the stamps of events, which come some hundred ns later.
type vruntimeFollower struct {
	sched *sched.Sched
	names *event.Names
	snap  *sysinfo.Snapshot
	known knownTasks
	out   Vruntimes

	clock  event.Time
	tasks  map[event.PID]*vruntimeTask
	groups map[string]*vruntimeQueue
	root   vruntimeQueue
	want   *sched.Task
	choice bool // it is one that a switch shows

	index   int64
	sighted map[event.PID][]sighting
	forks   map[int64]birth // by the index of the charge that belongs to them
	plain   int64           // the last charge for neither a wake nor a tick
	tick    bool            // the next charge is that of the tick
	settled bool            // the snapshot was taken over
	waking  event.Time
	started bool
	ticked  bool // a tick was charged, and no event has shown yet what it asked for
	stamps  stamps
	timers  []forcedTimer         // of quotas
	owners  map[int64]sched.Timer // those that the trace showed, by address
	expired []expiry              // not yet served
}

// expiry is a timer of a quota that has just expired.
type expiry struct {
	timer sched.Timer
	at    event.Time
}

// birth is a new task.
type birth struct {
	pid  event.PID
	comm event.Name
}

// sighting is a priority that an event shows.
type sighting struct {
	index int64
	prio  event.Prio
}

// vruntimeQueue is a group and what is known of its queue.
type vruntimeQueue struct {
	group *sched.Group // nil: the root
	up    *vruntimeQueue
	known bool // its min_vruntime was told
	// vague: a group in it was charged at a moment that no event tells, and what was placed in it
	// since rests on that.
	vague bool
}

// vruntimeTask is what is known of a task.
type vruntimeTask struct {
	task     *sched.Task
	queue    *vruntimeQueue
	known    bool // where it stands
	cause    VruntimeCause
	untold   bool // it was placed where no event tells the clock
	changing bool // it is in sched_setattr(2)
	guess    bool // its attributes may be told by the next charge
	told     bool // that charge told them
	yields   bool
	exits    bool
}

func newVruntimeFollower(src Input, first *firstSight, cfg sched.Config) *vruntimeFollower {
	f := &vruntimeFollower{names: src.Names(), snap: first.snap, known: first.known, clock: event.NoTime,
		tasks: map[event.PID]*vruntimeTask{}, groups: map[string]*vruntimeQueue{}, sighted: map[event.PID][]sighting{}, forks: map[int64]birth{}, waking: event.NoTime,
		owners: map[int64]sched.Timer{}}
	cfg.DLBandwidth, cfg.RTRuntime = -1, -1
	cfg.TTWUQueue, cfg.FairPlaced = false, false
	cfg.Quiet = true
	f.sched = sched.New(cfg, f, f.names)
	f.sched.Follow(f)
	return f
}

// look notes the priorities that events show, and when tasks are made: a charge of the parent tells
// it, the events of the child may come after an interrupt.
func (f *vruntimeFollower) look(ev *event.Event) {
	f.index++
	note := func(pid event.PID, p event.Prio) {
		if s := f.sighted[pid]; known(p) && (len(s) == 0 || s[len(s)-1].prio != p) {
			f.sighted[pid] = append(s, sighting{f.index, p})
		}
	}
	switch ev.Kind {
	case event.SchedSwitch:
		note(ev.Task, ev.TaskPrio)
		note(ev.Next, ev.NextPrio)
		f.plain, f.tick, f.waking = 0, false, event.NoTime
	case event.SchedWaking:
		f.waking = ev.Time
		note(ev.Task, ev.TaskPrio)
	case event.SchedWakeup, event.SchedWakeupNew:
		f.waking = event.NoTime
		note(ev.Task, ev.TaskPrio)
	case event.HrtimerExpireEntry:
		f.tick = f.tick || f.isTick(ev)
	case event.SchedStatRuntime:
		if ev.Arg2 == 0 {
			note(ev.Task, someRT)
		}
		if !f.tick && f.waking == event.NoTime {
			f.plain = f.index
		}
		f.tick, f.waking = false, event.NoTime
	case event.TaskNewtask:
		f.noteFork(ev.Task, ev.TaskComm)
	case event.SchedProcessFork:
		f.noteFork(ev.Next, ev.NextComm)
	}
}

// someRT is the priority of a task of which only its class is known: real-time tasks are charged
// with a vruntime of 0.
const someRT event.Prio = 98

func (f *vruntimeFollower) isTick(ev *event.Event) bool {
	return f.names.String(ev.Func) == "tick_sched_timer"
}

func (f *vruntimeFollower) noteFork(pid event.PID, comm event.Name) {
	if f.plain > 0 {
		f.forks[f.plain] = birth{pid, comm}
		f.plain = 0
	}
}

// prioFrom returns the priority that the first event from index on shows, NoPrio for none.
func (f *vruntimeFollower) prioFrom(pid event.PID, index int64) event.Prio {
	at := event.NoPrio
	for _, s := range f.sighted[pid] {
		if at = s.prio; s.index >= index {
			break
		}
	}
	return at
}

// The methods of sched.Host and sched.Follower that have something to do.

// Now is the clock of the runqueue.
func (f *vruntimeFollower) Now() event.Time { return f.clock }

// Pick makes the recorded choice.
func (f *vruntimeFollower) Pick(_ event.CPU, _, next *sched.Task) *sched.Task {
	if f.choice && f.want.Rank() == sched.RankFair && f.sched.NrRunning(0) > 1 {
		f.out.Picks.count(next == f.want)
	}
	return f.want
}

// Charge leaves it at what the clock says.
func (f *vruntimeFollower) Charge(_ event.CPU, _ *sched.Task, delta event.Time) event.Time {
	return delta
}

// Those that have not.

func (f *vruntimeFollower) Resched(_, _ event.CPU, _ bool)          {}
func (f *vruntimeFollower) Kick(_, _ event.CPU)                     {}
func (f *vruntimeFollower) KickWakeList(_, _ event.CPU)             {}
func (f *vruntimeFollower) RaiseBalance(event.CPU)                  {}
func (f *vruntimeFollower) KickBalance(_, _ event.CPU)              {}
func (f *vruntimeFollower) Price(*sched.Work) event.Time            { return 0 }
func (f *vruntimeFollower) Stopper(event.CPU) *sched.Task           { return nil }
func (f *vruntimeFollower) Emit(event.CPU, *event.Event)            {}
func (f *vruntimeFollower) Place(*sched.Task) event.CPU             { return 0 }
func (f *vruntimeFollower) Move(_ *sched.Task, _, _ event.CPU) bool { return false }
