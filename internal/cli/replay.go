package cli

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/sysinfo"
	"github.com/whylate/whylate/whatif"
)

const replayLong = `Replay a trace in the model of the scheduler, with nothing changed, and tell how well the
model meets it: how far predictions (whylate whatif) can be believed.

Decisions are history-forced: the model follows what the kernel did, and at each decision
it is asked what it would have chosen. Beside each score stands that of a simple rule.
Waits are free-running: what each task did between its sleeps becomes a load that the model
runs by itself. What had to be guessed of the machine is counted.`

const replayExample = `  whylate replay trace.dat
  whylate replay trace.dat --json
  whylate replay trace.dat --out replayed.dat && whylate explain replayed.dat`

func newReplay(std *streams) *cobra.Command {
	var in input
	var out output
	var trace string
	cmd := &cobra.Command{
		Use:     "replay [FILE]",
		Short:   "Replay a trace in the model and compare",
		Long:    replayLong,
		Example: replayExample,
		Args:    usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTraceOut(cmd, trace, out.force); err != nil {
				return err
			}
			return std.answer(cmd, args, &in, &out, everything(), askReplay(cmd, trace))
		},
	}
	in.register(cmd)
	registerTraceOut(cmd, &trace, "the events of the replay")
	registerDetail(cmd, &out)
	out.register(cmd)
	f := cmd.Flags()
	f.Lookup("verbose").Usage = "print a row for each task"
	f.Lookup("all").Usage = "print every task, every long wait and more of the missed decisions"
	return cmd
}

func askReplay(cmd *cobra.Command, traceFile string) question {
	return func(src explain.Source, o explain.Options) (*answer, error) {
		r, load, err := whatif.Fidelity(src, o)
		if err != nil {
			return nil, err
		}
		if traceFile != "" {
			run, err := load.Source()
			if err != nil {
				return nil, err
			}
			if err := writeTrace(cmd.Context(), traceFile, run, sysinfo.Of(src)); err != nil {
				return nil, errors.Join(errors.New("writing the replay's events"), err)
			}
		}
		return &answer{value: r, input: r.Input, diagnostics: r.Diagnostics, text: func(w io.Writer, ro report.Options) error {
			return report.Replay(w, r, ro)
		}}, nil
	}
}
