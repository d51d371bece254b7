package cli

import (
	"context"
	"io"
	"strings"
	"time"
)

// grace is how long an interrupted run may take to tidy up.
const grace = 500 * time.Millisecond

// Run executes the command line args (without the program's name) and returns the exit
// code. When ctx ends it stops and returns ExitInterrupted, at the latest after half a
// second: a read from a pipe that never ends cannot be told to stop.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(&streams{in: stdin, out: stdout, err: stderr})
	root.SetArgs(args)
	done := make(chan error, 1)
	go func() { done <- flagGroups(root.ExecuteContext(ctx)) }()
	select {
	case err := <-done:
		return exitCode(ctx, err, stderr)
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-time.After(grace):
	}
	return exitCode(ctx, ctx.Err(), stderr)
}

// streams are the standard streams of one run.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// flagGroups makes a usage error of what cobra says about flags that exclude each other: it has
// no type for that.
func flagGroups(err error) error {
	if err != nil && strings.HasPrefix(err.Error(), "if any flags in the group") {
		return &usageError{"whylate", err}
	}
	return err
}
