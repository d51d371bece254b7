package replay

import (
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/kernel"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/workload"
)

// Load is a recorded trace as a load that the model can run: what every task did between its
// waits, and how each of its sleeps ended. Read makes it; changes are made on a Clone.
//
// Times are ns on the clock of the trace. The model's own clock begins at Zero, which is
// chosen so that the ticks of the recorded machine are multiples of their distance.
type Load struct {
	Info     event.Info
	Names    *event.Names      // of every Name in here; runs add theirs
	Snapshot *sysinfo.Snapshot // of the recorded machine; nil: there is none
	Kernel   string            // the profile that the machine is made by
	Preempt  kernel.Preempt    // in force: the profile's, unless the trace shows another one
	CPUs     int
	Hardware scenario.Hardware
	Zero     event.Time // the trace's time at the model's 0; From − Zero is not negative
	From     event.Time // of the first event: there the machine is as Task.Begin says
	To       event.Time // of the last event
	Tick     event.Time
	Values   []scenario.Value // settings that are known of the machine, and those of changes

	Groups  []Group // those above first
	Root    []Queue // queues of the root at From, as far as they are known
	Tasks   []Task  // in the order of timeline.TaskID of those that are not idle tasks
	Mutexes []Mutex
	Lines   []Line
	Stolen  []Stolen // in order of time
	Late    []Stolen // in which a CPU's timers did not interrupt it although they were due; by CPU and time

	// RTPeriod is when a period of sched_rt_period_timer began, NoTime: not seen. The timer is
	// on RTPeriodCPU then. RTUsed is what real-time tasks of each CPU had used at From of the
	// period that ran, as far as a throttling in it tells; nil: nothing.
	RTPeriod    event.Time
	RTPeriodCPU event.CPU
	RTUsed      []event.Time
	// RTSwitchCharge is what a turn of a real-time task is charged beside the time between its
	// switches, where charges are recorded.
	RTSwitchCharge event.Time
	// RTShort is how much less than sched_rt_runtime_us real-time tasks may use of a period in a run,
	// where the recording used it up to within what a charge comes after its tick. A charge of a run
	// comes at once: by the skin of its teeth the tick would not find it used up.
	RTShort event.Time
	// HandOver is what the machine takes from a wake to the switch to the woken task where
	// nothing stands in the way. The work of tasks has none of it.
	HandOver event.Time
	// IdleHandOver is the same where the CPU was idle.
	IdleHandOver event.Time

	// FairClass: fair tasks run by the rules of the kernel's fair class. Else they take turns as they
	// were recorded. FairKnown is of how many tasks a snapshot tells where they stood.
	FairClass bool
	FairKnown int

	// kernelChanged: Kernel is not the recorded one, so that Info.Kernel says nothing of runs.
	kernelChanged bool
	changed       bool
	told          int         // so many of Values are the recording's, once changed
	posts         []timedPost // of tasks that a change has removed, in order of time

	// Recorded are the waits of the recording, as Wait of a Run.
	Recorded []Wait
	Assumed  []Assumption
}

// Origin says from where something about the recorded machine is known.
type Origin uint8

// The origins, best first.
const (
	FromSnapshot Origin = iota // the snapshot of the machine says so
	FromEvents                 // events show it
	Inferred                   // it fits what events show
	Assumed                    // nothing tells; the usual is taken
)

// Begin is what a task is doing at Load.From.
type Begin uint8

// The beginnings.
const (
	BeginBlocked Begin = iota // its first operation is a wait
	BeginReady
	BeginRunning
	BeginNew // another task forks it (OpFork), or nothing shows who: it appears at Ops[0].At
)

// Task is one task of the recording.
type Task struct {
	PID, TGID event.PID
	Comm      event.Name
	Attr      sched.Attr // at Begin; its own, without what a lock lends it
	AttrBy    Origin
	CPUs      []event.CPU // that it may use; nil: all
	CPUsBy    Origin
	Begin     Begin
	CPU       event.CPU // where it is, or was last, at Begin
	// Stopper: it is migration/N, and its work is done by the machine's own stopper.
	Stopper bool
	Kernel  bool // a kernel thread, as far as its name tells
	// Group is 1 + the index of its group in Load.Groups, 0: the root, or that of who forks it.
	Group int
	// Virtual is where it stood at Load.From, or when it first was charged, among the fair tasks;
	// VirtualBy Assumed: that is not known.
	Virtual   sched.VirtualTime
	VirtualBy Origin
	madeFair  bool // by a change, which it was not: what was recorded tells nothing of its turns
	Removed   bool // by a change: it never is there, and its number stays
	// Normalize is the feature exit_normalize for this task alone, by a change; nil: as all.
	Normalize *workload.Normalize
	// Exit: what a signal or exit cost is not known to be: OpRun with Dying are the exit.
	Ops []Op
}

// OpKind is what an operation does.
type OpKind uint8

