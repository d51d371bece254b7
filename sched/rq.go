package sched

import "github.com/whylate/whylate/event"

// RQ is the runqueue of one CPU; struct rq.
type RQ struct {
	cpu  event.CPU
	curr *Task
	idle *Task
	stop *Task // current or queued stopper, nil: none

	nrRunning   int // runnable tasks, the idle task not counted
	needResched bool
	clock       event.Time // updated at the start of every operation

	rt  rtRQ
	dl  dlRQ
	cfs fairRQ

	// pushRT and pushDL ask for a push once the switch is done; balance callbacks.
	pushRT, pushDL bool
	// active is a task to be moved off by the stopper; push_cpu_stop().
	nrSwitches int64
}

// Sched is the scheduler of a machine.
type Sched struct {
	host Host
	cfg  Config
	rqs  []*RQ
	work Work // of the running operation

	cpupri  cpupri
	cpudl   cpudl
	dlBW    int64 // admitted bandwidth of all deadline tasks
	rto     cpuMask
	dlo     cpuMask
	scratch cpuMask
	rotor   event.CPU
}

// New returns the scheduler of a machine with cfg.CPUs CPUs, all of them idle.
func New(cfg Config, host Host, names *event.Names) *Sched {
	s := &Sched{host: host, cfg: cfg, rto: newMask(cfg.CPUs), dlo: newMask(cfg.CPUs), scratch: newMask(cfg.CPUs)}
	s.cpupri.init(cfg.CPUs)
	s.cpudl.init(cfg.CPUs)
	for c := range cfg.CPUs {
		rq := &RQ{cpu: event.CPU(c)}
		rq.idle = s.newIdle(event.CPU(c), names)
		rq.curr = rq.idle
		s.rqs = append(s.rqs, rq)
	}
	return s
}

func (s *Sched) newIdle(c event.CPU, names *event.Names) *Task {
	t := &Task{PID: 0, Comm: names.Intern("swapper/" + itoa(int(c))), Attr: Attr{Policy: idleTask}, prio: event.DefaultPrio,
		class: idleClass, cpu: c, onCPU: true, mask: newMask(s.cfg.CPUs)}
	t.mask.set(c)
	return t
}

func itoa(n int) string {
	if n >= 10 {
		return itoa(n/10) + string(rune('0'+n%10))
	}
	return string(rune('0' + n))
}

// Curr returns the current task of c.
func (s *Sched) Curr(c event.CPU) *Task { return s.rqs[c].curr }

// NeedResched reports whether TIF_NEED_RESCHED is set on c.
func (s *Sched) NeedResched(c event.CPU) bool { return s.rqs[c].needResched }

// NrRunning returns the runnable tasks of c; rq->nr_running.
func (s *Sched) NrRunning(c event.CPU) int { return s.rqs[c].nrRunning }

// IsIdle reports whether c runs its idle task.
func (s *Sched) IsIdle(c event.CPU) bool { return s.rqs[c].curr == s.rqs[c].idle }

// begin starts an operation: what it does is counted from here.
func (s *Sched) begin() { s.work = Work{} }

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

// enqueue flags, as the kernel names them.
type flags uint8

const (
	enqueueWakeup    flags = 1 << iota // ENQUEUE_WAKEUP
	enqueueHead                        // ENQUEUE_HEAD
	enqueueReplenish                   // ENQUEUE_REPLENISH
	enqueueRestore                     // ENQUEUE_RESTORE
	enqueueMigrated                    // ENQUEUE_MIGRATED
	dequeueSleep                       // DEQUEUE_SLEEP
)

// activateTask puts p into the queue of rq; activate_task().
func (s *Sched) activateTask(rq *RQ, p *Task, f flags) {
	p.onRQ = true
	s.enqueueTask(rq, p, f)
}

// deactivateTask takes p out of the queue of rq; deactivate_task().
func (s *Sched) deactivateTask(rq *RQ, p *Task, f flags) {
	s.dequeueTask(rq, p, f)
	p.onRQ = false
}

func (s *Sched) enqueueTask(rq *RQ, p *Task, f flags) {
	s.work.Enqueues++
	switch p.class {
	case stopClass:
		rq.stop = p
		rq.nrRunning++
	case dlClass:
		s.enqueueTaskDL(rq, p, f)
	case rtClass:
		s.enqueueTaskRT(rq, p, f)
	case fairClass:
		s.enqueueTaskFair(rq, p, f)
	}
}

func (s *Sched) dequeueTask(rq *RQ, p *Task, f flags) {
	s.work.Dequeues++
	switch p.class {
	case stopClass:
		rq.stop = nil
		rq.nrRunning--
	case dlClass:
		s.dequeueTaskDL(rq, p, f)
	case rtClass:
		s.dequeueTaskRT(rq, p, f)
	case fairClass:
		s.dequeueTaskFair(rq, p, f)
	}
}

// charge adds the run time since the last update to p and returns it;
// update_curr_common().
func (s *Sched) charge(rq *RQ, p *Task) event.Time {
	delta := rq.clock - p.execStart
	if delta <= 0 {
		return 0
	}
	p.execStart = rq.clock
	p.sumExecRuntime += delta
	return delta
}
