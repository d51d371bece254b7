package workload

import (
	"fmt"

	"github.com/whylate/whylate/engine"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/machine"
	"github.com/whylate/whylate/sched"
)

// stage is where a thread is between its creation and its end. The order is that of
// rt-app's thread_body(): the policy comes after the common start and the delay, so a task
// that shall be real-time waits for its first turn as a fair one.
type stage uint8

const (
	stageNew    stage = iota // takes its name, meets the others
	stageGate                // all are there
	stageDelay               // its delay is over
	stageRound               // begins a round of a phase
	stagePlaced              // on a CPU that it may use
	stageOps                 // in the operations
	stageEnd                 // has finished all its loops
	stageDead
)

// thread is an instance of a task; rt-app's thread_body().
type thread struct {
	// What every step looks at lies together: with many threads the rest is not in the cache.
	run       *Run
	task      *Task
	th        *machine.Thread
	stage     stage
	paid      bool // the OpCost of the current operation
	quiet     bool // the last step concerned nobody else
	cancelled bool
	asleep    bool // in an operation that a cancel ends
	woken     bool // taken out of the queue that it waited in
	inFutex   bool // a futex call is paid for
	dying     dying
	// Where it is in its phases. visit and part belong to the operation at pc.
	phase     int
	phaseLoop int
	taskLoop  int
	pc        int
	visit     int        // how often the current operation was asked already
	part      int        // of an operation that has several
	locks     int        // lock operations minus unlock operations of this round
	spins     int        // spinlocks that it holds
	waits     *mutex     // in whose queue it is
	granted   *mutex     // handed over to it while it waited
	fatal     int64      // the signal that ends it, 0: none has come
	exitAt    event.Time // when it ends by itself or by a signal; NoTime: with its loops
	began     event.Time // of the current run operation
	due       *section   // that comes before more work
	sections  []section
	cpus      []event.CPU // as set last
	loop      Loop        // what rt-app would log

	index  int // global, in the order of creation
	kind   int // index of its task
	name   string
	fork   bool // created by OpFork: it does not meet the others
	group  *group
	cgroup int        // 1 + the index of its control group, 0: the root
	first  event.Time // t_first: from which timers count

	// Its jobs.
	released   event.Time // of the job at hand, or of the one that the sleep ends with; NoTime: none yet
	wokenAt    event.Time // when somebody took it out of a queue
	slept      int        // sleeps that have begun, for Task.Later
	sleepOfJob int        // number of the sleep that ends with released; −1: none
	slackOfJob event.Time
	begun      bool // it has come to its first sleep

	// What its clocks and calls need.
	timers []timer
	random *engine.Stream
	attr   sched.Attr // of phaseAttr

	// Locks and queues. A thread is in one queue at most, so key and order are those of
	// whichever it is in; rt_mutex_waiter and futex_q.
	held     []*mutex   // with priority inheritance
	robust   []*mutex   // robust ones, the newest last
	ceilings []*mutex   // that have raised it
	own      sched.Attr // without ceilings, where there are some
	deadline event.Time // the deadline with which it came into a queue
	key      event.Prio
	order    uint64     // arrival in a queue
	batch    []*thread  // OpRelease: who has yet to be woken
	stamp    event.Time // when the release began that woke it
	over     bool       // past its last operation

	// Its work.
	left    event.Time // of the current piece
	toTouch event.Time // work until the next page that is touched for the first time
	fault   section    // that touches it

	// Its end.
	tear teardown
}

// timer is one of rt-app's timers.
type timer struct {
	next event.Time
	init bool
}

