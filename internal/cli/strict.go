package cli

import (
	"fmt"
	"strings"

	"github.com/whylate/whylate/explain"
)

// holes returns errUnreliable, with what is missing, if a's trace has holes that may
// have changed the result. What was merely inferred or skipped is no hole.
func (a *answer) holes() error {
	found := explain.Holes(&a.input, a.diagnostics)
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", errUnreliable, strings.Join(found, ", "))
}
