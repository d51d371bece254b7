package result

import (
	"encoding/json"
	"fmt"
)

// Prio is the kernel's own priority number: −1 a deadline task, 0–98 real-time (99 −
// rt_priority), 100–139 fair (120 + nice). NoPrio prints as null.
type Prio int32

// NoPrio is the priority of nobody, or of several tasks with different ones.
const NoPrio Prio = -1 << 31

// MarshalJSON prints the number, or null for NoPrio.
func (p Prio) MarshalJSON() ([]byte, error) {
	if p == NoPrio {
		return []byte("null"), nil
	}
	return json.Marshal(int32(p))
}

// UnmarshalJSON reads what MarshalJSON prints.
func (p *Prio) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*p = NoPrio
		return nil
	}
	var n int32
	if err := json.Unmarshal(b, &n); err != nil {
		return fmt.Errorf("reading a priority: %w", err)
	}
	*p = Prio(n)
	return nil
}
