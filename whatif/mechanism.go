package whatif

import (
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
)

// mechanismOf is the kind of cause that a change acts on, "" where that depends on the wait.
func mechanismOf(c *scenario.Change) string {
	switch c.Kind {
	case scenario.ChangeTeardown:
		return "exit_teardown"
	case scenario.ChangeMutex:
		return "pi_boosted"
	case scenario.ChangeIRQ, scenario.ChangeRemove:
		return "higher_prio"
	case scenario.ChangeTask:
		if _, ok := c.ExitNormalize(); ok {
			return "exit_teardown"
		}
		return "higher_prio"
	case scenario.ChangeSet:
		return mechanisms[c.Values[0].Name]
	}
	return ""
}

// mechanisms by setting.
var mechanisms = map[string]string{"exit_normalize": "exit_teardown", "sched_rt_runtime_us": "rt_throttled", "sched_rt_period_us": "rt_throttled",
	"fair_server_runtime_ns": "fair_server", "fair_server_period_ns": "fair_server", "preempt": "preempt_off", "threadirqs": "irq"}

// confirmed is how far predictions for a mechanism were off, nil: none was followed by a
// recording yet.
func confirmed(mechanism string) *result.Confirmed {
	for i := range confirmations {
		if confirmations[i].mechanism == mechanism {
			return &confirmations[i].Confirmed
		}
	}
	return nil
}

// confirmation is a row of the table of docs/fidelity.md.
type confirmation struct {
	mechanism string
	result.Confirmed
}

// confirmations are predictions that were committed before the changed recording was made. A
// test holds them to the table of predictions in docs/fidelity.md.
var confirmations []confirmation
