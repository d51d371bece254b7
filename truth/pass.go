package truth

import "github.com/whylate/whylate/event"

// PassKind is what made a CPU look for work elsewhere.
type PassKind uint8

// The kinds of passes of the load balancer.
const (
	Periodic   PassKind = iota // at a tick
	NewIdle                    // the CPU was about to go idle
	NoHZIdle                   // another CPU looked for one that is idle and does not tick
	ActivePush                 // the stopper of the source moved what runs there
)

// String is the kind as results spell it.
func (k PassKind) String() string {
	return [...]string{"periodic", "newidle", "nohz", "active"}[k]
}

// PassGroup is what a pass knew of one group of CPUs that it compared. Of Load 1024 is a task of
// nice 0 that always runs, of Capacity and Util a CPU.
type PassGroup struct {
	CPUs                 []event.CPU
	Local                bool // the one of the CPU that looks
	Type                 string
	Load, Capacity, Util int64
	Running, Idle        int // tasks that want to run, CPUs that are idle
}

// PassQueue is what a pass knew of one CPU of the group that it chose.
type PassQueue struct {
	CPU            event.CPU
	Load, Capacity int64
	Running        int
	// Runnable is what its tasks at any depth of groups weigh now, which no kernel knows.
	Runnable int64
}

// Pass is one look of a CPU for work elsewhere, over one of its domains.
type Pass struct {
	At     event.Time
	By     event.CPU // that executed it
	CPU    event.CPU // for which it looked
	Kind   PassKind
	Domain string
	Span   []event.CPU // the CPUs of the domain
	Groups []PassGroup
	// Busiest is the group that was chosen, as an index of Groups; −1: none was.
	Busiest int
	Queues  []PassQueue
	Source  event.CPU // the CPU that was chosen, NoCPU: none was
	// Imbalance is how much was to move, in Metric: load, util, task, misfit.
	Imbalance int64
	Metric    string
	Moved     []event.PID
	Why       string // how it ended where nothing moved
}

// Miss is why a pass that could have taken a task that waited did not.
type Miss uint8

// The misses, in the order in which a pass comes to them.
const (
	Taken      Miss = iota // it did take it; that did not end the wait at once
	Balanced               // it saw no imbalance at all
	LocalGroup             // the task waited in the very group of the CPU that looked, which is not compared with itself
	OtherGroup             // it chose another group as the busiest
	OtherQueue             // it chose another CPU of the group
	OtherTask              // it chose the CPU and took other tasks
	NotMoved               // it chose the CPU and took nothing; Pass.Why says why
)

// String is the miss as results spell it.
func (m Miss) String() string {
	return [...]string{"taken", "balanced", "local_group", "other_group", "other_queue", "other_task", "not_moved"}[m]
}

// missOf says why p did not take pid, which waited on CPU on.
func (p *Pass) missOf(pid event.PID, on event.CPU) Miss {
	for _, m := range p.Moved {
		if m == pid {
			return Taken
		}
	}
	if p.Source == on {
		if len(p.Moved) > 0 {
			return OtherTask
		}
		return NotMoved
	}
	for i := range p.Groups {
		if !has(p.Groups[i].CPUs, on) {
			continue
		}
		switch {
		case i == p.Busiest:
			return OtherQueue
		case p.Groups[i].Local && p.Busiest >= 0:
			return LocalGroup
		}
	}
	if p.Busiest < 0 && p.Source == event.NoCPU {
		return Balanced
	}
	return OtherGroup
}

// has reports whether c is in list.
func has(list []event.CPU, c event.CPU) bool {
	for _, x := range list {
		if x == c {
			return true
		}
	}
	return false
}
