package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/report"
)

const latencyLong = `Print how long tasks waited for a CPU, a row per task: wakeup waits (from sched_waking
to the switch that lets the task run) and, separately, preemption waits.

--hist prints histograms of the wakeup waits instead, in the layout of cyclictest -h or of
rtla timerlat hist, so that the scripts which plot those keep working.`

const latencyExample = `  whylate latency trace.dat
  whylate latency trace.dat --by cgroup --json
  whylate latency trace.dat --task cyclictest --hist cyclictest --entries 400`

func newLatency(std *streams) *cobra.Command {
	var in input
	var sel selection
	var out output
	var layout string
	bucket, entries := event.Time(1000), 256
	cmd := &cobra.Command{
		Use:     "latency [FILE]",
		Short:   "Print how long tasks waited for a CPU",
		Long:    latencyLong,
		Example: latencyExample,
		Args:    usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := sel.options()
			if layout != "" {
				o.Hist = explain.HistOptions{BucketNS: int64(bucket), Buckets: entries}
			}
			return std.answer(cmd, args, &in, &out, o, askLatency(layout))
		},
	}
	in.register(cmd)
	sel.register(cmd, "a row per `WHAT`: task, comm, process, cgroup or cpu (default task)")
	f := cmd.Flags()
	layouts := []string{"cyclictest", "rtla"}
	f.Func("hist", "print histograms in the `LAYOUT` of cyclictest or rtla", into(&layout, oneOf(layouts...)))
	completeWords(cmd, "hist", layouts)
	f.Func("bucket", "width of a histogram's bucket: `DURATION` (default 1us)", into(&bucket, parsePositive))
	f.Func("entries", "`N` buckets, longer waits count as overflow (default 256)", into(&entries, parseCount))
	out.register(cmd)
	return cmd
}

// askLatency returns the question of latency; layout is "" for the table.
func askLatency(layout string) question {
	return func(src explain.Source, o explain.Options) (*answer, error) {
		r, err := explain.Latency(src, o)
		if err != nil {
			return nil, err
		}
		if err := someTask(o, len(r.Tasks)); err != nil {
			return nil, err
		}
		return &answer{value: r, input: r.Input, diagnostics: r.Diagnostics, text: func(w io.Writer, ro report.Options) error {
			switch layout {
			case "cyclictest":
				return report.HistCyclictest(w, r)
			case "rtla":
				return report.HistRTLA(w, r)
			}
			return report.Latency(w, r, ro)
		}}, nil
	}
}
