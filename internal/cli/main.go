package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main is the program: it runs the command line of this process and returns its exit
// code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks the verb to stop and tidy up; from then on the default action
	// is back, so a second one ends a process that does not listen.
	context.AfterFunc(ctx, stop)
	// Without this a reader that went away would end the process on the spot; so the write
	// fails, and Run ends as if all had been read.
	signal.Ignore(syscall.SIGPIPE)
	return Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
