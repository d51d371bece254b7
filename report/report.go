package report

import (
	"io"

	"github.com/whylate/whylate/result"
)

// Options chooses how results print, never what they say.
type Options struct {
	Color   bool // emphasis by ANSI sequences; without it the output is plain text
	Verbose bool // evidence lines under each cause, and the table of remaining tasks
	Nano    bool // lengths of time as whole ns instead of µs with one decimal
	All     bool // every wait on its own instead of groups, and all remaining tasks
	Width   int  // columns of the terminal; long names are cut to fit. 0: never cut
}

// Explain prints the answer of `whylate explain`. The only errors are those of w.
func Explain(w io.Writer, r *result.Explain, o Options) error { return nil }

// Latency prints the answer of `whylate latency` as a table.
func Latency(w io.Writer, r *result.Latency, o Options) error { return nil }

// HistCyclictest prints r.Histograms as cyclictest -h does.
func HistCyclictest(w io.Writer, r *result.Latency) error { return nil }

// HistRTLA prints r.Histograms as rtla timerlat hist does.
func HistRTLA(w io.Writer, r *result.Latency) error { return nil }

// Info prints the answer of `whylate info`.
func Info(w io.Writer, r *result.Info, o Options) error { return nil }
