package sched

import "github.com/whylate/whylate/event"

// Host is the machine under the scheduler.
type Host interface {
	// Now is the time in ns.
	Now() event.Time
	// Resched says that c should call Schedule as soon as it may; resched_curr(). from is
	// the CPU on which this was decided: another one needs an interrupt between them. With
	// lazy it is enough at the next tick or on the way to user mode, and no interrupt is
	// sent.
	Resched(from, c event.CPU, lazy bool)
	// SetTimer starts t, or moves it, to expire at at.
	SetTimer(t Timer, at event.Time)
	// CancelTimer stops t; a timer that does not run is none of its business.
	CancelTimer(t Timer)
	// Kick runs what PushCPU does on c in an interrupt: RT_PUSH_IPI.
	Kick(from, c event.CPU)
	// KickWakeList runs what WakeList does on c in an interrupt: TTWU_QUEUE.
	KickWakeList(from, c event.CPU)
	// RaiseBalance raises the softirq SCHED on c, in its tick: the machine calls Rebalance there.
	RaiseBalance(c event.CPU)
	// KickBalance sends an interrupt to c, which is idle, in which the machine calls KickedBalance.
	KickBalance(from, c event.CPU)
	// Price is what w costs on this machine, ns: how long an operation has taken so far.
	Price(w *Work) event.Time
	// Stopper returns the stopper of c, migration/N, made with NewStopper. Whenever it is
	// current it should call RunStopWork until that has no more work, and then block.
	Stopper(c event.CPU) *Task
	// Emit hands out what a tracepoint would say. Time, CPU and the current task are
	// filled in by the host; ev is only valid during the call.
	Emit(c event.CPU, ev *event.Event)
}

// TimerKind says which of the scheduler's timers expires.
type TimerKind uint8

// The timers of the scheduler.
const (
	TimerDL        TimerKind = iota // dl_task_timer: replenishment of a throttled deadline task
	TimerInactive                   // inactive_task_timer: the 0-lag time of a deadline task
	TimerHRTick                     // hrtick of a CPU
	TimerRTPeriod                   // sched_rt_period_timer: runtime of real-time tasks comes back
	TimerCFSPeriod                  // sched_cfs_period_timer: a group gets its quota
	TimerCFSSlack                   // sched_cfs_slack_timer: what CPUs gave back of a quota goes to others
)

// Timer names a timer: of a task, or with Task nil of a CPU.
type Timer struct {
	Kind TimerKind
	CPU  event.CPU
	Task *Task
	// Group is whose TimerRTPeriod, TimerCFSPeriod or TimerCFSSlack it is: 0 the root's, else in
	// the order of NewGroup.
	Group int
}

// Work counts what an operation did, for the machine to price.
type Work struct {
	Enqueues, Dequeues int // of any class
	Picks              int
	Searched           int // CPUs or tasks looked at
	Migrations         int
	Switches           int
	FairWork

	// RTPicks is 1 where a real-time task was picked, and InFront what put_prev_task() of the
	// task that left did of FairWork in front of it.
	RTPicks int
	InFront FairWork
	// Left is the class of the task that was current before a choice, by its rank.
	Left int
}

// FairWork is what the fair class does inside its operations.
type FairWork struct {
	PutPrevs int // entities that were put back; put_prev_entity()
	SetNexts int // entities that became current; set_next_entity()
	Charged  int // entities that were charged for run time; update_curr()
	// Deferred are tasks that were not put back, with DeferPutPrev, Settled those of which that
	// was done later, and PutAside entities whose time was put aside.
	Deferred, Settled, PutAside int
	// Inserts are entities that came into a red-black tree that had some already, Depth is the sum
	// of the levels that a balanced tree of as many has.
	Inserts, Depth int
	// Load tracking: updates, the periods that ended in them (of one update 345 at most; more
	// make no difference), and the sums that decayed for that.
	PeltUpdates, PeltPeriods, PeltDecays int
}

// less returns w without what o counts.
func (w FairWork) less(o *FairWork) FairWork {
	return FairWork{w.PutPrevs - o.PutPrevs, w.SetNexts - o.SetNexts, w.Charged - o.Charged, w.Deferred - o.Deferred, w.Settled - o.Settled, w.PutAside - o.PutAside,
		w.Inserts - o.Inserts, w.Depth - o.Depth, w.PeltUpdates - o.PeltUpdates, w.PeltPeriods - o.PeltPeriods, w.PeltDecays - o.PeltDecays}
}
