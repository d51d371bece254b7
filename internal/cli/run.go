package cli

import (
	"context"
	"io"
)

// Run executes the command line args (without the program's name) and returns the exit
// code. It ends early, with ExitInterrupted, when ctx does.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(&streams{in: stdin, out: stdout, err: stderr})
	root.SetArgs(args)
	return exitCode(ctx, root.ExecuteContext(ctx), stderr)
}

// streams are the standard streams of one run.
type streams struct {
	in       io.Reader
	out, err io.Writer
}
