package cli

import (
	"fmt"
	"strings"
)

// holes returns errUnreliable, with what is missing, if a's trace has holes that may
// have changed the result. What was merely inferred or skipped is no hole.
func (a *answer) holes() error {
	var found []string
	lost := a.input.Lost != 0
	for _, d := range a.diagnostics {
		if !isHole(d.Kind) {
			continue
		}
		lost = lost && d.Kind != "lost_events"
		found = append(found, fmt.Sprintf("%s (%d)", d.Kind, d.Count))
	}
	if lost {
		found = append(found, "lost_events")
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", errUnreliable, strings.Join(found, ", "))
}

// isHole tells the diagnostics after which part of the trace is missing or wrong.
func isHole(kind string) bool {
	switch kind {
	case "lost_events", "broken_chain", "truncated":
		return true
	}
	return strings.HasPrefix(kind, "corrupt_")
}
