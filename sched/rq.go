package sched

import (
	"strconv"

	"github.com/whylate/whylate/event"
)

// RQ is the runqueue of one CPU; struct rq.
type RQ struct {
	cpu  event.CPU
	curr *Task
	idle *Task
	stop *Task // migration/N, nil while nobody needed it

	nrRunning       int // runnable tasks, the idle task not counted
	needResched     bool
	needReschedLazy bool
	clock           event.Time // updated at the start of every operation

	rt  rtRQ
	dl  dlRQ
	cfs cfsRQ

	deferred   *Task      // preempted by a real-time task and still to be put back; DeferPutPrev
	deferredAt event.Time // since when; with DeferSettle up to when its time was put aside

	cfsTasks, cfsLast *Task // all fair tasks that are queued, who ran last first; cfs_tasks
	movable           int   // of them that may use other CPUs too

	server dlServer // fair_server

	peltClock event.Time // what clock was at most
	classLoad

	callbacks callback // balance_callback: what to do once the lock is given up

	rd                 *rootDomain
	sd                 *schedDomain // the lowest; nil: it does not balance
	top                topDomains
	smt                cpuMask    // the threads of its core
	nextBalance        int64      // jiffies
	cpuCapacity        int64      // what fair tasks may use of it, of 1024
	avgIdle            event.Time // how long it mostly idles
	idleStamp          event.Time // since when it idles, if idling
	idling             bool
	maxIdleBalanceCost event.Time
	activeBalance      bool            // its stopper has a task to push
	pushCPU            event.CPU       // to where
	wakeStamp          int64           // when wakeAvgIdle was halved, jiffies; SIS_PROP
	wakeAvgIdle        event.Time      // how long it will idle, as wakes take it
	cpuLoad            [cpuLoads]int64 // rq.cpu_load[], before 5.2
	lastLoadUpdate     int64           // jiffies; last_load_update_tick
	rtAvg              rtAvg           // before 4.19
	rqBalance

	wakeList  []*Task    // wakes that this CPU should finish; TTWU_QUEUE
	inFlight  int        // more of them, as a recording has it
	stopWorks []stopWork // what the stopper should do
	pushBusy  bool       // the stopper already has a push to do
	rotor     event.CPU  // distribute_cpu_mask_prev
	hrtickOn  bool       // the hrtick is set
}

// callback is a set of balance callbacks.
type callback uint8

const (
	pushRTTasks callback = 1 << iota
	pullRTTasks
	pushDLTasks
	pullDLTasks
)

// Sched is the scheduler of a machine.
type Sched struct {
	host Host
	cfg  Config
	rqs  []*RQ
	work Work      // of the running operation
	here event.CPU // that executes it, NoCPU: outside of all
	ev   event.Event

	groups    []*Group    // with RT_GROUP_SCHED, all but the root
	top       []*Group    // those right below the root
	rtBW      rtBandwidth // def_rt_bandwidth
	dlBW      int64       // dl_bw.total_bw: admitted bandwidth of all deadline tasks
	serversBW int64       // what servers have of it
	all       cpuMask     // the span of the root domain
	scratch   cpuMask
	nearby    cpuMask

	idle     cpuMask // CPUs without runnable tasks
	fairWait cpuMask // CPUs where fair tasks wait

	follow     Follower        // who decides in place of the model; nil: nobody
	passesTold bool            // and tells of each pass
	tookTurn   bool            // anyDistribute had a choice since the operation began
	decide     func(*Decision) // who wants to know of picks; nil: nobody
	decision   Decision        // that it is shown

	onBalance func(*BalancePass) // who wants to know of balancing; nil: nobody
	queued    []int64            // of each CPU, what is queued weighs; only for onBalance
	pass      BalancePass        // that it is shown

	lb          lbEnv // of the running pass
	nohz        nohzState
	serialUntil event.Time // when the last pass over a domain with SD_SERIALIZE is over
	rolls       uint64     // of NI_RANDOM
	placement

	nextBlocked event.Time // when tickBlocked has something to do
}

