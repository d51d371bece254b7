package sched

import "github.com/whylate/whylate/event"

// BalanceKind is what made a CPU balance.
type BalanceKind uint8

// The kinds of balancing.
const (
	BalancePeriodic BalanceKind = iota // at a tick; rebalance_domains()
	BalanceNewidle                     // it was about to go idle; newidle_balance()
	BalanceNohz                        // for an idle CPU that does not tick; nohz_idle_balance()
	BalanceActive                      // by the stopper of the source; active_load_balance_cpu_stop()
	BalanceWake                        // a wake or fork in the slow path; find_idlest_group()
)

// BalanceGroup is what a pass knew of one group of CPUs that it compared.
type BalanceGroup struct {
	CPUs  []event.CPU
	Local bool // the one of the CPU that balances
	// Type is how it was classed, by the kernel's name: has_spare, fully_busy, imbalanced,
	// overloaded …; before 5.5 "other", "imbalanced" or "overloaded".
	Type string
	// Load, Capacity and Util are the sums of its CPUs, in the kernel's units: of Load 1024 is a
	// task of nice 0 that always runs, of the others a CPU.
	Load, Capacity, Util int64
	Running, Idle        int // tasks that want to run, CPUs that are idle
}

// BalanceQueue is what a pass knew of one CPU of the group that it chose.
type BalanceQueue struct {
	CPU            event.CPU
	Load, Capacity int64
	Running        int // fair tasks that want to run
	// Runnable is the sum of what its tasks, at any depth of groups, weigh at the root, as of when its
	// load was last brought up to date: what it would be if all that is below were known there. It is
	// for comparison; no kernel knows it.
	Runnable int64
}

// BalancePass is one look of a CPU for work elsewhere, over one domain: what it compared, what it
// chose. It is only valid during the call.
type BalancePass struct {
	At   event.Time
	By   event.CPU // that executes it
	CPU  event.CPU // for which it looks, the destination
	Kind BalanceKind
	// Domain is the kernel's name of the level: SMT, MC, PKG (DIE before 6.7), NUMA.
	Domain string
	Span   []event.CPU
	Groups []BalanceGroup
	// Busiest is the index of the group that was chosen, −1 if none was, and Queues what was
	// compared in it.
	Busiest int
	Queues  []BalanceQueue
	// Source is the CPU that was chosen to take from, NoCPU if none was.
	Source event.CPU
	// Judged says that Better and Wrong are filled in, which only the rules of 4.11 do: Better is the
	// CPU that the same rules would have chosen to take from if the load of each CPU were what its tasks
	// weigh, NoCPU if none. Of two CPUs that are as busy as each other they may well have taken the other
	// one; a choice is Wrong only if a task waits on Better, and none on Source.
	Judged bool
	Better event.CPU
	Wrong  bool
	// Imbalance is how much should move, in Metric: load, util, task, misfit.
	Imbalance int64
	Metric    string
	// Moved are the tasks that it took.
	Moved []*Task
	// Why says in a few words how it ended where nothing moved: "balanced", "no busier group", "all
	// pinned", "cache hot" …
	Why string
}

// OnBalance lets f see every pass of the balancer from now on; nil ends it. Whoever listens
// changes nothing in what is done.
func (s *Sched) OnBalance(f func(*BalancePass)) { s.onBalance = f }
