package machine

import "github.com/whylate/whylate/event"

// Watch calls f after everything that happens, at the same moment: what it sees then holds
// until it is called again. Nothing is announced to it, it looks for itself, so that it
// knows what is so without any event. It must not change anything. nil ends it.
func (m *Machine) Watch(f func()) { m.watch = f }

func (m *Machine) watched() {
	if m.watch != nil {
		m.watch()
	}
}

// Living appends every thread that there is, those of the machine itself included. Deadline
// servers are none.
func (m *Machine) Living(list []*Thread) []*Thread {
	for _, th := range m.threads {
		if th != nil && th.Program != nil {
			list = append(list, th)
		}
	}
	return list
}

// Mode is where th works; between two steps, where the first of them ran.
func (th *Thread) Mode() Mode { return th.mode }

// SleepsUntil returns when the sleep timer of th is due; false if none is armed.
func (th *Thread) SleepsUntil() (event.Time, bool) {
	t := &th.timers[sleepTimer]
	return t.due, t.armed
}
