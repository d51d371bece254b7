package rtapp

import (
	"strings"

	"github.com/whylate/whylate/event"
)

// Event is one step of a phase. Each Kind says which fields it fills.
type Event struct {
	Kind Kind
	Key  string // as written: "run0"
	Pos  Pos    // of the key
	// Duration is a length in ns; of a timer its period.
	Duration event.Time
	// Bytes is an amount of memory or output.
	Bytes int64
	// Ref names a mutex, condition, barrier, semaphore, timer or task. Mutexes, conditions,
	// barriers, semaphores and timers have separate names each.
	Ref string
	// Mutex is the second name of Wait, Sync, Suspend and Resume.
	Mutex string
	// Unique says that the timer belongs to one thread: its name begins with "unique". The
	// same name in several events of a thread is the same timer.
	Unique bool
	// Absolute says that a missed timer keeps its grid.
	Absolute bool
	Memory   *Memory
}

// Memory says what a MemRun does.
type Memory struct {
	Op string // read, write, chase
	// Size is the buffer in bytes. Count is the number of bytes that read and write touch,
	// wrapping around, or of pointers that chase follows one after the other.
	Size, Count int64
	// Stride is the distance in bytes between the pointers of chase, which are Sequential
	// or in an order that no prefetcher guesses.
	Stride     int64
	Sequential bool
	// Shared says that all events with the same Op and Ref use one buffer; else it is the
	// thread's own.
	Shared bool
}

// unknown is the name that rt-app takes where an event names nothing.
const unknown = "unknown"

// events reads the members of m that are events. rt-app rejects a phase without any.
func (n *notes) events(m *members, t *Task) []Event {
	var list []Event
	found := false
	for i := range m.list {
		e := &m.list[i]
		w := eventOf(e.key)
		if w < 0 {
			continue
		}
		m.used[i], found = true, true
		if surprising(e.key, eventWords[w].word) {
			n.warnf(e.off, m.at.member(e.key), "rt-app reads every key that begins with %q as that event", eventWords[w].word)
		}
		// What is wrong with one event is told once, so it does not reach check.
		errors := len(n.errors)
		ev := n.event(e, w, m.at.member(e.key), t)
		if len(n.errors) == errors {
			list = append(list, ev)
		}
	}
	if !found {
		n.errorf(m.off, m.at, "no events found; a task must have events or it's useless")
	}
	return list
}

// event reads the value of e, which is the event with index w in eventWords.
func (n *notes) event(e *member, w int, at *place, t *Task) Event {
	ev := Event{Kind: eventWords[w].kind, Key: e.key, Pos: n.pos(e.off)}
	v := &e.value
	switch eventWords[w].arg {
	case takesTime, takesBytes:
		n.amount(&ev, v, at, eventWords[w].arg)
	case takesName:
		if v.kind != text {
			n.errorf(v.off, at, "must be a string, not %s", v.describe())
		}
		if ev.Ref = v.str; ev.Kind == Resume {
			ev.Mutex = v.str
		}
	case takesObject:
		if v.kind != object {
			n.warnf(v.off, at, "rt-app reads this as an empty object: it should be one, not %s", v.describe())
		}
		n.reference(&ev, n.membersOf(v, at))
	case takesMemory:
		if v.kind != object {
			n.errorf(v.off, at, "must be an object, not %s", v.describe())
			break
		}
		n.memory(&ev, n.membersOf(v, at))
	case takesAny:
		if ev.Kind == Suspend {
			ev.Ref, ev.Mutex = t.Name, t.Name
			if v.kind == text && v.str != "" && v.str != t.Name {
				n.warnf(v.off, at, "rt-app ignores this name: a task can only suspend itself")
			}
		}
	}
	return ev
}

// amount reads an integer. With a negative one rt-app works or waits for ever.
func (n *notes) amount(ev *Event, v *value, at *place, arg argument) {
	i, ok := n.cInt(v, at)
	switch {
	case !ok:
	case i < 0 && arg == takesTime:
		n.errorf(v.off, at, "a negative time: %d µs", i)
	case i < 0:
		n.errorf(v.off, at, "must not be negative: %d bytes", i)
	case arg == takesTime:
		ev.Duration = event.Time(i) * 1000
	default:
		ev.Bytes = i
	}
}

// reference reads the object of wait, sync and timer.
func (n *notes) reference(ev *Event, m *members) {
	if ev.Ref = m.textOr("ref", unknown); !m.has("ref") {
		n.warnf(m.off, m.at, `rt-app takes "unknown" for the "ref" that is missing here`)
	}
	if ev.Kind != Timer {
		if ev.Mutex = m.textOr("mutex", unknown); !m.has("mutex") {
			n.warnf(m.off, m.at, `rt-app takes "unknown" for the "mutex" that is missing here`)
		}
		m.ignored()
		return
	}
	// Prefixes again: "uniqueA" is unique too, "absolutely" is absolute.
	ev.Unique = strings.HasPrefix(ev.Ref, "unique")
	ev.Duration = m.time("period", 0)
	mode := m.textOr("mode", "relative")
	ev.Absolute = strings.HasPrefix(mode, "absolute")
	if mode != "relative" && mode != "absolute" {
		m.warnf("mode", "rt-app reads %s as %s; there are relative and absolute",
			quoted(mode), map[bool]string{false: "relative", true: "absolute"}[ev.Absolute])
	}
	m.ignored()
}

// memory reads the object of memrun.
func (n *notes) memory(ev *Event, m *members) {
	mem := &Memory{Op: m.textOr("type", ""), Stride: 64}
	ev.Memory = mem
	switch {
	case !m.has("type"):
		n.errorf(m.off, m.at, `memrun needs a "type": read, write or chase`)
	case mem.Op != "" && mem.Op != "read" && mem.Op != "write" && mem.Op != "chase":
		m.errorf("type", "unknown memrun type %s; there are read, write and chase", quoted(mem.Op))
	}
	if mem.Size = m.intOr("size", 1); !m.has("size") {
		n.errorf(m.off, m.at, `memrun needs a "size" in bytes`)
	} else if mem.Size <= 0 {
		m.errorf("size", "must be more than 0 bytes")
	}
	if mem.Count = m.intOr("count", 0); !m.has("count") {
		n.errorf(m.off, m.at, `memrun needs a "count"`)
	} else if mem.Count < 0 {
		m.errorf("count", "must not be negative")
	}
	ev.Ref = m.textOr("ref", "")
	mem.Shared = m.has("ref")
	if mem.Op == "chase" {
		chase(mem, m)
	}
	m.ignored("stride", "pattern")
}

// chase reads what only the type chase knows. rt-app dies where a stride is too small for
// a pointer, and does nothing where the buffer has no room for two.
func chase(mem *Memory, m *members) {
	mem.Stride = m.intOr("stride", 64)
	const pointer = 8
	switch {
	case mem.Stride < pointer:
		m.errorf("stride", "must be at least %d bytes, the size of a pointer", pointer)
	case mem.Size > 0 && mem.Size < 2*mem.Stride:
		m.warnf("size", "buffer too small: rt-app follows no pointer, it needs at least 2 * stride = %d bytes", 2*mem.Stride)
	}
	pattern := m.textOr("pattern", "random")
	mem.Sequential = pattern == "sequential"
	if !mem.Sequential && pattern != "random" {
		m.warnf("pattern", "rt-app reads %s as random; there are random and sequential", quoted(pattern))
	}
}
