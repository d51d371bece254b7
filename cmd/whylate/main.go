// Command whylate tells why a Linux task ran late: it reads a recorded scheduler trace
// and divides each late wait into causes that sum to it. Run `whylate -h` for the verbs;
// package internal/cli holds them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/whylate/whylate/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks the verb to stop and tidy up; from then on the default action
	// is back, so a second one ends a process that does not listen.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
