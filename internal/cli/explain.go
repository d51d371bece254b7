package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/report"
)

const explainLong = `Tell each late wait of a trace with causes that sum to it.

Without --over, --top or --wait these waits are told: of each deadline or real-time user
task the worst 20 wakeup waits of at least 50 µs and the worst 5 preemption waits; the
worst 20 of all fair tasks; the worst 20 of all kernel threads; every wait still open at
the end that is at least 1 ms long. Without --all or --json, waits of fair tasks and of
kernel threads below 50 µs are left out.

Every wait has a name, like 311@290.333201; --wait NAME -v tells it alone, with the
events that prove each of its causes.

For late waits of deadline and real-time tasks it also tells what would have helped: the
trace is replayed in the model of the scheduler with the changes that the causes suggest.
Each prediction carries the error of the replay on that wait, whom the change harms, and
the command that makes it; whylate whatif tries other changes.`

const explainExample = `  whylate explain trace.dat
  whylate explain trace.dat --task 'ctl-*' --over 100us
  whylate explain trace.dat --wait 311@290.333201 -v
  zcat trace.txt.gz | whylate explain - --json`

// explainFlags are those of explain beside input, selection and output.
type explainFlags struct {
	over event.Time
	top  int
	wait string
	adviceFlags
}

// textFloor is from where on people are told of fair tasks and kernel threads that nobody
// asked for; --json, --all and --over tell of all.
const textFloor event.Time = 50_000

func newExplain(std *streams) *cobra.Command {
	var in input
	var sel selection
	var out output
	var flags explainFlags
	cmd := &cobra.Command{
		Use:     "explain [FILE]",
		Short:   "Tell why tasks ran late",
		Long:    explainLong,
		Example: explainExample,
		Args:    usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := sel.options()
			o.Over, o.Top, o.WaitID, o.Evidence = flags.over, flags.top, flags.wait, out.verbose
			if !out.json && !out.all {
				o.Floor = textFloor
			}
			return std.answer(cmd, args, &in, &out, o, func(src explain.Source, o explain.Options) (*answer, error) {
				return flags.ask(cmd.Context(), src, o)
			})
		},
	}
	in.register(cmd)
	sel.register(cmd, "sum up the blame by `WHAT`: task, comm, process, cgroup or cpu (default task)")
	f := cmd.Flags()
	f.Func("over", "tell every wait at least `DURATION` late: 100us, 1ms; a plain number is µs",
		into(&flags.over, parsePositive))
	f.Func("top", "tell at most the `N` latest waits", into(&flags.top, parseCount))
	f.Func("wait", "tell only the wait `ID`", into(&flags.wait, parseWaitID))
	flags.adviceFlags.register(cmd)
	registerDetail(cmd, &out)
	out.register(cmd)
	return cmd
}

// registerDetail adds the flags that make explain print more.
func registerDetail(cmd *cobra.Command, out *output) {
	cmd.Flags().BoolVarP(&out.verbose, "verbose", "v", false, "print the events that show each cause")
	cmd.Flags().BoolVarP(&out.all, "all", "a", false, "print every wait on its own instead of groups, and all tasks")
}

func askExplain(src explain.Source, o explain.Options) (*answer, error) {
	r, err := explain.Explain(src, o)
	if err != nil {
		return nil, err
	}
	if err := someTask(o, len(r.Tasks)); err != nil {
		return nil, err
	}
	return &answer{value: r, input: r.Input, diagnostics: r.Diagnostics, text: func(w io.Writer, ro report.Options) error {
		return report.Explain(w, r, ro)
	}}, nil
}

// someTask is an error if the user asked for certain tasks and none is there: an empty
// answer would look as if they were never late.
func someTask(o explain.Options, rows int) error {
	if rows > 0 || len(o.Tasks)+len(o.PIDs) == 0 {
		return nil
	}
	return fmt.Errorf("no task of %s matches --task or --pid in the chosen part; `whylate latency %s` lists its tasks", o.File, o.File)
}