// newThread creates the thread with the next index as a child of th. site is the fork
// operation, −1 for a thread that begins with the others.
func (r *Run) newThread(parent *machine.Thread, task, site int) (*thread, error) {
	fork := site >= 0
	t := &r.spec.Tasks[task]
	p := &thread{run: r, task: t, kind: task, index: len(r.threads), fork: fork, timers: make([]timer, t.Timers), exitAt: event.NoTime, released: event.NoTime}
	p.name = t.Called(p.index)
	if fork {
		if t.Comm == "" {
			p.name = fmt.Sprintf("%s-%d-%04d", t.Name, p.index, r.forks[site])
		}
		r.forks[site]++
	}
	// A child begins with the policy and the CPUs of its parent, without what a lock lends
	// the parent; sched_fork().
	parentTask := parent.Task
	th, err := r.m.Spawn(0, r.m.Names.String(parentTask.Comm), parentTask.Attr, r.parentCPUs(parent), p)
	if err != nil {
		return nil, err
	}
	p.th = th
	if err := r.enterGroup(p, parent); err != nil {
		return nil, err
	}
	p.prepareSections()
	p.group = r.groupFor(t, parent, fork)
	p.group.threads = append(p.group.threads, p)
	r.threads = append(r.threads, p)
	flags := int64(cloneThread)
	if p.group.own() && p == p.group.leader() {
		flags = cloneProcess
	}
	r.emitFork(parent, th, flags)
	r.m.Start(parentTask.CPU(), th)
	return p, nil
}

// parentCPUs is the affinity that a child inherits.
func (r *Run) parentCPUs(parent *machine.Thread) []event.CPU {
	if p, ok := parent.Program.(*thread); ok {
		return p.cpus
	}
	return r.cpusets.Allowed(0, nil, r.spec.CPUs)
}

// mostQuiet bounds how often a thread goes on by itself in one moment: then the machine,
// which notices threads that take no time at all, is asked again.
const mostQuiet = 64

// Next is the machine's question what comes next. What concerns nobody else is done
// without going back to the machine.
func (p *thread) Next(*machine.Machine, *machine.Thread) machine.Step {
	switch {
	case p.dying != alive:
		return p.exiting()
	case p.inLock():
	case p.fatal != 0:
		return p.exiting()
	case p.ends():
		p.run.leave(p)
		return p.exitNow(true)
	case p.cancelled && p.asleep:
		// A cancellation point: it goes as it is, with its policy, without the steps that
		// end a loop.
		return p.die()
	}
	p.asleep = false
	for range mostQuiet {
		p.quiet = false
		if step := p.advance(); !p.quiet {
			return p.holding(step)
		}
	}
	return p.holding(proceed)
}

func (p *thread) advance() machine.Step {
	switch p.stage {
	case stageNew:
		return p.begin()
	case stageGate:
		return p.delay()
	case stageDelay:
		p.stage = stageRound
		return p.setAttr(p.task.Attr)
	case stageRound:
		return p.round()
	case stagePlaced:
		return p.prepare()
	case stageOps:
		return p.ops()
	case stageEnd:
		p.stage = stageDead
		if p.group.own() {
			return p.die() // no thread of rt-app: it returns from its main()
		}
		// The last thing that rt-app does to itself.
		return p.setAttr(&sched.Attr{Policy: sched.Normal})
	}
	return p.die()
}

// proceed takes no time; others may preempt before the thread goes on.
var proceed = machine.Step{Kind: machine.StepRun}

// begin takes the name and waits until all threads are there.
func (p *thread) begin() machine.Step {
	r := p.run
	if !p.group.loaded {
		return p.load()
	}
	p.stage = stageGate
	p.takeName()
	if p.index == 0 {
		// The first thread sets t_zero for all, before it knows whether they are there.
		r.zero = r.m.Now()
	}
	if p.fork || r.spec.Free || r.start.arrive(p) {
		return proceed
	}
	return machine.Step{Kind: machine.StepBlock, State: event.StateSleeping}
}

// takeName changes the name of the thread to its own. The kernel keeps 15 characters and
// refuses a longer name: then the old one stays.
func (p *thread) takeName() {
	r := p.run
	if name := r.m.Names.Intern(p.name); len(p.name) <= MaxComm && name != p.th.Task.Comm {
		r.emitRename(p.th, name)
		p.th.Task.Comm = name
	}
}

