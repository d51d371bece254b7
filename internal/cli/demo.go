package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/internal/demo"
	"github.com/whylate/whylate/report"
)

const demoIntro = `hi25 must run every 10 ms and has the highest priority of all user tasks. Once it came
to run 40 ms late, although its CPU was idle. From a real recording (whylate demo --save
demo.dat writes it), this is what "whylate explain demo.dat --task hi25" says:

`

func newDemo(std *streams) *cobra.Command {
	var out output
	var save string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Explain a real trace that comes with the program",
		Long: `Explain a real trace that comes with the program: real-time throttling on a PREEMPT_RT
kernel 6.1. --save writes that trace to a file, to try the other verbs on.`,
		Example: "  whylate demo -v\n  whylate demo --save demo.dat && whylate info demo.dat",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if save != "" {
				return saveDemo(save, out.force, std.out)
			}
			if err := out.check(""); err != nil {
				return err
			}
			trace, err := demo.Trace()
			if err != nil {
				return err
			}
			src, err := openReader(trace)
			if err != nil {
				return err
			}
			o := explain.Options{File: "demo.dat", Tasks: []string{demo.Task}, From: event.NoTime, To: event.NoTime,
				By: explain.ByTask, Evidence: out.verbose}
			return std.answerFrom(cmd, src, &out, o, func(src explain.Source, o explain.Options) (*answer, error) {
				return askDemo(cmd.Context(), src, o)
			})
		},
	}
	cmd.Flags().StringVar(&save, "save", "", "write the trace to `FILE` and explain nothing")
	registerDetail(cmd, &out)
	out.register(cmd)
	return cmd
}

// askDemo is what explain asks, with an introduction for people.
func askDemo(ctx context.Context, src explain.Source, o explain.Options) (*answer, error) {
	a, err := (&adviceFlags{}).ask(ctx, src, o)
	if err != nil {
		return nil, err
	}
	text := a.text
	a.text = func(w io.Writer, ro report.Options) error {
		if _, err := io.WriteString(w, demoIntro); err != nil {
			return err
		}
		return text(w, ro)
	}
	return a, nil
}

// saveDemo writes the built-in trace to a file.
func saveDemo(file string, force bool, stdout io.Writer) error {
	to := output{file: file, force: force}
	return to.write(stdout, func(w io.Writer) error {
		trace, err := demo.Trace()
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, trace); err != nil {
			return fmt.Errorf("writing the trace: %w", err)
		}
		return nil
	})
}
