package workload

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// Spec is a process with all its threads. Resources are named by their index: mutexes in
// Mutexes, conditions, semaphores, shared timers, queues and forks below their numbers.
// Times are ns, none may be negative except where that is said.
type Spec struct {
	Comm string    // name of the main thread and of every thread before it takes its own
	PID  event.PID // of the main thread; the others count on from there. 0: the next free

	Tasks    []Task
	Mutexes  []Mutex
	Conds    int // condition variables
	Sems     int // semaphores, initially 0
	Timers   int // timers that all threads share
	Queues   int // queues of OpEnqueue and OpRelease
	Forks    int // fork operations: each creates at most 1,024 threads
	Barriers []Barrier
	IRQs     []IRQ
	Devices  []Device
	Groups   []Group
	// CPUs are those of a task that nobody gave any: what isolcpus= leaves. nil: all.
	CPUs []event.CPU

	// Duration is how long the main thread sleeps before it cancels all; negative: until
	// every thread has ended by itself.
	Duration event.Time
	// Free lets every thread begin on its own, with its own zero for its timers, instead of
	// meeting the others as rt-app's threads do.
	Free bool
	// OpCost is what every operation takes beside the work that it stands for.
	OpCost event.Time
	// TimerSlack is added to every expiry of a task that is neither real-time nor
	// deadline; prctl(PR_SET_TIMERSLACK).
	TimerSlack event.Time
	// Costs is what the kernel's work for tasks takes; Teardown is a factor of what giving
	// memory back takes.
	Costs    Costs
	Teardown Scale
	// Normalize is the kernel's exit_normalize. ToldFirst: sched_process_exit comes before
	// the memory is given back, as in kernels from 6.16 on.
	Normalize Normalize
	ToldFirst bool
	// DrainsAtOnce: of what a dying task gives back, Costs.ExitDrain is left for the end and
	// done with interrupts off; never with PREEMPT_RT.
	DrainsAtOnce bool
	// NoSyscalls leaves out the events of exit, exit_group and sched_yield.
	NoSyscalls bool

	CumulativeSlack bool // rt-app's cumulative_slack: Loop.Slack sums up
	Seed            uint64
}

// Mutex is a lock: a pthread mutex, of one protocol at most.
type Mutex struct {
	PI      bool // its owner inherits priorities; PTHREAD_PRIO_INHERIT
	Ceiling int  // its owner has at least this priority, 1–99; PTHREAD_PRIO_PROTECT. 0: no
	Robust  bool // the kernel opens it if its owner dies; PTHREAD_MUTEX_ROBUST
	Spin    bool // none of user space but a spinlock of the kernel; the others do not matter
}

// Barrier is where Parties threads wait for each other. rt-app makes it of a mutex, with
// priority inheritance where PI, and a condition.
type Barrier struct {
	Parties int
	PI      bool
}

// Task is one task of the file; each instance is a thread.
type Task struct {
	Name      string
	Comm      string // what its threads are called; "": as in rt-app, the name with an index
	Instances int    // 0: only a template of OpFork
	Delay     event.Time
	Group     int // 1 + the index of its group; 0: that of its parent
	Loop      int // how often all phases run; negative: forever
	// Later is by how much longer its sleeps are, for a time or to a timer, counted over each
	// thread's life; those beyond the list, and all of nil, as the operations say.
	Later    []event.Time
	Attr     *sched.Attr
	CPUs     []event.CPU // nil: all
	Timers   int         // timers of its own
	Sections []Section
	Memory   *Memory // nil: a thread that shares the main one's, unless a signal ends it
	Exit     *Exit   // nil: with its loops
	// Normalize is Spec.Normalize for this task alone; nil: as all.
	Normalize *Normalize
	Phases    []Phase
}

// MaxComm is how long a name may be. A thread that wants a longer one keeps that of its parent.
const MaxComm = 15

// Called is what the thread with the global number index wants to be called, where it begins
// with the others.
func (t *Task) Called(index int) string {
	if t.Comm != "" {
		return t.Comm
	}
	return fmt.Sprintf("%s-%d", t.Name, index)
}