// delay sleeps until the task's own start, which also moves the zero of its timers.
func (p *thread) delay() machine.Step {
	p.stage = stageDelay
	p.startTimer()
	p.first = p.run.zero
	if p.run.spec.Free {
		p.first = p.run.m.Now()
	}
	if p.task.Delay <= 0 {
		return proceed
	}
	p.first += p.task.Delay
	return p.sleepUntil(p.first)
}

// round begins a round of the current phase, unless it was the last one.
func (p *thread) round() machine.Step {
	if p.run.stopping || p.task.Loop >= 0 && p.taskLoop == p.task.Loop || len(p.task.Phases) == 0 {
		p.jobDone()
		p.stage, p.quiet = stageEnd, true
		return proceed
	}
	p.stage = stagePlaced
	// Affinity is set in every round: that of the phase, else of the task, else all.
	cpus := p.task.Phases[p.phase].CPUs
	if cpus == nil {
		cpus = p.task.CPUs
	}
	return p.place(cpus)
}

// prepare sets what the phase asks for and starts the log.
func (p *thread) prepare() machine.Step {
	p.stage = stageOps
	p.pc, p.visit, p.part, p.locks = 0, 0, 0, 0
	if !p.regroup(p.task.Phases[p.phase].Group) {
		return gone
	}
	// rt-app takes the start of the round after its calls, which cannot take time here
	// unless somebody preempts: then the log is as much too early as in rt-app too late.
	step := p.setAttr(p.phaseAttr(&p.task.Phases[p.phase]))
	p.loop = Loop{Thread: p.index, PID: p.th.Task.PID, Comm: p.th.Task.Comm, Start: p.run.m.Now()}
	return step
}

// ops begins or goes on with one operation of the round.
func (p *thread) ops() machine.Step {
	ops := p.task.Phases[p.phase].Ops
	if p.visit == 0 {
		// Before each operation rt-app looks whether all is over; within one it does not.
		for p.pc < len(ops) && p.skips(&ops[p.pc]) {
			p.pc++
		}
		if p.pc == len(ops) || p.run.stopping && p.locks == 0 {
			p.finish()
			p.quiet = true
			return proceed
		}
		if p.run.spec.OpCost > 0 && !p.paid && ops[p.pc].Kind != OpRun {
			p.paid = true
			return machine.Step{Kind: machine.StepRun, NS: p.run.spec.OpCost}
		}
	}
	step, over := p.do(&ops[p.pc])
	// Whatever leaves the CPU or takes time is the machine's business.
	p.quiet = p.quiet && step.Kind == machine.StepRun && step.NS <= 0
	p.visit++
	if over {
		p.pc, p.visit, p.part, p.paid = p.pc+1, 0, 0, false
	}
	return step
}

// skips reports whether op is left out: after the end only locks are still worked off, so
// that nobody waits for them for ever.
func (p *thread) skips(op *Op) bool {
	return p.run.stopping && p.locks > 0 && op.Kind != OpLock && op.Kind != OpUnlock
}

// finish ends a round: the log, then the counters of the loops.
func (p *thread) finish() {
	p.stage = stageRound
	p.loop.End = p.run.m.Now()
	if p.run.OnLoop != nil {
		p.run.OnLoop(p.loop)
	}
	// Operations, phase loop, next phase, task loop.
	p.phaseLoop++
	if p.phaseLoop != p.task.Phases[p.phase].Loop {
		return // a loop of 0 or less is never reached
	}
	p.phaseLoop = 0
	if p.phase++; p.phase == len(p.task.Phases) {
		p.phase = 0
		p.taskLoop++
	}
}

// die ends the thread by itself.
func (p *thread) die() machine.Step {
	p.stage = stageDead
	if p.spins > 0 {
		p.run.refuse(fmt.Errorf("%s: ends while it holds a spinlock", p.name))
		return gone
	}
	return p.exitNow(false)
}
