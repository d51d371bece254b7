package rtapp

import (
	"fmt"

	"github.com/whylate/whylate/event"
)

// Options says how a file is to be read.
type Options struct {
	// Workgen keeps every duplicate key, in order, by giving it a number as rt-app's
	// script workgen does (run, run1, run2), and takes "suspend" without a value. Without
	// it duplicates mean what rt-app itself makes of them: the first place, the last value.
	Workgen bool
	// Stdin says that src came through standard input, of which rt-app reads only the
	// first 4,096 bytes.
	Stdin bool
	// Settings, Features and Costs list the names that may stand in those objects of
	// "whylate". A nil list allows every name: the rooms that own them look later.
	Settings, Features, Costs []string
}

// File is one scenario.
type File struct {
	Name      string
	Global    Global
	Tasks     []Task // in the order of the file, which numbers the threads
	Resources []Resource
	Whylate   *Whylate // nil where the file has no such object
}

// Threads returns how many threads start at the beginning (forks come on top).
func (f *File) Threads() int {
	n := 0
	for i := range f.Tasks {
		n += f.Tasks[i].Instances
	}
	return n
}

// Task returns the task with that name, nil if there is none.
func (f *File) Task(name string) *Task {
	for i := range f.Tasks {
		if f.Tasks[i].Name == name {
			return &f.Tasks[i]
		}
	}
	return nil
}

// BarrierUsers returns for each barrier how many threads it waits for: every event that
// names it counts once for each instance of its task. Forked threads do not count.
func (f *File) BarrierUsers() map[string]int {
	users := make(map[string]int)
	f.each(func(t *Task, _ *Phase, e *Event) {
		if e.Kind == Barrier {
			users[e.Ref] += t.Instances
		}
	})
	return users
}

// each calls do for every event of the file.
func (f *File) each(do func(*Task, *Phase, *Event)) {
	for i := range f.Tasks {
		t := &f.Tasks[i]
		for j := range t.Phases {
			p := &t.Phases[j]
			for k := range p.Events {
				do(t, p, &p.Events[k])
			}
		}
	}
}

// Forever is a number of rounds without an end.
const Forever int64 = -1

// Task is one object below "tasks": one thread, or as many as it has instances.
type Task struct {
	Name string
	Pos  Pos
	// Instances is the number of threads that start with the others; 0 is a template for
	// fork. First is the number of the first of them, counted over the whole file.
	Instances, First int
	// Delay is how long each thread waits after the common start, in ns.
	Delay event.Time
	// Loop is how often the phases run: Forever, or a number; 0 means that the threads
	// start and end without running any.
	Loop   int64
	Phases []Phase
	// Direct says that the events stood in the task itself, without "phases".
	Direct bool
	// Props hold from the start of the thread. Policy, Priority and Deadline are filled
	// with rt-app's defaults.
	Props Props
}

// maxComm is the longest name that Linux gives a thread; pthread_setname_np refuses more.
const maxComm = 15

// ThreadName returns rt-app's name of the i-th instance: "ctl-3". It is also in the names
// of log files.
func (t *Task) ThreadName(i int) string { return fmt.Sprintf("%s-%d", t.Name, t.First+i) }

// Comm returns what a trace calls the i-th instance: its name, or "rt-app" where the name
// is too long to be set.
func (t *Task) Comm(i int) string {
	if name := t.ThreadName(i); len(name) <= maxComm {
		return name
	}
	return "rt-app"
}

// ForkName returns the name of a thread that a fork event made of this task: thread is
// its number over the whole run, fork counts the forks of this event from 0.
func (t *Task) ForkName(thread, fork int) string {
	return fmt.Sprintf("%s-%d-%04d", t.Name, thread, fork)
}

// Phase is one object below "phases".
type Phase struct {
	Name string // "" where the events stand in the task itself
	Pos  Pos
	// Loop is how often the phase runs before the next one: Forever, or at least 1.
	Loop   int64
	Events []Event
	// Props change those of the thread at the beginning of each round of the phase.
	Props Props
}

// Resource is one object below "resources", which rt-app keeps for old files: events make
// what they name by themselves.
type Resource struct {
	Name string
	Type string // mutex, wait, timer, signal, broadcast, sync, sleep, run
	Pos  Pos
}
