package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/explain"
	"github.com/whylate/whylate/trace"
)

// mostCompleted is how long a trace may be, in bytes, that is read to complete a name: nobody
// waits for a shell.
const mostCompleted = 8 << 20

// completeTasks makes the shell offer the names of the tasks that wait in the trace of the
// command line.
func completeTasks(cmd *cobra.Command) {
	err := cmd.RegisterFlagCompletionFunc("task", func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return taskNames(args, typed), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the flag was not registered: a mistake in this package, met at every start
	}
}

// taskNames has the names that begin with typed, of all files among args; none where a file
// cannot be read.
func taskNames(args []string, typed string) []string {
	var names []string
	for _, file := range strings.Split(strings.Join(args, ","), ",") {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > mostCompleted {
			continue
		}
		src, err := trace.Open(file)
		if err != nil {
			continue
		}
		if r, err := explain.Latency(src, everything()); err == nil {
			for i := range r.Tasks {
				if name := r.Tasks[i].Comm; strings.HasPrefix(name, typed) && name != "" {
					names = append(names, name)
				}
			}
		}
		_ = src.Close() // it was only read
	}
	slices.Sort(names)
	return slices.Compact(names)
}
