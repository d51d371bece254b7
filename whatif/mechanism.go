package whatif

import (
	"strings"

	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/sched"
)

// mechanismOf says what a change acts on, in the words of docs/fidelity.md; "" for what no
// prediction was made of.
func mechanismOf(c *scenario.Change) string {
	switch c.Kind {
	case scenario.ChangeTask:
		return taskMechanism(c)
	case scenario.ChangeIRQ:
		if c.AltersAttr() {
			return "interrupt thread"
		}
		return "affinity"
	case scenario.ChangeTeardown:
		return "exit"
	case scenario.ChangeMutex:
		return "priority inheritance"
	case scenario.ChangeRemove:
		return "removal"
	case scenario.ChangeCGroup:
		if strings.HasPrefix(c.Values[0].Name, "cpu.max") {
			return "quota"
		}
		return "group weight"
	case scenario.ChangeSet:
		return mechanisms[c.Values[0].Name]
	}
	return ""
}

// taskMechanism is that of the first word that says something.
func taskMechanism(c *scenario.Change) string {
	if len(c.Values) == 0 {
		return ""
	}
	switch first := c.Values[0].Name; first {
	case "policy":
		switch to := c.Alter(sched.Attr{}).Policy; to {
		case sched.FIFO, sched.RR:
			return "priority"
		case sched.Deadline:
			return "deadline"
		}
		return "policy"
	case "prio", "nice":
		return "priority"
	case "slice_us":
		return "slice"
	case "runtime", "deadline", "period":
		return "deadline"
	case "cpus":
		return "affinity"
	case "exit_normalize":
		return "exit"
	default:
		return first // work
	}
}

// mechanisms by setting.
var mechanisms = map[string]string{"exit_normalize": "exit", "sched_rt_runtime_us": "throttling", "sched_rt_period_us": "throttling",
	"fair_server_runtime_ns": "fair server", "fair_server_period_ns": "fair server"}

// confirmed is how far predictions for a mechanism were off, nil: none was followed by a
// recording yet.
func confirmed(mechanism string) *result.Confirmed {
	for i := range confirmations {
		if confirmations[i].Mechanism == mechanism {
			return &confirmations[i]
		}
	}
	return nil
}
