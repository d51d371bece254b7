package tracedat

import (
	"maps"
	"slices"
	"strconv"

	"github.com/whylate/whylate/event"
)

// taskFacts collects what a file tells of each task beside the events: its last name, for
// the saved command lines, and its process. Readers show both with every event of the task.
type taskFacts struct {
	names     map[event.PID]taskName
	processes map[event.PID]event.PID

	// What was noted last, in front of the maps; by pid.
	recentNames     [2][1024]taskName // and by rank
	recentProcesses [1024]process
}

// taskName is a name and how well it is known.
type taskName struct {
	pid  event.PID
	name event.Name
	rank nameRank
}

// nameRank orders the sources of a name.
type nameRank uint8

const (
	fromFields nameRank = iota // an event speaks of the task
	fromLine                   // the source shows it with the task's own events
	fromInfo                   // the source had it in its own command lines
)

// process says to which process a task belongs.
type process struct{ pid, tgid event.PID }

func newTaskFacts(info *event.Info) taskFacts {
	f := taskFacts{names: map[event.PID]taskName{}, processes: map[event.PID]event.PID{}}
	for pid, tgid := range info.TGIDs {
		if pid >= 0 && tgid >= 0 {
			f.processes[pid] = tgid
		}
	}
	for i := range f.recentProcesses {
		f.recentProcesses[i].pid = event.NoPID
	}
	for pid, name := range info.Comms {
		if pid > 0 && name != 0 {
			f.names[pid] = taskName{pid, name, fromInfo}
		}
	}
	return f
}

// see notes all that ev tells.
func (f *taskFacts) see(ev *event.Event) {
	f.name(ev.PID, ev.Comm, fromLine)
	f.name(ev.Task, ev.TaskComm, fromFields)
	if ev.Kind == event.TaskRename {
		f.name(ev.Task, ev.NextComm, fromFields)
	} else {
		f.name(ev.Next, ev.NextComm, fromFields)
	}
	// All kernels number processes from 1; −1 is a task that the trace did not look up.
	if ev.TGID >= 0 && ev.PID >= 0 {
		p := process{ev.PID, ev.TGID}
		if slot := &f.recentProcesses[uint32(ev.PID)%1024]; *slot != p {
			*slot = p
			f.processes[ev.PID] = ev.TGID
		}
	}
}

// name takes one name. Idle tasks, which share pid 0, have none.
func (f *taskFacts) name(pid event.PID, name event.Name, rank nameRank) {
	if pid <= 0 || name == 0 {
		return
	}
	t := taskName{pid, name, rank}
	slot := &f.recentNames[rank][uint32(pid)%1024]
	if *slot == t {
		return
	}
	*slot = t
	// The names of the source's own table are the last ones, which is what is wanted; those
	// of its lines stand above what other tasks' events say, which may be older.
	// Equal ranks replace each other, so that the last name wins: tasks rename themselves.
	if old, ok := f.names[pid]; !ok || old.rank <= rank {
		f.names[pid] = t
	}
}

// lines is the table of names as trace-cmd stores it, in the order of the pids.
func (f *taskFacts) lines(names *event.Names) []byte {
	var out []byte
	for _, pid := range slices.Sorted(maps.Keys(f.names)) {
		out = append(strconv.AppendInt(out, int64(pid), 10), ' ')
		from := len(out)
		out = append(out, names.String(f.names[pid].name)...)
		for i, c := range out[from:] {
			if c < ' ' { // a line end would begin another task
				out[from+i] = ' '
			}
		}
		out = append(out, '\n')
	}
	return out
}

// processLines is the table of processes, lines of "tid tgid", in the order of the tids.
func (f *taskFacts) processLines() []byte {
	var out []byte
	for _, pid := range slices.Sorted(maps.Keys(f.processes)) {
		out = append(strconv.AppendInt(out, int64(pid), 10), ' ')
		out = append(strconv.AppendInt(out, int64(f.processes[pid]), 10), '\n')
	}
	return out
}
