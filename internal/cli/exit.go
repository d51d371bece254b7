package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// The exit codes, the same for every verb and written in each man page. 129 and 130 are
// those of perf, rtla and the shells.
const (
	ExitOK          = 0   // the question was answered
	ExitError       = 1   // a file, format or system error
	ExitCondition   = 2   // a condition that the user set does not hold
	ExitUnreliable  = 3   // --strict, and the trace has holes
	ExitUsage       = 129 // unknown verb or flag, or a bad value
	ExitInterrupted = 130 // SIGINT or SIGTERM
)

// ExitCodes says the same in words, for help texts and man pages.
const ExitCodes = `Exit codes: 0 answered; 1 error; 2 a condition of yours does not hold; 3 unreliable
result (--strict); 129 wrong usage; 130 interrupted.`

// usageError is a mistake on the command line.
type usageError struct {
	verb string // "whylate explain": whose -h helps
	err  error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// errUnreliable ends a --strict run after its result was printed.
var errUnreliable = errors.New("the result is unreliable (--strict)")

// errCondition ends a run whose result was printed: a condition of the user does not hold.
var errCondition = errors.New("a condition does not hold")

// exitCode prints what err means for the user to stderr and returns the code.
func exitCode(ctx context.Context, err error, stderr io.Writer) int {
	var usage *usageError
	switch {
	case ctx.Err() != nil && err != nil:
		fmt.Fprintln(stderr, "whylate: interrupted")
		return ExitInterrupted
	case err == nil:
		return ExitOK
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe):
		// The reader of our output (head, less) has seen enough: that is no error.
		return ExitOK
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %v\nRun '%s -h' for its flags.\n", usage.verb, err, usage.verb)
		return ExitUsage
	case errors.Is(err, errCondition):
		fmt.Fprintf(stderr, "whylate: %v\n", err)
		return ExitCondition
	case errors.Is(err, errUnreliable):
		fmt.Fprintf(stderr, "whylate: %v\n", err)
		return ExitUnreliable
	}
	fmt.Fprintf(stderr, "whylate: %v\n", err)
	return ExitError
}
