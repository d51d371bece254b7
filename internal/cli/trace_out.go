package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
)

// registerTraceOut adds --out, to which a verb writes events beside its answer.
func registerTraceOut(cmd *cobra.Command, file *string, what string) {
	cmd.Flags().StringVar(file, "out", "", "write "+what+" to the trace `FILE`: .dat or .txt, also with .gz, .xz or .zst")
}

// checkTraceOut refuses a file that cannot be written before the work begins.
func checkTraceOut(cmd *cobra.Command, file string, force bool) error {
	if file == "" {
		return nil
	}
	if !isTraceName(file) {
		return &usageError{cmd.CommandPath(), fmt.Errorf("--out %s: the name of a trace ends in .dat or .txt", file)}
	}
	if _, err := os.Stat(file); err == nil && !force {
		return fmt.Errorf("%s exists; -f overwrites it", file)
	}
	return nil
}

// everything are the options of a verb that looks at all of a trace.
func everything() explain.Options { return explain.Options{From: event.NoTime, To: event.NoTime} }
