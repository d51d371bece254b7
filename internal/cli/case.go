package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whylate/whylate/cases"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/scenario"
	"github.com/whylate/whylate/trace"
)

const caseLong = `Run one of the public discussions that whylate was made for: a latency that somebody
measured, the changes that were proposed, and the objections that nobody could answer with
numbers. whylate list cases tells which there are.

Each part is a scenario with variants that run with several seeds and are tested against the
first; the longest wait of each variant is explained from its events. -o DIR keeps the
scenarios, which run takes, the answer as text and JSON, and the events around the longest
wait of each variant as trace.dat files, which explain takes.`

const caseExamples = `  whylate case exit --quick
  whylate case throttle -o throttle
  whylate run throttle/ladder.json --variant as-is,irq-other --task 'app*'
  whylate case defer --quick --kernel 6.12
  whylate case throttle --from throttle    # after a change of its scenarios`

// caseFlags are those of case.
type caseFlags struct {
	quick bool
	dir   string
	from  string // folder of the scenarios; "": those that come with the case
	force bool
	// kernel is the profile to run on; "": that of the scenarios.
	kernel string
	out    output // how it is printed; always to standard output
}

func newCase(std *streams) *cobra.Command {
	var f caseFlags
	var names []string
	for _, c := range cases.All() {
		names = append(names, c.Name)
	}
	cmd := &cobra.Command{
		Use:       "case NAME",
		Short:     "Answer a known discussion with numbers: " + strings.Join(names, ", "),
		Long:      caseLong,
		Example:   caseExamples,
		ValidArgs: names,
		Args: usage(func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("name one case: %s", strings.Join(names, " or "))
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			return std.runCase(cmd, args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.quick, "quick", false, "fewer runs, parts and variants: some seconds instead of up to a minute")
	flags.BoolVar(&f.out.json, "json", false, "print JSON, all times in ns")
	flags.BoolVarP(&f.out.nano, "nano", "n", false, "print whole ns instead of µs")
	flags.BoolVarP(&f.out.verbose, "verbose", "v", false, "the table of tasks and all causes in every part")
	flags.BoolVarP(&f.out.quiet, "quiet", "q", false, "no progress on standard error")
	flags.StringVarP(&f.dir, "output", "o", "", "also write scenarios, traces of the longest waits, text and JSON into the folder `DIR`")
	flags.StringVar(&f.from, "from", "", "run the scenarios in the folder `DIR`, which -o wrote and somebody changed")
	flags.StringVar(&f.kernel, "kernel", "", "run on the kernel `PROFILE` instead of that of the scenarios (see list kernels)")
	flags.BoolVarP(&f.force, "force", "f", false, "write into a folder that is not empty")
	f.out.file, f.out.color = "-", "auto"
	flags.Func("color", "emphasis: `WHEN` is auto, always or never", into(&f.out.color, oneOf("auto", "always", "never")))
	completeWords(cmd, "color", []string{"auto", "always", "never"})
	return cmd
}

func (std *streams) runCase(cmd *cobra.Command, name string, f *caseFlags) error {
	c, err := cases.Named(name)
	if err != nil {
		return &usageError{cmd.CommandPath(), err}
	}
	if err := f.checkDir(); err != nil {
		return err
	}
	if _, err := scenario.KernelNamed(f.kernel); err != nil {
		return &usageError{cmd.CommandPath(), err}
	}
	p := newProgress(std.err, f.out.quiet)
	p.what = "running"
	o := cases.Options{Quick: f.quick, Kernel: f.kernel, Progress: p.update}
	if f.from != "" {
		o.Read = func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(f.from, name)) }
	}
	a, err := c.Run(cmd.Context(), o)
	p.erase()
	if err != nil {
		return err
	}
	if f.dir != "" {
		if err := f.keep(cmd, c, a); err != nil {
			return err
		}
	}
	text := func(w io.Writer, o report.Options) error { return report.Case(w, a.Case, o) }
	return f.out.print(&answer{value: a.Case, diagnostics: a.Diagnostics, text: text}, std.out)
}

// checkDir refuses a folder that holds something before the work starts.
func (f *caseFlags) checkDir() error {
	if f.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(f.dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking into the folder of --output: %w", err)
	case len(entries) > 0 && !f.force:
		return fmt.Errorf("%s is not empty; -f writes into it, and over files of the same names", f.dir)
	}
	return nil
}

// keep writes the files of -o.
func (f *caseFlags) keep(cmd *cobra.Command, c *cases.Case, a *cases.Answer) error {
	if err := os.MkdirAll(f.dir, 0o777); err != nil {
		return fmt.Errorf("making the folder of --output: %w", err)
	}
	files, err := c.Files()
	if err != nil {
		return err
	}
	for _, file := range files {
		text := file.Text
		if f.from != "" {
			if text, err = os.ReadFile(filepath.Join(f.from, file.Name)); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(f.dir, file.Name), text, 0o666); err != nil {
			return fmt.Errorf("writing a scenario: %w", err)
		}
	}
	for i := range a.Worst {
		w := &a.Worst[i]
		if w.In == nil {
			continue
		}
		w.In.Trace = w.Part + "-" + w.Variant + ".dat"
		if err := keepTrace(cmd.Context(), filepath.Join(f.dir, w.In.Trace), w); err != nil {
			return err
		}
	}
	err = writeNew(filepath.Join(f.dir, "case.json"), func(w io.Writer) error { return encode(w, a.Case) })
	if err != nil {
		return err
	}
	return writeNew(filepath.Join(f.dir, "case.txt"), func(w io.Writer) error {
		return report.Case(w, a.Case, report.Options{Nano: f.out.nano, Verbose: true})
	})
}

// Around a wait so much of its run is kept: more than two periods of throttling before it, in
// which its budget was used up, and a little after it.
const (
	keepBefore event.Time = 2_200_000_000
	keepAfter  event.Time = 100_000_000
)

// keepTrace writes the events around the longest wait of a run.
func keepTrace(ctx context.Context, name string, w *cases.WorstRun) error {
	src, err := scenario.NewSource(w.Setup)
	if err != nil {
		return err
	}
	// trace.Create does not write over a file.
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("writing a trace: %w", err)
	}
	out, err := trace.Create(name, *src.Info(), src.Names())
	if err != nil {
		return fmt.Errorf("writing a trace: %w", err)
	}
	woken := w.Setup.Start + event.Time(w.In.WokenNS)
	err = copyEvents(ctx, out, src, woken-keepBefore, woken+event.Time(w.In.WaitNS)+keepAfter)
	if err = errors.Join(err, out.SetSnapshot(src.Snapshot()), out.Close()); err != nil {
		return fmt.Errorf("writing a trace: %w", err)
	}
	return nil
}

func writeNew(name string, body func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return errors.Join(flushed(f, body), f.Close())
}

// caseRow is one line of list cases.
type caseRow struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Question string `json:"question"`
}

func newListCases(std *streams) *cobra.Command {
	rows := []caseRow{}
	for _, c := range cases.All() {
		rows = append(rows, caseRow{c.Name, c.Title, c.Question})
	}
	return newListOf(std, "cases", "List the discussions that whylate case answers",
		"List the public discussions that whylate case runs and answers with numbers.",
		struct {
			Schema string    `json:"schema"`
			Cases  []caseRow `json:"cases"`
		}{"whylate.cases/1", rows},
		func(w io.Writer) {
			fmt.Fprintln(w, "CASE\tTITLE")
			for _, r := range rows {
				fmt.Fprintf(w, "%s\t%s\n", r.Name, r.Title)
			}
		})
}
