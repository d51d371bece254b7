package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/report"
)

func newInfo(std *streams) *cobra.Command {
	var in input
	var out output
	cmd := &cobra.Command{
		Use:   "info [FILE]",
		Short: "Say what is in a trace and which verdicts it supports",
		Long: `Say what is in a trace: format, kernel, clock, events of each kind and CPU, what was
lost; then, for each kind of cause, the best verdict that the recorded events allow, and
the command that records what is missing.`,
		Example: "  whylate info trace.dat\n  whylate info trace.dat --json",
		Args:    usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := explain.Options{From: event.NoTime, To: event.NoTime}
			return std.answer(cmd, args, &in, &out, o, askInfo)
		},
	}
	in.register(cmd)
	out.register(cmd)
	return cmd
}

func askInfo(src explain.Source, o explain.Options) (*answer, error) {
	r, err := explain.Inspect(src, o)
	if err != nil {
		return nil, err
	}
	return &answer{value: r, input: r.Input, diagnostics: r.Diagnostics, text: func(w io.Writer, ro report.Options) error {
		return report.Info(w, r, ro)
	}}, nil
}
