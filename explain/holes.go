package explain

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/result"
)

// Holes names what of a trace is missing or wrong, with how often, so that its numbers may be
// others than those of what happened; none for a trace without holes. What was merely inferred
// or passed over is no hole.
func Holes(in *result.Input, list []result.Diagnostic) []string {
	var found []string
	lost := in.Lost != 0
	for _, d := range list {
		if !isHole(d.Kind) {
			continue
		}
		lost = lost && d.Kind != "lost_events"
		found = append(found, fmt.Sprintf("%s (%d)", d.Kind, d.Count))
	}
	if lost {
		found = append(found, "lost_events")
	}
	return found
}

// isHole tells the diagnostics after which part of the trace is missing or wrong.
func isHole(kind string) bool {
	switch kind {
	case "lost_events", "broken_chain", "truncated", "out_of_order":
		return true
	}
	return strings.HasPrefix(kind, "corrupt_")
}