// Phase is a list of operations that is repeated.
type Phase struct {
	Loop int         // zero or negative: forever
	Attr *sched.Attr // nil: as before
	// Keep: the policy is the one that the thread has; of Attr.Priority and Attr.Nice the
	// one counts that belongs to it.
	Keep bool
	CPUs []event.CPU // nil: those of the task
	// Group is where each round moves the thread to, 1 + its index; 0: nowhere.
	Group int
	Ops   []Op
}

// OpKind is what an operation does.
type OpKind uint8

// The operations. Ref is the index of the resource.
const (
	OpRun       OpKind = iota // NS of work in Mode, plus up to Jitter more
	OpRuntime                 // work in pieces of Piece until NS have passed, run or not
	OpSpin                    // work, looking at the clock all the time, until NS have passed, run or not
	OpSleep                   // for NS, plus up to Jitter more; with Random for NS on average
	OpTimer                   // until the next multiple of NS of shared timer Ref
	OpUnique                  // the same with timer Ref of the thread itself
	OpLock                    // mutex Ref
	OpUnlock                  // mutex Ref
	OpWait                    // for condition Ref, with mutex Mutex
	OpSignal                  // condition Ref
	OpBroadcast               // condition Ref
	OpSync                    // signal condition Ref, then wait for it, with mutex Mutex
	OpBarrier                 // barrier Ref
	OpSuspend                 // lock mutex Mutex, wait for condition Ref, unlock
	OpResume                  // lock mutex Mutex, broadcast condition Ref, unlock
	OpSemPost                 // semaphore Ref
	OpSemWait                 // semaphore Ref
	OpYield                   // sched_yield
	OpFork                    // a thread of task Ref; Site numbers the operation among all forks
	OpEnqueue                 // join queue Ref in front of the others, tell who awaits it, and wait until it is released
	OpRelease                 // wake all that are in queue Ref, one after the other, the last who came first
	OpAwait                   // wait until somebody has joined queue Ref since it was released last
	OpIO                      // a request of Bytes to device Ref, until it is done
)

// TimerMode says what a timer does that was missed.
type TimerMode uint8

// The modes of timers.
const (
	TimerRelative TimerMode = iota // counts on from now (rt-app's default)
	TimerAbsolute                  // keeps its grid and lets the task catch up
	TimerSkip                      // keeps its grid and skips what is over (cyclictest)
)

// Op is one operation.
type Op struct {
	Kind   OpKind
	NS     event.Time
	Jitter event.Time
	Random bool // lengths are exponential: independent arrivals
	Ref    int
	Mutex  int
	Site   int
	Timer  TimerMode
	Mode   machine.Mode
	Piece  event.Time // OpRuntime; 0: 32 µs
	Bytes  int64      // OpIO; more than 0
}

// Loop is what rt-app logs of one round of a phase, for comparison with its files. Times are
// ns, on the machine's clock; rt-app prints them rounded down to µs.
type Loop struct {
	Thread int        // global index
	PID    event.PID  //
	Comm   event.Name //
	Start  event.Time
	End    event.Time
	Run    event.Time // length of the run and runtime operations, with all interruptions
	Slack  event.Time // of the last timer, or the sum
	// WakeupLatency is the sum over timers, 0 after a missed one; wu_lat. Of a queue it is from when
	// its release began, for whomever it woke before, to when the task runs.
	WakeupLatency event.Time
	CRun, CPeriod event.Time // as configured: c_duration, c_period
}

// Endless reports whether t goes on until somebody cancels it.
func (t *Task) Endless() bool {
	if t.Exit != nil && t.Exit.After >= 0 {
		return false
	}
	if t.Loop < 0 {
		return true
	}
	for i := range t.Phases {
		if t.Phases[i].Loop <= 0 {
			return true
		}
	}
	return false
}

// Classes reports whether tasks of s are real-time or deadline, and whether some are fair.
func (s *Spec) Classes() (realTime, fair bool) {
	see := func(a *sched.Attr) {
		if a != nil && (a.Policy == sched.FIFO || a.Policy == sched.RR || a.Policy == sched.Deadline) {
			realTime = true
		} else {
			fair = true
		}
	}
	for i := range s.Tasks {
		see(s.Tasks[i].Attr)
		for j := range s.Tasks[i].Phases {
			if a := s.Tasks[i].Phases[j].Attr; a != nil {
				see(a)
			}
		}
	}
	return realTime, fair
}
