package eventformat

import (
	"encoding/binary"

	"github.com/whylate/whylate/event"
)

// commSize is TASK_COMM_LEN: the width of a task's name in a record, NUL included.
const commSize = 16

// commCache stands in front of event.Names, whose lock and hashing would cost more than
// the rest of a record. It maps the 16 bytes as they stand in the record; two spellings
// of one name (garbage behind the NUL) only take two places. Colliding names push each
// other out, so it stays small.
type commCache struct {
	slots [1024]commSlot // 24 KiB, a place for every busy task
}

type commSlot struct {
	lo, hi uint64
	name   event.Name
}

// intern returns the Name of the 16 bytes at b.
func (c *commCache) intern(b []byte, names *event.Names) event.Name {
	lo, hi := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	// Fibonacci hashing of both halves; the multipliers are odd 64-bit constants.
	slot := &c.slots[(lo*0x9e3779b97f4a7c15^hi*0xc2b2ae3d27d4eb4f)>>54]
	// An empty slot stands for 16 zero bytes, whose name is the empty one: also right.
	if slot.lo != lo || slot.hi != hi {
		*slot = commSlot{lo, hi, names.InternBytes(cstring(b[:commSize]))}
	}
	return slot.name
}

// addrCache does the same for addresses of functions. A kernel has a handful of timer
// functions, and traced functions repeat; addr 0 never gets here.
type addrCache struct {
	slots [256]struct {
		addr uint64
		name event.Name
	}
}

// name returns the Name for addr, asking lookup only where the cache does not have it.
func (c *addrCache) name(addr uint64, lookup func(uint64) event.Name) event.Name {
	slot := &c.slots[(addr*0x9e3779b97f4a7c15)>>56]
	if slot.addr != addr {
		slot.addr, slot.name = addr, lookup(addr)
	}
	return slot.name
}

// tasks is an open-addressed table from pid to what a trace knows of the task beside its
// events: made once and then only read; a Go map would be several times slower per event.
type tasks struct {
	mask  uint32
	slots []task
}

type task struct {
	pid  event.PID // NoPID in an empty slot
	name event.Name
	tgid event.PID
}

func newTasks(comms map[event.PID]event.Name, tgids map[event.PID]event.PID) tasks {
	// At most half full: a search ends after one or two slots, and always ends.
	size := 16
	for size < 2*(len(comms)+len(tgids)) {
		size *= 2
	}
	t := tasks{mask: uint32(size - 1), slots: make([]task, size)}
	for i := range t.slots {
		t.slots[i] = task{pid: event.NoPID, tgid: event.NoPID}
	}
	for pid, name := range comms {
		if pid >= 0 {
			s := t.slot(pid)
			s.pid, s.name = pid, name
		}
	}
	for pid, tgid := range tgids {
		if pid >= 0 {
			s := t.slot(pid)
			s.pid, s.tgid = pid, tgid
		}
	}
	return t
}

// slot returns the slot of pid, or the empty one where it would be: name 0, tgid NoPID.
func (t *tasks) slot(pid event.PID) *task {
	i := uint32(pid) * 0x9e3779b1 >> 7 & t.mask
	for {
		s := &t.slots[i]
		if s.pid == pid || s.pid == event.NoPID {
			return s
		}
		i = (i + 1) & t.mask
	}
}