// The operations. Each begins when the one before is over.
const (
	OpRun    OpKind = iota // NS of work in Mode; Dying: part of its exit
	OpSleep                // until the time At of an own timer, which stands; a grid has Every
	OpNap                  // for NS from when it is reached: a timer that counts from the sleep
	OpWait                 // until another task, an interrupt or a device has posted it: Post counts up, a wait takes one
	OpWake                 // post task Ref once; it is woken if it waits
	OpYield                // sched_yield
	OpFork                 // create task Ref
	OpAttr                 // become Attr, by itself or by who changed it
	OpCPUs                 // may use CPUs from now on
	OpLock                 // take mutex Ref, or wait for it: its holder may be raised meanwhile
	OpUnlock               // give mutex Ref to who waits first
	OpExit                 // end
	OpServed               // the thread of an interrupt is through with one, and the next came before it slept
)

// Sleeps reports whether an operation ends with a wake, where it does not find that what it
// waits for has come already.
func (k OpKind) Sleeps() bool { return k == OpSleep || k == OpNap || k == OpWait || k == OpLock }

// Op is one operation of a task.
type Op struct {
	Kind  OpKind
	Mode  machine.Mode // OpRun
	Dying bool         // OpRun: it frees what the task had; exit_teardown × scales it
	State event.State  // OpSleep, OpNap, OpWait, OpLock: prev_state of the sleep
	// Slept is when the recorded task left its CPU for this sleep, At when the recorded wake
	// came (OpWait, OpNap), when the timer was due (OpSleep), or when this happened (others). An
	// OpRun was done in one go from At to Slept: fair tasks take turns by these times.
	Slept, At event.Time
	NS        event.Time
	Every     event.Time // OpSleep: the distance of its timer's grid, 0: none was found
	// Second: an OpSleep of a changed load before the second of two jobs that were one in the recording,
	// since the task was late. WaitKey.Cycle does not count it.
	Second bool
	Ref    int    // a task (OpWake, OpFork) or a mutex, by index
	By     Origin // how sure the kind is
	Attr   sched.Attr
	CPUs   []event.CPU
}

// Mutex is a lock that was found by the boosts of its holders, or by its waiters.
type Mutex struct {
	PI bool
	// Held says who holds it at Load.From, −1: nobody.
	Held int
}

// Line is an interrupt: the recorded times of its handler, and whom it woke.
type Line struct {
	Number  int64
	Name    event.Name
	Softirq bool // it is a softirq in interrupt context: Number is the vector
	CPU     event.CPU
	Thread  int // index of the task irq/N-NAME, −1: its handler runs in interrupt context
	// Loop: the device raises it again Gap after its service (handler, or thread) ended:
	// closed-loop. Otherwise Arrivals are fixed in time.
	Loop     bool
	Gap      event.Time
	Arrivals []Arrival
}

// Arrival is one interrupt.
type Arrival struct {
	At    event.Time // of its entry
	CPU   event.CPU
	NS    event.Time // to its exit, without what interrupted it
	Wakes []int      // tasks that it posts, by index
	// WakeAt is how much of NS is done at each of the Wakes; more than NS: the wake comes
	// behind its exit, as that of a handler's thread. nil: all at the end of NS.
	WakeAt []event.Time
	// Follows: it is a softirq that is done at the end of the interrupt or softirq before it on
	// its CPU: no task comes between.
	Follows bool
	// Loop: it belongs to the closed loop of its Line and comes as After says; false: it is the
	// first of a transfer.
	Loop bool
	// After is what it waits for; nil: it comes at At.
	After *After
}

// After is what the device of an interrupt waits for.
type After struct {
	// Task is the index of who goes to sleep then: the thread of the line at the end of a
	// service, or who asked for the transfer. −1: it is the exit of the handler before.
	Task  int
	Slept event.Time // which sleep, or OpServed, that is: Op.Slept
	Gap   event.Time // what the device takes from there on
}

// Stolen is a time in which a CPU did nothing that an event explains: events were lost, or a
// hypervisor had taken it.
type Stolen struct {
	CPU      event.CPU
	From, To event.Time
}

// Assumption is a kind of guess that a replay rests on, counted.
type Assumption struct {
	Kind  string // a stable word: timer_relative, cpus_seen, …
	Count int64
	Text  string // for people: what was assumed, and what would tell
}

// WaitKey names a wait in a recording and in every run of its load. Cycle is how many
// operations of the task's script that sleep (OpKind.Sleeps) are over before it, whether they
// had to block or not: the wake from the first of them, as all that comes before the task runs
// on, is of cycle 0, and where it is preempted afterwards of cycle 1. N counts the waits of the
// same kind within the cycle, from 0.
type WaitKey struct {
	Task  int
	Cycle int
	Kind  latency.Kind
	N     int
}

// Wait is one wait, of the recording or of a run.
type Wait struct {
	Key   WaitKey
	ID    string     // of the recorded wait, as explain names it; "" in a run
	Due   event.Time // NoTime: not known
	Woken event.Time
	OnCPU event.Time // NoTime: open at the end
	End   event.Time // OnCPU, or the end
	CPU   event.CPU
	Class string     // of the unboosted priority: dl, rt, fair …
	Prio  event.Prio // unboosted
	// Untrusted: events were lost while it lasted.
	Untrusted bool
}

// Length is the wait in ns, Lateness the time since it was due, where that is known.
func (w *Wait) Length() event.Time { return w.End - w.Woken }

// Lateness is the wait from when it was due, in ns.
func (w *Wait) Lateness() event.Time {
	if w.Due == event.NoTime {
		return w.Length()
	}
	return w.End - w.Due
}
