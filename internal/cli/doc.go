// Package cli is the command line of whylate: it reads flags, opens the trace, calls the
// analysis, hands the result to package report, and chooses the exit code. It is the
// only package that prints.
//
// One run goes through these steps:
//
//  1. Run builds the commands (one file per verb) and lets cobra parse the arguments;
//     whatever is wrong with them is a usage error with a suggestion;
//  2. the verb finds and opens its input (input.go) and turns its flags into
//     explain.Options (selection.go, values.go);
//  3. the analysis reads the trace through a wrapper that stops it when the context
//     ends (interrupt.go), while progress goes to a terminal on stderr (progress.go);
//  4. the result is printed as text or JSON to stdout or a new file (output.go);
//  5. Run turns what happened into an exit code (exit.go).
//
// The package computes nothing about scheduling and words nothing of the answer: that
// is the work of explain and report.
package cli
