package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/explain"
)

// input holds the flag that names the trace; it may also be the verb's argument.
type input struct{ file string }

func (in *input) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&in.file, "input", "i", "",
		"read the trace `FILE`; - is standard input. Without a file: the newest of\n"+strings.Join(defaultFiles, ", ")+" in this folder")
}

// defaultFiles are the names under which recorders leave their traces.
var defaultFiles = []string{"whylate.trace", "trace.dat", "perf.data"}

// choose returns the file to read: the argument, the flag, or the newest default.
func (in *input) choose(cmd *cobra.Command, args []string) (string, error) {
	switch {
	case len(args) == 1 && in.file != "":
		return "", &usageError{cmd.CommandPath(), fmt.Errorf("two inputs, %s and %s; give one", args[0], in.file)}
	case len(args) == 1:
		return args[0], nil
	case in.file != "":
		return in.file, nil
	}
	newest, at := "", time.Time{}
	for _, name := range defaultFiles {
		info, err := os.Stat(name)
		if err == nil && info.Mode().IsRegular() && (newest == "" || info.ModTime().After(at)) {
			newest, at = name, info.ModTime()
		}
	}
	if newest == "" {
		return "", fmt.Errorf("no FILE given and none of %s is here; `whylate record --print` shows how to record one, `whylate demo` explains one that comes with the program",
			strings.Join(defaultFiles, ", "))
	}
	return newest, nil
}

// read opens file, lets ask question it, and closes it again: when the answer is
// printed nothing is left to tidy up.
func read(ctx context.Context, file string, o explain.Options, p *progress,
	ask func(event.Source, explain.Options) (*answer, error)) (*answer, error) {
	src, err := openTrace(file)
	if err != nil {
		return nil, withHint(err)
	}
	o.Progress = p.update
	a, err := ask(&interruptible{src, ctx}, o)
	p.erase()
	if err = errors.Join(err, src.Close()); err != nil {
		return nil, withHint(err)
	}
	return a, nil
}

// withHint adds to an error of reading what to do about it.
func withHint(err error) error {
	hint := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint = "`whylate record --print` shows how to record one"
	case errors.Is(err, fs.ErrPermission):
		hint = "traces recorded as root belong to root: chown it, or read it with sudo"
	case errors.Is(err, event.ErrNotSupported):
		hint = "`whylate help` lists the formats that are read"
	case errors.Is(err, event.ErrTruncated):
		hint = "was the recorder stopped properly, and the file copied completely?"
	}
	if hint == "" {
		return err
	}
	return fmt.Errorf("%w\n  %s", err, hint)
}
