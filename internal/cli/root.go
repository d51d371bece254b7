package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const rootLong = `whylate reads a recorded Linux scheduler trace and tells why a task ran late: each
late wait is divided into causes that sum to it to the nanosecond, each with its own
verdict (proven, likely, unknown) and the events that show it.

Traces: trace.dat of trace-cmd, ftrace text, perf.data, perf script text, Perfetto.

` + ExitCodes

// Command returns the command tree, for what is generated from it.
func Command() *cobra.Command {
	return newRoot(&streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
}

// newRoot builds the command tree for one run.
func newRoot(std *streams) *cobra.Command {
	root := &cobra.Command{
		Use:                        "whylate",
		Short:                      "Tell why a Linux task ran late",
		Long:                       rootLong,
		Version:                    buildVersion(),
		SilenceErrors:              true, // Run prints them, with what to do next
		SilenceUsage:               true,
		DisableAutoGenTag:          true, // generated pages carry no date
		SuggestionsMinimumDistance: 2,
		Args:                       cobra.ArbitraryArgs,
		RunE:                       noVerb,
	}
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newExplain(std),
		newLatency(std),
		newInfo(std),
		newDemo(std),
		newRecord(std),
		newRun(std),
		newCase(std),
		newWorst(std),
		newGate(std),
		newReplay(std),
		newWhatif(std),
		newDiff(std),
		newList(std),
		newVersion(),
	)
	return root
}

// noVerb is reached when the first argument is not a verb.
func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		cmd.SetOut(cmd.ErrOrStderr())
		if err := cmd.Help(); err != nil {
			return err
		}
		return &usageError{verb: "whylate", err: errors.New("no verb given")}
	}
	text := fmt.Sprintf("unknown verb %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
	} else if _, err := os.Stat(args[0]); err == nil {
		text += fmt.Sprintf("; to read that file: whylate explain %s", args[0])
	}
	return &usageError{verb: "whylate", err: errors.New(text)}
}

// flagError turns pflag's error into a usage error that names the nearest flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		name := unknown.GetSpecifiedName()
		if near := nearestFlag(cmd.Flags(), name); near != "" {
			err = fmt.Errorf("unknown flag --%s; did you mean --%s?", name, near)
		}
	}
	return &usageError{verb: cmd.CommandPath(), err: err}
}

// usage wraps the argument check of a verb, so that what it finds is a usage error.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &usageError{verb: cmd.CommandPath(), err: err}
		}
		return nil
	}
}
