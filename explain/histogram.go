package explain

import (
	"fmt"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/result"
)

// histogram turns the buckets of a row into its public form.
func (rs *rows) histogram(r *row) result.Histogram {
	h := result.Histogram{Label: r.group, CPU: int32(event.NoCPU), BucketNS: r.hist.BucketNS(), Counts: r.hist.Counts(),
		Overflows: r.hist.Overflows(), Waits: r.hist.Waits(), MinNS: r.hist.Min(), AvgNS: r.hist.Avg(), MaxNS: r.hist.Max()}
	switch rs.by {
	case ByTask:
		h.Label = fmt.Sprintf("%s/%d", rs.names.String(r.comm), r.task.PID)
	case ByCPU:
		var c int32
		if _, err := fmt.Sscanf(r.group, "CPU %d", &c); err == nil {
			h.CPU = c
		}
	}
	return h
}
