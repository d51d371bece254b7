package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/result"
)

// output holds the flags that say how and where an answer is printed.
type output struct {
	json, nano, verbose, all bool
	quiet, force, strict     bool
	file, color              string
}

// register adds the flags that every verb with an answer has.
func (o *output) register(cmd *cobra.Command) {
	o.color = "auto"
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON, all times in ns")
	f.BoolVarP(&o.nano, "nano", "n", false, "print whole ns instead of µs")
	f.StringVarP(&o.file, "output", "o", "-", "print to `FILE`; - is standard output")
	f.BoolVarP(&o.force, "force", "f", false, "overwrite the file of --output")
	f.BoolVar(&o.strict, "strict", false, "exit with 3 if the trace has holes that may change the result")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
	words := []string{"auto", "always", "never"}
	f.Func("color", "emphasis: `WHEN` is auto, always or never (default auto: only on a\nterminal and without NO_COLOR in the environment)",
		into(&o.color, oneOf(words...)))
	completeWords(cmd, "color", words)
}

// answer is what a verb found out.
type answer struct {
	value       any // printed by --json
	input       result.Input
	diagnostics []result.Diagnostic
	text        func(io.Writer, report.Options) error
	// verdict is what the verb itself ends with once the answer is printed.
	verdict error
	// also, where set, writes it to one place more.
	also func() error
}

// check refuses an output file before the work starts that the work would be for
// nothing, or that is the input itself.
func (o *output) check(input string) error {
	if o.file == "-" {
		return nil
	}
	there, err := os.Stat(o.file)
	if err != nil {
		return nil // most likely not there yet; else creating it says why
	}
	if in, err := os.Stat(input); err == nil && os.SameFile(in, there) {
		return fmt.Errorf("%s is the trace itself; name another file with -o", o.file)
	}
	if !o.force {
		return fmt.Errorf("%s exists; -f overwrites it", o.file)
	}
	return nil
}

// print writes a to the chosen place and judges it for --strict.
func (o *output) print(a *answer, stdout io.Writer) error {
	err := o.write(stdout, func(w io.Writer) error {
		if o.json {
			return encode(w, a.value)
		}
		return a.text(w, o.reportOptions(stdout))
	})
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if a.also != nil {
		if err := a.also(); err != nil {
			return err
		}
	}
	if a.verdict != nil {
		return a.verdict
	}
	if o.strict {
		return a.holes()
	}
	return nil
}

// encode prints v as JSON for people and programs alike.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // names like <idle> stay readable
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// write calls body with a buffered writer of the chosen file or of stdout.
func (o *output) write(stdout io.Writer, body func(io.Writer) error) error {
	if o.file == "-" {
		return flushed(stdout, body)
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if o.force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(o.file, mode, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; -f overwrites it", o.file)
	}
	if err != nil {
		return err
	}
	return errors.Join(flushed(f, body), f.Close())
}

func flushed(w io.Writer, body func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if err := body(b); err != nil {
		return err
	}
	return b.Flush()
}

// reportOptions translates the flags and the terminal for package report.
func (o *output) reportOptions(stdout io.Writer) report.Options {
	r := report.Options{Nano: o.nano, Verbose: o.verbose, All: o.all}
	terminal := o.file == "-" && isTerminal(stdout)
	if terminal {
		if width, _, err := term.GetSize(int(stdout.(*os.File).Fd())); err == nil {
			r.Width = width
		}
	}
	switch o.color {
	case "always":
		r.Color = true
	case "auto":
		// no-color.org: any value that is not empty counts.
		r.Color = terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return r
}
