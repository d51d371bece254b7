package sched

import "github.com/whylate/whylate/event"

// Policy is a scheduling policy, with the numbers of sched(7).
type Policy uint8

// The policies.
const (
	Normal   Policy = 0 // SCHED_OTHER
	FIFO     Policy = 1
	RR       Policy = 2
	Batch    Policy = 3
	Idle     Policy = 5
	Deadline Policy = 6

	stopPolicy Policy = 250 // the stop class has no policy of its own
	idleTask   Policy = 251
)

// String is the policy's name in sched(7).
func (p Policy) String() string {
	switch p {
	case Normal:
		return "SCHED_OTHER"
	case FIFO:
		return "SCHED_FIFO"
	case RR:
		return "SCHED_RR"
	case Batch:
		return "SCHED_BATCH"
	case Idle:
		return "SCHED_IDLE"
	case Deadline:
		return "SCHED_DEADLINE"
	}
	return "?"
}

// class is a scheduling class; a lower one goes first.
type class uint8

const (
	stopClass class = iota
	dlClass
	rtClass
	fairClass
	idleClass
)

// Attr is what sched_setattr(2) sets. Times are ns.
type Attr struct {
	Policy   Policy
	Priority int // 1–99 for FIFO and RR
	Nice     int // −20–19 for the fair policies
	// Slice is what the fair policies ask for a turn, where the kernel takes that
	// (FairConfig.CustomSlices); it is kept within 0.1 to 100 ms. 0: the kernel's.
	Slice    event.Time
	Runtime  event.Time
	Deadline event.Time
	Period   event.Time // 0: as Deadline
	Reclaim  bool       // SCHED_FLAG_RECLAIM
	Overrun  bool       // SCHED_FLAG_DL_OVERRUN
}

// prio returns the kernel's priority number of a; normal_prio().
func (a *Attr) prio() event.Prio {
	switch a.Policy {
	case Deadline:
		return event.PrioDeadline
	case FIFO, RR:
		return event.Prio(99 - a.Priority)
	case stopPolicy:
		return 0
	}
	return event.DefaultPrio + event.Prio(a.Nice)
}

// Task is one task; task_struct.
type Task struct {
	PID  event.PID
	Comm event.Name
	Attr Attr

	// State is what the task is when it is not runnable; R while it is, also while it
	// waits in a queue.
	State event.State

	prio  event.Prio // effective, with an inherited boost
	class class      // of prio
	cpu   event.CPU  // the queue that it is in, or was last
	// wakeCPU is where the search for a CPU begins at the next wake; mostly cpu.
	wakeCPU  event.CPU
	onRQ     bool // in a queue; also while it sleeps and is delayed
	onCPU    bool
	migrated bool // a wake has brought it from another CPU: it comes with ENQUEUE_MIGRATED
	moving   bool // TASK_ON_RQ_MIGRATING: between two queues

	mask      cpuMask // cpus_mask
	nrAllowed int     // nr_cpus_allowed: CPUs in mask
	// migrateDisabled counts migrate_disable() calls.
	migrateDisabled int
	// leftPinned: it was switched out since with migration disabled, so that its cpus_ptr
	// names this CPU alone.
	leftPinned bool
	perCPU     bool       // it is a kernel thread that belongs to its CPU; kthread_is_per_cpu()
	pushWanted bool       // MDF_PUSH: to be pushed when migration is on again
	moveTo     event.CPU  // where a stopper should bring it, NoCPU: nowhere
	pushedAt   event.Time // when it was pushed last, by a stopper or as a task of a group

	execStart      event.Time
	sumExecRuntime event.Time

	group *Group // sched_task_group
	// throttled: it waits in the limbo of its queue for a quota; throttleWork: it has to go there
	// when it is on its way to user mode. With TaskThrottle.
	throttled, throttleWork bool
	donor                   *Task // pi_top_task, whose priority it may inherit; nil: its own
	rt                      rtEntity
	dl                      dlEntity
	se                      schedEntity

	wakeHabits
	Kthread bool // PF_KTHREAD: a thread of the kernel

	// Data belongs to the host.
	Data any
}

// SetPerCPU says that p is a kernel thread that belongs to its CPU, like ksoftirqd/N.
func (p *Task) SetPerCPU() { p.perCPU = true }

// CPU returns the CPU in whose queue the task is or was last.
func (p *Task) CPU() event.CPU { return p.cpu }

// Prio returns the effective priority; task_struct.prio.
func (p *Task) Prio() event.Prio { return p.prio }

// OnRQ reports whether the task is runnable; task_is_runnable(). One that sleeps and is still in
// its queue is not: Delayed.
func (p *Task) OnRQ() bool { return p.onRQ && !p.se.delayed }

// Running reports whether the task is current on its CPU.
func (p *Task) Running() bool { return p.onCPU }

// Boosted reports whether the task has inherited its priority.
func (p *Task) Boosted() bool {
	return p.donor != nil && (p.prio != p.Attr.prio() || p.dl.boosted())
}

// Throttled reports whether a deadline task has used up its runtime and waits for more.
func (p *Task) Throttled() bool { return p.class == dlClass && p.dl.throttled }

// Deadline returns the absolute scheduling deadline of a deadline task and what is left
// of its runtime, as of the last update; ns.
func (p *Task) Deadline() (at, left event.Time) { return p.dl.deadline, p.dl.runtime }

// SumExecRuntime returns how long the task has run, up to the last update; ns.
func (p *Task) SumExecRuntime() event.Time { return p.sumExecRuntime }

// MigrateDisabled returns how many migrate_disable() calls are open.
func (p *Task) MigrateDisabled() int { return p.migrateDisabled }

// allowed reports whether p may run on c; cpumask_test_cpu(cpu, p->cpus_ptr).
func (p *Task) allowed(c event.CPU) bool {
	if p.migrateDisabled > 0 {
		return c == p.cpu
	}
	return p.mask.has(c)
}

// setMask is set_cpus_allowed_common().
func (p *Task) setMask(m cpuMask) {
	p.mask = m
	p.nrAllowed = m.count()
}

// effectivePrio is rt_effective_prio(): the more important of a task's own priority and
// that of the first who waits for it.
func effectivePrio(normal event.Prio, donor *Task) event.Prio {
	if donor == nil {
		return normal
	}
	return min(normal, donor.prio)
}

// classOf is the class of a priority; __setscheduler_prio(). The stop class and the idle
// task are not told by their priority.
func classOf(prio event.Prio) class {
	switch {
	case prio < 0:
		return dlClass
	case prio < event.MaxRTPrio:
		return rtClass
	}
	return fairClass
}