// New returns the scheduler of a machine with cfg.CPUs CPUs, all of them idle.
func New(cfg Config, host Host, names *event.Names) *Sched {
	n := cfg.CPUs
	s := &Sched{host: host, cfg: cfg, all: allCPUs(n), scratch: newMask(n), nearby: newMask(n),
		idle: allCPUs(n), fairWait: newMask(n), nohz: nohzState{idleCPUs: newMask(n), full: newMask(n)}}
	for _, c := range cfg.NoHZFull {
		s.nohz.full.set(c)
	}
	for c := range event.CPU(n) {
		rq := &RQ{cpu: c, idle: s.newIdle(c, names)}
		rq.curr = rq.idle
		rq.dl.init(&s.cfg)
		rq.cfs.init(rq, nil)
		s.initBalance(rq)
		s.rqs = append(s.rqs, rq)
		s.initFairServer(rq, names.Intern("fair_server"))
	}
	s.buildDomains()
	s.initPlacement()
	s.dlBW, s.serversBW = cfg.ServersBW, cfg.ServersBW
	s.initRTBandwidth()
	return s
}

func (s *Sched) newIdle(c event.CPU, names *event.Names) *Task {
	t := s.newTask(0, names.Intern("swapper/"+strconv.Itoa(int(c))), idleTask, c)
	t.prio, t.class, t.onCPU = event.DefaultPrio, idleClass, true
	return t
}

// newTask returns a task of the machine's own that belongs to one CPU.
func (s *Sched) newTask(pid event.PID, comm event.Name, pol Policy, c event.CPU) *Task {
	t := &Task{PID: pid, Comm: comm, Attr: Attr{Policy: pol}, Kthread: true, cpu: c, wakeCPU: c, moveTo: event.NoCPU, pushedAt: event.NoTime}
	m := newMask(s.cfg.CPUs)
	m.set(c)
	t.setMask(m)
	t.dl.init(t)
	return t
}

// Curr returns the current task of c.
func (s *Sched) Curr(c event.CPU) *Task { return s.rqs[c].curr }

// NeedResched reports whether TIF_NEED_RESCHED is set on c.
func (s *Sched) NeedResched(c event.CPU) bool { return s.rqs[c].needResched }

// NeedReschedLazy reports whether TIF_NEED_RESCHED_LAZY is set on c.
func (s *Sched) NeedReschedLazy(c event.CPU) bool { return s.rqs[c].needReschedLazy }

// NrRunning returns the runnable tasks of c; rq->nr_running.
func (s *Sched) NrRunning(c event.CPU) int { return s.rqs[c].nrRunning }

// IsIdle reports whether c runs its idle task.
func (s *Sched) IsIdle(c event.CPU) bool { return s.rqs[c].curr == s.rqs[c].idle }

// begin starts an operation on CPU here: what it does is counted from now on.
func (s *Sched) begin(here event.CPU) { s.work, s.here, s.tookTurn = Work{}, here, false }

// hereOr is the CPU that executes the operation, that of rq if none does.
func (s *Sched) hereOr(rq *RQ) event.CPU {
	if s.here < 0 {
		return rq.cpu
	}
	return s.here
}

// updateRQClock is update_rq_clock().
func (s *Sched) updateRQClock(rq *RQ) { rq.clock = s.host.Now() }

// reschedCurr is resched_curr(): the CPU should schedule as soon as it may.
func (s *Sched) reschedCurr(from event.CPU, rq *RQ) {
	if rq.needResched {
		return
	}
	rq.needResched = true
	s.host.Resched(from, rq.cpu, false)
}

// reschedCurrLazy is resched_curr_lazy(): the CPU should schedule on its way to user mode,
// or as soon as it may after the next tick.
func (s *Sched) reschedCurrLazy(from event.CPU, rq *RQ) {
	if !s.cfg.lazy() {
		s.reschedCurr(from, rq)
		return
	}
	if rq.needResched || rq.needReschedLazy {
		return
	}
	rq.needReschedLazy = true
	s.host.Resched(from, rq.cpu, true)
}

