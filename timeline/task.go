package timeline

import "github.com/whylate/whylate/event"

// TaskID numbers the tasks of a trace in the order of their first event, from 0.
type TaskID int32

// NoTask is the absent task.
const NoTask TaskID = -1

// Status is what a task was last seen doing.
type Status uint8

// The statuses. A task begins as StatusUnknown: the trace started in its middle.
const (
	StatusUnknown Status = iota
	StatusNew            // created, never ran
	StatusRunning        // current on Task.CPU
	StatusReady          // switched out although runnable
	StatusBlocked        // switched out to sleep
	StatusDead           // switched out for the last time
)

// Task is one task from its first event to its end.
type Task struct {
	ID   TaskID
	PID  event.PID
	TGID event.PID  // event.NoPID where the trace does not say
	Comm event.Name // the newest name
	CPU  event.CPU  // where it runs or last ran
	// Parent created it; nil where the trace does not show that.
	Parent *Task

	// Prio is the effective priority last seen, Base the one without an inherited
	// boost. NoPrio until an event tells.
	Prio, Base event.Prio
	Boosted    bool
	Status     Status
	Yielding   bool // inside sched_yield, as far as system calls are recorded
}

// Idle reports whether t is the idle task of a CPU.
func (t *Task) Idle() bool { return t.PID == 0 }

// pidTable finds the living task of a pid. Pids below 4 Mi (the kernel's PID_MAX_LIMIT)
// lie in pages of a two-level table; larger ones, which only a damaged trace has, in a map.
type pidTable struct {
	pages [pidPages]*[pidPageSize]*Task
	odd   map[event.PID]*Task
}

const (
	pidPageSize = 1024
	pidPages    = 4 << 20 / pidPageSize
)

func (p *pidTable) get(pid event.PID) *Task {
	if pid < 0 || pid >= pidPageSize*pidPages {
		return p.odd[pid]
	}
	page := p.pages[pid/pidPageSize]
	if page == nil {
		return nil
	}
	return page[pid%pidPageSize]
}

func (p *pidTable) set(pid event.PID, t *Task) {
	if pid < 0 || pid >= pidPageSize*pidPages {
		if p.odd == nil {
			p.odd = make(map[event.PID]*Task)
		}
		p.odd[pid] = t
		return
	}
	page := p.pages[pid/pidPageSize]
	if page == nil {
		page = new([pidPageSize]*Task)
		p.pages[pid/pidPageSize] = page
	}
	page[pid%pidPageSize] = t
}
