package rtapp

import "strings"

// Kind is what an event does.
type Kind uint8

// The kinds of events, with the fields of Event that each fills beside Kind, Key and Pos;
// rt-app's doc/tutorial.txt, section events.
const (
	// Run does as much work as takes Duration at the calibrated speed: a fixed amount,
	// which takes longer on a slower CPU. rt-app rounds it down to whole loops of
	// NsPerLoop.
	Run Kind = iota
	// Runtime works until Duration of wall time has passed, whatever it got done; time in
	// which it was preempted counts.
	Runtime
	// Sleep sleeps for Duration from now, as nanosleep does.
	Sleep
	// Timer sleeps until the timer Ref, advanced by Duration, or not at all if that is
	// already past; a relative timer then starts again from now, an Absolute one keeps its
	// grid. Unique timers belong to one thread, all others to everybody.
	Timer
	// Lock and Unlock take and release the mutex Ref.
	Lock
	Unlock
	// Wait waits on condition Ref, releasing Mutex meanwhile.
	Wait
	// Signal and Broad wake one or all that wait on condition Ref; nothing is remembered.
	Signal
	Broad
	// Sync signals condition Ref, then waits on it with Mutex; it takes no lock itself.
	Sync
	// Barrier waits until all its users (File.BarrierUsers) have come.
	Barrier
	// Suspend waits on the condition and mutex that bear the task's name: Ref. All
	// instances share them.
	Suspend
	// Resume wakes all that are suspended as Ref; nothing is remembered.
	Resume
	// SemPost and SemWait raise and lower semaphore Ref, which begins at 0.
	SemPost
	SemWait
	// Yield calls sched_yield.
	Yield
	// Fork starts one more thread of task Ref.
	Fork
	// Mem writes Bytes to the thread's buffer.
	Mem
	// MemRun reads, writes or chases pointers in memory as Memory says.
	MemRun
	// IORun writes Bytes from the thread's buffer to the io_device.
	IORun

	numKinds
)

// argument is the JSON type of an event's value.
type argument uint8

const (
	takesTime   argument = iota // integer, µs
	takesBytes                  // integer
	takesName                   // string
	takesObject                 // object; anything else reads as an empty one
	takesMemory                 // object, checked
	takesAny                    // ignored
)

// eventWords are the names of the events in the order in which rt-app tries them: a key
// is the first event that it begins with.
var eventWords = []struct {
	word string
	kind Kind
	arg  argument
}{
	{"lock", Lock, takesName},
	{"unlock", Unlock, takesName},
	{"wait", Wait, takesObject},
	{"signal", Signal, takesName},
	{"broad", Broad, takesName},
	{"sync", Sync, takesObject},
	{"sleep", Sleep, takesTime},
	{"runtime", Runtime, takesTime}, // in front of run
	{"run", Run, takesTime},
	{"timer", Timer, takesObject},
	{"suspend", Suspend, takesAny},
	{"resume", Resume, takesName},
	{"memrun", MemRun, takesMemory}, // in front of mem
	{"mem", Mem, takesBytes},
	{"iorun", IORun, takesBytes},
	{"yield", Yield, takesAny},
	{"barrier", Barrier, takesName},
	{"fork", Fork, takesName},
	{"sem_post", SemPost, takesName},
	{"sem_wait", SemWait, takesName},
}

// String returns rt-app's word for k.
func (k Kind) String() string {
	for _, e := range eventWords {
		if e.kind == k {
			return e.word
		}
	}
	return "unknown"
}

// eventOf returns the index in eventWords of the event that key is read as, −1 if it is
// none.
func eventOf(key string) int {
	for i, e := range eventWords {
		if strings.HasPrefix(key, e.word) {
			return i
		}
	}
	return -1
}

// eventNames are the words, for suggestions.
var eventNames = func() []string {
	var list []string
	for _, e := range eventWords {
		list = append(list, e.word)
	}
	return list
}()

// surprising reports whether somebody who wrote key hardly meant the event word: it goes
// on with a small letter, like "running_time". "broadcast" is fine.
func surprising(key, word string) bool {
	rest := key[len(word):]
	return rest != "" && rest[0] >= 'a' && rest[0] <= 'z' && key != "broadcast"
}