// flags of enqueueing and dequeueing, as the kernel names them.
type flags uint16

const (
	flagWakeup    flags = 1 << iota // ENQUEUE_WAKEUP
	flagHead                        // ENQUEUE_HEAD
	flagReplenish                   // ENQUEUE_REPLENISH
	flagSave                        // DEQUEUE_SAVE, ENQUEUE_RESTORE: it is back at once
	flagMove                        // *_MOVE: it may lose its place
	flagSleep                       // DEQUEUE_SLEEP
	flagMigrated                    // ENQUEUE_MIGRATED: it was on another CPU
	flagInitial                     // ENQUEUE_INITIAL: it is new
	flagDelayed                     // *_DELAYED: it was to sleep and still is in the queue
	flagSpecial                     // DEQUEUE_SPECIAL: it stops or dies
	flagFork                        // WF_FORK, of a wake
)

// keepsPlace reports whether a task stays in its list; !move_entity().
func (f flags) keepsPlace() bool { return f&(flagSave|flagMove) == flagSave }

// activateTask puts p into the queue of rq; activate_task().
func (s *Sched) activateTask(rq *RQ, p *Task, f flags) {
	p.onRQ = true
	s.enqueueTask(rq, p, f)
}

// deactivateTask takes p out of the queue of rq; deactivate_task(), block_task(). A fair task may stay
// there until its lag is paid.
func (s *Sched) deactivateTask(rq *RQ, p *Task, f flags) {
	if s.dequeueTask(rq, p, f) {
		p.onRQ = false
	}
}

func (s *Sched) enqueueTask(rq *RQ, p *Task, f flags) {
	s.work.Enqueues++
	switch p.class {
	case stopClass:
		s.addNrRunning(rq)
	case dlClass:
		s.enqueueTaskDL(rq, p, f)
	case rtClass:
		s.enqueueTaskRT(rq, p, f)
	case fairClass:
		s.enqueueTaskFair(rq, p, f)
	}
}

// dequeueTask reports false if p stays in the queue, which only a fair task that sleeps may do.
func (s *Sched) dequeueTask(rq *RQ, p *Task, f flags) bool {
	s.work.Dequeues++
	switch p.class {
	case stopClass:
		s.subNrRunning(rq)
	case dlClass:
		s.dequeueTaskDL(rq, p, f)
	case rtClass:
		s.dequeueTaskRT(rq, p, f)
	case fairClass:
		return s.dequeueTaskFair(rq, p, f)
	}
	return true
}

func (s *Sched) addNrRunning(rq *RQ) {
	if rq.nrRunning++; rq.nrRunning == 1 {
		s.idle.clear(rq.cpu)
	} else if rq.nrRunning == 2 {
		rq.rd.overload = true
	}
}

func (s *Sched) subNrRunning(rq *RQ) {
	if rq.nrRunning--; rq.nrRunning == 0 && len(rq.wakeList) == 0 {
		s.idle.set(rq.cpu)
	}
}

// charge adds the run time since the last update to p and returns it;
// update_curr_common().
func (s *Sched) charge(rq *RQ, p *Task) event.Time {
	delta := rq.clock - p.execStart
	if s.follow != nil {
		delta = s.follow.Charge(rq.cpu, p, delta)
	}
	if delta <= 0 {
		return 0
	}
	p.execStart = rq.clock
	p.sumExecRuntime += delta
	return delta
}

// chargeNamed is charge for classes that fair tasks do not share: it emits
// sched_stat_runtime where the kernel does.
func (s *Sched) chargeNamed(rq *RQ, p *Task) event.Time {
	delta := s.charge(rq, p)
	s.chargeRTAvg(rq, delta)
	if delta > 0 && s.cfg.StatRuntimeRT {
		s.emitRuntime(rq.cpu, p, delta, 0)
	}
	return delta
}
