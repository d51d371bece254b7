package event

import "sync"

// Name is an interned string: task names, function names, event names. Two names are
// equal exactly if their numbers are. The zero Name is the empty string.
type Name uint32

// maxNames bounds the table, so that a hostile trace with a new name in every event
// cannot make it grow without limit. A real machine shows some thousands.
const maxNames = 1 << 20

// Names interns strings for the events of one trace. It is safe for concurrent use:
// readers of several CPUs share one table.
type Names struct {
	mu     sync.RWMutex
	index  map[string]Name
	byName []string
}

// NewNames returns a table that holds only the empty name.
func NewNames() *Names {
	return &Names{index: map[string]Name{"": 0}, byName: []string{""}}
}

// Intern returns the Name of s. When the table is full (2^20 names) it returns the
// name "…", so a caller never fails.
func (n *Names) Intern(s string) Name {
	n.mu.RLock()
	id, ok := n.index[s]
	n.mu.RUnlock()
	if ok {
		return id
	}
	return n.add(s)
}

// InternBytes is Intern without an allocation for a name that is already known.
func (n *Names) InternBytes(b []byte) Name {
	n.mu.RLock()
	id, ok := n.index[string(b)]
	n.mu.RUnlock()
	if ok {
		return id
	}
	return n.add(string(b))
}

func (n *Names) add(s string) Name {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok := n.index[s]; ok {
		return id
	}
	if len(n.byName) >= maxNames {
		s = "…"
		if id, ok := n.index[s]; ok {
			return id
		}
	}
	id := Name(len(n.byName))
	n.byName = append(n.byName, s)
	n.index[s] = id
	return id
}

// Lookup returns the Name of s without adding it.
func (n *Names) Lookup(s string) (Name, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	id, ok := n.index[s]
	return id, ok
}

// String returns the text of name, "" for one that this table does not hold.
func (n *Names) String(name Name) string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if int(name) >= len(n.byName) {
		return ""
	}
	return n.byName[name]
}
